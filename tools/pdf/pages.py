"""Pages of text: columns, papers, slides, scans and others."""

import io

from PIL import Image, ImageDraw
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader

from maker import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, WORDS


def column_pages(maker, columns, gap, pages=2, interleaved=False, size=9, title=True, headings=False, running=False):
    """Pages in columns; drawn column by column, or line by line across the page."""
    width = (WIDTH - 2 * LEFT - gap * (columns - 1)) / columns
    for page in range(pages):
        top = TOP
        if running:
            line = f"Journal of Made Up Matters {maker.truth['kind']}"
            maker.running(line)
            maker.text(LEFT, HEIGHT - 12 * mm, line, 8)
            maker.text(WIDTH / 2, 10 * mm, str(page + 1), 8)
        if title and page == 0:
            maker.text(LEFT, top, maker.heading("A paper that nobody has written about columns"), 17, "Helvetica-Bold")
            top -= 30
        placed = []
        for column in range(columns):
            y = top
            while y > BOTTOM + 60:
                if headings and maker.random.random() < 0.25:
                    name = maker.heading(f"Section {maker.sentence(2).rstrip('.')}")
                    placed.append((column, y, name, size + 3, "Helvetica-Bold"))
                    y -= size * 2
                text = maker.read(maker.paragraph(3))
                for line in maker.lines(text, width, size):
                    placed.append((column, y, line, size, "Helvetica"))
                    y -= size * 1.25
                # Lines of columns that are drawn across the page stand at one height.
                y -= size * 1.25 if interleaved else size * 0.7
        if interleaved:
            placed.sort(key=lambda item: (-item[1], item[0]))
        for column, y, line, line_size, font in placed:
            maker.text(LEFT + column * (width + gap), y, line, line_size, font)
        maker.page()


def paper(maker, gap, running=True, foot=False):
    """A two column paper with title, authors, abstract across the page, sections, a figure and references."""
    width = (WIDTH - 2 * LEFT - gap) / 2
    for page in range(3):
        if running and page:
            line = "Proceedings of a conference that did not take place"
            maker.running(line)
            maker.text(LEFT, HEIGHT - 14 * mm, line, 8, "Times-Roman")
        y = TOP
        if page == 0:
            maker.text(LEFT, y, maker.heading(f"On {maker.sentence(5).rstrip('.')}"), 18, "Times-Bold")
            y -= 22
            maker.text(LEFT, y, maker.read("Ada Byron and Grace Hopper, Institute of Water"), 11, "Times-Roman")
            y -= 26
            maker.text(LEFT, y, maker.heading("Abstract"), 12, "Times-Bold")
            y -= 16
            y = maker.block(LEFT, y, maker.read(maker.paragraph(4)), WIDTH - 2 * LEFT, 9, "Times-Italic") - 8
        for column in range(2):
            at, x = y, LEFT + column * (width + gap)
            section = 0
            while at > BOTTOM + 80:
                if section % 2 == 0:
                    name = f"{page * 4 + column * 2 + section // 2 + 1} {maker.sentence(3).rstrip('.')}"
                    maker.text(x, at, maker.heading(name), 12, "Times-Bold")
                    at -= 17
                at = maker.block(x, at, maker.read(maker.paragraph(3)), width, 9.5, "Times-Roman")
                if section == 1 and column == 1:
                    maker.canvas.rect(x, at - 60, width, 60)
                    at -= 74
                    at = maker.block(x, at, maker.read(f"Figure {page + 1}: {maker.sentence(6)}"), width, 8, "Times-Roman")
                section += 1
            if foot and column == 1:
                maker.block(x, BOTTOM + 30, maker.read(f"{page + 1} {maker.sentence(8)}"), width, 7, "Times-Roman")
        maker.page()


def slides(maker, last_title=False, two=False):
    width, height = maker.size
    for number in range(6):
        line = "Quarterly meeting of the board"
        maker.running(line)
        title = maker.heading(f"Slide {number + 1} {maker.sentence(3).rstrip('.')}")
        columns = 2 if two and number % 2 else 1
        points = []
        for column in range(columns):
            y = height - 130
            for _ in range(4):
                point = maker.read(maker.sentence(5))
                points.append((60 + column * (width - 120) / 2, y, point))
                y -= 46
        def draw_title():
            maker.text(50, height - 70, title, 28, "Helvetica-Bold")
        if not last_title:
            draw_title()
        for x, y, point in points:
            maker.text(x, y, "\u2022", 18)
            maker.text(x + 18, y, point, 13 if columns > 1 else 18)
        if last_title:
            draw_title()
        maker.text(50, 20, line, 9)
        maker.text(width - 60, 20, str(number + 1), 9)
        maker.page()


def scan(maker, pages=1, hidden=False):
    """A picture of text; with the invisible text that recognition adds."""
    for _ in range(pages):
        picture = Image.new("L", (620, 877), 255)
        draw = ImageDraw.Draw(picture)
        y = 40
        for _ in range(14):
            text = maker.sentence(7)
            draw.text((40, y), text, fill=0)
            if hidden:
                maker.read(text)
                writer = maker.canvas.beginText(40 * WIDTH / 620, HEIGHT - (y + 10) * HEIGHT / 877)
                writer.setFont("Helvetica", 9)
                writer.setTextRenderMode(3)
                writer.textOut(text)
                maker.canvas.drawText(writer)
            y += 30
        data = io.BytesIO()
        picture.save(data, "PNG")
        data.seek(0)
        maker.canvas.drawImage(ImageReader(data), 0, 0, WIDTH, HEIGHT)
        maker.page()


