"""Makes the files of tests/corpus/files with the usual tools, each with one thing to be found or to fail on.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python generate.py

The files are committed; run this only to change them. What each must come to stands in tests/it/ingest/corpus.rs.
"""

import datetime
import io
import json
import zipfile
from pathlib import Path

import docx
import msoffcrypto.format.ooxml
import openpyxl
import pikepdf
import pptx
import pptx.util
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

FILES = Path(__file__).resolve().parent / "files"

LEAVE = "Everyone has 28 days of paid leave a year, from the first day on."
CARRY = "Up to five unused days may be carried over; they lapse on 31 March."
SICK = "Whoever falls ill stays at home and reports it before nine o'clock."


def write(name, content):
    (FILES / name).write_bytes(content.encode() if isinstance(content, str) else content)


def texts():
    write("leave.txt", f"Annual leave\n\n{LEAVE}\n{CARRY}\n")
    write("leave.md", f"# Leave\n\n{LEAVE}\n\n## Carrying over\n\n{CARRY}\n")
    write("leave.html", f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Leave – Handbook</title><style>nav {{ color: red }}</style></head>
<body><header><p>Example Ltd</p></header><nav><ul><li><a href="/">Home page</a></li></ul></nav>
<main><h1>Leave<a href="#leave">¶</a></h1><p>{LEAVE}</p>
<h2>Carrying over</h2><p>{CARRY}</p>
<table><tr><th>Kind</th><th>Days</th></tr><tr><td>Annual</td><td>28</td></tr></table></main>
<script>var hidden = "script";</script><footer>Imprint</footer></body></html>
""")
    write("staff.csv", "name;office;extension\nMira Novak;Bern;4711\n\"Weber, Jan\";Graz;\n")
    write("staff.tsv", "name\toffice\nMira Novak\tBern\n")
    write("staff.json", json.dumps({"office": "Bern", "staff": [{"name": "Mira Novak", "phone": 4711}, {"name": "Jan Weber"}]}))
    write("staff.ndjson", '{"name": "Mira Novak", "phone": 4711}\n{"name": "Jan Weber", "phone": null}\n')
    write("leave.py", f'''"""Leave."""

DAYS = 28


class Leave:
    """{LEAVE}"""

    def days_left(self, taken):
        """Days that are left."""
        return DAYS - taken


def carried_over(unused):
    """{CARRY}"""
    return min(unused, 5)
''')


def encodings():
    write("windows-1252.txt", "Größe und Maß: die Tür ist “zwei” Meter hoch – genug für alle.".encode("windows-1252"))
    write("shift-jis.txt", "有給休暇は年に二十八日あります。申請は二週間前までに上司へ提出してください。".encode("shift_jis"))
    write("utf-16.txt", "\ufeffDie Tür ist zwei Meter hoch. 漢字 😀".encode("utf-16-le"))
    write("mixed.txt", "Zürich liegt am See.\nGenève aussi.\n".encode() + "München nicht.\n".encode("latin-1"))
    write("right-to-left.txt", "יש עשרים ושמונה ימי חופשה בשנה.\nلكل موظف ثمانية وعشرون يوم إجازة.\n")
    write("twice.txt", "Die Größe der Tür – ‘genau’ 20 °C.".encode().decode("windows-1252").encode())
    write("latin-1.html", "<html><p>It\x92s \x93free\x94 for all.</p>".encode())
    write("stray.txt", b"Words\0 and more words.\x7f")
    write("emoji.txt", "👨‍👩‍👧‍👦🏳️‍🌈 e\u0301 " * 400)
    write("one-line.txt", "All of it stands on one line, as exports often do. " * 4000)


def word():
    document = docx.Document()
    document.core_properties.title = "Leave of absence"
    document.add_heading("Leave", 1)
    document.add_paragraph(LEAVE)
    document.add_heading("Carrying over", 2)
    document.add_paragraph(CARRY)
    document.add_paragraph("Ask your manager.", style="List Bullet")
    document.add_paragraph("Then tell the office.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table.rows[0].cells + table.rows[1].cells, ["Kind", "Days", "Annual", "28"]):
        cell.text = text
    document.save(FILES / "leave.docx")
    whole = (FILES / "leave.docx").read_bytes()
    write("truncated.docx", whole[: len(whole) // 2])
    office = msoffcrypto.format.ooxml.OOXMLFile(io.BytesIO(whole))
    with open(FILES / "encrypted.docx", "wb") as file:
        office.encrypt("secret", file)


def slides():
    show = pptx.Presentation()
    for title, body in [("Leave", LEAVE), ("Carrying over", CARRY)]:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    show.slides[1].notes_slide.notes_text_frame.text = "Say when the days lapse."
    show.save(FILES / "leave.pptx")


def workbook():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Staff"
    for row in [["Name", "Since", "Days"], ["Mira Novak", datetime.date(2021, 3, 1), 28], ["Jan Weber", datetime.date(2024, 11, 15), 25.5]]:
        sheet.append(row)
    other = book.create_sheet("Rates")
    other["C3"] = "Far away"
    other["XFD1048576"] = "Corner"
    book.save(FILES / "staff.xlsx")


def book():
    package = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x</dc:identifier><dc:title>The book of leave</dc:title></metadata>
<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="b"/><itemref idref="a"/></spine></package>"""
    chapter = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><h1>{}</h1><p>{}</p></body></html>'
    with zipfile.ZipFile(FILES / "leave.epub", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/p.opf"/></rootfiles></container>')
        archive.writestr("OPS/p.opf", package)
        archive.writestr("OPS/a.xhtml", chapter.format("Carrying over", CARRY))
        archive.writestr("OPS/b.xhtml", chapter.format("Leave", LEAVE))


def pdf():
    page = canvas.Canvas(str(FILES / "leave.pdf"), pagesize=A4, invariant=1)
    page.setTitle("Leave and illness")
    for number, (heading, lines) in enumerate([
        ("Leave", [LEAVE, CARRY, "Whoever needs more asks the mana-", "gement in writing."]),
        ("Illness", [SICK, "A doctor's note is due on the fourth day."]),
    ]):
        page.setFont("Times-Bold", 20)
        page.drawString(72, 760, heading)
        page.setFont("Times-Roman", 11)
        for line, text in enumerate(lines * 4):
            page.drawString(72, 720 - 14 * line, text)
        page.showPage()
    page.save()
    whole = (FILES / "leave.pdf").read_bytes()
    write("truncated.pdf", whole[:300])
    write("really-a-pdf.docx", whole)
    with pikepdf.open(FILES / "leave.pdf") as file:
        file.save(FILES / "encrypted.pdf", encryption=pikepdf.Encryption(user="secret", owner="secret", R=6))
        # Opens without a password; only printing and copying are forbidden, which binds nobody who cites.
        file.save(FILES / "restricted.pdf", encryption=pikepdf.Encryption(user="", owner="secret", R=6, allow=pikepdf.Permissions(extract=False)))
    image = Image.new("1", (400, 100), 1)
    ImageDraw.Draw(image).text((10, 40), "A scanned page", fill=0)
    image.save(FILES / "picture.png")
    scan = canvas.Canvas(str(FILES / "scan.pdf"), pagesize=A4, invariant=1)
    scan.drawInlineImage(image, 72, 600)
    scan.showPage()
    scan.save()
    partly = canvas.Canvas(str(FILES / "partly.pdf"), pagesize=A4, invariant=1)
    for text in [LEAVE, None, CARRY, None]:
        if text:
            partly.drawString(72, 720, text)
        else:
            partly.drawInlineImage(image, 72, 600)
        partly.showPage()
    partly.save()


def hostile():
    write("empty.pdf", b"")
    write("blank.md", " \n\t\n")
    write("nul.txt", b"words\0\0\0\0and more words")
    write("noise.txt", bytes(range(1, 9)) * 40)
    write("page.txt", "<!doctype html>\n<title>Not plain</title><p>This is a page whatever its name says.</p>")
    write("words.pdf", "Only words, whatever the name says.")
    write("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    write("broken.json", '{"name": "Mira", ')
    write("rich.rtf", "{\\rtf1\\ansi Words.}")
    with zipfile.ZipFile(FILES / "files.zip", "w") as archive:
        archive.writestr("leave.txt", LEAVE)


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for make in [texts, encodings, word, slides, workbook, book, pdf, hostile]:
        make()
    print(f"{len(list(FILES.iterdir()))} files in {FILES}")
