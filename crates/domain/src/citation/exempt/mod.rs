//! Words that need no marker are held against the sources nevertheless.
//!
//! A heading, a lead-in, a question, code or a statement of ignorance needs no marker because it states nothing. As far
//! as it does state something, some source shown, or the question, must hold it; where it carries a marker, the sources
//! cited. Otherwise a document that instructs a model, or a careless model, could place a telephone number, an address
//! or a command where nobody checks it.
//!
//! A statement that stands in one of these texts word for word is held as a whole. Of others:
//!
//! | role | held |
//! |---|---|
//! | heading, lead-in, question, ignorance | numbers, months, names, addresses, instructions, inline code |
//! | question that asserts ("Did you know that …?") | also the words that it asserts |
//! | definition of a link or footnote, a claim by its marker | as a heading |
//! | code | each line |
//! | claim, pleasantry, markup | links, images, URLs, e-mail addresses, HTML; a claim's other words need a marker |
//! | all | no hidden characters: Unicode tags, overrides of direction |

mod address;
mod assertion;
mod framing;
mod instruction;
mod known;

use std::ops::Range;

use self::address::{Address, AddressKind, addresses};
use self::assertion::asserted;
use self::framing::counts_parts;
pub(super) use self::framing::is_framing;
use self::instruction::instructions;
pub(super) use self::instruction::instructs;
use self::known::Known;
use super::claim::{Role, Statement, between_markers, plain, without_markers};
use super::prepared::Basis;
use super::support::{calculated, is_name};
use super::term::{Term, TermKind, terms};
use crate::lexical::function_words::is_german;
use crate::sentence::Sentence;
use crate::wording::lower_case;

/// Longest name of a language after the fence of a code block, in bytes.
const LONGEST_LANGUAGE: usize = 20;

/// Something that an answer states outside of its claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unheld {
    pub(super) kind: UnheldKind,
    /// As the answer has it.
    pub(super) text: String,
}

/// Kinds of things that an answer can state without a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnheldKind {
    Number,
    Date,
    Name,
    /// A link, an image, a URL, a host or an e-mail address.
    Address,
    Html,
    Code,
    Instruction,
    /// The assertion of a question.
    Assertion,
    /// Characters that no reader sees.
    Hidden,
}

/// A part of an answer that states something which no source holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lapse {
    pub(super) role: Role,
    /// Where it stands in the answer.
    pub(super) bytes: Range<usize>,
    /// The statements in it that no source holds.
    pub(super) unheld: Vec<Unheld>,
    /// The numbers of the sources that it cites and that lack it, though another source holds it; empty if no source
    /// shown does.
    pub(super) cited: Vec<u32>,
}

/// The lapses of an answer. `sentences` are those that the statements were read from, and `covered` the numbers of the
/// sources that each statement cites.
pub(super) fn lapses(
    text: &str,
    statements: &[Statement],
    sentences: &[Sentence],
    covered: &[Vec<u32>],
    basis: &Basis,
) -> Vec<Lapse> {
    let addresses = addresses(text);
    let masked = without_targets(text, &addresses);
    let shown = Known::new(basis.sources().iter().chain([basis.question()]));
    let mut lapses = Vec::new();
    for ((statement, sentence), cited) in statements.iter().zip(sentences).zip(covered) {
        let within = |address: &&Address| statement.bytes.contains(&address.bytes.start);
        let own: Vec<&Address> = addresses.iter().filter(within).collect();
        // Code is compared as it is written, and holds no addresses of its own.
        let written = if statement.role == Role::Code { text } else { &masked };
        let words = written.get(sentence.words()).unwrap_or_default();
        let lapse = |unheld: Vec<Unheld>, cited: &[u32]| {
            let lapse = Lapse { role: statement.role, bytes: statement.bytes.clone(), unheld, cited: cited.to_vec() };
            (!lapse.unheld.is_empty()).then_some(lapse)
        };
        let raw = text.get(sentence.words()).unwrap_or_default();
        let quoted = without_markers(raw);
        // A definition is not read as a sentence where Markdown is shown, so a marker vouches for none of its words.
        let is_definition = statement.role == Role::Claim && is_definition(raw);
        let held_as = if is_definition { Role::Heading } else { statement.role };
        let of = |known: &Known<'_>| {
            let unheld = unheld(held_as, words, &own, known);
            if unheld.is_empty() || known.holds_verbatim(quoted.trim_matches([':', '.', ' '])) {
                Vec::new()
            } else {
                unheld
            }
        };
        let in_shown = of(&shown);
        let is_cited = statement.role != Role::Claim && !cited.is_empty() && in_shown.is_empty();
        lapses.extend(lapse(in_shown, &[]));
        if is_cited {
            let sources = cited.iter().filter_map(|number| basis.source(*number));
            let known = Known::new(sources.chain([basis.question()]));
            lapses.extend(lapse(of(&known), cited));
        }
    }
    lapses
}

