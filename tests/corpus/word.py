"""A document of Word before 2007 (MS-DOC) and one in RTF, written by hand: no usual tool writes them."""

import struct

from binary import compound_file
from shared import CARRY, LEAVE, write

# Single property modifiers, MS-DOC 2.6.
IN_TABLE, ROW_END, TABLE_HEADER, TABLE_DEFINITION = 0x2416, 0x2417, 0x3404, 0xD608
LIST_LEVEL, LIST_FORMAT = 0x260A, 0x460B

# The text begins here in its stream, and the page of paragraph properties two sectors after it.
TEXT, PROPERTIES = 0x800, 0xC00


def style(number, name):
    """A paragraph style with its number among the built-in ones (MS-DOC 2.9.258)."""
    fixed = struct.pack("<HHHHH", number, 1 | 0xFFF << 4, 2, 0, 0)
    named = struct.pack("<H", len(name)) + name.encode("utf-16-le") + bytes(2)
    content = fixed + named + struct.pack("<HHH", 2, number, 0)
    return struct.pack("<H", len(content)) + content


def style_sheet():
    styles = [style(number, name) for number, name in enumerate(["Normal", "heading 1", "heading 2"])]
    header = struct.pack("<HHHHHHHHH", 15, 10, 1, 0x5B, 15, 0, 0, 0, 0)
    return struct.pack("<H", len(header)) + header + b"".join(styles) + bytes(2) * (15 - len(styles))


def bullets():
    """One list with bullets, and the reference to it, MS-DOC 2.9.131 and 2.9.132; the length of the first without its level."""
    definition = struct.pack("<HII", 1, 1, 0) + struct.pack("<9H", *[0xFFF] * 9) + bytes([1, 0])
    level = struct.pack("<IBB9sBIIBBBB", 1, 23, 0, bytes(9), 0, 0, 0, 0, 0, 0, 0) + struct.pack("<H", 1) + "•".encode("utf-16-le")
    reference = struct.pack("<IIII", 1, 1, 0, 0) + bytes(4) + b"\xff" * 4
    return definition + level, len(definition), reference


def paragraph_properties(paragraphs):
    """A page of paragraph properties (PapxFkp, MS-DOC 2.9.175)."""
    places, entries, properties = [TEXT], b"", b""
    end = 511
    page = bytearray(512)
    for text, number, modifiers in paragraphs:
        places.append(places[-1] + len(text))
        content = struct.pack("<H", number) + modifiers
        odd = len(content) % 2
        content = bytes([(len(content) + 1) // 2]) + content if odd else bytes([0, len(content) // 2]) + content
        end = (end - len(content)) // 2 * 2
        page[end : end + len(content)] = content
        entries += bytes([end // 2]) + bytes(12)
    beginning = struct.pack(f"<{len(places)}I", *places) + entries
    assert len(beginning) <= end
    page[: len(beginning)] = beginning
    page[511] = len(paragraphs)
    return bytes(page), places


def document():
    def modifier(kind, content):
        return struct.pack("<H", kind) + content

    cell = modifier(IN_TABLE, b"\1")
    widths = struct.pack("<HBhhh", 48, 2, 0, 2000, 4000) + bytes(40)
    row = cell + modifier(ROW_END, b"\1") + modifier(TABLE_DEFINITION, widths)
    entry = modifier(LIST_LEVEL, b"\0") + modifier(LIST_FORMAT, struct.pack("<H", 1))
    paragraphs = [
        ("Leave\r", 1, b""), (f"{LEAVE}\r", 0, b""), ("Carrying over\r", 2, b""), (f"{CARRY}\r", 0, b""),
        ("Ask your manager.\r", 0, entry), ("Then tell the office.\r", 0, entry),
        ("Kind\7", 0, cell), ("Days\7", 0, cell), ("\7", 0, row + modifier(TABLE_HEADER, b"\1")),
        ("Annual\7", 0, cell), ("28\7", 0, cell), ("\7", 0, row),
        ("Größer wird er “nie”.\r", 0, b""),
    ]
    paragraphs = [(text.encode("windows-1252"), number, modifiers) for text, number, modifiers in paragraphs]
    text = b"".join(text for text, _, _ in paragraphs)
    properties, places = paragraph_properties(paragraphs)
    stream = bytearray(TEXT) + text.ljust(PROPERTIES - TEXT, b"\0") + properties
    struct.pack_into("<HH", stream, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", stream, 0x0A, 0x0200)
    struct.pack_into("<H", stream, 0x20, 14)
    struct.pack_into("<H", stream, 0x3E, 22)
    struct.pack_into("<II", stream, 0x18, TEXT, len(stream))
    struct.pack_into("<I", stream, 0x40, len(stream))
    struct.pack_into("<I", stream, 0x4C, len(text))
    struct.pack_into("<H", stream, 0x98, 0x5D)
    # One piece of text in the code page, MS-DOC 2.9.38 (Clx).
    pieces = struct.pack("<BIIIHIH", 2, 16, 0, len(text), 0, TEXT * 2 | 0x40000000, 0)
    lists, length, references = bullets()
    table = b""
    # Place in FibRgFcLcb97, content, and the length that is written down.
    for place, content, written in [
        (0x1A2, pieces, None), (0xA2, style_sheet(), None), (0x2E2, lists, length), (0x2EA, references, None),
        (0x102, struct.pack("<III", TEXT, places[-1], PROPERTIES // 512), None),
    ]:
        struct.pack_into("<II", stream, place, len(table), written or len(content))
        table += content
    compound_file("leave.doc", [("1Table", table), ("WordDocument", bytes(stream))])


def rich_text():
    row = "\\trowd{}\\cellx2000\\cellx4000\\pard\\intbl {}\\cell {}\\cell\\row\n"
    table = row.format("\\trhdr", "Kind", "Days") + row.format("", "Annual", "28")
    write("leave.rtf", f"""{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0 Times New Roman;}}}}
{{\\stylesheet{{\\s0 Normal;}}{{\\s1\\outlinelevel0 heading 1;}}{{\\s2\\outlinelevel1 heading 2;}}}}
{{\\info{{\\title Leave of absence}}}}
{{\\*\\listtable{{\\list\\listtemplateid1{{\\listlevel\\levelnfc23\\leveljc0\\levelfollow0\\levelstartat1{{\\leveltext\\'01\\u8226 ?;}}{{\\levelnumbers;}}}}\\listid1}}}}
{{\\*\\listoverridetable{{\\listoverride\\listid1\\listoverridecount0\\ls1}}}}
\\pard\\s1\\outlinelevel0 Leave\\par
\\pard {LEAVE}\\par
\\pard\\s2\\outlinelevel1 Carrying over\\par
\\pard {CARRY}\\par
{{\\listtext\\pard\\'95\\tab}}\\pard\\ls1\\ilvl0 Ask your manager.\\par
{{\\listtext\\pard\\'95\\tab}}\\pard\\ls1\\ilvl0 Then tell the office.\\par
{table}\\pard Gr\\'f6\\'dfer wird er \\u8220?nie\\u8221?.\\par
}}
""")


def word():
    document()
    rich_text()
