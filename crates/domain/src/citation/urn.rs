//! The lasting name of a passage: `cited:<collection>/<document>@<version>#<chunk>`, or `#<first>-<last>`
//! of one that several chunks make up; `cited-web:<url>#<digest>` of words found on the web.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::fingerprint::hex;

/// Everything but the unreserved characters of RFC 3986, section 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const SCHEME: &str = "cited:";
/// Scheme for passages found on the web, of which nothing is stored.
const WEB_SCHEME: &str = "cited-web:";
/// Hexadecimal digits of the SHA-256 of the words that were cited.
const DIGEST_DIGITS: usize = 16;

/// Names one chunk, or several that follow each other, of one version of a document.
///
/// Ordered by collection, document, version and chunk, so that ties in a ranking break the same way
/// everywhere. Serialises as the string.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Urn {
    collection: String,
    document: String,
    version: u32,
    chunk: u32,
    last_chunk: u32,
    /// Digest of the words, for a page of the web; `document` then holds its URL, and there is no collection.
    digest: Option<String>,
}

/// Why something is not a URN of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UrnError {
    /// Another scheme, or none.
    #[error("a citation URN starts with \"cited:\" or \"cited-web:\"")]
    Scheme,
    /// A delimiter is missing or appears twice.
    #[error("a citation URN has the form cited:<collection>/<document>@<version>#<chunk>, or #<first>-<last>")]
    Shape,
    /// A page of the web without its URL or digest.
    #[error("the URN of a page of the web has the form cited-web:<url>#<16 hexadecimal digits>")]
    WebShape,
    /// The collection or the document is empty.
    #[error("the collection and the document of a citation URN must not be empty")]
    Empty,
    /// A `%` without two hexadecimal digits, or bytes that are not UTF-8.
    #[error("a citation URN is percent-encoded UTF-8")]
    Encoding,
    /// Not a decimal number from 1 to `u32::MAX` without leading zero.
    #[error("the version of a citation URN is a whole number from 1")]
    Version,
    /// Not a decimal number from 0 to `u32::MAX` without leading zero, or not a larger one after a smaller.
    #[error("the chunk of a citation URN is a whole number from 0, or two of them in ascending order")]
    Chunk,
}

impl Urn {
    /// Names chunk `chunk` (from 0) of version `version` (from 1) of a document.
    ///
    /// # Errors
    ///
    /// [`UrnError::Empty`] for an empty collection or document, [`UrnError::Version`] for version 0.
    pub fn new(
        collection: impl Into<String>,
        document: impl Into<String>,
        version: u32,
        chunk: u32,
    ) -> Result<Self, UrnError> {
        Self::spanning(collection, document, version, chunk..=chunk)
    }

    /// Names the chunks (from 0) of version `version` (from 1) of a document.
    ///
    /// # Errors
    ///
    /// As [`Urn::new`], and [`UrnError::Chunk`] for no chunk.
    pub fn spanning(
        collection: impl Into<String>,
        document: impl Into<String>,
        version: u32,
        chunks: RangeInclusive<u32>,
    ) -> Result<Self, UrnError> {
        let (collection, document) = (collection.into(), document.into());
        if collection.is_empty() || document.is_empty() {
            return Err(UrnError::Empty);
        }
        if version == 0 {
            return Err(UrnError::Version);
        }
        if chunks.is_empty() {
            return Err(UrnError::Chunk);
        }
        let (chunk, last_chunk) = chunks.into_inner();
        Ok(Self { collection, document, version, chunk, last_chunk, digest: None })
    }

    /// Names words found at a URL by their SHA-256.
    #[must_use]
    pub fn web(url: &str, sha256: &[u8]) -> Self {
        let digest = hex(sha256).chars().take(DIGEST_DIGITS).collect();
        Self::of_web(url.to_owned(), digest)
    }

    const fn of_web(url: String, digest: String) -> Self {
        Self { collection: String::new(), document: url, version: 1, chunk: 0, last_chunk: 0, digest: Some(digest) }
    }

