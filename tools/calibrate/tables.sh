#!/bin/sh
# Feature tables: tables.sh PREPARED TABLES (run from the project's root). TABLES/passages is for fit.py,
# TABLES/questions for fit_questions.py. support.sh makes those of claims.
# Every set with its own questions and with those of the others (foreign), whole and in samples of 12, 40 and 200
# documents, where most questions have lost their document. PubMedQA's questions are foreign to all of them.
set -eu
prepared=$1 tables=$2 sets="squad2-dev hotpotqa-dev tatqa-dev clapnq-dev"
bin=${CARGO_TARGET_DIR:-target}/release
mkdir -p "$tables/passages" "$tables/questions"
cargo build --release --locked -p calibrate --bins
features() {
    $bin/grader_features "$prepared/$1" "$prepared/$2" ${3:-} ${4:-} >"$tables/passages/$1~$2${3:+~$3~$4}.tsv"
    $bin/question_features "$prepared/$1" "$prepared/$2" ${3:-} ${4:-} >"$tables/questions/$1~$2${3:+~$3~$4}.tsv"
}
for documents in $sets; do
    features "$documents" "$documents"
    features "$documents" "$documents" 200 21
    for questions in $sets pubmedqa-dev; do
        if [ "$documents" != "$questions" ]; then features "$documents" "$questions"; fi
        features "$documents" "$questions" 40 1
        features "$documents" "$questions" 12 11
    done
done
