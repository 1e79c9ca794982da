//! Supported media types, and the names and signatures that identify them.

/// How a document is turned into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text as it is.
    Plain,
    /// Markdown (RFC 7763).
    Markdown,
    /// Source code.
    Code,
    /// A web page.
    Html,
    /// The source of a manual page (man(7), mdoc(7)).
    Manual,
    /// `AsciiDoc`.
    AsciiDoc,
    /// A Jupyter notebook (nbformat 3 and 4).
    Notebook,
    /// reStructuredText.
    Restructured,
    /// Comma-separated values (RFC 4180), or separated by semicolons, tabs or bars.
    Table,
    /// JSON (RFC 8259).
    Json,
    /// A JSON value on each line.
    JsonLines,
    /// Portable Document Format (ISO 32000).
    Pdf,
    /// A word processor's document (ISO/IEC 29500).
    Docx,
    /// Slides (ISO/IEC 29500).
    Pptx,
    /// A workbook (ISO/IEC 29500).
    Xlsx,
    /// An electronic book (EPUB 2 and 3).
    Epub,
    /// A workbook of Excel before 2007 (MS-XLS).
    Xls,
    /// A binary workbook (MS-XLSB).
    Xlsb,
    /// A workbook in ODF (ISO/IEC 26300).
    Ods,
    /// Rich text.
    Rtf,
    /// A document of Word before 2007 (MS-DOC).
    Doc,
    /// Slides in PPT (MS-PPT).
    Ppt,
    /// A text in ODF (ISO/IEC 26300).
    Odt,
    /// Slides in ODF (ISO/IEC 26300).
    Odp,
    /// A message (RFC 5322).
    Mail,
    /// A picture of text.
    Picture,
    /// Messages in one file (RFC 4155).
    Mailbox,
    /// A message of Outlook (MS-OXMSG).
    Outlook,
}

impl Format {
    /// Whether its documents are text in some encoding.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            Self::Plain
                | Self::Markdown
                | Self::Code
                | Self::Html
                | Self::Manual
                | Self::AsciiDoc
                | Self::Notebook
                | Self::Restructured
                | Self::Table
                | Self::Json
                | Self::JsonLines
        )
    }
}

/// A media type, and how documents of it are read.
#[derive(Debug, PartialEq, Eq)]
pub struct MediaType {
    /// How it is read.
    pub format: Format,
    /// Its usual name.
    pub name: &'static str,
    /// Other names for it.
    aliases: &'static [&'static str],
    /// File extensions of this media type.
    extensions: &'static [&'static str],
}

const fn media_type(
    format: Format,
    name: &'static str,
    aliases: &'static [&'static str],
    extensions: &'static [&'static str],
) -> MediaType {
    MediaType { format, name, aliases, extensions }
}

