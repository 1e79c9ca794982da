"""Tables, reports and forms."""

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table, TableStyle

from maker import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, WORDS


def table(maker, x, y, rows, widths, ruled=False, header=True, size=9, step=16, right=()):
    """Rows at fixed places; cells are cut to their columns by the caller."""
    for number, cells in enumerate(rows):
        maker.row(cells)
        at = x
        for column, (cell, width) in enumerate(zip(cells, widths)):
            font = "Helvetica-Bold" if header and number == 0 else "Helvetica"
            maker.canvas.setFont(font, size)
            if column in right:
                maker.canvas.drawRightString(at + width - 6, y, cell)
            else:
                maker.canvas.drawString(at + 3, y, cell)
            if ruled:
                maker.canvas.rect(at, y - 4, width, step)
            at += width
        y -= step
    return y


def figures(maker, rows, columns, names=("Item", "North", "South", "East", "West", "Total", "Share")):
    def amount():
        return f"{maker.random.randint(1, 9)},{maker.random.randint(100, 999)}"

    items = maker.random.sample([word.capitalize() for word in WORDS[:40]], min(rows, 40))
    return [list(names[:columns])] + [[item, *(amount() for _ in range(columns - 1))] for item in items]


def report(maker, pages=3, running=True, across=False, notes=False):
    """An annual report: headings, text, tables of figures, running lines, page numbers."""
    maker.text(LEFT, TOP, maker.heading("Annual report of the harbour"), 22, "Helvetica-Bold")
    y = TOP - 40
    for page in range(pages):
        if running:
            line = "Harbour board and its companies"
            maker.running(line)
            maker.text(LEFT, HEIGHT - 12 * mm, line, 8)
            maker.text(WIDTH - LEFT - 40, 12 * mm, f"Page {page + 1} of {pages}", 8)
        maker.text(LEFT, y, maker.heading(f"Statement {page + 1} of {maker.sentence(2).rstrip('.')}"), 14, "Helvetica-Bold")
        y = maker.block(LEFT, y - 22, maker.read(maker.paragraph(4)), WIDTH - 2 * LEFT)
        columns = 5 if across else 4
        widths = [150] + [80] * (columns - 1)
        y = table(maker, LEFT, y - 6, figures(maker, 9, columns), widths, ruled=False, right=range(1, columns)) - 10
        if notes:
            y = maker.block(LEFT, y, maker.read(f"1 {maker.sentence(12)}"), WIDTH - 2 * LEFT, 7)
        maker.block(LEFT, y, maker.read(maker.paragraph(5)), WIDTH - 2 * LEFT)
        maker.page()
        y = TOP


def long_table(maker, repeated, header=True, ruled=False):
    """A table over three pages, whose header is repeated on each or not."""
    names = ["Station", "Opened", "Height", "Staff"]
    widths = [160, 100, 100, 80]
    first = True
    for page in range(3):
        rows = [[f"Tarn{page}{number}", str(1900 + number), f"{300 + page * 40 + number}", str(number % 9)] for number in range(30)]
        show = header and (first or repeated)
        table(maker, LEFT, TOP, ([names] if show else []) + rows, widths, ruled=ruled, header=show)
        first = False
        maker.page()


def wrapped_cells(maker, ruled, rows=7):
    """A table whose cells have several lines."""
    y, widths = TOP, [90, 250, 90]
    for number in range(rows):
        cells = ["Name", "Remark", "Amount"] if number == 0 else [
            maker.random.choice(WORDS).capitalize(), maker.sentence(12), f"{maker.random.randint(100, 999)}"]
        maker.row(cells)
        parts = [maker.lines(cell, width - 8, 9) for cell, width in zip(cells, widths)]
        height = max(len(part) for part in parts) * 11 + 5
        x = LEFT
        for part, width in zip(parts, widths):
            for line_number, line in enumerate(part):
                maker.text(x + 3, y - line_number * 11, line, 9)
            if ruled:
                maker.canvas.rect(x, y + 11 - height, width, height)
            x += width
        y -= height
    maker.page()


def flowed_table(directory, name, seen, rows, widths, style, repeat=1, header=None):
    """A table that reportlab itself lays out over pages."""
    truth = {"kind": "table", "seen": seen, "order": [], "rows": [], "headings": [], "running": []}
    for row in rows:
        filled = [cell for cell in row if cell]
        truth["rows"].append(filled)
        truth["order"].extend(filled)
    path = directory / f"{name}.pdf"
    document = BaseDocTemplate(str(path), pagesize=A4, invariant=1)
    document.addPageTemplates(PageTemplate(frames=[Frame(LEFT, BOTTOM, WIDTH - 2 * LEFT, HEIGHT - 2 * BOTTOM)]))
    cell_style = ParagraphStyle("cell", fontName="Helvetica", fontSize=9, leading=11)
    cells = [[Paragraph(cell, cell_style) for cell in row] for row in rows]
    document.build([Table(cells, colWidths=widths, repeatRows=repeat, style=TableStyle(style))])
    return path.name, truth


def form(maker, two=False, boxes=True):
    """Labels with values beside them."""
    maker.text(LEFT, TOP, maker.heading("Application for a berth"), 16, "Helvetica-Bold")
    y = TOP - 34
    labels = ["Name", "Street", "Town", "Country", "Telephone", "Vessel", "Length", "Draught", "Arrival", "Departure"]
    for number, label in enumerate(labels):
        value = f"{maker.random.choice(WORDS).capitalize()} {maker.random.randint(1, 99)}"
        maker.row([f"{label}:", value])
        x = LEFT + (260 if two and number % 2 else 0)
        maker.text(x, y, f"{label}:", 10)
        maker.text(x + 100, y, value, 10, "Courier")
        if boxes:
            maker.canvas.rect(x + 96, y - 5, 120, 17)
        if not two or number % 2:
            y -= 24
    maker.block(LEFT, y - 20, maker.read(maker.paragraph(3)), WIDTH - 2 * LEFT)
    maker.page()


def landscape_table(maker, columns):
    rows = figures(maker, 16, 7)
    rows = [row + [f"{maker.random.randint(10, 99)}" if number else f"Q{at}" for at in range(columns - 7)] for number, row in enumerate(rows)]
    table(maker, 30, landscape(A4)[1] - 60, rows, [90] + [62] * (columns - 1), size=8, step=14, right=range(1, columns))
    maker.page()


def sparse_table(maker):
    rows = figures(maker, 12, 5)
    for row in rows[1:]:
        row[maker.random.randint(1, 4)] = ""
    table(maker, LEFT, TOP, rows, [140, 80, 80, 80, 80], right=range(1, 5))
    maker.page()


def words_table(maker, ruled):
    rows = [["Colour", "Use", "Keeper"]] + [[word.capitalize(), maker.random.choice(WORDS), maker.random.choice(WORDS).capitalize()] for word in WORDS[10:24]]
    table(maker, LEFT, TOP, rows, [140, 140, 140], ruled=ruled)
    maker.page()


def two_tables(maker):
    """Two tables beside each other."""
    for number in range(10):
        left = [f"Stone{number}", f"{number * 7 + 3}"]
        y = TOP - number * 16
        maker.row(left)
        maker.text(LEFT, y, left[0])
        maker.text(LEFT + 120, y, left[1])
    for number in range(10):
        right = [f"Light{number}", f"{number * 5 + 2}"]
        y = TOP - number * 16
        maker.row(right)
        maker.text(LEFT + 270, y, right[0])
        maker.text(LEFT + 390, y, right[1])
    maker.page()
