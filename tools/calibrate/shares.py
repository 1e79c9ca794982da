#!/usr/bin/env python3
"""nDCG@10 of the reranked list by how the share of the vectors is chosen: shares.py SET...

SET is a folder with the features.jsonl of `reranker_features`. Fusion and reranker are those of the service
(crates/domain/src/fusion.rs, crates/domain/src/reranking), over whole lists. Rows: words alone, vectors alone, half and
half, and shares by spread with these constants: logarithm of the odds for equal spreads, power, least evidence, bounds.
"""

import itertools
import json
import math
import sys
from pathlib import Path

WEIGHTS = (0.5117, 0.3873)
K1 = 1.2
DEPTH = 50
LEAST_SPREAD = 1e-3


def scale(scores):
    ordered = sorted(scores, reverse=True)
    if len(ordered) >= DEPTH:
        floor = 2 * ordered[DEPTH - 1] - ordered[DEPTH // 2 - 1]
    else:
        floor = ordered[-1] if ordered else 0.0
    return floor, (ordered[0] - floor if ordered else 0.0)


def scaled(score, floor, spread):
    if score is None:
        return 0.0
    return min(1.0, max(0.0, (score - floor) / spread)) if spread > 0 else 1.0


class Query:
    def __init__(self, line):
        self.relevant = line["relevant"]
        self.evidence = line["evidence"]
        self.passages = line["passages"] + line["rest"]
        self.dense = scale([dense for _, _, dense, _ in self.passages if dense is not None])
        lexical = [lexical for *_, lexical in self.passages if lexical is not None]
        self.lexical, self.best = scale(lexical), max(lexical, default=0.0)

    def ndcg(self, ranked):
        first = list(dict.fromkeys(ranked))[:10]
        gain = sum(self.relevant.get(name, 0) / math.log2(rank + 2) for rank, name in enumerate(first))
        ideal = sorted(self.relevant.values(), reverse=True)[:10]
        return gain / sum(grade / math.log2(rank + 2) for rank, grade in enumerate(ideal))

    def alone(self, place):
        found = sorted((passage for passage in self.passages if passage[place] is not None), key=lambda p: -p[place])
        return self.ndcg([passage[0] for passage in found])

    def reranked(self, share):
        fuse = lambda dense, lexical: share * scaled(dense, *self.dense) + (1 - share) * scaled(lexical, *self.lexical)
        fused = sorted(((fuse(p[2], p[3]), p) for p in self.passages), key=lambda item: -item[0])
        words = lambda features: sum(weight * value for weight, value in zip(WEIGHTS, features[1:]))
        score = lambda item: item[0] + 2 * (1 - share) * words(item[1][1])
        first = sorted(fused[:DEPTH], key=lambda item: -score(item))
        return self.ndcg([passage[0] for _, passage in first + fused[DEPTH:]])

    def share(self, equal, power, least_evidence, bounds):
        lexical = self.lexical[1] / self.best * max(self.evidence, least_evidence) / (K1 + 1) if self.best > 0 else 0.0
        ratio = (max(self.dense[1], 0.0) + LEAST_SPREAD) / (max(lexical, 0.0) + LEAST_SPREAD)
        return min(bounds[1], max(bounds[0], 1 / (1 + math.exp(-equal) * ratio**-power)))


def main():
    sets = {Path(folder).name: folder for folder in sys.argv[1:]}
    queries = {
        name: [Query(json.loads(line)) for line in (Path(folder) / "features.jsonl").read_text().splitlines()]
        for name, folder in sets.items()
    }
    print("|", " | ".join(["", *sets, "mean"]), "|")
    print("|", " | ".join(["---", *["---:"] * (len(sets) + 1)]), "|")

    def row(name, measure):
        means = [sum(map(measure, asked)) / len(asked) for asked in queries.values()]
        print("|", " | ".join([name, *(f"{mean:.3f}" for mean in [*means, sum(means) / len(means)])]), "|")

    row("words alone", lambda query: query.alone(3))
    row("vectors alone", lambda query: query.alone(2))
    row("half and half", lambda query: query.reranked(0.5))
    for constants in itertools.product((0.75, 1.0, 1.25), (2, 3), (0.0, 1.1, 1.3), ((0.0, 1.0), (0.25, 0.8))):
        row(str(constants), lambda query: query.reranked(query.share(*constants)))


if __name__ == "__main__":
    main()