const fn code(name: &'static str, aliases: &'static [&'static str], extensions: &'static [&'static str]) -> MediaType {
    media_type(Format::Code, name, aliases, extensions)
}

/// Names of the compression by gzip, which says nothing about what is compressed.
const GZIP: [&str; 2] = ["application/gzip", "application/x-gzip"];

/// Bytes of which nothing is known.
const OCTET_STREAM: &str = "application/octet-stream";

/// Plain text comes first: it is what everything else is measured against.
static MEDIA_TYPES: [MediaType; 56] = [
    media_type(Format::Plain, "text/plain", &[], &["txt", "text", "log", "org", "tex"]),
    media_type(Format::Markdown, "text/markdown", &["text/x-markdown"], &["md", "markdown", "mdown", "mkd", "mdx"]),
    media_type(Format::Html, "text/html", &["application/xhtml+xml"], &["html", "htm", "xhtml"]),
    media_type(
        Format::Manual,
        "text/troff",
        &["text/x-troff", "text/x-troff-man", "application/x-troff", "application/x-troff-man"],
        &["man", "mdoc"],
    ),
    media_type(Format::AsciiDoc, "text/asciidoc", &["text/x-asciidoc"], &["adoc", "asciidoc"]),
    media_type(Format::Notebook, "application/x-ipynb+json", &[], &["ipynb"]),
    media_type(
        Format::Restructured,
        "text/x-rst",
        &["text/prs.fallenstein.rst", "text/restructured"],
        &["rst", "rest"],
    ),
    media_type(Format::Table, "text/csv", &["application/csv", "text/x-csv"], &["csv"]),
    media_type(Format::Table, "text/tab-separated-values", &["text/tsv"], &["tsv", "tab"]),
    media_type(Format::Json, "application/json", &["text/json"], &["json", "geojson", "jsonld"]),
    media_type(
        Format::JsonLines,
        "application/x-ndjson",
        &["application/ndjson", "application/jsonl", "application/json-lines", "application/jsonlines"],
        &["ndjson", "jsonl"],
    ),
    media_type(Format::Pdf, "application/pdf", &["application/x-pdf"], &["pdf"]),
    media_type(
        Format::Docx,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        &[
            "application/vnd.ms-word.document.macroenabled.12",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        ],
        &["docx", "docm", "dotx"],
    ),
    media_type(
        Format::Pptx,
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        &[
            "application/vnd.ms-powerpoint.presentation.macroenabled.12",
            "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        ],
        &["pptx", "pptm", "ppsx"],
    ),
    media_type(
        Format::Xlsx,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        &["application/vnd.ms-excel.sheet.macroenabled.12"],
        &["xlsx", "xlsm"],
    ),
    media_type(Format::Epub, "application/epub+zip", &[], &["epub"]),
    media_type(Format::Xls, "application/vnd.ms-excel", &["application/msexcel"], &["xls", "xlt"]),
    media_type(Format::Xlsb, "application/vnd.ms-excel.sheet.binary.macroenabled.12", &[], &["xlsb"]),
    media_type(
        Format::Ods,
        "application/vnd.oasis.opendocument.spreadsheet",
        &["application/vnd.oasis.opendocument.spreadsheet-template"],
        &["ods", "ots"],
    ),
    media_type(Format::Rtf, "application/rtf", &["text/rtf", "text/richtext"], &["rtf"]),
    media_type(Format::Doc, "application/msword", &[], &["doc", "dot"]),
    media_type(Format::Ppt, "application/vnd.ms-powerpoint", &["application/mspowerpoint"], &["ppt", "pps", "pot"]),
    media_type(
        Format::Odt,
        "application/vnd.oasis.opendocument.text",
        &["application/vnd.oasis.opendocument.text-template"],
        &["odt", "ott"],
    ),
    media_type(
        Format::Odp,
        "application/vnd.oasis.opendocument.presentation",
        &["application/vnd.oasis.opendocument.presentation-template"],
        &["odp", "otp"],
    ),
    media_type(Format::Picture, "image/png", &["image/x-png"], &["png"]),
    media_type(Format::Picture, "image/jpeg", &["image/jpg"], &["jpg", "jpeg"]),
    media_type(Format::Picture, "image/tiff", &[], &["tif", "tiff"]),
    media_type(Format::Picture, "image/webp", &[], &["webp"]),
    media_type(Format::Mail, "message/rfc822", &["message/global"], &["eml"]),
    media_type(Format::Mailbox, "application/mbox", &[], &["mbox"]),
    media_type(Format::Outlook, "application/vnd.ms-outlook", &["application/x-msg"], &["msg"]),
    code("text/x-rust", &[], &["rs"]),
    code("text/x-python", &["text/x-script.python", "application/x-python-code"], &["py", "pyi", "pyw"]),
    code("text/javascript", &["application/javascript", "application/ecmascript"], &["js", "mjs", "cjs", "jsx"]),
    code("text/x-typescript", &["application/typescript", "text/typescript"], &["ts", "mts", "cts", "tsx"]),
    code("text/x-java", &["text/x-java-source"], &["java"]),
    code("text/x-kotlin", &[], &["kt", "kts"]),
    code("text/x-scala", &[], &["scala", "sc"]),
    code("text/x-go", &[], &["go"]),
    code("text/x-c", &["text/x-csrc", "text/x-chdr"], &["c", "h"]),
    code("text/x-c++", &["text/x-c++src", "text/x-c++hdr"], &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    code("text/x-csharp", &[], &["cs"]),
    code("text/x-swift", &[], &["swift"]),
    code("text/x-objective-c", &[], &["m", "mm"]),
    code("text/x-ruby", &["application/x-ruby"], &["rb"]),
    code("text/x-php", &["application/x-httpd-php", "application/x-php"], &["php"]),
    code("text/x-perl", &[], &["pl", "pm"]),
    code("text/x-lua", &[], &["lua"]),
    code("text/x-haskell", &[], &["hs"]),
    code("text/x-elixir", &[], &["ex", "exs"]),
    code("text/x-sh", &["application/x-sh", "text/x-shellscript"], &["sh", "bash", "zsh"]),
    code("text/x-sql", &["application/sql"], &["sql"]),
    code("text/x-r", &[], &["r"]),
    code("text/css", &[], &["css", "scss", "less"]),
    code("application/toml", &["text/x-toml"], &["toml", "ini", "cfg", "conf"]),
    code("application/yaml", &["text/yaml", "text/x-yaml", "application/x-yaml"], &["yaml", "yml"]),
];

impl MediaType {
    /// For messages.
    pub const SUPPORTED: &str = "text, Markdown, AsciiDoc, reStructuredText, HTML, PDF, DOCX, DOC, ODT, RTF, PPTX, PPT, ODP, XLSX, XLS, XLSB, ODS, EPUB, EML, MSG, mbox, CSV, \
         TSV, JSON, JSON lines, Jupyter notebooks, manual pages or source code, and pictures (PNG, JPEG, TIFF, WebP) where \
         text recognition is installed, each also compressed by gzip";

    /// Text of which nothing more is known.
    #[must_use]
    pub fn plain() -> &'static Self {
        Self::of(Format::Plain)
    }

    /// The media type of a format; of those of tables and source code, the first.
    #[must_use]
    pub fn of(format: Format) -> &'static Self {
        let [plain, ..] = &MEDIA_TYPES;
        MEDIA_TYPES.iter().find(|known| known.format == format).unwrap_or(plain)
    }

    /// The entry of a media type's name; parameters such as a charset are ignored.
    #[must_use]
    pub fn parse(media_type: &str) -> Option<&'static Self> {
        let essence = essence(media_type);
        MEDIA_TYPES
            .iter()
            .find(|known| known.name == essence || known.aliases.contains(&essence.as_str()))
            .or_else(|| essence.ends_with("+json").then(|| Self::of(Format::Json)))
    }

    /// The entry that a file name suggests: of a compressed file, the one that its name suggests without `.gz`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        let (_, extension) = name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        MEDIA_TYPES.iter().find(|known| known.extensions.contains(&extension.as_str()))
    }

    /// The declared media type if it is specific, else the type that the name suggests. Senders declare unknown files
    /// as `application/octet-stream`, and most text as plain text; the declared charset still applies then.
    #[must_use]
    pub fn choose(name: &str, declared: Option<String>) -> String {
        let says_little = declared.as_deref().is_none_or(|declared| {
            essence(declared) == OCTET_STREAM
                || GZIP.contains(&&*essence(declared))
                || Self::parse(declared).is_some_and(|known| known.format == Format::Plain)
        });
        match (Self::of_name(name), declared) {
            (Some(by_name), declared) if says_little => match declared.as_deref().and_then(charset) {
                Some(charset) => format!("{}; charset={charset}", by_name.name),
                None => by_name.name.to_owned(),
            },
            (_, Some(declared)) => declared,
            (_, None) => OCTET_STREAM.to_owned(),
        }
    }
}