/// Whether a sentence begins as the definition of a link or footnote: `[1]: https://…`, `[^1]: …`.
fn is_definition(raw: &str) -> bool {
    let label = raw.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    label.is_some_and(|(_, rest)| rest.starts_with(':'))
}

/// The text with spaces in place of all targets of links and all addresses, at the same offsets.
fn without_targets(text: &str, addresses: &[Address]) -> String {
    let mut masked = String::with_capacity(text.len());
    for address in addresses {
        if address.target.start >= masked.len() {
            masked.push_str(text.get(masked.len()..address.target.start).unwrap_or_default());
            masked.extend(std::iter::repeat_n(' ', address.target.len()));
        }
    }
    masked.push_str(text.get(masked.len()..).unwrap_or_default());
    masked
}

/// Returns the parts of a statement that none of the known texts holds.
fn unheld(role: Role, words: &str, addresses: &[&Address], known: &Known<'_>) -> Vec<Unheld> {
    let mut unheld: Vec<Unheld> = hidden(words, known).into_iter().collect();
    match role {
        Role::Code => {
            unheld.extend(code_lines(words, known));
            return unheld;
        }
        Role::Heading | Role::LeadIn | Role::Question | Role::Ignorance => {
            unheld.extend(foreign_addresses(addresses, known));
            unheld.extend(inline_code(words, known));
            unheld.extend(stated(role, &plain(words), known));
        }
        Role::Claim | Role::Pleasantry | Role::Markup => {
            let live = addresses.iter().filter(|address| address.kind != AddressKind::Bare);
            unheld.extend(foreign_addresses(&live.copied().collect::<Vec<_>>(), known));
        }
    }
    unheld
}

/// Unicode tags, which spell a text that nobody sees, and signs that turn the direction of what is read.
fn hidden(words: &str, known: &Known<'_>) -> Option<Unheld> {
    let mut is_flag = false;
    let found = words.chars().find(|sign| match sign {
        // The flags of England, Scotland and Wales are spelled with tags.
        '\u{1f3f4}' => {
            is_flag = true;
            false
        }
        '\u{e0000}'..='\u{e007f}' => !is_flag,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => {
            is_flag = false;
            false
        }
    })?;
    let is_held = known.holds_verbatim(found.encode_utf8(&mut [0; 4]));
    (!is_held).then(|| Unheld { kind: UnheldKind::Hidden, text: format!("U+{:04X}", u32::from(found)) })
}

fn foreign_addresses(addresses: &[&Address], known: &Known<'_>) -> Vec<Unheld> {
    let foreign = addresses.iter().filter(|address| match address.kind {
        AddressKind::Live | AddressKind::Bare => !known.holds_address(&address.text),
        AddressKind::Html => !known.holds_verbatim(&address.text),
    });
    let unheld = |address: &&Address| {
        let kind = if address.kind == AddressKind::Html { UnheldKind::Html } else { UnheldKind::Address };
        Unheld { kind, text: address.text.clone() }
    };
    foreign.map(unheld).collect()
}

/// The lines of a code block that none of the texts holds, however they are spaced.
fn code_lines(block: &str, known: &Known<'_>) -> Vec<Unheld> {
    let line = |line: &str| {
        let line = line.trim();
        let language = line.trim_start_matches(['`', '~']);
        let is_fence = line.len() - language.len() >= 3;
        let is_language = language.len() <= LONGEST_LANGUAGE
            && language.chars().all(|sign| sign.is_alphanumeric() || "+-_#.".contains(sign));
        let code = plain(line);
        let code = ["$ ", "> "].iter().find_map(|prompt| code.strip_prefix(prompt)).unwrap_or(&code);
        let is_held = is_fence && is_language
            || !code.chars().any(char::is_alphanumeric)
            || known.holds_verbatim(line)
            || known.holds_verbatim(code);
        (!is_held).then(|| Unheld { kind: UnheldKind::Code, text: code.to_owned() })
    };
    block.lines().filter_map(line).collect()
}

