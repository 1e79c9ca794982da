//! Messages that ask nothing: greetings and thanks. They are answered without a search.

use crate::wording::lower_case_words;

/// Words of a greeting or of thanks in one language, and the reply.
struct Courtesy {
    /// Each is the whole of a message, or the whole with [`FILLERS`] around it.
    phrases: &'static [&'static str],
    reply: &'static str,
}

/// Words that may stand beside a courtesy and ask nothing.
const FILLERS: [&str; 24] = [
    "a", "again", "all", "everyone", "for", "great", "help", "it", "lot", "much", "ok", "okay", "so", "team", "that",
    "the", "there", "very", "your", "vielen", "sehr", "beaucoup", "muchas", "mille",
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

/// Longest message that is looked at, in words: a longer one says more than a courtesy.
const LONGEST: usize = 8;

/// The reply to a message that only greets or thanks; `None` for any other.
#[must_use]
pub fn reply_to_courtesy(message: &str) -> Option<&'static str> {
    let words: Vec<String> = lower_case_words(message).collect();
    if words.is_empty() || words.len() > LONGEST {
        return None;
    }
    COURTESIES.iter().find(|courtesy| courtesy.is_whole_of(&words)).map(|courtesy| courtesy.reply)
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
