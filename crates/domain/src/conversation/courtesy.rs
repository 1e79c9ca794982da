//! Messages that ask nothing: greetings and thanks. They are answered without a search.

use crate::wording::lower_case_words;

/// Words of a greeting or of thanks in one language, and the reply.
struct Courtesy {
    /// Each is the whole of a message, or the whole with [`FILLERS`] around it. An apostrophe parts words.
    phrases: &'static [&'static str],
    reply: &'static str,
}

/// Words that may stand beside a courtesy and ask nothing.
const FILLERS: [&str; 36] = [
    "a", "again", "all", "and", "clear", "cool", "everyone", "fine", "for", "good", "great", "help", "helpful", "it",
    "lot", "much", "now", "ok", "okay", "perfect", "quick", "reply", "so", "super", "team", "that", "the", "there",
    "very", "works", "your", "vielen", "sehr", "beaucoup", "muchas", "mille",
];

const COURTESIES: [Courtesy; 14] = [
    Courtesy {
        phrases: &["thanks", "thank you", "thx", "cheers", "many thanks", "thanks a lot"],
        reply: "You are welcome. Ask whenever something else comes up.",
    },
    Courtesy {
        phrases: &["hello", "hi", "hey", "good morning", "good afternoon", "good evening", "greetings"],
        reply: "Hello. Ask a question about the documents.",
    },
    Courtesy {
        phrases: &["bye", "goodbye", "good bye", "see you", "good night"],
        reply: "Goodbye. Ask whenever something else comes up.",
    },
    Courtesy { phrases: &["danke", "vielen dank", "dankeschön", "danke schön"], reply: "Gern geschehen." },
    Courtesy {
        phrases: &["hallo", "guten tag", "guten morgen", "guten abend", "moin", "servus", "grüezi"],
        reply: "Hallo. Stellen Sie eine Frage zu den Dokumenten.",
    },
    Courtesy { phrases: &["merci", "merci beaucoup"], reply: "Je vous en prie." },
    Courtesy { phrases: &["bonjour", "bonsoir", "salut"], reply: "Bonjour. Posez une question sur les documents." },
    Courtesy { phrases: &["gracias", "muchas gracias"], reply: "De nada." },
    Courtesy {
        phrases: &["hola", "buenos días", "buenas tardes", "buenas noches"],
        reply: "Hola. Haga una pregunta sobre los documentos.",
    },
    Courtesy { phrases: &["grazie", "grazie mille"], reply: "Prego." },
    Courtesy { phrases: &["ciao", "buongiorno", "buonasera"], reply: "Salve. Faccia una domanda sui documenti." },
    Courtesy { phrases: &["obrigado", "obrigada", "muito obrigado", "muito obrigada"], reply: "De nada." },
    Courtesy {
        phrases: &["bom dia", "boa tarde", "boa noite", "olá"],
        reply: "Olá. Faça uma pergunta sobre os documentos.",
    },
    Courtesy { phrases: &["bedankt", "dank je", "dank u", "dank u wel", "dankjewel"], reply: "Graag gedaan." },
];

/// The reply to a message that tells the service no more than that it was read.
const ANYTHING_ELSE: &str = "Ask whenever something else comes up.";

/// Messages about the conversation itself, and the reply.
const REACTIONS: [Courtesy; 4] = [
    Courtesy {
        phrases: &[
            "ok",
            "okay",
            "k",
            "perfect",
            "great",
            "cool",
            "nice",
            "good",
            "fine",
            "alright",
            "all right",
            "got it",
            "i see",
            "understood",
            "good to know",
            "makes sense",
            "awesome",
            "excellent",
            "super",
            "never mind",
            "nevermind",
            "yes",
            "no",
            "yep",
            "nope",
            "right",
            "sure",
            "lol",
            "haha",
            "wow",
            "that is all",
            "that s all",
        ],
        reply: ANYTHING_ELSE,
    },
    Courtesy {
        phrases: &[
            "are you sure",
            "really",
            "is that right",
            "is that true",
            "is that correct",
            "you are wrong",
            "you re wrong",
            "that is wrong",
            "that s wrong",
            "this is wrong",
            "that is not true",
            "that s not true",
            "that is not right",
            "that s not right",
            "wrong",
            "i do not believe you",
            "i don t believe you",
            "i do not believe that",
            "i don t believe that",
        ],
        reply: "The numbers of an answer lead to the words of the documents. If they do not answer the question, ask it in \
                other words.",
    },
    Courtesy {
        phrases: &["who are you", "what are you", "what can you do", "are you a bot", "are you human", "help"],
        reply: "This service answers from the documents of its collections and cites the passage of each claim. Ask a \
                question about them.",
    },
    Courtesy {
        phrases: &["alles klar", "verstanden", "gut", "prima", "d accord", "parfait", "vale", "perfecto", "va bene"],
        reply: "OK.",
    },
];

