#!/usr/bin/env python3
"""Fits the order of sentences of the built-in answerer and writes crates/domain/src/answering/ranking/model.rs.

    fit_sentences.py TABLES [MODEL_RS]

TABLES holds the output of the program `sentence_features`, one file SET.tsv per question set. The model is linear; it
maximises the probability that a softmax over the sentences of a question gives to those that hold a gold answer in a gold
document (ListNet's top-one loss). Prints for each set the share of questions whose first sentence holds a gold answer:
at most, as the answerer chose when the table was made, under a model of the other sets, and under the model of all.
"""
import pathlib, sys
import numpy as np, pandas as pd
from scipy.optimize import minimize

# Penalty of the squared weights of standardised features.
PENALTY = 0.03
# Questions from which a set counts in full.
ENOUGH = 300
# Spread of the scores of all sentences, and the mean of the best of each question: those of the weights set by hand, so
# that the bonuses and the thresholds of shares of a score stay what they are.
SPREAD, BEST = 0.28, 1.28

HEAD = """//! Constants of the order of sentences, written by `tools/calibrate/fit_sentences.py`. Do not edit by hand.

use super::Linear;

/// The model over [`super::NAMES`].
pub(super) const MODEL: Linear = Linear {
"""


def questions(table, features, spread):
    """The standardised features of the sentences of each question that has right and wrong ones, and which are right.
    Sentences that hold the answer elsewhere count neither way."""
    found = []
    for _, sentences in table[table.label != 2].groupby("question"):
        right = (sentences.label == 1).to_numpy()
        if right.any() and not right.all():
            found.append((sentences[features].to_numpy() / spread, right))
    return found


def fit(tables, features):
    spread = pd.concat(tables)[features].std().to_numpy() + 1e-6
    sets = [questions(table, features, spread) for table in tables]

    def loss(weights):
        total, slope = PENALTY * weights @ weights, 2 * PENALTY * weights
        for asked in sets:
            share = min(1, len(asked) / ENOUGH) ** 0.5 / len(asked)
            for values, right in asked:
                scores = values @ weights
                likely = np.exp(scores - scores.max())
                likely /= likely.sum()
                held = likely[right].sum() + 1e-12
                total -= share * np.log(held)
                slope -= share * (values[right].T @ (likely[right] / held) - values.T @ likely)
        return total, slope

    return minimize(loss, np.zeros(len(features)), jac=True, method="L-BFGS-B").x / spread


def first_is_right(table, scores):
    best = scores.groupby(table.question).idxmax()
    return (table.label[best] > 0).mean()


def main():
    tables = {path.stem: pd.read_csv(path, sep="\t") for path in sorted(pathlib.Path(sys.argv[1]).glob("*.tsv"))}
    features = list(next(iter(tables.values())).columns[3:])
    weights = fit(list(tables.values()), features)
    for name, table in tables.items():
        of_others = fit([other for key, other in tables.items() if key != name], features)
        most = (table.groupby("question").label.max() > 0).mean()
        now = (table[table.chosen == 1].groupby("question").label.max() > 0).sum() / table.question.nunique()
        without, with_it = (first_is_right(table, table[features] @ w) for w in (of_others, weights))
        print(f"{name}: {table.question.nunique()} questions, at most {most:.3f}, chosen {now:.3f}, left out {without:.3f}, all {with_it:.3f}")
    scores = pd.concat([table[["question"]].assign(score=table[features] @ weights, name=name) for name, table in tables.items()])
    scale = SPREAD / scores.score.std()
    bias = BEST - scale * scores.groupby(["name", "question"]).score.max().mean()
    if len(sys.argv) > 2:
        rows = "".join(f"        {scale * weight:.4f}, // {name}\n" for weight, name in zip(weights, features))
        pathlib.Path(sys.argv[2]).write_text(f"{HEAD}    bias: {bias:.4f},\n    weights: [\n{rows}    ],\n}};\n")


main()
