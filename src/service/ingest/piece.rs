//! Pieces of a document, and what is embedded and indexed for them.
//!
//! A piece has no text of its own: it is a range in the text of its document. What is embedded or indexed is put together
//! when it is sent or weighed, so that a large document is held once.

use std::sync::Arc;

use crate::domain::{
    fingerprint::{Hash, content_hash},
    split::{FrontComposer, PageMap, Piece, TokenCounter, Window, embedding_text},
};

/// A piece of a document.
#[derive(Debug)]
pub(super) struct PreparedPiece {
    pub(super) piece: Piece,
    /// Page on which it begins, from 1.
    pub(super) page: Option<u32>,
    pub(super) fronts: Fronts,
    pub(super) embedding_hash: Hash,
    /// Sentence that describes how the piece relates to its document, and the input for which it was written.
    pub(super) context: Option<(String, Hash)>,
}

/// The text in front of a piece; pieces that follow each other share it.
#[derive(Clone, Debug)]
pub(super) struct Fronts {
    /// Where it is embedded.
    pub(super) embedded: Arc<str>,
    /// Where it is indexed by its words.
    pub(super) indexed: Arc<str>,
}

/// The parts of a text that is embedded.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextToEmbed<'d> {
    pub(super) front: &'d str,
    pub(super) sentence: Option<&'d str>,
    pub(super) piece: &'d str,
}

impl PreparedPiece {
    /// Sets a sentence that describes how the piece relates to its document, whose text this is; the piece is embedded
    /// and indexed with it.
    pub(super) fn situate(&mut self, document: &str, sentence: &str, key: Hash) {
        self.context = Some((sentence.to_owned(), key));
        self.embedding_hash = content_hash(self.to_embed(document).compose().as_bytes());
    }

    /// Its text, in the text of its document.
    pub(super) fn text<'d>(&self, document: &'d str) -> &'d str {
        document.get(self.piece.bytes.clone()).unwrap_or_default()
    }

    /// The text that is embedded for it.
    pub(super) fn to_embed<'d>(&'d self, document: &'d str) -> TextToEmbed<'d> {
        let sentence = self.context.as_ref().map(|(sentence, _)| sentence.as_str());
        TextToEmbed { front: &self.fronts.embedded, sentence, piece: self.text(document) }
    }
}

impl TextToEmbed<'_> {
    pub(super) fn compose(&self) -> String {
        embedding_text(self.front, self.sentence, self.piece)
    }
}

/// Prepares the pieces of one document, in their order.
pub(super) struct PieceFronts<'d> {
    embedded: FrontComposer<'d>,
    /// If another title is indexed than is embedded.
    indexed: Option<FrontComposer<'d>>,
    /// The headings and the header of the last piece, and what was composed of them.
    last: Option<(Vec<String>, Option<String>, Fronts)>,
}

impl<'d> PieceFronts<'d> {
    /// For a document with this title, the part of it that is embedded first.
    pub(super) fn new((embedded, whole): (&'d str, &'d str), window: Window, counter: &'d dyn TokenCounter) -> Self {
        let composer = |title| FrontComposer::new(title, window, counter);
        Self { embedded: composer(embedded), indexed: (embedded != whole).then(|| composer(whole)), last: None }
    }

    pub(super) fn prepare(&mut self, piece: Piece, document: &str, pages: &PageMap) -> PreparedPiece {
        let fronts = self.fronts_of(&piece);
        let text = document.get(piece.bytes.clone()).unwrap_or_default();
        PreparedPiece {
            embedding_hash: content_hash(embedding_text(&fronts.embedded, None, text).as_bytes()),
            page: pages.page_at(piece.bytes.start),
            context: None,
            fronts,
            piece,
        }
    }

    /// To compose them counts tokens, and most pieces stand under the headings of the one before.
    fn fronts_of(&mut self, piece: &Piece) -> Fronts {
        if let Some((headings, header, fronts)) = &self.last
            && (headings, header) == (&piece.heading_path, &piece.table_header)
        {
            return fronts.clone();
        }
        let compose = |composer: &FrontComposer<'_>| -> Arc<str> {
            composer.compose(&piece.heading_path, piece.table_header.as_deref()).text.into()
        };
        let embedded = compose(&self.embedded);
        let fronts = Fronts { indexed: self.indexed.as_ref().map_or_else(|| Arc::clone(&embedded), compose), embedded };
        self.last = Some((piece.heading_path.clone(), piece.table_header.clone(), fronts.clone()));
        fronts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::split::{Outline, SplitSource, SplitterKind, SplitterSettings, split};

    const WINDOW: Window = Window { tokens: 26, special_tokens: 2 };

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    proptest! {
        #[test]
        fn a_piece_is_embedded_as_if_it_were_prepared_alone(
            text in "(# [ab]{1,3}\n|## [ab]{1,3}\n|\\| é \\| b \\|\n|\\|---\\|---\\|\n|[a-cé ]{1,40}\\. |\n){1,30}",
            title in "[A-C ]{0,6}",
            sentence in "[a-zé ]{1,9}",
        ) {
            let (outline, pages) = (Outline::of(SplitterKind::Markdown, &text), PageMap::default());
            let source = SplitSource { text: &text, title: &title, outline: &outline, pages: &pages };
            let pieces = split(&source, &SplitterSettings { size: 16, ..SplitterSettings::default() }, WINDOW, &words);
            let mut fronts = PieceFronts::new((&title, "Indexed"), WINDOW, &words);
            for piece in pieces {
                let mut prepared = fronts.prepare(piece.clone(), &text, &pages);
                let alone = |title| {
                    FrontComposer::new(title, WINDOW, &words)
                        .compose(&piece.heading_path, piece.table_header.as_deref())
                        .text
                };
                let slice = text.get(piece.bytes.clone()).expect("a range of the text");
                prop_assert_eq!(prepared.text(&text), slice);
                prop_assert_eq!(&*prepared.fronts.indexed, alone("Indexed"));
                for sentence in [None, Some(sentence.as_str())] {
                    if let Some(sentence) = sentence {
                        prepared.situate(&text, sentence, Hash::default());
                    }
                    let embedded = embedding_text(&alone(&title), sentence, slice);
                    prop_assert_eq!(prepared.embedding_hash, content_hash(embedded.as_bytes()));
                    prop_assert_eq!(prepared.to_embed(&text).compose(), embedded);
                }
            }
        }
    }
}
