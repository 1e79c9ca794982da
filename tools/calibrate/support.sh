#!/bin/sh
# Fits the support score: support.sh SETS TABLES (run from the project's root). SETS holds the folders of the evaluation
# sets named below, TABLES gets one table of features each. Measures each set by a model that has not seen it, writes
# the model, and measures once more what then runs.
set -eu
sets=$1 tables=$2 names="claims-dev hotpotqa-dev pubmedqa-dev squad2-dev squad11-extra"
model=crates/domain/src/citation/support/model.rs
mkdir -p "$tables"
measure() {
    cargo build --locked -p calibrate --bin claims
    for name in $names; do
        "${CARGO_TARGET_DIR:-target}/debug/claims" "$sets/$name" 1500 >"$tables/$name.tsv"
    done
    tools/calibrate/fit_support.py "$tables" "$@"
}
measure "$model" >/dev/null
cargo fmt
measure
