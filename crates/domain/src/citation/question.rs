//! Questions in a source. One asserts nothing; together with the "yes" or "no" that follows it is a statement.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::markdown::BlockKind;
use crate::sentence::sentences;

/// Longest question and answer, in bytes, that are read as one statement.
const LONGEST: usize = 480;

/// The first word of an answer to a question that its words decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is so.
    Yes,
    /// It is not.
    No,
}

/// A sentence of a source, or a question with the sentence that answers it.
pub(super) struct SourceStatement {
    pub(super) bytes: Range<usize>,
    pub(super) kind: BlockKind,
    pub(super) block: usize,
    /// Whether it stands in a row of a table or an item of a list.
    pub(super) is_row: bool,
    /// The answer that it ends with.
    pub(super) answer: Option<Answer>,
}

/// The sentences of a source, in order.
pub(super) fn statements(text: &str) -> Vec<SourceStatement> {
    let mut found: Vec<SourceStatement> = Vec::new();
    for sentence in sentences(text) {
        let bytes = sentence.words();
        let words = text.get(bytes.clone()).unwrap_or_default();
        let answer = answer_of(words);
        let question = found.last_mut().filter(|last| {
            last.answer.is_none()
                && bytes.end - last.bytes.start <= LONGEST
                && text.get(last.bytes.clone()).is_some_and(asks)
        });
        if let (Some(question), Some(answer)) = (question, answer) {
            question.bytes.end = bytes.end;
            question.answer = Some(answer);
            continue;
        }
        let is_item = sentence.kind == BlockKind::Paragraph
            && text.get(sentence.range.start..sentence.content).is_some_and(|lead| lead.contains(is_bullet));
        let continues = |last: &SourceStatement| last.is_row && last.block == sentence.block;
        let is_row = sentence.kind == BlockKind::TableRow || is_item || found.last().is_some_and(continues);
        found.push(SourceStatement { bytes, kind: sentence.kind, block: sentence.block, is_row, answer: None });
    }
    found
}

/// Whether a sentence asks: one that only ends with somebody's question states that it was asked.
pub(super) fn asks(words: &str) -> bool {
    let is_markup = |sign: char| sign.is_whitespace() || matches!(sign, '*' | '_' | '|' | '(' | ')');
    let is_quote = |sign: char| matches!(sign, '"' | '\'' | '“' | '”' | '‘' | '’' | '«' | '»' | '„');
    let words = words.trim_matches(is_markup);
    let inner = words.trim_end_matches(is_quote);
    let is_quoted_whole = inner.len() == words.len() || words.starts_with(is_quote);
    is_quoted_whole && inner.ends_with(['?', '？', '؟'])
}

fn answer_of(words: &str) -> Option<Answer> {
    match words.unicode_words().next()?.to_lowercase().as_str() {
        "yes" | "certainly" | "sure" => Some(Answer::Yes),
        // Not "no one", nor "no-fly zone".
        "no" => {
            let after = words.trim_start_matches(|sign: char| !sign.is_alphanumeric()).get(2..)?;
            (!after.starts_with([' ', '-'])).then_some(Answer::No)
        }
        _ => None,
    }
}

fn is_bullet(sign: char) -> bool {
    sign.is_ascii_digit() || matches!(sign, '-' | '*' | '+' | '•' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_ends_with_its_sign() {
        for question in ["May I?", "*May I?*", "“May I?”", "(May I?)", "Darf ich？"] {
            assert!(asks(question), "{question}");
        }
        for statement in ["I may.", "He asked, \"May I?\"", "May I? No.", "Yes", ""] {
            assert!(!asks(statement), "{statement}");
        }
    }

    #[test]
    fn a_question_and_its_answer_are_one_statement() {
        let read = |text: &str| -> Vec<(String, Option<Answer>)> {
            let all = statements(text).into_iter();
            all.map(|statement| (text.get(statement.bytes).expect("a part of the text").to_owned(), statement.answer))
                .collect()
        };
        assert_eq!(
            read("May I? No. Never."),
            [("May I? No.".to_owned(), Some(Answer::No)), ("Never.".to_owned(), None)]
        );
        assert_eq!(read("May I? Yes, today."), [("May I? Yes, today.".to_owned(), Some(Answer::Yes))]);
        assert_eq!(read("May I? No one may."), [("May I?".to_owned(), None), ("No one may.".to_owned(), None)]);
        assert_eq!(read("I may. No."), [("I may.".to_owned(), None), ("No.".to_owned(), None)]);
    }
}
