"""Makes PDF files of known content: generate.py DIRECTORY. Beside the files, truth.json says of each which words stand in
which order, its rows, headings and running lines, and whether the rules of the service were adjusted to files of its kind.

The same seed gives the same files. Text is made of common words, numbered so that no two sentences are equal.
"""

import json
import random
import sys
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape

from maker import WORDS, Maker
from pages import (
    bold_headings,
    column_pages,
    contents,
    glossary,
    glyph_by_glyph,
    letter,
    many_pages,
    paper,
    random_order,
    rotated,
    scan,
    side_bar,
    slides,
)
from tables import (
    flowed_table,
    form,
    landscape_table,
    long_table,
    report,
    sparse_table,
    two_tables,
    words_table,
    wrapped_cells,
)


def main():
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    truth = {}

    def make(name, kind, seen, draw, size=A4):
        maker = Maker(directory, name, kind, seen, size)
        draw(maker)
        file, told = maker.save()
        truth[file] = told

    for columns, gap in ((2, 22), (2, 12), (3, 18), (3, 10)):
        for across in (False, True):
            way = "across" if across else "down"
            make(f"columns-{columns}-{gap}-{way}", "columns", True,
                 lambda maker: column_pages(maker, columns, gap, interleaved=across))
    for number, (gap, heads, running, size) in enumerate(((18, True, True, 9), (26, True, False, 10), (9, False, True, 8))):
        for across in (False, True):
            make(f"columns-new-{number}-{'across' if across else 'down'}", "columns", False,
                 lambda maker: column_pages(maker, 2, gap, 3, across, size, True, heads and not across, running))
    make("columns-4-down", "columns", False, lambda maker: column_pages(maker, 4, 12, 1, False, 7))
    make("columns-4-across", "columns", False, lambda maker: column_pages(maker, 4, 12, 1, True, 7))
    for number, (gap, running, foot) in enumerate(((20, True, False), (14, True, True), (24, False, True), (18, False, False))):
        make(f"paper-{number}", "paper", False, lambda maker: paper(maker, gap, running, foot))
    for number, (pages, running, across, notes) in enumerate(((3, True, False, False), (5, True, True, False), (3, False, True, True), (8, True, False, True))):
        make(f"report-{number}", "report", number == 0, lambda maker: report(maker, pages, running, across, notes))
    make("table-pages-header-once", "table", True, lambda maker: long_table(maker, False))
    make("table-pages-header-repeated", "table", False, lambda maker: long_table(maker, True))
    make("table-pages-ruled", "table", False, lambda maker: long_table(maker, True, ruled=True))
    make("table-pages-headless", "table", False, lambda maker: long_table(maker, False, header=False))
    make("table-cells-of-lines", "table", True, lambda maker: wrapped_cells(maker, False))
    make("table-cells-of-lines-ruled", "table", False, lambda maker: wrapped_cells(maker, True, 9))
    make("table-wide", "table", True, lambda maker: landscape_table(maker, 9), landscape(A4))
    make("table-wider", "table", False, lambda maker: landscape_table(maker, 12), landscape(A4))
    make("table-sparse", "table", True, sparse_table)
    make("table-words", "table", True, lambda maker: words_table(maker, False))
    make("table-words-ruled", "table", False, lambda maker: words_table(maker, True))
    make("tables-beside", "table", False, two_tables)
    grid = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    plain = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("LINEBELOW", (0, 0), (-1, 0), 1, colors.black)]
    chance = random.Random("flowed")
    def flowed(rows, remark):
        return [["Vessel", "Berth", "Remark", "Tons"]] + [
            [f"Vessel {number}", str(number), " ".join(chance.choice(WORDS) for _ in range(remark)), f"{chance.randint(100, 999)}"]
            for number in range(rows)]
    for name, rows, remark, style, repeat in (
        ("flowed-short", 25, 2, grid, 1), ("flowed-pages", 90, 3, plain, 1), ("flowed-lines", 20, 14, grid, 1),
        ("flowed-lines-plain", 20, 14, plain, 1), ("flowed-pages-once", 90, 3, plain, 0)):
        file, told = flowed_table(directory, name, False, flowed(rows, remark), [90, 50, 220, 60], style, repeat)
        truth[file] = told
    make("form-boxes", "form", True, lambda maker: form(maker))
    make("form-plain", "form", False, lambda maker: form(maker, boxes=False))
    make("form-two", "form", False, lambda maker: form(maker, two=True))
    for number, (last, two) in enumerate(((False, False), (True, False), (False, True), (True, True))):
        make(f"slides-{number}", "slides", number == 0, lambda maker: slides(maker, last, two), landscape(A4))
    make("scan", "scan", True, lambda maker: scan(maker, 2))
    make("scan-hidden-text", "scan", False, lambda maker: scan(maker, 2, True))
    make("side-bar", "other", True, side_bar)
    make("side-bar-right", "other", False, lambda maker: side_bar(maker, True))
    make("random-order", "other", True, random_order)
    make("bold-headings", "other", False, lambda maker: bold_headings(maker, False))
    make("bold-headings-bookmarks", "other", True, lambda maker: bold_headings(maker, True))
    make("rotated", "other", True, rotated)
    make("glyph-by-glyph", "other", False, glyph_by_glyph)
    make("letter", "other", False, letter)
    make("glossary", "other", False, glossary)
    make("contents", "other", False, contents)
    make("pages-40", "other", False, lambda maker: many_pages(maker, 40))
    make("pages-300", "other", True, lambda maker: many_pages(maker, 300))
    (directory / "truth.json").write_text(json.dumps(truth, indent=1, ensure_ascii=False))
    print(f"{len(truth)} files, {sum(not told['seen'] for told in truth.values())} of them of kinds that are new to the rules")


main()
