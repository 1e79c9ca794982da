//! The numbers of a text, and the words and dashes around them.

use std::iter::Peekable;
use std::str::CharIndices;

/// Words after a number that are no unit.
pub(super) const NO_UNITS: [&str; 24] = [
    "and", "are", "as", "at", "but", "by", "for", "from", "if", "in", "is", "of", "on", "or", "per", "than", "that",
    "the", "then", "to", "was", "when", "which", "with",
];

/// The tokens of a text in their order.
pub(super) struct Tokens(Vec<Token>);

/// A sign or a word of a text.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number {
        value: f64,
        digits: String,
        currency: Option<char>,
    },
    /// In lower case, or a sign of comparison.
    Word(String),
    /// A dash; whether it stands between two signs without blanks.
    Dash {
        is_tight: bool,
    },
    /// The end of a phrase.
    Stop,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        Self(tokens(text))
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The value and the digits of the number at a place.
    pub(super) fn number(&self, at: usize) -> Option<(f64, &str)> {
        match self.0.get(at)? {
            Token::Number { value, digits, .. } => Some((*value, digits)),
            _ => None,
        }
    }

    /// The word at a place; empty if none stands there.
    pub(super) fn word(&self, at: usize) -> &str {
        match self.0.get(at) {
            Some(Token::Word(word)) => word,
            _ => "",
        }
    }

    /// The word so many places before one.
    pub(super) fn before(&self, at: usize, distance: usize) -> &str {
        at.checked_sub(distance).map_or("", |at| self.word(at))
    }

    pub(super) fn is_dash(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Token::Dash { .. }))
    }

    /// The unit of the number at a place: its currency, or the word after it.
    pub(super) fn unit(&self, at: usize) -> Option<String> {
        match self.0.get(at) {
            Some(Token::Number { currency: Some(sign), .. }) => Some(sign.to_string()),
            // "10+ persons".
            _ if self.word(at + 1) == "+" => self.unit_word(at + 2),
            _ => self.unit_word(at + 1),
        }
    }

    /// Whether a unit stands right after the number at a place.
    pub(super) fn has_unit(&self, at: usize) -> bool {
        self.unit_word(at + 1).is_some()
    }

    /// Whether the number at a place is a year.
    pub(super) fn is_year(&self, at: usize) -> bool {
        let is_it = |(_, digits): (f64, &str)| digits.len() == 4 && digits.starts_with(['1', '2']);
        self.number(at).is_some_and(is_it) && self.unit(at).is_none()
    }

    /// Whether the number at a place goes on after a dash, as a date or a telephone number does: "2025-12-04", "0421-555".
    pub(super) fn begins_date(&self, at: usize) -> bool {
        let follows_dash = at.checked_sub(1).is_some_and(|at| self.is_tight_dash(at));
        self.is_padded(at) && follows_dash || self.is_tight_dash(at + 1) && self.number(at + 2).is_some()
    }

    /// Whether the number at a place follows another one and a dash without blanks.
    pub(super) fn ends_date(&self, at: usize) -> bool {
        let number = at.checked_sub(2).and_then(|at| self.number(at));
        number.is_some() && self.is_tight_dash(at - 1)
    }

    /// Whether the number at a place is written with zeros before it, as in dates and telephone numbers.
    pub(super) fn is_padded(&self, at: usize) -> bool {
        let has_digit_after = |(_, digits): (f64, &str)| {
            digits.strip_prefix('0').is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
        };
        self.number(at).is_some_and(has_digit_after)
    }

    fn is_tight_dash(&self, at: usize) -> bool {
        self.0.get(at) == Some(&Token::Dash { is_tight: true })
    }

    fn unit_word(&self, at: usize) -> Option<String> {
        let word = self.word(if self.is_tight_dash(at) { at + 1 } else { at });
        (word.starts_with(char::is_alphabetic) && !NO_UNITS.contains(&word)).then(|| word.to_owned())
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut signs = text.char_indices().peekable();
    let mut tokens = Vec::new();
    let (mut is_after_blank, mut currency) = (true, None);
    while let Some((at, sign)) = signs.next() {
        let rest = text.get(at..).unwrap_or_default();
        match sign {
            _ if sign.is_ascii_digit() => {
                let digits: String = digits_of(rest).chars().filter(|sign| *sign != ',').collect();
                skip(&mut signs, at + digits_of(rest).len());
                tokens.push(digits.parse().map_or(Token::Stop, |value| Token::Number { value, digits, currency }));
            }
            _ if sign.is_alphabetic() => {
                let word: String = rest.chars().take_while(|sign| sign.is_alphabetic()).collect();
                skip(&mut signs, at + word.len());
                tokens.push(Token::Word(word.to_lowercase()));
            }
            '-' | '–' | '—' => {
                let is_before_blank = signs.peek().is_none_or(|(_, next)| next.is_whitespace());
                tokens.push(Token::Dash { is_tight: !is_after_blank && !is_before_blank });
            }
            '<' | '>' | '≤' | '≥' | '+' => tokens.push(Token::Word(sign.to_string())),
            '%' | '°' | '$' | '£' | '€' | '¥' => {}
            _ if sign.is_whitespace() => {}
            _ => tokens.push(Token::Stop),
        }
        is_after_blank = sign.is_whitespace();
        currency = Some(sign).filter(|sign| matches!(sign, '$' | '£' | '€' | '¥'));
    }
    tokens
}

/// The digits at the beginning of a text, with what stands between them in a number.
fn digits_of(text: &str) -> &str {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let belongs = |at: usize| is_digit(at) || matches!(bytes.get(at), Some(b'.' | b',')) && is_digit(at + 1);
    let end = (0..bytes.len()).find(|at| !belongs(*at)).unwrap_or(bytes.len());
    text.get(..end).unwrap_or_default()
}

fn skip(signs: &mut Peekable<CharIndices<'_>>, end: usize) {
    while signs.next_if(|(at, _)| *at < end).is_some() {}
}