/// Longest message that is looked at, in words: a longer one says more than a courtesy.
const LONGEST: usize = 8;

/// The reply to a message that only greets or thanks, or is no more than pictures such as 👍; `None` for any other.
#[must_use]
pub fn reply_to_courtesy(message: &str) -> Option<&'static str> {
    let is_sign = message.chars().any(is_pictograph) && !message.chars().any(char::is_alphanumeric);
    reply_among(&COURTESIES, message).or(is_sign.then_some(ANYTHING_ELSE))
}

/// The reply to a message that only reacts to what was said before, or asks about the service; `None` for any other.
#[must_use]
pub fn reply_to_reaction(message: &str) -> Option<&'static str> {
    reply_among(&REACTIONS, message)
}

/// The reply to a message that asks for nothing, as a model says that read it: that to the courtesy it begins with, else one for
/// any remark.
#[must_use]
pub fn reply_to_remark(message: &str) -> &'static str {
    let words: Vec<String> = lower_case_words(message).collect();
    let begins = |courtesy: &&Courtesy| courtesy.phrases.iter().any(|phrase| after_phrase(&words, phrase).is_some());
    COURTESIES.iter().chain(&REACTIONS).find(begins).map_or(ANYTHING_ELSE, |courtesy| courtesy.reply)
}

/// Whether a sign is an arrow, a symbol or an emoji (blocks of Unicode).
const fn is_pictograph(sign: char) -> bool {
    matches!(sign, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether a message greets, thanks or reacts, and asks for nothing in the documents.
pub(super) fn asks_nothing(message: &str) -> bool {
    reply_to_courtesy(message).or_else(|| reply_to_reaction(message)).is_some()
}

fn reply_among(courtesies: &[Courtesy], message: &str) -> Option<&'static str> {
    let words: Vec<String> = lower_case_words(message).collect();
    if words.is_empty() || words.len() > LONGEST {
        return None;
    }
    courtesies.iter().find(|courtesy| courtesy.is_whole_of(&words)).map(|courtesy| courtesy.reply)
}

/// Whether a text is the reply to a courtesy or a reaction.
pub(super) fn is_courtesy(reply: &str) -> bool {
    COURTESIES.iter().chain(&REACTIONS).any(|courtesy| courtesy.reply == reply.trim())
}

impl Courtesy {
    /// Whether the words are one of its phrases, with fillers around it, or several of them.
    fn is_whole_of(&self, words: &[String]) -> bool {
        let mut rest = words;
        let mut has_phrase = false;
        while let Some((first, after)) = rest.split_first() {
            let phrase =
                self.phrases.iter().filter_map(|phrase| after_phrase(rest, phrase)).min_by_key(|rest| rest.len());
            if let Some(after) = phrase {
                (rest, has_phrase) = (after, true);
            } else if FILLERS.contains(&first.as_str()) {
                rest = after;
            } else {
                return false;
            }
        }
        has_phrase
    }
}

/// The words after a phrase, if they begin with it.
fn after_phrase<'w>(words: &'w [String], phrase: &str) -> Option<&'w [String]> {
    let mut rest = words;
    for part in phrase.split(' ') {
        let (first, after) = rest.split_first()?;
        if first != part {
            return None;
        }
        rest = after;
    }
    Some(rest)
}
