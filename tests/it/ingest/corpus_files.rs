//! The files of the test corpus, and what each comes to.

const LEAVE: &str = "Everyone has 28 days of paid leave a year, from the first day on.";
const CARRY: &str = "Up to five unused days may be carried over; they lapse on 31 March.";

const SICK: &str = "Whoever falls ill stays at home and reports it before nine o'clock.";

/// A message with two attachments, one of them a picture.
const MESSAGE: &[&str] = &[
    "Leave\n\nFrom: Mira Novak <mira@example.org>\nTo: office@example.org\nDate: 2026-11-24T10:00:00+01:00\n\n",
    LEAVE,
    "Attachment: rules.md",
    "Attachment that is not read: picture.png",
];

/// A file, its media type, and the passages that its text holds, in this order.
type Readable = (&'static str, &'static str, &'static [&'static str]);

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PPTX: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Documents that are found in the files.
pub(super) const ATTACHED: [Readable; 3] = [
    ("leave.eml/rules.md", "text/markdown", &[CARRY]),
    ("mail.txt/rules.md", "text/markdown", &[CARRY]),
    ("leave.mbox/2/days.csv", "text/csv", &["| kind: Annual | days: 28 |"]),
];

/// The text of a word processor's document.
const OFFICE: &[&str] = &[
    "Leave\n\n",
    LEAVE,
    "Carrying over\n\n",
    CARRY,
    "- Ask your manager.\n- Then tell the office.",
    "| Kind | Days |\n|---|---|\n| Annual | 28 |",
];

/// The text of the manual page.
const MANUAL: &[&str] = &[
    "leave - ask for annual leave",
    "--days=number: Ask for number days; everyone has 28 of them.",
    "Up to five unused days",
];

/// A table of several rows.
const DAYS: &str = "| Kind | Days |\n|---|---|\n| Annual | 28 |\n| Carried over | 5 |";

