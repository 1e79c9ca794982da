#!/usr/bin/env python3
"""Fits the support score and writes crates/domain/src/citation/support/model.rs.

    fit_support.py TABLES [MODEL_RS]

TABLES holds the output of the program `claims`, one file NAME.tsv per set. True and false claims weigh
the same, as do the sets, the forms of the true claims and the kinds of falsehood. Each set is judged by a
model that has seen none of its claims. A falsehood of a kind is held against the true claims from which
one of that kind was made, so that numbers are judged on claims that have numbers.

The threshold is the score that RECALL of the true claims reach, the mean over sets, before a missing
number, date or name, or a denial on one side only, puts a claim below it. A claim of which nothing of the kind is missing is in doubt
from the score that DOUBT_RECALL of the true ones reach.
"""
import pathlib, sys
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

RECALL = 0.95
DOUBT_RECALL = 0.99
# Conclusions that people drew are not in the document: they are reported and teach nothing.
LEFT_OUT_FORM = "conclusion"
# Sentences that deny, as they stand: they measure denials, and as true claims they are too easy.
DENIAL_FORM = "denial"
# Another name of the same passage can hardly be seen by words: as noise it would only flatten the rest.
LEFT_OUT_KINDS = ["name in passage"]
SOURCES = ["source", "any source"]
# A right claim on a wrong source is as likely as all that is wrong within a claim.
SOURCE_SHARE = 0.5
# Beside the other kinds: a wrong number, date or name does most harm, and can be told for sure.
KIND_WEIGHT = {"number": 4.0, "date": 4.0, "name": 4.0}
# Signs that a sound model has; a weight that the data turn round is left out.
SIGNS = {"held": 1}


def read(folder):
    for path in sorted(pathlib.Path(folder).glob("*.tsv")):
        yield pd.read_csv(path, sep="\t", dtype={"claim": str}, keep_default_na=False).assign(set=path.stem)


def fit(rows, names):
    rows = rows[~rows["form"].isin([LEFT_OUT_FORM, DENIAL_FORM]) & (~rows["kind"].isin(LEFT_OUT_KINDS))]
    labels = (rows["kind"] == "true").to_numpy()
    group = np.where(labels, "true", np.where(rows["kind"].isin(SOURCES), "source", "changed"))
    cells = rows["set"] + "~" + np.where(labels, "true~" + rows["form"], rows["kind"])
    share = cells.groupby([rows["set"], group]).transform("nunique")
    of_group = np.where(labels, 1.0, np.where(group == "source", SOURCE_SHARE, 1 - SOURCE_SHARE))
    of_kind = rows["kind"].map(KIND_WEIGHT).fillna(1.0)
    weights = (of_group * of_kind / share / cells.map(cells.value_counts())).to_numpy(float)
    weights = np.where(labels, weights / weights[labels].sum(), weights / weights[~labels].sum())
    weights = weights * (len(rows) / weights.sum())
    while True:
        values = rows[names].to_numpy(float)
        mean, spread = values.mean(0), values.std(0) + 1e-9
        model = LogisticRegression(C=0.1, max_iter=2000).fit((values - mean) / spread, labels, weights)
        slopes = model.coef_[0] / spread
        wrong = [name for name, slope in zip(names, slopes) if slope * SIGNS.get(name, -1) < 0]
        if not wrong:
            return names, slopes, model.intercept_[0] - slopes @ mean
        names = [name for name in names if name not in wrong]


def probability(rows, model):
    names, slopes, bias = model
    return 1 / (1 + np.exp(-(rows[names].to_numpy(float) @ slopes + bias)))


def threshold(rows, least):
    true = rows[(rows["kind"] == "true") & ~rows["form"].isin([LEFT_OUT_FORM, DENIAL_FORM])]
    steps = np.arange(0.01, 0.99, 0.005)
    recall = lambda t: (true["p"] >= t).groupby([true["set"], true["form"]]).mean().groupby("set").mean().mean()
    return round(float(max(t for t in steps if recall(t) >= least)), 3)


