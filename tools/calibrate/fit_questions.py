#!/usr/bin/env python3
"""Fits the question-level evidence score and writes crates/domain/src/grading/question_model.rs.

    fit_questions.py TABLES [MODEL_RS]

TABLES holds the output of the program `question_features`, one file per collection and question set,
named DOCUMENTS~QUESTIONS[~SIZE~SEED].tsv. The score is the product of two logistic models, because what
tells them apart has other signs: a question written to look answerable shares more words with the
documents than an honest one.

- subject: the documents are about what is asked. A question counts as answered if its document is in the
  collection; against it stand questions of another set (foreign) and questions whose document is not in
  the sample (absent).
- detail: they say just that. Against it stand questions written to look answerable (unanswerable).

Within a model answered and not weigh the same (for the detail two to one), and so do the kinds of not
and, within a kind, the tables. Each set is judged by a subject model that has seen neither its documents
nor its questions. Only one set has unanswerable questions: its own are judged by detail models that
have not seen the article they are about, those of other sets by one of all its questions.
"""
import pathlib, sys
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

DENSE = ["dense", "agreement", "dense_spread"]
SUBJECT = ["dense", "coverage", "sentence_coverage", "agreement", "dense_spread"]
LEXICAL_SUBJECT = ["lexical", "coverage", "sentence_coverage"]
DETAIL = ["dense", "sentence_coverage", "rarest_missing", "numbers_missing", "names_missing", "denied", "opposed", "kind", "agreement"]
SUBJECT_WEIGHT = {"answerable": 2.0, "absent": 1.0, "foreign": 1.0}
DETAIL_WEIGHT = {"answerable": 2.0, "unanswerable": 1.0}
FOLDS = 6
# A question in other words than the document's is also less near to it. Foreign questions keep their cosines.
OTHER_WORDING_LOSES = 0.08
# How much less a question in other words counts. Without them the model trusts in words alone, and turns away most
# questions of readers who do not know the documents; with their full weight it turns away more of the others.
OTHER_WORDING_WEIGHT = 0.5
# Sets made from one encyclopaedia share subjects, so that their questions are not foreign to each other's documents.
ENCYCLOPAEDIA = {"squad2-dev", "hotpotqa-dev", "clapnq-dev"}
# How much the log odds of the subject fall with the logarithm of the number of chunks, see README.md. Not fitted: questions whose document
# is not in a sample, which stand near those that are, would take all of it. Words alone do not depend on the size.
SIZE_SLOPE = {"WITH_DENSE": 0.7, "LEXICAL_ONLY": 0.0}
FEWEST_CHUNKS, MOST_CHUNKS, REFERENCE_CHUNKS = 10, 4_000, 1_000

# Share of foreign questions below `doubtful_below`, the mean over tables. Without vectors the same share would turn away a
# third of the answerable questions of some sets.
FOREIGN_DOUBTFUL = {"WITH_DENSE": 0.985, "LEXICAL_ONLY": 0.95}
# Share of answerable questions below `absent_below`.
LOST_TO_ABSENT = 0.01


def read(folder):
    for path in sorted(pathlib.Path(folder).glob("*.tsv")):
        documents, questions = path.stem.split("~")[:2]
        if documents != questions and {documents, questions} <= ENCYCLOPAEDIA:
            continue
        table = pd.read_csv(path, sep="\t", dtype={"question": str, "group": str}, keep_default_na=False)
        table["table"], table["set"] = path.stem, path.stem.split("~")[0]
        table["sampled"] = path.stem.count("~") > 1
        reworded = (table["wording"] == "other") & (table["case"] != "foreign")
        table.loc[reworded, "dense"] -= OTHER_WORDING_LOSES
        yield table


def fit(rows, names, kinds):
    rows = rows[rows["case"].isin(kinds)]
    values, labels = rows[names].to_numpy(float), (rows["case"] == "answerable").to_numpy()
    tables = rows.groupby("case")["table"].transform("nunique")
    weights = (rows["case"].map(kinds) / tables / rows.groupby(["table", "case"])["case"].transform("size")).to_numpy(float).copy()
    weights[(rows["wording"] == "other").to_numpy()] *= OTHER_WORDING_WEIGHT
    weights = weights * (len(rows) / weights.sum())
    mean, spread = values.mean(0), values.std(0) + 1e-9
    model = LogisticRegression(C=0.1, max_iter=2000).fit((values - mean) / spread, labels, weights)
    slopes = model.coef_[0] / spread
    return names, slopes, model.intercept_[0] - slopes @ mean


def fit_subject(rows, left_out):
    return fit(rows, LEXICAL_SUBJECT if left_out else SUBJECT, SUBJECT_WEIGHT)


def fit_detail(rows, left_out):
    full = rows[~rows["sampled"] & (rows["wording"] == "own") & (rows["table"] == rows["set"] + "~" + rows["set"])]
    has_both = full.groupby("table")["case"].transform(lambda cases: "unanswerable" in set(cases))
    return fit(full[has_both], [name for name in DETAIL if name not in left_out], DETAIL_WEIGHT)


def probability(rows, model):
    names, slopes, bias = model
    return 1 / (1 + np.exp(-(rows[names].to_numpy(float) @ slopes + bias)))


def sized(score, chunks, slope):
    """The probability of the subject in a collection of this size, as grading/question.rs computes it."""
    odds = score / (1 - score) * (chunks.clip(FEWEST_CHUNKS, MOST_CHUNKS) / REFERENCE_CHUNKS) ** -slope
    return odds / (1 + odds)


