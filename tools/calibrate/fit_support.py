#!/usr/bin/env python3
"""Fits the support score and writes crates/domain/src/citation/support/model.rs.

    fit_support.py TABLES [MODEL_RS]

TABLES holds the output of the program `claims`, one file NAME.tsv per set: claims that people have labelled, of which
each source counts as a set, and claims made of questions. Each set is judged by a model that has seen none of its
claims. LABELLED of the weight is that of labelled claims, in which sources and the two labels weigh the same. In the
rest true and false claims, the sets, the forms of the true claims and the kinds of falsehood do. A falsehood of a kind
is held against the true claims from which one of that kind was made, so that numbers are judged on claims that have
numbers.

The score is a probability for true and false claims in equal number, so the threshold is a half. A missing number, month
or name, a reversal and a contradiction keep it below. A claim that these leave open is in doubt
from the score that DOUBT_RECALL of the supported labelled ones reach, the mean over sources.
"""
import pathlib, sys
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

THRESHOLD = 0.5
# As the scorer has it.
HIGHEST_DECIDED = THRESHOLD - 0.01
DOUBT_RECALL = 0.99
# Share of the weight that claims have which people labelled.
LABELLED = 0.6
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
SIGNS = {"quoted": 1, "letters": 1, "whole": 1}
FIRST_FEATURE = 8
LABELS = ["supported", "unsupported", "contradicted"]


def read(folder):
    for path in sorted(pathlib.Path(folder).glob("*.tsv")):
        rows = pd.read_csv(path, sep="\t", dtype={"claim": str}, keep_default_na=False)
        is_labelled = rows["kind"].isin(LABELS)
        yield rows.assign(labelled=is_labelled, true=rows["kind"].isin(["true", "supported"]),
                          set=np.where(is_labelled, rows["form"], path.stem))


def taught(rows):
    left_out = rows["form"].isin([LEFT_OUT_FORM, DENIAL_FORM]) | rows["kind"].isin(LEFT_OUT_KINDS)
    return rows[rows["labelled"] | ~left_out]


def weights_of_labelled(rows):
    cells = rows["set"] + "~" + rows["true"].astype(str)
    return 1 / cells.map(cells.value_counts()).to_numpy(float)


def weights_of_made(rows):
    true = rows["true"].to_numpy()
    group = np.where(true, "true", np.where(rows["kind"].isin(SOURCES), "source", "changed"))
    cells = rows["set"] + "~" + np.where(true, "true~" + rows["form"], rows["kind"])
    share = cells.groupby([rows["set"], group]).transform("nunique")
    of_group = np.where(true, 1.0, np.where(group == "source", SOURCE_SHARE, 1 - SOURCE_SHARE))
    of_kind = rows["kind"].map(KIND_WEIGHT).fillna(1.0)
    weights = (of_group * of_kind / share / cells.map(cells.value_counts())).to_numpy(float)
    return np.where(true, weights / weights[true].sum(), weights / weights[~true].sum())


def fit(rows, names):
    rows = taught(rows)
    weights = np.zeros(len(rows))
    labelled = rows["labelled"].to_numpy()
    for part, of, share in [(labelled, weights_of_labelled, LABELLED), (~labelled, weights_of_made, 1 - LABELLED)]:
        if part.any():
            own = of(rows[part])
            weights[part] = share * own / own.sum()
    weights *= len(rows) / weights.sum()
    while True:
        values = rows[names].to_numpy(float)
        mean, spread = values.mean(0), values.std(0) + 1e-9
        model = LogisticRegression(C=0.1, max_iter=2000).fit((values - mean) / spread, rows["true"], weights)
        slopes = model.coef_[0] / spread
        wrong = [name for name, slope in zip(names, slopes) if slope * SIGNS.get(name, -1) < 0]
        if not wrong:
            return names, slopes, model.intercept_[0] - slopes @ mean
        names = [name for name in names if name not in wrong]


def probability(rows, model):
    names, slopes, bias = model
    return 1 / (1 + np.exp(-(rows[names].to_numpy(float) @ slopes + bias)))


def calibration_error(rows, weights):
    bins = np.minimum((rows["p"] * 10).astype(int), 9)
    weights = pd.Series(weights / weights.sum(), index=rows.index)
    return sum(abs(np.average(part["p"] - part["true"], weights=weights[part.index])) * weights[part.index].sum() for _, part in rows.groupby(bins))


def balanced(true, passed):
    return (passed[true].mean() + 1 - passed[~true].mean()) / 2


def report_labelled(rows):
    print(f"{'source':20} {'n':>5} {'AUC':>6} {'bal.acc':>7}   as it runs: {'AUC':>6} {'bal.acc':>7}   calibration error")
    for name, part in rows.groupby("set"):
        true, left_out = part["true"].to_numpy(), f"{roc_auc_score(part['true'], part['p']):6.3f} {balanced(part['true'].to_numpy(), part['passed'].to_numpy()):7.3f}"
        runs = f"{roc_auc_score(true, part['score']):6.3f} {balanced(true, part['enough'].to_numpy().astype(bool)):7.3f}"
        print(f"{name:20} {len(part):5} {left_out}               {runs}   {calibration_error(part, weights_of_labelled(part)):.3f}")
    contradicted = rows["contradicted"] != "-"
    found = rows[contradicted]["kind"].value_counts().to_dict()
    share = {kind: round(float(contradicted[rows["kind"] == kind].mean()), 3) for kind in LABELS}
    print(f"called contradicted: {found}; of all with the label {share}")


