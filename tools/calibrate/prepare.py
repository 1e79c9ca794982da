#!/usr/bin/env python3
"""Embeds evaluation sets for the calibration of the built-in judgement.

    prepare.py SETS OUT MODEL TOKENIZER NAME...

SETS/NAME holds corpus.jsonl.gz and qa.jsonl. MODEL is an ONNX export of the default embedding model
that takes `input_ids` and gives unit vectors; TOKENIZER its tokenizer.json. Writes OUT/NAME with
corpus.jsonl, qa.jsonl, documents.f32 and questions.f32, and sentences.f32 if sentences.jsonl (from
the program `sentences`) is there already: run once, then the example, then again.
"""
import gzip, json, pathlib, sys
import numpy as np, onnxruntime
from tokenizers import Tokenizer

WINDOW = 256  # wordpieces, the model's own


def embedder(model, tokenizer):
    tokens = Tokenizer.from_file(tokenizer)
    tokens.no_padding()
    tokens.enable_truncation(WINDOW)
    session = onnxruntime.InferenceSession(model)
    run = lambda text: session.run(None, {"input_ids": np.array([tokens.encode(text).ids])})[0][0]
    return lambda texts: np.array([run(text) for text in texts], "<f4")


def main():
    sets, out, model, tokenizer, *names = sys.argv[1:]
    embed = embedder(model, tokenizer)
    for name in names:
        source, target = pathlib.Path(sets, name), pathlib.Path(out, name)
        target.mkdir(parents=True, exist_ok=True)
        sentences = target / "sentences.jsonl"
        if sentences.exists():
            embed([json.loads(line) for line in sentences.open()]).tofile(target / "sentences.f32")
            continue
        corpus = gzip.open(source / "corpus.jsonl.gz").read()
        (target / "corpus.jsonl").write_bytes(corpus)
        (target / "qa.jsonl").write_bytes((source / "qa.jsonl").read_bytes())
        documents = [json.loads(line) for line in corpus.splitlines()]
        questions = [json.loads(line) for line in (source / "qa.jsonl").open()]
        embed([f"{d['title']}\n{d['text']}".strip() for d in documents]).tofile(target / "documents.f32")
        embed([q["question"] for q in questions]).tofile(target / "questions.f32")


if __name__ == "__main__":
    main()
