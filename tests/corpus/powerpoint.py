"""Slides of PowerPoint before 2007 (MS-PPT), written record by record: no usual tool writes them."""

import struct

from binary import compound_file
from shared import CARRY, LEAVE

# Types of records, MS-PPT 2.13.24.
DOCUMENT, DOCUMENT_ATOM, END_DOCUMENT = 0x03E8, 0x03E9, 0x03EA
SLIDE, SLIDE_ATOM, NOTES, NOTES_ATOM = 0x03EE, 0x03EF, 0x03F0, 0x03F1
SLIDE_PERSIST, DRAWING, SLIDE_LIST = 0x03F3, 0x040C, 0x0FF0
TEXT_HEADER, TEXT_CHARS, TEXT_STYLE, TEXT_BYTES = 0x0F9F, 0x0FA0, 0x0FA1, 0x0FA8
USER_EDIT, CURRENT_USER, PERSIST_DIRECTORY = 0x0FF5, 0x0FF6, 0x1772
DRAWING_CONTAINER, SHAPE_GROUP, SHAPE, CLIENT_TEXT_BOX = 0xF002, 0xF003, 0xF004, 0xF00D

# Kinds of text, MS-PPT 2.13.33.
TITLE, BODY, NOTE, OTHER = 0, 1, 2, 4


def record(kind, content, version=0, instance=0):
    return struct.pack("<HHI", version | instance << 4, kind, len(content)) + content


def container(kind, *children, instance=0):
    return record(kind, b"".join(children), 0xF, instance)


def text(kind, paragraphs, bulleted=False):
    """The text of a shape: its kind, its characters, and whether its paragraphs have bullets."""
    whole = "\r".join(paragraphs)
    # Text of one byte each is Latin-1, other text UTF-16.
    characters = record(TEXT_BYTES, whole.encode("latin-1")) if whole.isascii() else record(TEXT_CHARS, whole.encode("utf-16-le"))
    # TextPFRun with bulletFlags, then TextCFRun without any.
    length = len(whole) + 1
    style = record(TEXT_STYLE, struct.pack("<IHIH", length, 0, 0x1, 0x1) + struct.pack("<II", length, 0)) if bulleted else b""
    return record(TEXT_HEADER, struct.pack("<I", kind)) + characters + style


def text_box(content):
    """A drawing with one shape that holds this text."""
    shape = container(SHAPE, container(CLIENT_TEXT_BOX, content))
    return container(DRAWING, container(DRAWING_CONTAINER, container(SHAPE_GROUP, shape)))


def binary_slides():
    """Two slides, whose titles and bodies stand in the list of slides; the first has notes, the second a text box."""
    places = []

    def page(number, identifier):
        return record(SLIDE_PERSIST, struct.pack("<IIIII", number, 0, 2, identifier, 0))

    slide_atom = record(SLIDE_ATOM, struct.pack("<I8sIIHH", 1, bytes(8), 0, 0, 0, 0), 2)
    outline = [
        page(2, 256), text(TITLE, ["Leave"]), text(BODY, [LEAVE]),
        page(3, 257), text(TITLE, ["Carrying over"]), text(BODY, [CARRY, "Ask your manager – in writing."], bulleted=True),
    ]
    document = container(
        DOCUMENT,
        record(DOCUMENT_ATOM, struct.pack("<iiiiiiIIHHBBBB", 5760, 4320, 4320, 5760, 1, 2, 0, 0, 1, 0, 0, 0, 0, 1), 1),
        container(SLIDE_LIST, *outline),
        container(SLIDE_LIST, page(4, 256), instance=2),
        record(END_DOCUMENT, b""))
    first = container(SLIDE, slide_atom)
    second = container(SLIDE, slide_atom, text_box(text(OTHER, ["Whoever leaves is paid for them."])))
    notes = container(NOTES, record(NOTES_ATOM, struct.pack("<IHH", 256, 0, 0), 1), text_box(text(NOTE, ["Say when the days lapse."])))
    stream = b""
    for content in [document, first, second, notes]:
        places.append(len(stream))
        stream += content
    directory = len(stream)
    persist = struct.pack("<I", 1 | len(places) << 20) + struct.pack(f"<{len(places)}I", *places)
    stream += record(PERSIST_DIRECTORY, persist)
    edit = len(stream)
    stream += record(USER_EDIT, struct.pack("<IHBBIIIIHH", 257, 0, 0, 3, 0, directory, 1, len(places) + 1, 1, 0))
    user = record(CURRENT_USER, struct.pack("<IIIHHBBH", 20, 0xE391C05F, edit, 0, 0x03F4, 3, 0, 0) + struct.pack("<I", 8))
    compound_file("leave.ppt", [("Current User", user), ("PowerPoint Document", stream)])
