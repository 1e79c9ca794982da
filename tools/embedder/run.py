"""The built-in embedder against onnxruntime's int8, side by side in one run. See README.md."""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
sys.path.insert(0, str(ROOT / "tools" / "minilm"))

from onnx_graph import build  # noqa: E402
from source import Source, read_wheel  # noqa: E402


def made_up_texts(source: Source, wordpieces: int, count: int) -> list[str]:
    """Texts of whole vocabulary words, each exactly `wordpieces` long with [CLS] and [SEP]."""
    words = [word for word in source.vocabulary.decode().split("\n") if word.isascii() and word.isalpha()]
    chosen = random.Random(wordpieces)
    return [" ".join(chosen.choices(words, k=wordpieces - 2)) for _ in range(count)]


def session(path: Path) -> onnxruntime.InferenceSession:
    """One thread per session call: parallelism comes from calling it on several texts at once."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class Theirs:
    def __init__(self, path: Path, inputs: list[np.ndarray]) -> None:
        self.session, self.inputs = session(path), inputs

    def embed(self, ids: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"input_ids": ids})[0][0]

    def measure(self, threads: int, seconds: float) -> dict[str, float]:
        self.embed(self.inputs[0])
        alone = []
        cpu = time.process_time()
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            for ids in self.inputs:
                one = time.perf_counter()
                self.embed(ids)
                alone.append((time.perf_counter() - one) * 1e3)
        cpu_ms = (time.process_time() - cpu) * 1e3 / len(alone)
        with ThreadPoolExecutor(threads) as pool:
            done, began = 0, time.perf_counter()
            while time.perf_counter() - began < seconds:
                done += len(list(pool.map(self.embed, self.inputs)))
            per_second = done / (time.perf_counter() - began)
        return {
            "cpu_ms": cpu_ms,
            "best_ms": min(alone),
            "median_ms": statistics.median(alone),
            "per_second": per_second,
        }


class Ours:
    def __init__(self, texts: Path) -> None:
        self.texts = texts

    def measure(self, threads: int, seconds: float) -> dict[str, float]:
        command = [TARGET / "release" / "embedder-speed", self.texts, str(threads), str(seconds)]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--lengths", type=int, nargs="+", default=[16, 64, 230])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    arguments = parser.parse_args()

    subprocess.run(["cargo", "build", "--release", "--quiet", "--locked", "--package", "embedder-speed"], check=True, cwd=ROOT)
    source = read_wheel(arguments.wheel)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        onnx.save(build(source.tensors), folder / "float.onnx")
        for name, per_channel in (("tensor", False), ("channel", True)):
            quantize_dynamic(
                folder / "float.onnx",
                folder / f"{name}.onnx",
                weight_type=QuantType.QInt8,
                per_channel=per_channel,
            )
        print("| wordpieces | threads | what | cpu ms | best ms | median ms | per second | times ours (cpu, best, median, per second) |")
        print("|---:|---:|---|---:|---:|---:|---:|---:|")
        for length in arguments.lengths:
            texts = made_up_texts(source, length, max(4, 1024 // length))
            inputs = [np.array([source.token_ids(text)]) for text in texts]
            assert all(ids.shape == (1, length) for ids in inputs)
            (folder / "texts.json").write_text(json.dumps(texts))
            contenders = {
                "ours": Ours(folder / "texts.json"),
                "onnxruntime int8": Theirs(folder / "tensor.onnx", inputs),
                "onnxruntime int8, per channel": Theirs(folder / "channel.onnx", inputs),
                "onnxruntime float32": Theirs(folder / "float.onnx", inputs),
            }
            for threads in arguments.threads:
                results = {name: [] for name in contenders}
                for _ in range(arguments.rounds):
                    for name, contender in contenders.items():
                        results[name].append(contender.measure(threads, arguments.seconds))
                ours = summary(results["ours"])
                for name, measured in results.items():
                    *times, per_second = summary(measured)
                    ratios = [time / mine for time, mine in zip(times, ours)] + [ours[-1] / per_second]
                    cells = [f"{time:.2f}" for time in times] + [f"{per_second:.1f}"]
                    cells.append(" ".join(f"{ratio:.2f}" for ratio in ratios))
                    print(f"| {length} | {threads} | {name} | {' | '.join(cells)} |", flush=True)


def summary(rounds: list[dict[str, float]]) -> tuple[float, float, float, float]:
    """The least disturbed processor time and clock time, then the usual clock time and throughput."""
    return (
        min(one["cpu_ms"] for one in rounds),
        min(one["best_ms"] for one in rounds),
        statistics.median(one["median_ms"] for one in rounds),
        statistics.median(one["per_second"] for one in rounds),
    )


if __name__ == "__main__":
    main()
