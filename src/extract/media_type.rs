//! Media types that can be read.

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// Plain text.
    Plain,
    /// Markdown (RFC 7763).
    Markdown,
}

impl MediaType {
    /// For messages.
    pub const SUPPORTED: &str = "text/plain or text/markdown";

    /// The kind behind a media type; parameters such as a charset are ignored.
    #[must_use]
    pub fn parse(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/plain" => Some(Self::Plain),
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// The kind that a file name suggests.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "txt" | "text" | "log" => Some(Self::Plain),
            "md" | "markdown" | "mdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// Its media type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "text/plain",
            Self::Markdown => "text/markdown",
        }
    }
}
