//! BERT's uncased text clean-up, for words that are not plain ASCII.
//!
//! In the published order: control characters out, ideographs on their own, canonical decomposition, accents out,
//! lower case; then every punctuation character is a word of its own.

use std::iter::once;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Calls `found` with each cleaned word of `text`, until it answers false. Returns false if it did.
///
/// `word` is working memory.
pub(super) fn each_word(text: &str, word: &mut String, mut found: impl FnMut(&str) -> bool) -> bool {
    word.clear();
    let cleaned = text.chars().filter(|&c| is_kept(c)).flat_map(|c| {
        let around = is_ideograph(c).then_some(' ');
        around.into_iter().chain(once(c)).chain(around)
    });
    let lowered =
        cleaned.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark).flat_map(char::to_lowercase);
    for c in lowered {
        let alone = is_punctuation(c);
        if !alone && !c.is_whitespace() {
            word.push(c);
            continue;
        }
        if !word.is_empty() && !found(word) {
            return false;
        }
        word.clear();
        if alone && !found(c.encode_utf8(&mut [0; 4])) {
            return false;
        }
    }
    word.is_empty() || found(word)
}

fn is_kept(c: char) -> bool {
    let control = c.general_category_group() == GeneralCategoryGroup::Other
        && c.general_category() != GeneralCategory::Unassigned;
    !control && c != char::REPLACEMENT_CHARACTER
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of unified and compatibility ideographs that BERT's vocabulary lists character by character.
fn is_ideograph(c: char) -> bool {
    matches!(
        u32::from(c),
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_B73F
            | 0x2_B740..=0x2_B81F
            | 0x2_B920..=0x2_CEAF
            | 0x2_F800..=0x2_FA1F
    )
}
