#!/usr/bin/env python3
"""Fits the grader's two logistic models and writes crates/domain/src/grading/model.rs.

    fit.py TABLES [MODEL_RS]

TABLES holds the output of the program `grader_features`, one file per collection and question set,
named DOCUMENTS~QUESTIONS[~SIZE~SEED].tsv. Prints how models fitted without a set do on that set,
then fits on all of them. Every table weighs the same, so that large sets do not drown small ones;
those of questions that are foreign to the collection weigh a tenth, so that a probability means what
it would for a user who asks about what is there.
"""
import pathlib, sys
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

DENSE = ["dense", "dense_to_top", "round_dense", "dense_lead"]
# Beside cosines these add nothing and make the others hard to read.
# Unknown words are left out because a question in other words has them too: whether the documents are about it is judged
# for the round (fit_questions.py).
LEFT_OUT = ["round_lexical", "unknown"]
QUESTIONS_PER_TABLE = 1500
FOREIGN_WEIGHT = 0.1
# A question in other words than the document's is also less near to it. Foreign questions keep their cosines.
OTHER_WORDING_LOSES = 0.08


def read(folder):
    for path in sorted(pathlib.Path(folder).glob("*.tsv")):
        table = pd.read_csv(path, sep="\t", dtype={"label": str, "question": str, "document": str}, keep_default_na=False)
        asked = pd.Series(table["question"].unique())
        if len(asked) > QUESTIONS_PER_TABLE:
            table = table[table["question"].isin(asked.sample(QUESTIONS_PER_TABLE, random_state=1))].copy()
        table["table"], table["set"] = path.stem, path.stem.split("~")[0]
        table["sampled"] = path.stem.count("~") > 1
        reworded = (table["wording"] == "other") & (table["case"] != "foreign")
        table.loc[reworded, ["dense", "round_dense"]] -= OTHER_WORDING_LOSES
        table["question"] += table["wording"].map({"own": "", "other": " (other words)"})
        yield table


def fit(rows, names):
    rows = rows[rows["label"] != "?"]
    values, labels = rows[names].to_numpy(float), (rows["label"] == "1").to_numpy()
    weights = 1.0 / rows.groupby("table")["place"].transform("size").to_numpy(float)
    weights[(rows["case"] == "foreign").to_numpy()] *= FOREIGN_WEIGHT
    weights *= len(rows) / weights.sum()
    mean, spread = values.mean(0), values.std(0) + 1e-9
    model = LogisticRegression(C=0.05, max_iter=2000).fit((values - mean) / spread, labels, weights)
    slopes = model.coef_[0] / spread
    return slopes, model.intercept_[0] - slopes @ mean


def probability(rows, names, model):
    return 1 / (1 + np.exp(-(rows[names].to_numpy(float) @ model[0] + model[1])))


# From here up a passage is correct wherever it stands in its round.
CORRECT_FROM = 0.3
# Share of answerable questions of which a gold passage is correct, in the set where it is least. Whether a round answers
# the question is told by its own score; this only tells its passages apart.
GOLD_CORRECT = 0.88
# Least probability of an ambiguous passage, as a share of that of a correct one.
AMBIGUOUS_SHARE = 0.5
# From here up the probability of a passage, and that of its round, make it surely correct, so that no configured model need
# be asked: gold then are .95 and more of them in sets without questions that are written to look answerable.
SURELY_CORRECT_FROM = 0.8


def thresholds(rows):
    full = rows[~rows["sampled"]]
    own = full[(full["case"] == "answerable") & (full["label"] != "?")]
    asked = own[own["wording"] == "own"]
    highest = asked.groupby(["table", "question"])["p"].transform("max")
    is_gold = asked["label"] == "1"

    def least(share):
        is_correct = asked["p"] >= np.minimum(CORRECT_FROM, share * highest)
        return is_correct[is_gold].groupby([asked["table"], asked["question"]]).max().groupby("table").mean().min()

    found = {
        "correct_from": CORRECT_FROM,
        "correct_share": max(share for share in np.arange(0.05, 1.0, 0.05) if least(share) >= GOLD_CORRECT),
        "ambiguous_share": AMBIGUOUS_SHARE,
        "surely_correct_from": SURELY_CORRECT_FROM,
    }
    return {name: round(float(value), 3) for name, value in found.items()}


