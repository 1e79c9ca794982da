//! Finds instructions in a sentence: what it tells its reader to do. English only.

use std::borrow::Cow;
use std::ops::Range;

use crate::citation::negation::{clauses, words};
use crate::citation::term::{Term, terms};

/// Verbs that begin an instruction. Sorted, for the binary search, as are the other lists.
const COMMANDS: [&str; 84] = [
    "add",
    "allow",
    "apply",
    "approve",
    "ask",
    "authorize",
    "buy",
    "call",
    "cancel",
    "change",
    "check",
    "choose",
    "click",
    "complete",
    "configure",
    "confirm",
    "connect",
    "contact",
    "copy",
    "create",
    "delete",
    "deposit",
    "dial",
    "disable",
    "disconnect",
    "download",
    "drink",
    "eat",
    "email",
    "enable",
    "enter",
    "execute",
    "fill",
    "follow",
    "forward",
    "give",
    "go",
    "grant",
    "ignore",
    "insert",
    "install",
    "keep",
    "log",
    "mail",
    "make",
    "message",
    "move",
    "open",
    "paste",
    "pay",
    "phone",
    "press",
    "provide",
    "purchase",
    "put",
    "remove",
    "reply",
    "report",
    "reset",
    "restart",
    "return",
    "run",
    "scan",
    "select",
    "sell",
    "send",
    "set",
    "share",
    "sign",
    "stop",
    "submit",
    "swallow",
    "switch",
    "take",
    "tell",
    "text",
    "transfer",
    "type",
    "uninstall",
    "update",
    "upload",
    "use",
    "visit",
    "wire",
];

/// Words before a verb that make it an instruction or leave it one.
const OPENERS: [&str; 20] = [
    "also",
    "always",
    "and",
    "finally",
    "first",
    "immediately",
    "instead",
    "just",
    "kindly",
    "never",
    "next",
    "now",
    "or",
    "please",
    "quickly",
    "simply",
    "so",
    "then",
    "therefore",
    "to",
];

/// Verbs after which any verb is an instruction.
const MODALS: [&str; 7] = ["must", "need", "needs", "ought", "please", "shall", "should"];

/// Verbs behind a subject.
const FINITE: [&str; 18] = [
    "are", "can", "contain", "depend", "depends", "differ", "differs", "do", "does", "has", "have", "include",
    "includes", "is", "may", "was", "were", "will",
];

/// Words that stand behind a verb rather than behind a noun: its object, or its place.
const AFTER_VERB: [&str; 44] = [
    "a", "all", "an", "any", "at", "back", "by", "down", "each", "every", "for", "from", "her", "here", "him", "in",
    "into", "it", "me", "my", "no", "on", "our", "out", "that", "the", "their", "them", "this", "to", "up", "us",
    "with", "your", "as", "how", "if", "what", "when", "where", "whether", "which", "who", "whoever",
];

/// Most words of a subject behind its first.
const LONGEST_SUBJECT: usize = 3;

/// The instructions of a sentence, as positions of their words, from the verb to the end of its clause.
///
/// `asks` says that the sentence is a question, where a modal at the start instructs nobody.
pub(super) fn instructions(text: &str, terms: &[Term], asks: bool) -> Vec<Range<usize>> {
    let words = words(text, terms);
    let clauses = clauses(text, terms, &words);
    clauses.into_iter().filter_map(|clause| instruction(&words, clause, asks)).collect()
}

/// Whether a word that can be a verb is a noun with a verb of its own behind it: "Send and Sync differ in", "Type
/// parameters can be".
fn is_noun(words: &[Cow<'_, str>], at: usize, end: usize) -> bool {
    let rest = words.get(at + 1..end).unwrap_or_default();
    let mut subject = rest.iter().take(LONGEST_SUBJECT + 1).take_while(|word| !AFTER_VERB.contains(&word.as_ref()));
    subject.any(|word| FINITE.contains(&word.as_ref()))
}

fn instruction(words: &[Cow<'_, str>], clause: Range<usize>, asks: bool) -> Option<Range<usize>> {
    let is_in = |list: &[&str], at: usize| words.get(at).is_some_and(|word| list.binary_search(&word.as_ref()).is_ok());
    let is_begun = |at: usize| {
        let before = at.checked_sub(1).filter(|before| clause.contains(before));
        before.is_none_or(|before| is_in(&OPENERS, before) && words.get(before).is_some_and(|word| word != "to"))
    };
    let verb = clause.clone().find(|at| {
        let commands = is_in(&COMMANDS, *at) && is_begun(*at) && !is_noun(words, *at, clause.end);
        let after_modal = at
            .checked_sub(1)
            .is_some_and(|modal| clause.contains(&modal) && is_in(&MODALS, modal) && !(asks && modal == clause.start));
        commands || after_modal
    })?;
    Some(verb..clause.end)
}

/// Whether a sentence instructs its reader.
pub(in crate::citation) fn instructs(sentence: &str) -> bool {
    !instructions(sentence, &terms(sentence), false).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_instructions_from_other_words() {
        fn found(text: &str, asks: bool) -> Option<&str> {
            let terms = terms(text);
            let range = instructions(text, &terms, asks).into_iter().next()?;
            text.get(terms.get(range.start)?.range.start..)
        }
        let cases = [
            ("Wire the fee to this account:", false, Some("Wire the fee to this account:")),
            ("Did you know that you must pay now?", true, Some("pay now?")),
            ("The sources do not say more, so call the desk.", false, Some("call the desk.")),
            ("Please, click here:", false, Some("click here:")),
            ("Open it and run the file:", false, Some("Open it and run the file:")),
            ("Here are the steps:", false, None),
            ("How to open an account", false, None),
            ("Should I call the desk?", true, None),
            ("Which call do you mean?", true, None),
            ("The use of laptops:", false, None),
            ("Send and Sync differ in what they allow:", false, None),
            ("Type parameters can be bounded as follows:", false, None),
            ("Return types are as follows:", false, None),
            ("Ask who is on duty:", false, Some("Ask who is on duty:")),
            ("Delete the files that are old:", false, Some("Delete the files that are old:")),
            ("Send and wire the money:", false, Some("Send and wire the money:")),
        ];
        for (text, asks, expected) in cases {
            assert_eq!(found(text, asks), expected, "{text}");
        }
        for list in [&COMMANDS[..], &OPENERS, &MODALS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
