"""Makes the files of tests/corpus/files with the usual tools, each with one thing to be found or to fail on.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python generate.py

Chromium prints tagged.pdf.

The files are committed; run this only to change them. The text expected of each is in tests/it/ingest/corpus_files.rs,
and all of it in tests/corpus/golden.
"""

import copy
import datetime
import gzip
import io
import json
import pathlib
import subprocess
import tempfile
import zipfile
from email.message import EmailMessage

import docx
import msoffcrypto.format.ooxml
import openpyxl
import pikepdf
import pptx
from docx.oxml import OxmlElement
from PIL import Image, ImageDraw
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.util import Inches
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

from binary import binary_workbook, legacy
from powerpoint import binary_slides
from shared import CARRY, FILES, LEAVE, SICK, write
from word import word as old_word

LEAVE_MANUAL = """.\\" Annual leave.
.TH LEAVE 1 "May 2026" "leave 1.2" "Handbook"
.SH NAME
leave \\- ask for annual leave
.SH OPTIONS
.TP
.BI \\-\\-days= number
Ask for
.I number
days; everyone has 28 of them.
.SS "Carrying over"
Up to five unused days may be carried over.
"""


TABLE = """| Kind | Days |
|---|---|
| Annual | 28 |
| Carried over | 5 |
"""

DAYS_MANUAL = """.TH DAYS 1 "May 2026" "days 1.0" "Handbook"
.SH NAME
days \\- days of leave by kind
.SH KINDS
The days of a year are:
.TS
box;
lB | lB
l | n.
Kind	Days
_
Annual	28
Carried over	5
.TE
"""


def texts():
    write("days.md", f"# Days of leave\n\nBy kind:\n\n{TABLE}\nThe office counts them.\n")
    write("days.1", DAYS_MANUAL)
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
    write("leave.man", LEAVE_MANUAL)
    write("leave.1.gz", gzip.compress(LEAVE_MANUAL.encode(), mtime=0))
    write("reference.8", ".so man1/leave.1\n")
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