/// A media type without parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The value of a media type's `charset` parameter.
pub(super) fn charset(media_type: &str) -> Option<&str> {
    media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_where_the_declaration_says_little() {
        let cases = [
            ("a.md", Some("application/octet-stream"), "text/markdown"),
            ("a.md", Some("text/plain"), "text/markdown"),
            ("a.txt", None, "text/plain"),
            ("a.md", Some("text/html"), "text/html"),
            ("a.csv", Some("text/plain; charset=iso-8859-1"), "text/csv; charset=iso-8859-1"),
            ("a.PDF", Some("application/pdf"), "application/pdf"),
            ("b.docx", None, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a", None, "application/octet-stream"),
            ("a.md.gz", Some("application/gzip"), "text/markdown"),
            ("a.gz", Some("application/gzip"), "application/gzip"),
            ("a", Some("text/plain"), "text/plain"),
        ];
        for (name, declared, expected) in cases {
            assert_eq!(MediaType::choose(name, declared.map(str::to_owned)), expected, "{name} {declared:?}");
        }
    }

    #[test]
    fn names_and_extensions_lead_to_one_type() {
        let mut seen = std::collections::HashSet::new();
        for known in &MEDIA_TYPES {
            for name in known.aliases.iter().chain([&known.name]) {
                assert!(seen.insert((*name).to_owned()), "{name} stands twice");
                assert_eq!(MediaType::parse(&format!("{}; x=y", name.to_uppercase())), Some(known));
            }
            for extension in known.extensions {
                assert!(seen.insert(format!(".{extension}")), "{extension} stands twice");
                assert_eq!(MediaType::of_name(&format!("a.b.{}", extension.to_uppercase())), Some(known));
            }
        }
        assert_eq!(MediaType::parse("application/vnd.api+json").map(|known| known.format), Some(Format::Json));
        assert_eq!(MediaType::parse("application/zip"), None);
        assert_eq!(MediaType::of_name("readme"), None);
        assert_eq!(charset("text/html; Charset=\"utf-8\""), Some("utf-8"));
    }
}