def side_bar(maker, right=False):
    """Text with a narrow box of notes beside it."""
    x, bar = (LEFT, WIDTH - LEFT - 120) if right else (LEFT + 150, LEFT)
    maker.text(x, TOP, maker.heading("Guide to the valley"), 16, "Helvetica-Bold")
    y = TOP - 30
    for _ in range(6):
        y = maker.block(x, y, maker.read(maker.paragraph(3)), WIDTH - 2 * LEFT - 160)
    maker.canvas.rect(bar - 6, TOP - 250, 132, 240)
    at = TOP - 40
    for _ in range(4):
        at = maker.block(bar, at, maker.read(maker.sentence(9)), 115, 8)
    maker.page()


def random_order(maker):
    """Lines that are drawn in random order."""
    y, placed = TOP, []
    for _ in range(5):
        for line in maker.lines(maker.read(maker.paragraph(4)), WIDTH - 2 * LEFT, 10):
            placed.append((y, line))
            y -= 12.5
        y -= 9
    maker.random.shuffle(placed)
    for y, line in placed:
        maker.text(LEFT, y, line)
    maker.page()


def bold_headings(maker, bookmarks):
    """Headings of the size of the text, in bold, with bookmarks or without."""
    y = TOP
    for number in range(5):
        name = maker.heading(f"Part {number + 1} {maker.sentence(2).rstrip('.')}")
        if bookmarks:
            maker.canvas.bookmarkPage(name)
            maker.canvas.addOutlineEntry(name, name, 0)
        maker.text(LEFT, y, name, 10, "Helvetica-Bold")
        y = maker.block(LEFT, y - 16, maker.read(maker.paragraph(4)), WIDTH - 2 * LEFT) - 4
    maker.page()


def rotated(maker):
    maker.text(LEFT, TOP, maker.heading("Map of the harbour"), 16, "Helvetica-Bold")
    maker.block(LEFT, TOP - 30, maker.read(maker.paragraph(5)), WIDTH - 2 * LEFT)
    maker.page()
    text = maker.read(maker.paragraph(4))
    maker.canvas.rotate(90)
    y = -60
    for line in maker.lines(text, HEIGHT - 120, 10):
        maker.text(60, y, line)
        y -= 12.5
    maker.page()


def glyph_by_glyph(maker):
    """Each character is placed on its own, as some converters do."""
    y = TOP
    for _ in range(4):
        for line in maker.lines(maker.read(maker.paragraph(3)), WIDTH - 2 * LEFT, 10):
            x = LEFT
            for sign in line:
                if sign != " ":
                    maker.text(x, y, sign)
                x += maker.canvas.stringWidth(sign, "Helvetica", 10)
            y -= 12.5
        y -= 9
    maker.page()


def letter(maker):
    """A letter with an address at the right, and a foot in three columns."""
    y = TOP
    for line in ["Water board", "Quay street 7", "Harbour town"]:
        maker.text(WIDTH - LEFT - 120, y, maker.read(line))
        y -= 13
    maker.text(LEFT, y - 20, maker.read("Dear member,"))
    y = maker.block(LEFT, y - 44, maker.read(maker.paragraph(5)), WIDTH - 2 * LEFT)
    y = maker.block(LEFT, y, maker.read(maker.paragraph(4)), WIDTH - 2 * LEFT)
    for column in range(3):
        at = BOTTOM + 20
        for part in ("Bank", "Account", "Register"):
            maker.text(LEFT + column * 170, at, maker.read(f"{part} {column}{maker.random.randint(100, 999)}"), 7)
            at -= 9
    maker.page()


def glossary(maker):
    """Terms with definitions that hang beside them."""
    y = TOP
    for number in range(9):
        term = f"{maker.random.choice(WORDS)} {number}"
        definition = maker.paragraph(2)
        maker.read(term)
        maker.read(definition)
        maker.text(LEFT, y, term, 10, "Helvetica-Bold")
        y = maker.block(LEFT + 110, y, definition, WIDTH - 2 * LEFT - 110)
    maker.page()


def contents(maker):
    """A table of contents with dots, and the chapters."""
    maker.text(LEFT, TOP, maker.heading("Contents"), 16, "Helvetica-Bold")
    y = TOP - 30
    names = [f"Chapter {number + 1} {maker.sentence(2).rstrip('.')}" for number in range(4)]
    for number, name in enumerate(names):
        maker.truth["order"] += [name, str(number + 2)]
        maker.text(LEFT, y, name + " " + "." * 60, 10)
        maker.canvas.drawRightString(WIDTH - LEFT, y, str(number + 2))
        y -= 18
    maker.page()
    for name in names:
        maker.text(LEFT, TOP, maker.heading(name), 16, "Helvetica-Bold")
        maker.block(LEFT, TOP - 30, maker.read(maker.paragraph(6)), WIDTH - 2 * LEFT)
        maker.page()


def many_pages(maker, pages):
    for page in range(pages):
        line = "Manual of the long harbour"
        maker.running(line)
        maker.text(LEFT, HEIGHT - 12 * mm, line, 8)
        maker.text(WIDTH / 2, 10 * mm, str(page + 1), 8)
        maker.text(LEFT, TOP, maker.heading(f"Chapter {page + 1} {maker.sentence(2).rstrip('.')}"), 16, "Helvetica-Bold")
        y = TOP - 30
        for _ in range(6):
            y = maker.block(LEFT, y, maker.read(maker.paragraph(4)), WIDTH - 2 * LEFT)
        maker.page()
