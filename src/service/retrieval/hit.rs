//! The passages that a search finds, and how they are named.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        citation::{Citation, Urn},
        file_name::folder_of,
        identity::ChunkKey,
        lexical::analyzer::Analyzer,
        origin::Origin,
        prompt,
        release_notes::with_release,
        subject::{AskedSubjects, Label},
    },
    store::Passage,
};

/// A passage found by retrieval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hit {
    /// The passage; shared, since a hit passes through the stages without its text being copied.
    pub(crate) passage: Arc<Passage>,
    /// Cosine similarity; `None` where vectors were not searched or it has none.
    pub(crate) dense: Option<f64>,
    /// BM25; `None` when the lexical half did not find it.
    pub(crate) lexical: Option<f64>,
    /// Fused score, by which hits that are not reranked are ordered.
    pub(crate) fused: f64,
    /// Score of the reranker, by which the first hits are ordered; `None` for hits that were not reranked.
    pub(crate) reranked: Option<f64>,
    /// Ordinal of the last chunk that the passage is merged from; its first is in its key.
    pub(crate) last_ordinal: u32,
    /// Duplicates of the passage elsewhere, which are not results of their own, best first.
    pub(crate) duplicates: Vec<Arc<Passage>>,
}

impl Hit {
    /// Permanent identifier of the passage.
    #[must_use]
    pub(crate) fn urn(&self) -> Urn {
        urn_of(&self.passage, self.last_ordinal)
    }

    /// The passage, with this URN, as prompts show it: its text, and where it stands.
    pub(crate) fn shown<'p>(&'p self, urn: &'p str) -> prompt::Source<'p> {
        let Passage { title, source, heading, table_header, text, .. } = self.passage.as_ref();
        let file = if source == title { "" } else { source };
        let table_header = table_header.as_deref().unwrap_or_default();
        prompt::Source { urn, title, file, headings: heading, table_header, text, context: "" }
    }

    /// The page on which the words begin that a citation of it quotes; its first page where it quotes none.
    pub(crate) fn page_of(&self, citation: &Citation) -> Option<i32> {
        citation.quote.as_ref().map_or(self.passage.page, |quote| self.passage.page_at(quote.start))
    }

    /// Its document, by what names its subject.
    pub(crate) fn label(&self) -> Label<'_> {
        Label { title: &self.passage.title, source: &self.passage.source }
    }

    /// Whether the passage is about another subject than a question names.
    pub(crate) fn is_elsewhere(&self, analyzer: &Analyzer, subjects: &AskedSubjects<'_>) -> bool {
        subjects.is_elsewhere(analyzer, self.label(), &self.passage.heading, &self.passage.text)
    }

    /// The chunks that the passage is merged from.
    pub(crate) fn keys(&self) -> impl Iterator<Item = ChunkKey> + use<> {
        let ChunkKey { document_id, ordinal } = self.passage.key;
        (ordinal..=self.last_ordinal).map(move |ordinal| ChunkKey { document_id, ordinal })
    }

    /// Title of the passage as it was indexed.
    #[must_use]
    pub(crate) fn title(&self) -> String {
        let Passage { title, heading, table_header, .. } = self.passage.as_ref();
        full_title(title, heading, table_header.as_deref())
    }

    /// Title by which the passage is judged: after the folder of its document, which may alone tell what a file is about.
    #[must_use]
    pub(crate) fn judged_title(&self) -> String {
        let title = with_release(self.title(), &self.passage.heading);
        match folder_of(&self.passage.source) {
            Some(folder) => format!("{folder} {title}"),
            None => title,
        }
    }
}

/// The title of a passage: that of the document, the heading path, and the header of the table that it begins in.
#[must_use]
pub(crate) fn full_title(document: &str, heading: &[String], table_header: Option<&str>) -> String {
    let heading = heading.iter().map(String::as_str);
    std::iter::once(document).chain(heading).chain(table_header).collect::<Vec<_>>().join(" ")
}

/// A source made of passages that duplicate each other or are adjacent.
#[derive(Clone, Debug)]
pub(crate) struct GroupedHit {
    /// Position of its leading passage among those that were grouped.
    pub(crate) leader: usize,
    /// The source.
    pub(crate) hit: Hit,
}

/// Identifies the chunks from the passage's own to another of the same document.
#[must_use]
pub(crate) fn urn_of(passage: &Passage, last_ordinal: u32) -> Urn {
    if passage.origin == Origin::Web {
        return Urn::web(&passage.uri, &passage.content_hash);
    }
    Urn::spanning(
        &passage.collection,
        passage.key.document_id.to_string(),
        passage.version,
        passage.key.ordinal..=last_ordinal,
    )
    .expect("collections have names and versions start at 1: the API and the schema see to it")
}
