"""Office files of before 2007, messages of Outlook and binary workbooks, written record by record: no usual tool writes them."""

import datetime
import struct
import zipfile

import xlwt

from shared import CARRY, FILES, LEAVE, write


def compound_file(name, streams):
    """A compound file (MS-CFB) of streams, which are ordered by the length of their names and then by name; each is at
    least 4,096 bytes long, so that it needs no small sectors."""
    free, end, fat_sector = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    fat, data = [fat_sector, end], b""
    entries = [("Root Entry", 5, end, 0)]
    for title, content in streams:
        content = content.ljust(-(-max(len(content), 4096) // 512) * 512, b"\0")
        first, sectors = len(fat), len(content) // 512
        fat += [*range(first + 1, first + sectors), end]
        data += content
        entries.append((title, 2, first, len(content)))
    directory = b""
    for number in range(4):
        title, kind, first, size = entries[number] if number < len(entries) else ("", 0, 0, 0)
        utf16 = (title + "\0").encode("utf-16-le") if title else b""
        child = 1 if number == 0 else free
        right = number + 1 if 0 < number < len(entries) - 1 else free
        directory += utf16.ljust(64, b"\0") + struct.pack("<HBBIII", len(utf16), kind, 1, free, right, child) + bytes(36) + struct.pack("<IQ", first, size)
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<I", 0) + struct.pack("<I", free) * 108
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(512, b"\xff")
    assert len(table) == 512 and len(directory) == 512 and len(header) == 512
    write(name, header + table + directory + data)


def legacy():
    # MS-OXMSG: subject and body.
    texts = {"0037": "Leave", "1000": f"{LEAVE}\r\n\r\n{CARRY}"}
    streams = [(f"__substg1.0_{tag}001F", text.encode("utf-16-le")) for tag, text in texts.items()]
    compound_file("leave.msg", [*streams, ("__properties_version1.0", b"")])
    book = xlwt.Workbook()
    sheet = book.add_sheet("Staff")
    for number, cells in enumerate([["Name", "Since", "Days"], ["Mira Novak", datetime.date(2021, 3, 1), 28]]):
        for column, cell in enumerate(cells):
            style = xlwt.easyxf(num_format_str="YYYY-MM-DD") if isinstance(cell, datetime.date) else xlwt.Style.default_style
            sheet.write(number, column, cell, style)
    book.save(str(FILES / "staff.xls"))


def binary_workbook():
    def record(kind, content=b""):
        # Numbers of records and lengths are of seven bits a byte (MS-XLSB 2.1.4).
        head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return head + bytes([len(content)]) + content

    def wide(text):
        return struct.pack("<I", len(text)) + text.encode("utf-16-le")

    def cell(column, value):
        # BrtCellSt; BrtCellReal in the second format, a date; BrtCellRk with an integer.
        if isinstance(value, str):
            return record(6, struct.pack("<II", column, 0) + wide(value))
        if isinstance(value, datetime.date):
            return record(5, struct.pack("<IId", column, 1, (value - datetime.date(1899, 12, 30)).days))
        return record(2, struct.pack("<III", column, 0, value << 2 | 2))

    rows = [["Name", "Office", "Since", "Days"], ["Mira Novak", "Bern", datetime.date(2021, 3, 1), 28]]
    # BrtRowHdr, then its cells.
    cells = b"".join(
        record(0, struct.pack("<IIHBBBI", number, 0, 300, 0, 0, 0, 0))
        + b"".join(cell(column, value) for column, value in enumerate(row))
        for number, row in enumerate(rows))
    # BrtBeginStyleSheet, BrtBeginCellXFs, a BrtXF for numbers and one for dates, BrtEndCellXFs, BrtEndStyleSheet.
    formats = b"".join(record(47, struct.pack("<HH", 0, number) + bytes(12)) for number in [0, 14])
    styles = record(278) + record(617, struct.pack("<I", 2)) + formats + record(618) + record(279)
    # BrtBeginSheet, BrtWsDim, BrtBeginSheetData, …, BrtEndSheetData, BrtEndSheet.
    sheet = record(129) + record(148, struct.pack("<IIII", 0, 1, 0, 3)) + record(145) + cells + record(146) + record(130)
    # BrtBeginBook, BrtBeginBundleShs, BrtBundleSh, BrtEndBundleShs, BrtEndBook.
    book = record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("Staff")) + record(144) + record(132)
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

    def relations(*targets):
        entries = "".join(f'<Relationship Id="rId{number}" Type="{relation}/{kind}" Target="{target}"/>' for number, (kind, target) in enumerate(targets, 1))
        return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>'

    with zipfile.ZipFile(FILES / "staff.xlsb", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relations(("officeDocument", "xl/workbook.bin")))
        archive.writestr("xl/_rels/workbook.bin.rels", relations(("worksheet", "worksheets/sheet1.bin"), ("styles", "styles.bin")))
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
        archive.writestr("xl/styles.bin", styles)
