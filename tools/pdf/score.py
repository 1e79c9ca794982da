"""Scores the readers of PDF files: score.py DIRECTORY PROGRAM [READER...] reads each file of generate.py by each reader
and prints a table. Two more readers, of Python, are known: pypdf and pdfminer, where they are installed.

order: F1 of the longest common subsequence of words. rows: share of the rows that are lines of their own with their
cells. headings: F1 of whole headings. running: running lines that are left, but for one each. Files whose text is but a
picture have no score; they should be an error or nothing.
"""

import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

TIMEOUT = 120
MEASURES = ("order", "rows", "headings")


def words(text):
    return re.findall(r"\w+", text.lower())


def common(one, two):
    """Length of the longest common subsequence, by bits (Hyyrö 2004)."""
    places = defaultdict(int)
    for place, word in enumerate(one):
        places[word] |= 1 << place
    full = (1 << len(one)) - 1
    left = full
    for word in two:
        held = left & places.get(word, 0)
        left = ((left + held) | (left - held)) & full
    return len(one) - left.bit_count()


def f1(hits, found, wanted):
    return 2 * hits / (found + wanted) if found + wanted else None


def cells(line):
    line = line.strip().strip("|").replace("**", "").replace("\\", "")
    parts = [part.strip() for part in re.split(r"\||\t|\s{2,}", line)]
    return tuple(part for part in parts if part)


def score(truth, reading):
    lines = reading["text"].splitlines()
    found, wanted = words(reading["text"]), words(" ".join(truth["order"]))
    scores = {}
    if wanted:
        scores["order"] = f1(common(wanted, found), len(found), len(wanted))
    if truth["rows"]:
        shown = {cells(line) for line in lines}
        scores["rows"] = sum(tuple(row) in shown for row in truth["rows"]) / len(truth["rows"])
    if truth["headings"]:
        headings = reading["headings"]
        if headings is None:
            headings = [line.lstrip("#") for line in lines if line.startswith("#")]
        named = [" ".join(words(heading)) for heading in headings]
        hits = sum(" ".join(words(heading)) in named for heading in truth["headings"])
        scores["headings"] = f1(hits, len(named), len(truth["headings"]))
    flat = " ".join(found)
    scores["running"] = sum(max(flat.count(" ".join(words(line))) - 1, 0) for line in truth["running"])
    return scores


def read(program, reader, path):
    command = [sys.executable, __file__, "--python", reader] if reader in ("pypdf", "pdfminer") else [program, reader]
    start = time.monotonic()
    try:
        done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        return json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return {"text": "", "headings": None, "seconds": time.monotonic() - start, "kilobytes": 0, "error": f"panic: {error}"}


def python_reader(reader, path):
    import resource

    start = time.monotonic()
    if reader == "pypdf":
        from pypdf import PdfReader

        text = "\n".join(page.extract_text() for page in PdfReader(path).pages)
    else:
        from pdfminer.high_level import extract_text

        text = extract_text(path)
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"text": text, "headings": [], "seconds": seconds, "kilobytes": peak, "error": None}))


def main():
    directory, program = Path(sys.argv[1]), sys.argv[2]
    readers = sys.argv[3:] or ["own", "pdf-inspector", "pdf-extract"]
    truth = json.loads((directory / "truth.json").read_text())
    results = {}
    for file in sorted(truth):
        for reader in readers:
            reading = read(program, reader, directory / file)
            results[file, reader] = (score(truth[file], reading), reading)
    if "--files" in sys.argv:
        readers = [reader for reader in readers if reader != "--files"]

    def mean(files, reader, measure):
        values = [results[file, reader][0].get(measure) for file in files]
        values = [value for value in values if value is not None]
        return f"{sum(values) / len(values):.3f}" if values else "–"

    print(f"| | files | {' | '.join(readers)} |\n|---|---:|{'---:|' * len(readers)}")
    kinds = sorted({told["kind"] for told in truth.values()})
    groups = [("all", list(truth))]
    groups += [("known kinds", [file for file in truth if truth[file]["seen"]])]
    groups += [("new kinds", [file for file in truth if not truth[file]["seen"]])]
    groups += [(kind, [file for file in truth if truth[file]["kind"] == kind]) for kind in kinds]
    for measure in MEASURES:
        for name, files in groups:
            scored = [file for file in files if measure in results[file, readers[0]][0]]
            if scored:
                values = " | ".join(mean(scored, reader, measure) for reader in readers)
                print(f"| {measure}, {name} | {len(scored)} | {values} |")
    def line(name, value):
        print(f"| {name} | {len(truth)} | {' | '.join(value(reader) for reader in readers)} |")

    of = lambda reader: [results[file, reader] for file in truth]
    line("running lines left", lambda reader: str(sum(scores["running"] for scores, _ in of(reader))))
    line("seconds", lambda reader: f"{sum(reading['seconds'] for _, reading in of(reader)):.2f}")
    line("seconds, 300 pages", lambda reader: f"{results['pages-300.pdf', reader][1]['seconds']:.2f}")
    line("most memory, MiB", lambda reader: f"{max(reading['kilobytes'] or 0 for _, reading in of(reader)) / 1024:.0f}")
    line("errors", lambda reader: str(sum(bool(reading["error"]) for _, reading in of(reader))))
    line("panics", lambda reader: str(sum((reading["error"] or "").startswith("panic") for _, reading in of(reader))))
    print("\nThe files, by", ", ".join(readers), "(order/rows/headings/running):")
    for file in sorted(truth):
        shown = []
        for reader in readers:
            scores, reading = results[file, reader]
            values = [f"{scores[measure]:.2f}" if scores.get(measure) is not None else "–" for measure in MEASURES]
            shown.append("/".join([*values, str(scores["running"])]) + (" " + reading["error"] if reading["error"] else ""))
        print(f"{file:36} {'   '.join(shown)}")


if sys.argv[1:2] == ["--python"]:
    python_reader(sys.argv[2], sys.argv[3])
else:
    main()