/// The words between backticks that none of the texts holds.
fn inline_code(words: &str, known: &Known<'_>) -> Vec<Unheld> {
    // Every second part is code, but for one that no backtick ends.
    let parts: Vec<&str> = words.split('`').collect();
    let closed = parts.split_last().map(|(_, closed)| closed).unwrap_or_default();
    // Code does not hide markers: the parts around one may come from different sources.
    let code = closed.iter().skip(1).step_by(2).flat_map(|code| between_markers(code)).map(str::trim);
    let foreign = code.filter(|code| code.chars().any(char::is_alphanumeric) && !known.holds_verbatim(code));
    foreign.map(|code| Unheld { kind: UnheldKind::Code, text: code.to_owned() }).collect()
}

/// Numbers, months, names and instructions that none of the texts holds.
fn stated(role: Role, words: &str, known: &Known<'_>) -> Vec<Unheld> {
    let words = without_list_number(words);
    let terms = terms(words);
    let lower: Vec<_> =
        terms.iter().map(|term| lower_case(words.get(term.range.clone()).unwrap_or_default())).collect();
    // German writes every noun with a capital.
    let is_german = lower.iter().any(|word| is_german(word));
    let word = |at: Option<usize>| at.and_then(|at| lower.get(at)).map(AsRef::as_ref);
    let is_spelled =
        |at: Option<usize>| at.and_then(|at| terms.get(at)).is_some_and(|term| term.kind == TermKind::Spelled);
    let mut unheld = Vec::new();
    let calculated = calculated(words, &terms, &|stem| known.holds(stem), &|_| false);
    for (at, term) in terms.iter().enumerate() {
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        let kind = match term.kind {
            TermKind::Number => Some(UnheldKind::Number).filter(|_| {
                let is_told = known.holds(&term.stem) || calculated.contains(&at);
                !is_told && !counts_parts(&term.stem, word(before), word(after))
            }),
            // "Two steps" states nothing; "zero nine zero" is a number.
            TermKind::Spelled => Some(UnheldKind::Number)
                .filter(|_| (is_spelled(before) || is_spelled(after)) && !known.holds(&term.stem)),
            TermKind::Month => Some(UnheldKind::Date).filter(|_| !known.holds(&term.stem)),
            TermKind::Word => Some(UnheldKind::Name).filter(|_| {
                let is_noun = is_german || word(Some(at)).is_some_and(is_framing);
                !is_noun && is_name(words, &terms, at) && !known.holds_name(&term.stem)
            }),
            TermKind::Stop => None,
        };
        let text = || words.get(term.range.clone()).unwrap_or_default().to_owned();
        unheld.extend(kind.map(|kind| Unheld { kind, text: text() }));
    }
    let has_comma = |at: usize| {
        let between =
            at.checked_sub(1).and_then(|before| Some(terms.get(before)?.range.end..terms.get(at)?.range.start));
        between.and_then(|gap| words.get(gap)).is_some_and(|gap| gap.contains(','))
    };
    let told = lower.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    let asserted = (role == Role::Question).then(|| asserted(&told, has_comma)).flatten();
    let instructions = instructions(words, &terms, role == Role::Question).into_iter();
    let phrases = instructions.map(|range| (UnheldKind::Instruction, range));
    for (kind, range) in phrases.chain(asserted.map(|range| (UnheldKind::Assertion, range))) {
        let of = terms.get(range.clone()).unwrap_or_default();
        let is_foreign = |(term, word): (&Term, &str)| {
            term.kind == TermKind::Word && !is_framing(word) && !known.holds_name(&term.stem)
        };
        let all = lower.get(range).unwrap_or_default();
        if of.iter().zip(all).any(|(term, word)| is_foreign((term, word.as_ref()))) {
            unheld.extend(slice(words, of).map(|text| Unheld { kind, text }));
        }
    }
    unheld
}

/// The words from the first of these terms to the last.
fn slice(words: &str, terms: &[Term]) -> Option<String> {
    let (first, last) = (terms.first()?, terms.last()?);
    words.get(first.range.start..last.range.end).map(str::to_owned)
}

/// The words without the number of their list item ("3. ").
fn without_list_number(words: &str) -> &str {
    let after = words.trim_start_matches(|sign: char| sign.is_ascii_digit());
    after.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' ')).unwrap_or(words)
}
