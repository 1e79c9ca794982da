"""What all files have in common: their words, and the notes of what they hold."""

import random

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen import canvas

WORDS = (
    "water field river stone light winter market engine bridge record harbour garden copper timber signal valley "
    "morning service annual income budget member region policy supply method result sample figure margin export "
    "carries follows reaches shows covers needs brings holds moves gives slowly mostly rarely often never again "
    "before after under above between without about against during within small large early recent common useful"
).split()
WIDTH, HEIGHT = A4
LEFT, TOP, BOTTOM = 20 * mm, HEIGHT - 25 * mm, 25 * mm


class Maker:
    """One file: draws, and notes the truth in the order in which it is to be read."""

    def __init__(self, directory, name, kind, seen, size=A4):
        self.random = random.Random(name)
        self.path = directory / f"{name}.pdf"
        self.canvas = canvas.Canvas(str(self.path), pagesize=size, invariant=1)
        self.size = size
        self.truth = {"kind": kind, "seen": seen, "order": [], "rows": [], "headings": [], "running": []}
        self.number = 0

    def sentence(self, words=None):
        self.number += 1
        chosen = [self.random.choice(WORDS) for _ in range(words or self.random.randint(7, 16))]
        return f"{' '.join(chosen).capitalize()} n{self.number}."

    def paragraph(self, sentences=4):
        return " ".join(self.sentence() for _ in range(sentences))

    def read(self, text):
        self.truth["order"].append(text)
        return text

    def heading(self, text):
        self.truth["headings"].append(text)
        return self.read(text)

    def row(self, cells):
        filled = [cell for cell in cells if cell]
        self.truth["rows"].append(filled)
        for cell in filled:
            self.read(cell)
        return cells

    def running(self, text):
        if text not in self.truth["running"]:
            self.truth["running"].append(text)

    def text(self, x, y, text, size=10, font="Helvetica"):
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, y, text)

    def lines(self, text, width, size=10, font="Helvetica"):
        return simpleSplit(text, font, size, width)

    def block(self, x, y, text, width, size=10, font="Helvetica"):
        for line in self.lines(text, width, size, font):
            self.text(x, y, line, size, font)
            y -= size * 1.25
        return y - size * 0.6

    def page(self):
        self.canvas.showPage()

    def save(self):
        self.canvas.save()
        return self.path.name, self.truth