def detail_by_article(rows, left_out):
    """Probabilities by models that have not seen a question's article."""
    found = np.zeros(len(rows))
    groups = sorted(rows["group"].unique())
    for fold in range(FOLDS):
        left = rows["group"].isin(groups[fold::FOLDS]).to_numpy()
        found[left] = probability(rows[left], fit_detail(rows[~left], left_out))
    return found


def auc(rows, column, negatives):
    two = rows[rows["case"].isin(["answerable", *negatives])]
    return roc_auc_score(two["case"] == "answerable", two[column])


def thresholds(rows, foreign_doubtful):
    asked = rows[~rows["sampled"] & (rows["wording"] == "own")]
    below = lambda kind, t: (asked["p"] < t)[asked["case"] == kind].groupby(asked["table"]).mean().mean()
    steps = np.arange(0.01, 0.99, 0.005)
    doubtful = next(t for t in steps if below("foreign", t) >= foreign_doubtful)
    absent = min(doubtful, max(t for t in steps if below("answerable", t) <= LOST_TO_ABSENT))
    return {"absent_below": round(float(absent), 3), "doubtful_below": round(float(doubtful), 3)}


def curve(rows):
    """Share of the answerable questions kept, in their own and in other words, and of the unanswerable ones turned away,
    by the share of foreign questions that the threshold turns away."""
    full = rows[~rows["sampled"]]
    foreign = full[(full["case"] == "foreign") & (full["wording"] == "own")]
    steps = np.arange(0.01, 0.99, 0.005)
    turned_away = np.array([(foreign["p"] < t).groupby(foreign["table"]).mean().mean() for t in steps])
    for share in (0.90, 0.95, 0.97, 0.98, 0.99):
        t = steps[np.argmax(turned_away >= share)]
        shares = []
        for (table, kind, wording), part in full[full["case"] != "foreign"].groupby(["table", "case", "wording"]):
            if kind == "answerable" or wording == "own":
                found = np.mean(part["p"] >= t) if kind == "answerable" else np.mean(part["p"] < t)
                shares.append(f"{table.split('~')[0]} {kind} {wording} {found:.3f}")
        print(f"foreign {share}: threshold {t:.3f}; " + "; ".join(shares))


def report(rows, cuts):
    print("cuts", cuts)
    full = rows[~rows["sampled"]]
    for name in sorted(full["set"].unique()):
        own = full[full["table"] == f"{name}~{name}"]
        for kind, part in own.groupby("case"):
            print(f"{name:14} {kind:12} n={len(part):5} absent {np.mean(part['p'] < cuts['absent_below']):.3f} doubtful or absent {np.mean(part['p'] < cuts['doubtful_below']):.3f}")
        if "unanswerable" in set(own["case"]):
            print(f"{name:14} near-miss AUC {auc(own, 'p', ['unanswerable']):.3f}")
        for other in sorted(full["table"].unique()):
            if other.startswith(name + "~") and other != f"{name}~{name}":
                foreign = full[full["table"] == other]
                print(f"{other:30} off-corpus AUC {auc(pd.concat([own, foreign]), 'p', ['foreign']):.4f} absent {np.mean(foreign['p'] < cuts['absent_below']):.3f} doubtful or absent {np.mean(foreign['p'] < cuts['doubtful_below']):.3f}")
    sampled = rows[rows["sampled"]].assign(size=rows["table"].str.split("~").str[2].astype(float))
    for size, part in sampled.groupby("size"):
        absent, there = part[part["case"] == "absent"], part[part["case"] == "answerable"]
        print(f"sample of {size:4.0f}: AUC {auc(part, 'p', ['absent']):.3f}; absent: absent {np.mean(absent['p'] < cuts['absent_below']):.3f} doubtful or absent {np.mean(absent['p'] < cuts['doubtful_below']):.3f}; answerable: {np.mean(there['p'] < cuts['doubtful_below']):.3f}")


def rust(title, order, models, cuts):
    lines = [f"pub(super) const {title}: QuestionModel = QuestionModel {{"]
    for part, (names, slopes, bias) in models.items():
        values = dict(zip(names, slopes))
        weights = [f"            {values.get(name, 0.0):.4f}, // {name}" for name in order]
        lines += [f"    {part}: Logistic {{", f"        bias: {bias:.4f},", "        weights: [", *weights, "        ],", "    },"]
    return "\n".join(lines + [f"    {name}: {value}," for name, value in cuts.items()] + ["};", ""])


def main():
    every = pd.concat(read(sys.argv[1]), ignore_index=True)
    order = [c for c in every.columns[6:] if c not in ("table", "set", "sampled")]
    constants = []
    for title, left_out in (("WITH_DENSE", []), ("LEXICAL_ONLY", DENSE)):
        # Without vectors there is nothing but words to go by.
        rows = every[(every["wording"] == "own") | (not left_out)].copy()
        detail = detail_by_article(rows, left_out)
        rows["p"] = 0.0
        for left in rows["set"].unique():
            here = (rows["set"] == left).to_numpy()
            subject = fit_subject(rows[~rows["table"].str.contains(left)], left_out)
            likely = sized(probability(rows[here], subject), rows.loc[here, "chunks"], SIZE_SLOPE[title])
            rows.loc[here, "p"] = likely * detail[here]
        cuts = {"size_slope": SIZE_SLOPE[title], **thresholds(rows, FOREIGN_DOUBTFUL[title])}
        print(f"== {title}")
        report(rows[rows["wording"] == "own"], cuts)
        curve(rows)
        models = {"subject": fit_subject(rows, left_out), "detail": fit_detail(rows, left_out)}
        constants.append(rust(title, order, models, cuts))
    print("\n".join(constants))
    if len(sys.argv) > 2:
        path = pathlib.Path(sys.argv[2])
        path.write_text(path.read_text().split("pub(super) const")[0] + "\n".join(constants))


if __name__ == "__main__":
    main()