def report_made(rows):
    for name, part in rows.groupby("set"):
        true = part[part["kind"] == "true"]
        print(f"{name:14} true claims that pass {np.mean(true['passed']):.3f}", {form: round(float(np.mean(own["passed"])), 3) for form, own in true.groupby("form")})
    denials = rows[rows["form"] == DENIAL_FORM]
    rows = rows[~rows["form"].isin([LEFT_OUT_FORM, DENIAL_FORM])].reset_index(drop=True)
    true = rows[rows["kind"] == "true"]
    print(f"of all true claims pass {true['passed'].mean():.3f}, are called contradicted {np.mean(true['contradicted'] != '-'):.3f}")
    print(f"{'kind':18} {'n':>5} {'AUC':>6} {'passed':>6} {'contradicted':>12}   AUC by set")
    for kind in ["number", "number in passage", "date", "date in passage", "name", "name in passage", "unit", "negation put in", "negation taken out", "quantifier", "opposite", *SOURCES]:
        false = rows[rows["kind"] == kind]
        paired = true.merge(false[["set", "claim"]], on=["set", "claim"])
        both = lambda f, t: (np.r_[np.ones(len(t)), np.zeros(len(f))], np.r_[t["p"], f["p"]])
        sets = {s: round(roc_auc_score(*both(part, paired[paired["set"] == s])), 3) for s, part in false.groupby("set") if len(part) > 20}
        print(f"{kind:18} {len(false):5} {roc_auc_score(*both(false, paired)):6.3f} {np.mean(false['passed']):6.3f} {np.mean(false['contradicted'] != '-'):12.3f}   {sets}")
    taken_out = denials[denials["kind"] == "negation taken out"]
    as_they_stand = denials[denials["kind"] == "true"]
    auc = roc_auc_score(np.r_[np.ones(len(as_they_stand)), np.zeros(len(taken_out))], np.r_[as_they_stand["p"], taken_out["p"]])
    print(f"of sentences that deny, the negation taken out: {len(taken_out)}, AUC {auc:.3f}, passed {taken_out['passed'].mean():.3f}; as they stand {as_they_stand['passed'].mean():.3f}")
    rows = rows[~rows["kind"].isin(LEFT_OUT_KINDS)]
    print(f"calibration error, true and false in equal number: {calibration_error(rows, weights_of_made(rows)):.3f}")


def main():
    rows = pd.concat(read(sys.argv[1]), ignore_index=True)
    order = [column for column in rows.columns[FIRST_FEATURE:] if column not in ("set", "labelled", "true")]
    rows["p"] = 0.0
    for left in rows["set"].unique():
        here = (rows["set"] == left).to_numpy()
        rows.loc[here, "p"] = probability(rows[here], fit(rows[~here], order))
    is_open = (rows["missing"] == 0) & (rows["reversed"] == 0) & (rows["contradicted"] == "-")
    rows["p"] = np.where(is_open, rows["p"], np.minimum(rows["p"], HIGHEST_DECIDED))
    rows["passed"] = rows["p"] >= THRESHOLD
    report_labelled(rows[rows["labelled"]])
    report_made(rows[~rows["labelled"]])
    open_and_true = rows[is_open & rows["true"] & rows["labelled"]]
    doubt = round(float(open_and_true.groupby("set")["p"].quantile(1 - DOUBT_RECALL).mean()), 3)
    print(f"in doubt from {doubt}; below it of the open claims:", (rows[is_open]["p"] < doubt).groupby(rows["kind"]).mean().round(3).to_dict())
    names, slopes, bias = fit(rows, order)
    values = dict(zip(names, slopes))
    print({name: round(float(slope), 2) for name, slope in values.items()}, f"bias {bias:.2f}")
    if len(sys.argv) > 2:
        path = pathlib.Path(sys.argv[2])
        head = path.read_text().split("/// Least score", 1)[0]
        weights = "".join(f"        {values.get(name, 0.0):.4f}, // {name}\n" for name in order)
        constants = (f"/// Least score at which a source counts as supporting a claim: it is then more probable than not.\n"
                     f"pub const SUPPORT_THRESHOLD: f32 = {THRESHOLD};\n\n"
                     f"/// Least score at which words leave in doubt whether a source supports a claim: {DOUBT_RECALL:.0%} of the\n/// supported claims of people reach it of which nothing exact is missing and nothing is reversed.\n"
                     f"pub(super) const DOUBTFUL_FROM: f32 = {doubt};\n\npub(super) const MODEL: Logistic<COUNT> = Logistic {{\n    bias: {bias:.4f},\n    weights: [\n{weights}    ],\n}};\n")
        path.write_text(head + constants)


if __name__ == "__main__":
    main()