def markup():
    write("leave.adoc", f"""= Leave: a _short_ guide
Mira Novak
v1.2, 2026-05-01
:days: 28
:toc:

// Not for readers.
Everyone has {{days}} days of paid leave a year, from the first day on.footnote:[Half of them in the first six months.]

include::illness.adoc[]

== Carrying over

{CARRY}

NOTE: Whoever leaves is paid for them.

.How to ask
. Ask your manager.
. Then tell the office:
+
[source,sh]
----
leave --days=5 # <1>
----
<1> Half days are not possible.

--days=number::
Ask for _number_ days.
--from=date:: The first of them.

.Kinds of leave
[cols="1,1"]
|===
|Kind |Days

|Annual |28
|Moving house |1
|===

Illness
~~~~~~~

See <<_carrying_over>> and xref:illness.adoc[the page on illness].

++++
<p>{SICK}</p><script>var hidden = "script";</script>
++++
""")
    write("pages.adoc", "// The whole handbook.\n\ninclude::leave.adoc[]\ninclude::illness.adoc[leveloffset=+1]\n")
    cells = [
        {"cell_type": "code", "source": ["import staff"], "outputs": []},
        {"cell_type": "markdown", "source": ["# Leave\n", "\n", LEAVE]},
        {"cell_type": "code", "source": "days = 28\nprint(days)", "execution_count": 1, "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["28\n"]},
            {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {
                "text/html": "<table><tr><th>Kind</th><th>Days</th></tr><tr><td>Annual</td><td>28</td></tr></table>",
                "text/plain": "Kind Days",
            }},
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}},
        ]},
        {"cell_type": "markdown", "source": ["## Carrying over\n", "\n", CARRY]},
        {"cell_type": "code", "source": "days[0]", "outputs": [
            {"output_type": "error", "ename": "TypeError", "evalue": "'int' object is not subscriptable", "traceback": ["\x1b[31m…"]},
        ]},
    ]
    for cell in cells:
        cell["metadata"] = {}
    notebook = {"cells": cells, "metadata": {"kernelspec": {"language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
    write("leave.ipynb", json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")


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
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
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
    lines = slide.placeholders[1].text_frame
    for text in ["Ask your manager.", "Then tell the office."]:
        line = lines.add_paragraph()
        line.text, line.level = text, 1
    # python-pptx marks the first row as a header.
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for number, text in enumerate(["Kind", "Days", "Annual", "28"]):
        table.cell(number // 2, number % 2).text = text
    # Margins of a slide are copied from its layout by hand.
    for margin in slide.slide_layout.placeholders:
        if margin.placeholder_format.type in (PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER):
            margin = copy.deepcopy(margin._element)
            slide.shapes._spTree.append(margin)
            slide.shapes[-1].text_frame.text = "Example Ltd, page 2"
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


# A section with a list and a table, for pages.
SECTION = """<h2>How to ask</h2><ul><li>Ask your manager.</li><li>Then tell the office.</li></ul>
<table><tr><th>Kind</th><th>Days</th></tr><tr><td>Annual</td><td>28</td></tr></table>"""


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
        archive.writestr("OPS/a.xhtml", chapter.format("Carrying over", CARRY).replace("</body>", f"{SECTION}</body>"))
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
    grey = image.convert("L")
    grey.save(FILES / "picture.jpg")
    grey.save(FILES / "picture.webp", lossless=True)
    image.save(FILES / "pages.tiff", save_all=True, append_images=[image.rotate(180)], compression="group4")
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


def tagged():
    """A page with structure, as browsers print it."""
    page = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Days of leave</title></head><body>
<h1>Days of leave</h1><p>{LEAVE}</p><h2>By kind</h2>
<table border="1"><thead><tr><th>Kind</th><th>Days</th></tr></thead><tbody><tr><td>Annual</td><td>28</td></tr>
<tr><td>Carried over</td><td>5</td></tr></tbody></table>
<h2>How to ask</h2><ul><li>Ask your manager.</li><li>Then tell the office.</li></ul></body></html>"""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "page.html"
        source.write_text(page, encoding="utf-8")
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/data",
                        "--no-pdf-header-footer", f"--print-to-pdf={FILES / 'tagged.pdf'}", source.as_uri()], check=True)


def report():
    """Two columns drawn line by line, a table, running lines and bookmarks."""
    page = canvas.Canvas(str(FILES / "report.pdf"), pagesize=A4, invariant=1)

    def begin(number, title):
        page.setFont("Helvetica", 8)
        page.drawString(72, 810, "Example Ltd, report of the year")
        page.drawCentredString(297, 30, f"Page {number} of 3")
        page.bookmarkPage(title)
        page.addOutlineEntry(title, title, 0)
        page.setFont("Times-Bold", 11)
        page.drawString(72, 760, title)
        page.setFont("Times-Roman", 11)

    begin(1, "Harbour")
    for line in range(6):
        page.drawString(72, 730 - 14 * line, f"Left line {line + 1} tells of boats and piers.")
        page.drawString(310, 730 - 14 * line, f"Right line {line + 1} tells of trams and rails.")
    page.showPage()
    begin(2, "Income")
    for line, cells in enumerate([("Region", "2025", "Change"), ("North", "1,200", "+5 %"), ("South", "", "+12 %"), ("West", "90", "-3 %")]):
        for cell, right in zip(cells, [None, 260, 340]):
            cell = "Year" if cell == "2025" else cell
            if right is None:
                page.drawString(72, 730 - 18 * line, cell)
            else:
                page.drawRightString(right, 730 - 18 * line, cell)
    page.showPage()
    begin(3, "Outlook")
    page.drawString(72, 730, LEAVE)
    page.showPage()
    page.save()


ODF = "urn:oasis:names:tc:opendocument:xmlns"


def open_document(name, kind, title, body):
    """An OpenDocument file with this title and content."""
    spaces = " ".join(f'xmlns:{space}="{ODF}:{uri}:1.0"' for space, uri in [
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("presentation", "presentation")])
    with zipfile.ZipFile(FILES / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{ODF}:manifest:1.0"/>')
        archive.writestr("meta.xml", f'<office:document-meta {spaces} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>{title}</dc:title></office:meta></office:document-meta>')
        archive.writestr("content.xml", f'<office:document-content {spaces} office:version="1.3"><office:body>{body}</office:body></office:document-content>')


def open_documents():
    def cell(text):
        return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'

    def row(*texts):
        return f'<table:table-row>{"".join(map(cell, texts))}</table:table-row>'

    points = "<text:list><text:list-item><text:p>Ask your manager.</text:p></text:list-item><text:list-item><text:p>Then tell the office.</text:p></text:list-item></text:list>"
    table = f'<table:table><table:table-header-rows>{row("Kind", "Days")}</table:table-header-rows>{row("Annual", "28")}</table:table>'
    open_document("leave.odt", "text", "Leave of absence", f"""<office:text><text:h text:outline-level="1">Leave</text:h><text:p>{LEAVE}</text:p>
<text:h text:outline-level="2">Carrying over</text:h><text:p>{CARRY}</text:p>
{points}
{table}</office:text>""")
    framed = f"<draw:frame>{table}</draw:frame>"
    notes = "<presentation:notes><draw:frame presentation:class='notes'><draw:text-box><text:p>Say when the days lapse.</text:p></draw:text-box></draw:frame></presentation:notes>"
    page = '<draw:page draw:name="{0}"><draw:frame presentation:class="title"><draw:text-box><text:p>{0}</text:p></draw:text-box></draw:frame><draw:frame presentation:class="outline"><draw:text-box><text:p>{1}</text:p>{2}</draw:text-box></draw:frame>{3}</draw:page>'
    open_document("leave.odp", "presentation", "Leave of absence", f'<office:presentation>{page.format("Leave", LEAVE, "", notes)}{page.format("Carrying over", CARRY, points, framed)}</office:presentation>')
    open_document("staff.ods", "spreadsheet", "Who works where", f'<office:spreadsheet><table:table table:name="Staff">{row("Name", "Office")}{row("Mira Novak", "Bern")}</table:table></office:spreadsheet>')


def mail():
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Mira Novak <mira@example.org>", "office@example.org", "Leave"
    message["Date"], message["Message-ID"] = "Tue, 24 Nov 2026 10:00:00 +0100", "<1@example.org>"
    message.set_content(f"{LEAVE}\n")
    message.add_attachment(f"# Carrying over\n\n{CARRY}\n".encode(), maintype="text", subtype="markdown", filename="rules.md")
    message.add_attachment((FILES / "picture.png").read_bytes(), maintype="image", subtype="png", filename="picture.png")
    message.set_boundary("boundary")
    write("leave.eml", message.as_bytes())
    write("mail.txt", message.as_bytes())
    page = EmailMessage()
    page["From"], page["To"], page["Subject"] = "Mira Novak <mira@example.org>", "office@example.org", "Leave, as a page"
    page["Date"], page["Message-ID"] = "Tue, 24 Nov 2026 10:30:00 +0100", "<3@example.org>"
    page.set_content(f"<html><head><title>x</title></head><body><h1>Leave</h1><p>{LEAVE}</p>\n{SECTION}</body></html>\n", subtype="html")
    write("page.eml", page.as_bytes())
    plain = f"From: jan@example.org\nSubject: Illness\nMessage-ID: <2@example.org>\nDate: Tue, 24 Nov 2026 11:00:00 +0100\n\n{SICK}\n"
    again = EmailMessage()
    again["From"], again["Subject"], again["Message-ID"] = "jan@example.org", "Again", "<4@example.org>"
    again["Date"] = "Tue, 24 Nov 2026 12:00:00 +0100"
    again.set_content(f"{SICK}\n")
    again.add_attachment("kind,days\nAnnual,28\n".encode(), maintype="text", subtype="csv", filename="days.csv")
    again.set_boundary("boundary")
    write("leave.mbox", f"From jan@example.org Tue Nov 24 11:00:00 2026\n{plain}\nFrom jan@example.org Tue Nov 24 12:00:00 2026\n{again.as_string()}")


def hostile():
    write("empty.pdf", b"")
    write("blank.md", " \n\t\n")
    write("nul.txt", b"words\0\0\0\0and more words")
    write("noise.txt", bytes(range(1, 9)) * 40)
    write("page.txt", "<!doctype html>\n<title>Not plain</title><p>This is a page whatever its name says.</p>")
    write("words.pdf", "Only words, whatever the name says.")
    write("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    write("broken.json", '{"name": "Mira", ')
    write("rich.rtf", "{\\rtf1\\ansi\\ansicpg1252 Words in Z\\'fcrich.\\par More words.}")
    with zipfile.ZipFile(FILES / "files.zip", "w") as archive:
        archive.writestr("leave.txt", LEAVE)


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for make in [texts, markup, encodings, word, slides, workbook, book, pdf, tagged, report, open_documents, legacy, old_word, binary_slides, binary_workbook, mail, hostile]:
        make()
    print(f"{len(list(FILES.iterdir()))} files in {FILES}")
