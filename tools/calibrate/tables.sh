#!/bin/sh
# Feature tables: tables.sh PREPARED TABLES (run from the project's root). TABLES/passages is for fit.py,
# TABLES/questions for fit_questions.py. support.sh makes those of claims.
# Every set with its own questions, with those of the others (foreign), and in samples of 12, 40 and
# 200 documents, where most questions have lost their document. Not foreign to each other are sets drawn
# from the same articles.
set -eu
prepared=$1 tables=$2 sets="squad2-dev squad11-extra hotpotqa-dev pubmedqa-dev tatqa-dev clapnq-dev mtrag-dev"
bin=${CARGO_TARGET_DIR:-target}/release
mkdir -p "$tables/passages" "$tables/questions"
cargo build --release --locked -p calibrate --bins
features() {
    $bin/grader_features "$prepared/$1" "$prepared/$2" ${3:-} ${4:-} >"$tables/passages/$1~$2${3:+~$3~$4}.tsv"
    $bin/question_features "$prepared/$1" "$prepared/$2" ${3:-} ${4:-} >"$tables/questions/$1~$2${3:+~$3~$4}.tsv"
}
for documents in $sets; do
    for questions in $sets; do
        case "$documents~$questions" in
            clapnq-dev~mtrag-dev | mtrag-dev~clapnq-dev) ;;
            "$documents~$documents") features "$documents" "$documents" ;;
            *)
                features "$documents" "$questions"
                features "$documents" "$questions" 40 1
                features "$documents" "$questions" 12 11
                ;;
        esac
    done
    for seed in 1 2 3; do
        features "$documents" "$documents" 40 $seed
        features "$documents" "$documents" 12 $((seed + 10))
        features "$documents" "$documents" 200 $((seed + 20))
    done
done
