//! Function words by which a text shows its language: those that no other language in question has.

/// Function words of German that are no words of English: German writes every noun with a capital.
const GERMAN: [&str; 76] = [
    "aber", "als", "auch", "auf", "aus", "bei", "beim", "da", "daher", "dass", "dazu", "dem", "den", "denn", "der",
    "diese", "dieser", "dort", "durch", "ein", "eine", "einem", "einen", "einer", "er", "es", "folgende", "für",
    "gilt", "haben", "heißt", "ihm", "ihn", "ihr", "im", "ist", "ja", "kann", "können", "laut", "mit", "muss",
    "müssen", "nach", "nein", "nicht", "noch", "nur", "ob", "oder", "schon", "sich", "sie", "sind", "steht", "und",
    "uns", "unter", "viele", "vom", "von", "vor", "wann", "weil", "welche", "welcher", "wenn", "wer", "werden", "wie",
    "wird", "zu", "zum", "zur", "zwischen", "über",
];

/// Function words of French, Spanish, Italian, Portuguese and Dutch that are no words of English.
const ROMANCE_AND_DUTCH: [&str; 31] = [
    "che", "com", "dans", "della", "deux", "een", "est", "et", "gli", "het", "il", "jours", "la", "las", "le", "les",
    "los", "niet", "não", "os", "para", "pas", "por", "pour", "que", "sont", "sur", "uma", "una", "une", "voor",
];

/// Whether a word in lower case is a function word of German.
pub(crate) fn is_german(word: &str) -> bool {
    GERMAN.binary_search(&word).is_ok()
}

/// Whether a word in lower case is a function word of French, Spanish, Italian, Portuguese or Dutch.
pub(crate) fn is_romance_or_dutch(word: &str) -> bool {
    ROMANCE_AND_DUTCH.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [&GERMAN[..], &ROMANCE_AND_DUTCH] {
            assert!(list.is_sorted_by(|one, two| one < two), "{list:?}");
        }
    }
}