def report(rows):
    full = rows[~rows["sampled"]]
    for name, table in full.groupby("table"):
        best = table.groupby(["case", "question"])["p"].max()
        for kind, values in best.groupby("case"):
            line = f"{name:34} {kind:12} n={len(values):5}"
            if kind == "answerable":
                own = table[(table["case"] == kind) & (table["label"] != "?")]
                gold = own[own["label"] == "1"].groupby("question")["p"].max()
                found = own[own["label"] == "1"].groupby("question")["correct"].max()
                hard = own[own["label"] == "0"].groupby("question")["p"].max()
                both = pd.concat([gold, hard], axis=1, keys=["gold", "hard"]).dropna()
                line += (f" | a gold one is correct {found.mean():.3f}"
                         f" | gold over hardest {np.mean(both.gold > both.hard):.3f}"
                         f" | AUC {roc_auc_score(own['label'] == '1', own['p']):.3f}"
                         f" | precision of correct {np.mean(own.loc[own['correct'], 'label'] == '1'):.3f}"
                         f" | right grades {np.mean(own['correct'] == (own['label'] == '1')):.3f}")
            print(line)
        kinds = best.reset_index()
        if {"answerable", "unanswerable"} <= set(kinds["case"]):
            near = kinds[kinds["case"].isin(["answerable", "unanswerable"])]
            print(f"{name:34} near-miss AUC {roc_auc_score(near['case'] == 'answerable', near['p']):.3f}")


def report_samples(rows):
    """Small collections: the document of an `absent` question is not in the sample, its neighbours may be."""
    sampled = rows[rows["sampled"]].assign(size=rows["table"].str.split("~").str[2])
    for (size, kind), part in sampled.groupby(["size", "case"]):
        best = part.groupby(["table", "question"])["p"].max()
        print(f"sample of {size:4} {kind:12} n={len(best):5} best {best.mean():.3f}")


def off_corpus_auc(rows):
    full = rows[~rows["sampled"]]
    for name, group in full.groupby("set"):
        best = group.groupby(["case", "table", "question"])["p"].max().reset_index()
        for table in sorted(best.loc[best["case"] == "foreign", "table"].unique()):
            two = best[(best["table"] == table) | (best["case"] == "answerable")]
            print(f"off-corpus AUC {table:34} {roc_auc_score(two['case'] == 'answerable', two['p']):.4f}")


def calibration_error(rows):
    known = rows[rows["label"] != "?"]
    bins = np.minimum((known["p"] * 10).astype(int), 9)
    return sum(abs(part["p"].mean() - (part["label"] == "1").mean()) * len(part) for _, part in known.groupby(bins)) / len(known)


def rust(name, names, order, model, cuts):
    values = dict(zip(names, model[0]))
    lines = "".join(f"            {values.get(n, 0.0):.4f}, // {n}\n" for n in order)
    return (f"pub(super) const {name}: PassageModel = PassageModel {{\n    logistic: Logistic {{\n        bias: {model[1]:.4f},\n        weights: [\n{lines}        ],\n    }},\n"
            + "".join(f"    {name}: {value},\n" for name, value in cuts.items()) + "};\n")


def main():
    every = pd.concat(read(sys.argv[1]), ignore_index=True)
    order = [c for c in every.columns[8:] if c not in ("table", "set", "sampled", "correct")]
    constants = []
    for title, left_out in (("WITH_DENSE", LEFT_OUT), ("LEXICAL_ONLY", DENSE)):
        names = [n for n in order if n not in left_out]
        # Without vectors there is nothing but words to go by.
        rows = every[(every["wording"] == "own") | (left_out != DENSE)].copy()
        rows["p"] = 0.0
        for left in rows["set"].unique():
            # Leave a set out as documents and as questions, so that nothing of it is seen.
            elsewhere = rows[~rows["table"].str.contains(left)]
            rows.loc[rows["set"] == left, "p"] = probability(rows[rows["set"] == left], names, fit(elsewhere, names))
        cuts = thresholds(rows)
        highest = rows.groupby(["table", "question"])["p"].transform("max")
        rows["correct"] = rows["p"] >= np.minimum(cuts["correct_from"], cuts["correct_share"] * highest)
        print(f"== {title}: each set judged by a model that has not seen it; {cuts}")
        report(rows)
        report_samples(rows)
        off_corpus_auc(rows)
        own = rows[(rows["case"] != "foreign") & ~rows["sampled"]]
        print(f"share of passages that are surely correct: {(own['p'] >= cuts['surely_correct_from']).mean():.3f}")
        print(f"calibration error, full sets with their own questions: {calibration_error(own):.4f}")
        constants.append(rust(title, names, order, fit(rows, names), cuts))
    if len(sys.argv) > 2:
        path = pathlib.Path(sys.argv[2])
        head = path.read_text().split("pub(super) const")[0]
        path.write_text(head + "\n".join(constants))


if __name__ == "__main__":
    main()