pub(super) const READABLE: [Readable; 51] = [
    ("leave.txt", "text/plain", &["Annual leave\n\n", LEAVE, CARRY]),
    ("leave.md", "text/markdown", &["# Leave\n\n", LEAVE, "## Carrying over"]),
    (
        "leave.html",
        "text/html",
        &["Leave\n\n", LEAVE, "Carrying over\n\n", CARRY, "| Kind | Days |\n|---|---|\n| Annual | 28 |"],
    ),
    ("leave.man", "text/troff", MANUAL),
    ("leave.1.gz", "text/troff", MANUAL),
    ("days.md", "text/markdown", &["By kind:\n\n", DAYS, "The office counts them."]),
    ("days.1", "text/troff", &["The days of a year are:\n\n", DAYS]),
    ("tagged.pdf", "application/pdf", &[LEAVE, "By kind\n\n", DAYS, "- Ask your manager.\n- Then tell the office."]),
    (
        "leave.adoc",
        "text/asciidoc",
        &[
            "Leave: a short guide\n\nMira Novak, version 1.2, 2026-05-01\n\n",
            LEAVE,
            "Carrying over\n\n",
            CARRY,
            "Note: Whoever leaves is paid for them.",
            "| Kind | Days |\n|---|---|\n| Annual | 28 |",
            SICK,
        ],
    ),
    (
        "leave.rst",
        "text/x-rst",
        &[
            "Annual leave\n\nOwner: People team\n\n",
            "see Carrying days over and the calendar.",
            "Warning: Give notice of twice the length of the leave.",
            "Changed in version 2026: Five days instead of three.",
            "| Group | Days | Until |\n|---|---|---|\n| Full time | 5 | 31 March |",
            "--carry DAYS: Days to carry over, at most five.",
        ],
    ),
    (
        "leave.ipynb",
        "application/x-ipynb+json",
        &["# Leave\n\n", LEAVE, "```python\ndays = 28\nprint(days)\n```\n\n```\n28\n```", CARRY, "TypeError: 'int'"],
    ),
    ("leave.py", "text/x-python", &["class Leave:", "    def days_left(self, taken):"]),
    (
        "leave.pdf",
        "application/pdf",
        &["Leave\n\n", LEAVE, CARRY, "the management in writing.", "Illness\n\n", "nine o'clock."],
    ),
    (
        "report.pdf",
        "application/pdf",
        &[
            "Example Ltd, report of the year\n\nHarbour\n\nLeft line 1 tells of boats and piers.\nLeft line 2",
            "Left line 6 tells of boats and piers.\n\nRight line 1 tells of trams and rails.\nRight line 2",
            "Right line 6 tells of trams and rails.\n\nIncome\n\n| Region | Year | Change |\n|---|---|---|\n| North | 1,200 | +5 % |\n| South |  | +12 % |\n| West | 90 | -3 % |\n\nOutlook\n\n",
            LEAVE,
        ],
    ),
    ("restricted.pdf", "application/pdf", &[LEAVE, "nine o'clock."]),
    ("leave.docx", DOCX, OFFICE),
    ("leave.pptx", PPTX, &["Leave\n\n", LEAVE, "Carrying over\n\n", CARRY, "Say when the days lapse."]),
    (
        "staff.xlsx",
        XLSX,
        &[
            "Staff\n\n| Name: Mira Novak | Since: 2021-03-01 | Days: 28 |\n| Name: Jan Weber | Since: 2024-11-15 | Days: 25.5 |",
            "Rates\n\nFar away\nCorner",
        ],
    ),
    ("leave.epub", "application/epub+zip", &["Leave\n\n", LEAVE, "Carrying over\n\n", CARRY]),
    (
        "staff.csv",
        "text/csv",
        &["| name: Mira Novak | office: Bern | extension: 4711 |\n| name: Weber, Jan | office: Graz |"],
    ),
    ("staff.tsv", "text/tab-separated-values", &["| name: Mira Novak | office: Bern |"]),
    (
        "staff.json",
        "application/json",
        &["office: Bern\n\nstaff.name: Mira Novak\nstaff.phone: 4711\n\nstaff.name: Jan Weber"],
    ),
    ("staff.ndjson", "application/x-ndjson", &["name: Mira Novak\nphone: 4711\n\nname: Jan Weber"]),
    ("windows-1252.txt", "text/plain", &["Größe und Maß: die Tür ist “zwei” Meter hoch – genug für alle."]),
    ("shift-jis.txt", "text/plain", &["有給休暇は年に二十八日あります。"]),
    ("utf-16.txt", "text/plain", &["Die Tür ist zwei Meter hoch. 漢字 😀"]),
    ("mixed.txt", "text/plain", &["Zürich liegt am See.\nGenève aussi.\nMünchen nicht.\n"]),
    ("twice.txt", "text/plain", &["Die Größe der Tür – ‘genau’ 20 °C."]),
    ("latin-1.html", "text/html", &["It’s “free” for all."]),
    ("stray.txt", "text/plain", &["Words and more words."]),
    ("partly.pdf", "application/pdf", &[LEAVE, CARRY]),
    ("right-to-left.txt", "text/plain", &["יש עשרים ושמונה", "لكل موظف"]),
    ("emoji.txt", "text/plain", &["👨‍👩‍👧‍👦🏳️‍🌈 e\u{301} "]),
    ("one-line.txt", "text/plain", &["All of it stands on one line"]),
    ("really-a-pdf.docx", "application/pdf", &[LEAVE]),
    ("page.txt", "text/html", &["This is a page whatever its name says."]),
    ("rich.rtf", "application/rtf", &["Words in Zürich.\n\nMore words."]),
    ("leave.odt", "application/vnd.oasis.opendocument.text", OFFICE),
    ("leave.odp", "application/vnd.oasis.opendocument.presentation", &["Leave\n\n", LEAVE, "Carrying over\n\n", CARRY]),
    ("staff.ods", "application/vnd.oasis.opendocument.spreadsheet", &["Staff\n\n| Name: Mira Novak | Office: Bern |"]),
    ("staff.xls", "application/vnd.ms-excel", &["| Name: Mira Novak | Since: 2021-03-01 | Days: 28 |"]),
    ("leave.doc", "application/msword", OFFICE),
    ("leave.rtf", "application/rtf", OFFICE),
    (
        "leave.ppt",
        "application/vnd.ms-powerpoint",
        &[
            "Leave\n\n",
            LEAVE,
            "Say when the days lapse.\n\nCarrying over\n",
            CARRY,
            "- Ask your manager – in writing.\n\nWhoever leaves is paid for them.",
        ],
    ),
    ("leave.eml", "message/rfc822", MESSAGE),
    ("mail.txt", "message/rfc822", MESSAGE),
    (
        "page.eml",
        "message/rfc822",
        &["Leave, as a page\n\n", "Leave\n\n", LEAVE, "| Kind | Days |\n|---|---|\n| Annual | 28 |"],
    ),
    ("leave.msg", "application/vnd.ms-outlook", &["Leave\n\n", LEAVE, CARRY]),
    ("leave.mbox", "application/mbox", &["Illness\n\nFrom: jan@example.org", SICK, "Again\n\n", SICK]),
    (
        "staff.xlsb",
        "application/vnd.ms-excel.sheet.binary.macroenabled.12",
        &["| Name: Mira Novak | Office: Bern | Since: 2021-03-01 | Days: 28 |"],
    ),
    ("words.pdf", "text/plain", &["Only words, whatever the name says."]),
];

/// A file, the cause of its failure, and a word of the message.
pub(super) const UNREADABLE: [(&str, &str, &str); 18] = [
    ("empty.pdf", "empty", "holds no text"),
    ("blank.md", "empty", "holds no text"),
    ("reference.8", "empty", "send that one"),
    ("pages.adoc", "empty", "send those"),
    ("truncated.pdf", "malformed", "incomplete"),
    ("truncated.docx", "malformed", "incomplete"),
    ("broken.json", "malformed", "incomplete"),
    ("encrypted.pdf", "encrypted", "without"),
    ("encrypted.docx", "encrypted", "without"),
    ("scan.pdf", "no_text_layer", "OCR"),
    ("picture.png", "no_text_layer", "OCR"),
    ("picture.jpg", "no_text_layer", "OCR"),
    ("picture.webp", "no_text_layer", "OCR"),
    ("pages.tiff", "no_text_layer", "OCR"),
    ("old.doc", "unsupported", "save it as DOCX"),
    ("files.zip", "unsupported", "unpack it"),
    ("nul.txt", "binary", "NUL"),
    ("noise.txt", "binary", "control characters"),
];