def report(rows, cut):
    print(f"threshold {cut}")
    for name, part in rows.groupby("set"):
        true = part[part["kind"] == "true"]
        print(f"{name:14} true claims that pass {np.mean(true['p'] >= cut):.3f}", {form: round(float(np.mean(own['p'] >= cut)), 3) for form, own in true.groupby("form")})
    denials = rows[rows["form"] == DENIAL_FORM]
    rows = rows[~rows["form"].isin([LEFT_OUT_FORM, DENIAL_FORM])].reset_index(drop=True)
    print(f"{'kind':18} {'n':>5} {'AUC':>6} {'P@95R':>6} {'passed':>6}   AUC by set")
    for kind in ["number", "number in passage", "date", "date in passage", "name", "name in passage", "unit", "negation put in", "negation taken out", "quantifier", "opposite", *SOURCES]:
        false = rows[rows["kind"] == kind]
        paired = rows[rows["kind"] == "true"].merge(false[["set", "claim"]], on=["set", "claim"])
        both = lambda f, t: (np.r_[np.ones(len(t)), np.zeros(len(f))], np.r_[t["p"], f["p"]])
        level = np.quantile(paired["p"], 1 - RECALL)
        precision = (paired["p"] >= level).sum() / ((paired["p"] >= level).sum() + (false["p"] >= level).sum())
        sets = {s: round(roc_auc_score(*both(part, paired[paired["set"] == s])), 3) for s, part in false.groupby("set") if len(part) > 20}
        print(f"{kind:18} {len(false):5} {roc_auc_score(*both(false, paired)):6.3f} {precision:6.3f} {np.mean(false['p'] >= cut):6.3f}   {sets}")
    taken_out = denials[denials["kind"] == "negation taken out"]
    true = denials[denials["kind"] == "true"]
    labels = np.r_[np.ones(len(true)), np.zeros(len(taken_out))]
    auc = roc_auc_score(labels, np.r_[true["p"], taken_out["p"]])
    print(f"of sentences that deny, the negation taken out: {len(taken_out)}, AUC {auc:.3f}, passed {np.mean(taken_out['p'] >= cut):.3f}; as they stand {np.mean(true['p'] >= cut):.3f}")
    bins = np.minimum((rows["p"] * 10).astype(int), 9)
    true = rows["kind"] == "true"
    weight = np.where(true, 0.5 / true.sum(), 0.5 / (~true).sum())
    error = sum(abs(np.average(part["p"] - true[part.index], weights=weight[part.index])) * weight[part.index].sum() for _, part in rows.groupby(bins))
    print(f"calibration error, true and false in equal number: {error:.3f}")


def report_doubt(rows, doubt):
    exact = rows[rows["missing"] == 0]
    group = np.where(exact["form"] == LEFT_OUT_FORM, "of a conclusion: ", "") + np.where(exact["kind"].isin(["true", *SOURCES]), exact["kind"], "changed").astype(object)
    print(f"in doubt from {doubt}; of those with nothing exact missing, below it:", (exact["p"] < doubt).groupby(group).mean().round(3).to_dict())


def main():
    rows = pd.concat(read(sys.argv[1]), ignore_index=True)
    order = [column for column in rows.columns[6:] if column != "set"]
    rows["p"] = 0.0
    for left in rows["set"].unique():
        here = (rows["set"] == left).to_numpy()
        rows.loc[here, "p"] = probability(rows[here], fit(rows[~here], order))
    cut, doubt = threshold(rows, RECALL), threshold(rows[rows["missing"] == 0], DOUBT_RECALL)
    # As the scorer has it: what is missing, and a denial on one side only, put a claim below the threshold.
    rows["p"] = np.where((rows["missing"] > 0) | (rows["turned"] > 0), rows["p"] * cut, rows["p"])
    report(rows, cut)
    report_doubt(rows, doubt)
    names, slopes, bias = fit(rows, order)
    values = dict(zip(names, slopes))
    print({name: round(float(slope), 2) for name, slope in values.items()}, f"bias {bias:.2f}")
    if len(sys.argv) > 2:
        path = pathlib.Path(sys.argv[2])
        head = path.read_text().split("/// Least score", 1)[0]
        weights = "".join(f"        {values.get(name, 0.0):.4f}, // {name}\n" for name in order)
        constants = (f"/// Least score at which a source counts as supporting a claim: {RECALL:.0%} of true claims reach it.\n"
                     f"pub const SUPPORT_THRESHOLD: f32 = {cut};\n\n"
                     f"/// Least score at which words leave in doubt whether a source supports a claim: {DOUBT_RECALL:.0%} of the\n/// true claims of which nothing exact is missing reach it.\n"
                     f"pub(super) const DOUBTFUL_FROM: f32 = {doubt};\n\npub(super) const MODEL: Logistic<COUNT> = Logistic {{\n    bias: {bias:.4f},\n    weights: [\n{weights}    ],\n}};\n")
        path.write_text(head + constants)


if __name__ == "__main__":
    main()
