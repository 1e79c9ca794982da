#!/usr/bin/env python3
"""Fits the confidence of the built-in answerer and writes crates/domain/src/answering/confidence/model.rs.

    fit_answers.py TABLES [MODEL_RS]

TABLES holds the output of the program `answer_features`, one file SET.tsv per question set. Prints the AUC of right
against wrong answers of each set under a model of the others, then fits on all, every set counting the same, and prints
the share of right answers that thresholds would withhold, and of wrong ones that they would catch: with the features of late
interaction, and without them for models that give no vectors of tokens.
"""
import pathlib, sys
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

# Features of late interaction.
TOKENS = ["mean", "least", "opening", "opening_mean"]

HEAD = """//! Constants of the answerer's confidence, written by `tools/calibrate/fit_answers.py`. Do not edit by hand.

use super::{ALL, COUNT};
use crate::logistic::Logistic;
"""

MODEL = """
/// The model over {features}.
pub(super) const {name}: Logistic<{count}> = Logistic {{
    bias: {bias:.4f},
    weights: [
{rows}    ],
}};
"""


def fit(tables):
    values = np.vstack([table.drop(columns="right") for table in tables])
    right = np.concatenate([table["right"] for table in tables])
    weights = np.concatenate([np.full(len(table), 1 / len(table)) for table in tables])
    mean, spread = values.mean(0), values.std(0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=3000)
    model.fit((values - mean) / spread, right, weights * len(right) / weights.sum())
    slopes = model.coef_[0] / spread
    return slopes, model.intercept_[0] - slopes @ mean


def probabilities(table, slopes, bias):
    return 1 / (1 + np.exp(-(table.drop(columns="right") @ slopes + bias)))


def judge(tables):
    for name, table in tables.items():
        others = [other for other in tables if other != name]
        left_out = probabilities(table, *fit([tables[other] for other in others])) if others else None
        auc = roc_auc_score(table["right"], left_out) if others else float("nan")
        print(f"{name}: {len(table)} answers, {table['right'].mean():.3f} right, AUC left out {auc:.3f}")
    slopes, bias = fit(list(tables.values()))
    for threshold in (0.1, 0.15, 0.2, 0.25, 0.3):
        for name, table in tables.items():
            is_below, right = probabilities(table, slopes, bias) < threshold, table["right"] == 1
            print(f"below {threshold}: {name} right {is_below[right].mean():.3f}, wrong {is_below[~right].mean():.3f}")
    return slopes, bias


def main():
    tables = {path.stem: pd.read_csv(path, sep="\t") for path in sorted(pathlib.Path(sys.argv[1]).glob("*.tsv"))}
    text = HEAD
    for features, name, count, left_out in (
        ("[`super::NAMES`] without those of late interaction", "BY_COSINE", "COUNT", TOKENS),
        ("all of [`super::NAMES`]", "BY_TOKENS", "ALL", []),
    ):
        print(name)
        chosen = {key: table.drop(columns=left_out) for key, table in tables.items()}
        slopes, bias = judge(chosen)
        names = next(iter(chosen.values())).drop(columns="right").columns
        rows = "".join(f"        {slope:.4f}, // {feature}\n" for slope, feature in zip(slopes, names))
        text += MODEL.format(features=features, name=name, count=count, bias=bias, rows=rows)
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(text)


main()