    /// The page, if it is one of the web.
    #[must_use]
    pub fn web_url(&self) -> Option<&str> {
        self.digest.is_some().then_some(self.document.as_str())
    }

    /// The beginning of the URNs of the passages of a collection.
    #[must_use]
    pub fn start_in(collection: &str) -> String {
        format!("{SCHEME}{}/", utf8_percent_encode(collection, RESERVED))
    }

    /// Name of the collection.
    #[must_use]
    pub fn collection(&self) -> &str {
        &self.collection
    }

    /// Identifier of the document.
    #[must_use]
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Version of the document, from 1.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Ordinals of the chunks in that version, from 0; mostly one.
    #[must_use]
    pub const fn chunks(&self) -> RangeInclusive<u32> {
        self.chunk..=self.last_chunk
    }

    /// Ordinal of the chunk in that version, the first of several, from 0.
    #[must_use]
    pub const fn chunk(&self) -> u32 {
        self.chunk
    }
}

impl fmt::Display for Urn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let collection = utf8_percent_encode(&self.collection, RESERVED);
        let document = utf8_percent_encode(&self.document, RESERVED);
        if let Some(digest) = &self.digest {
            return write!(formatter, "{WEB_SCHEME}{document}#{digest}");
        }
        write!(formatter, "{SCHEME}{collection}/{document}@{}#{}", self.version, self.chunk)?;
        if self.last_chunk > self.chunk { write!(formatter, "-{}", self.last_chunk) } else { Ok(()) }
    }
}

impl FromStr for Urn {
    type Err = UrnError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(rest) = text.strip_prefix(WEB_SCHEME) {
            let (url, digest) = rest.split_once('#').ok_or(UrnError::WebShape)?;
            let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
            if url.is_empty() || digest.len() != DIGEST_DIGITS || !digest.bytes().all(is_digit) {
                return Err(UrnError::WebShape);
            }
            return Ok(Self::of_web(decode(url)?, digest.to_owned()));
        }
        let rest = text.strip_prefix(SCHEME).ok_or(UrnError::Scheme)?;
        let (collection, rest) = rest.split_once('/').ok_or(UrnError::Shape)?;
        let (document, rest) = rest.split_once('@').ok_or(UrnError::Shape)?;
        let (version, chunk) = rest.split_once('#').ok_or(UrnError::Shape)?;
        let version = decimal(version).ok_or(UrnError::Version)?;
        let chunks = match chunk.split_once('-') {
            None => decimal(chunk).map(|chunk| chunk..=chunk),
            // A range of one is written as one: a name has one spelling.
            Some((first, last)) => {
                decimal(first).zip(decimal(last)).filter(|(first, last)| first < last).map(|(first, last)| first..=last)
            }
        };
        Self::spanning(decode(collection)?, decode(document)?, version, chunks.ok_or(UrnError::Chunk)?)
    }
}

impl From<Urn> for String {
    fn from(urn: Urn) -> Self {
        urn.to_string()
    }
}

impl TryFrom<String> for Urn {
    type Error = UrnError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A number that has one spelling only.
fn decimal(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|_| plain && canonical)
}

/// Accepts needless escapes and raw non-ASCII, which some clients produce; refuses stray delimiters.
fn decode(segment: &str) -> Result<String, UrnError> {
    if segment.contains(['/', '@', '#', '?', ' ']) || segment.contains(char::is_control) {
        return Err(UrnError::Shape);
    }
    let is_hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
    let escapes_hold = segment.split('%').skip(1).all(|after| {
        let mut bytes = after.bytes();
        is_hex(bytes.next()) && is_hex(bytes.next())
    });
    if !escapes_hold {
        return Err(UrnError::Encoding);
    }
    let decoded = percent_decode_str(segment).decode_utf8().map_err(|_| UrnError::Encoding)?;
    Ok(decoded.into_owned())
}
