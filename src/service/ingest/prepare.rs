//! From a claimed item to pieces of text: everything that needs neither model nor database.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use serde_json::Value;

use super::{Payload, meter::Meter};
use crate::{
    domain::{
        fingerprint::{Hash, content_hash, fingerprint},
        identity::EmbeddingProfile,
        job::Stage,
        lexical::analyzer::ANALYZER_VERSION,
        split::{
            FrontComposer, Outline, Piece, SplitSource, SplitterSettings, TokenCounter, Window, embedding_text, split,
        },
    },
    extract::{Extracted, extract},
    store::{ClaimedItem, ItemFailure},
};

/// Raised when splitting changes, so that stored documents are split again on their next upload.
const SPLIT_VERSION: u32 = 1;

/// An item whose payload could be read.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) item: i32,
    pub(super) position: i64,
    pub(super) source: String,
    pub(super) uri: String,
    pub(super) title: Option<String>,
    pub(super) media_type: String,
    pub(super) metadata: Value,
    pub(super) loader: String,
    pub(super) content: Vec<u8>,
    pub(super) content_hash: Hash,
    pub(super) fingerprint: Hash,
}

/// A document in pieces.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) described: Described,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) splitter: String,
    pub(super) pieces: Vec<PreparedPiece>,
}

/// A piece, and what is embedded and indexed for it.
#[derive(Debug)]
pub(super) struct PreparedPiece {
    pub(super) piece: Piece,
    pub(super) text: String,
    pub(super) embedding_text: String,
    pub(super) embedding_hash: Hash,
}

/// What decides how documents are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitPlan {
    pub(super) max_tokens: usize,
    pub(super) window: Window,
}

/// Reads an item's payload and says what would be stored for it.
pub(super) fn describe(
    item: ClaimedItem,
    plan: SplitPlan,
    profile: &EmbeddingProfile,
) -> Result<Described, ItemFailure> {
    let payload: Payload = serde_json::from_value(item.payload).map_err(|error| ItemFailure {
        ordinal: item.ordinal,
        stage: Stage::Load,
        cause: "payload_version",
        message: format!("this version of the service cannot read the queued document ({error}); send it again"),
    })?;
    let Payload::V1 { uri, title, media_type, metadata, loader } = payload;
    let content_hash = content_hash(&item.content);
    let settings = format!(
        "{SPLIT_VERSION} {ANALYZER_VERSION} {} {} {} {} {}",
        plan.max_tokens, plan.window.tokens, plan.window.special_tokens, profile.model, profile.dimension
    );
    let fingerprint = fingerprint(&[
        &content_hash,
        uri.as_bytes(),
        title.as_deref().unwrap_or_default().as_bytes(),
        media_type.as_bytes(),
        metadata.to_string().as_bytes(),
        settings.as_bytes(),
    ]);
    Ok(Described {
        item: item.ordinal,
        position: item.position,
        source: item.source,
        uri,
        title,
        media_type,
        metadata,
        loader,
        content: item.content,
        content_hash,
        fingerprint,
    })
}

/// Extracts and splits; a panic on hostile input fails this document and no other.
pub(super) fn prepare(
    described: Described,
    plan: SplitPlan,
    counter: &dyn TokenCounter,
    meter: &Meter,
) -> Result<Prepared, ItemFailure> {
    let item = described.item;
    catch_unwind(AssertUnwindSafe(|| extract_and_split(described, plan, counter, meter))).unwrap_or_else(|_| {
        Err(ItemFailure {
            ordinal: item,
            stage: Stage::Extract,
            cause: "panicked",
            message: "this document broke the extraction; it is a defect of the service, please report it".to_owned(),
        })
    })
}

fn extract_and_split(
    described: Described,
    plan: SplitPlan,
    counter: &dyn TokenCounter,
    meter: &Meter,
) -> Result<Prepared, ItemFailure> {
    let started = Instant::now();
    let extracted = extract(&described.content, &described.media_type).map_err(|error| ItemFailure {
        ordinal: described.item,
        stage: Stage::Extract,
        cause: error.cause,
        message: error.message,
    })?;
    meter.add(Stage::Extract, 1, started);
    let started = Instant::now();
    let Extracted { text, title, splitter } = extracted;
    let title = described.title.clone().or(title).unwrap_or_else(|| name_of(&described.source));
    let settings = SplitterSettings { kind: splitter, max_tokens: plan.max_tokens, overlap_tokens: None };
    let outline = Outline::of(splitter, &text);
    let source = SplitSource { text: &text, title: &title, outline: &outline };
    let pieces = split(&source, &settings, plan.window, counter);
    if pieces.is_empty() {
        return Err(ItemFailure {
            ordinal: described.item,
            stage: Stage::Split,
            cause: "empty",
            message: "the document holds nothing to index".to_owned(),
        });
    }
    let fronts = FrontComposer::new(&title, plan.window, counter);
    let pieces = pieces
        .into_iter()
        .map(|piece| {
            let piece_text = text.get(piece.bytes.clone()).unwrap_or_default().to_owned();
            let embedded = embedding_text(&fronts.compose(&piece.heading_path), &piece_text);
            PreparedPiece {
                embedding_hash: content_hash(embedded.as_bytes()),
                embedding_text: embedded,
                text: piece_text,
                piece,
            }
        })
        .collect();
    meter.add(Stage::Split, 1, started);
    let splitter =
        format!("{} max_tokens={} window={}", kind_name(settings.kind), settings.max_tokens, plan.window.tokens);
    Ok(Prepared { described, title, text, splitter, pieces })
}

fn kind_name(kind: crate::domain::split::SplitterKind) -> &'static str {
    use crate::domain::split::SplitterKind;
    match kind {
        SplitterKind::Recursive => "recursive",
        SplitterKind::Markdown => "markdown",
        SplitterKind::Tokens => "tokens",
    }
}

/// A title from a path or URL: its last part without extension.
fn name_of(source: &str) -> String {
    let last = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let words = if stem.is_empty() { last } else { stem };
    words.replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_title() {
        for (source, title) in
            [("hr/annual-leave.md", "annual leave"), ("readme", "readme"), (".env", ".env"), ("a/b/", "b")]
        {
            assert_eq!(name_of(source), title);
        }
    }
}
