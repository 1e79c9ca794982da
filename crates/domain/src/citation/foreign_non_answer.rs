//! Statements of ignorance in other languages than English. Narrow on purpose: a sentence that slips through costs one
//! retry, since models are told a code for the purpose; a claim that is taken for ignorance leaves the service unchecked.

/// The words of a language that state ignorance.
struct Language {
    /// Articles, prepositions and the like, which may stand before the name of the sources.
    leads: &'static [&'static str],
    /// The sources as a whole.
    evidence: &'static [&'static str],
    negations: &'static [&'static str],
    /// Beginnings of words for giving information.
    telling: &'static [&'static str],
    /// Words that open a clause which names what is not told.
    asking: &'static [&'static str],
    /// Words that join another statement.
    joins: &'static [&'static str],
}

const LANGUAGES: [Language; 6] = [
    Language {
        leads: &[
            "die",
            "diese",
            "den",
            "der",
            "diesen",
            "in",
            "aus",
            "vorliegenden",
            "bereitgestellten",
            "angegebenen",
        ],
        evidence: &["quellen", "quelle", "dokumente", "dokumenten", "texte", "texten", "unterlagen", "passagen"],
        negations: &["nicht", "keine", "keinen", "kein", "nichts"],
        telling: &[
            "beantwort",
            "enthalt",
            "sag",
            "nenn",
            "erwähn",
            "inform",
            "angabe",
            "antwort",
            "hinweis",
            "steht",
            "find",
        ],
        asking: &[
            "wer", "was", "wie", "wann", "wo", "ob", "welche", "welcher", "welches", "welchen", "warum", "wieso",
            "woher",
        ],
        joins: &["aber", "jedoch", "sondern", "und", "allerdings", "weil", "da"],
    },
    Language {
        leads: &["les", "ces", "des", "dans", "aucune", "aucun", "la", "le", "fournies", "fournis"],
        evidence: &["sources", "source", "documents", "document", "textes", "passages", "extraits"],
        negations: &["pas", "aucune", "aucun", "rien"],
        telling: &["répond", "contien", "mentionn", "indiqu", "précis", "donn", "inform", "fourni", "dis", "trouv"],
        asking: &[],
        joins: &["mais", "cependant", "et", "car"],
    },
    Language {
        leads: &[
            "las",
            "los",
            "estas",
            "estos",
            "en",
            "la",
            "el",
            "ninguna",
            "ninguno",
            "proporcionadas",
            "proporcionados",
        ],
        evidence: &["fuentes", "fuente", "documentos", "documento", "textos", "pasajes"],
        negations: &["no", "ninguna", "ningún", "ninguno", "nada"],
        telling: &["respond", "contien", "mencion", "indic", "dice", "proporcion", "inform", "encuentr", "especific"],
        asking: &[],
        joins: &["pero", "sino", "y", "porque", "aunque"],
    },
    Language {
        leads: &["le", "i", "queste", "questi", "nelle", "nei", "la", "il", "nessuna", "nessun", "fornite", "forniti"],
        evidence: &["fonti", "fonte", "documenti", "documento", "testi", "passaggi"],
        negations: &["non", "nessuna", "nessun", "nulla", "niente"],
        telling: &[
            "rispond", "conteng", "contien", "menzion", "indica", "dicono", "fornisc", "inform", "trova", "specific",
        ],
        asking: &[],
        joins: &["ma", "però", "e", "perché"],
    },
    Language {
        leads: &["as", "os", "estas", "estes", "nas", "nos", "a", "o", "nenhuma", "nenhum", "fornecidas", "fornecidos"],
        evidence: &["fontes", "fonte", "documentos", "documento", "textos", "passagens"],
        negations: &["não", "nenhuma", "nenhum", "nada"],
        telling: &[
            "respond",
            "contêm",
            "contém",
            "mencion",
            "indic",
            "dizem",
            "fornec",
            "inform",
            "encontr",
            "especific",
        ],
        asking: &[],
        joins: &["mas", "porém", "e", "porque"],
    },
    Language {
        leads: &["de", "deze", "in", "het", "geen", "verstrekte", "gegeven"],
        evidence: &["bronnen", "bron", "documenten", "document", "teksten", "passages"],
        negations: &["niet", "geen", "niets"],
        telling: &[
            "beantwoord",
            "bevat",
            "vermeld",
            "noem",
            "zegg",
            "geven",
            "inform",
            "staat",
            "gevonden",
            "antwoord",
        ],
        asking: &["wie", "wat", "hoe", "wanneer", "waar", "of", "welke", "welk", "waarom", "hoeveel"],
        joins: &["maar", "echter", "en", "omdat"],
    },
];

/// Longest sentence without spaces that is read, in characters.
const LONGEST_UNSPACED: usize = 40;

/// The sources, the words that they do not tell, and what joins another statement, in Chinese and Japanese.
const UNSPACED: [(&[&str], &[&str], &[&str]); 2] = [
    (
        &["来源", "资料", "文档", "文件", "來源", "資料"],
        &[
            "没有提到",
            "没有提及",
            "未提及",
            "没有回答",
            "未回答",
            "没有说明",
            "未说明",
            "无法回答",
            "没有相关信息",
            "沒有提到",
            "沒有回答",
        ],
        &["但", "不过", "然而", "而是"],
    ),
    (
        &["ソース", "資料", "文書", "出典", "情報源"],
        &[
            "記載されていません",
            "記載がありません",
            "含まれていません",
            "言及されていません",
            "回答していません",
            "答えていません",
            "情報はありません",
        ],
        &["しかし", "ただし", "ですが", "ますが"],
    ),
];

/// Whether a sentence states nothing but that the sources do not hold the information, in one of the languages.
pub(super) fn is_ignorance(sentence: &str) -> bool {
    let sentence = sentence.trim().trim_end_matches(['.', '。', '!', '！']).to_lowercase();
    // A number or another sentence beside it is a claim.
    if sentence.contains(|sign: char| sign.is_numeric() || matches!(sign, ';' | ':' | '(')) {
        return false;
    }
    LANGUAGES.iter().any(|language| language.states_ignorance(&sentence)) || is_ignorance_unspaced(&sentence)
}

impl Language {
    /// "Die Quellen beantworten diese Frage nicht", "In den Quellen steht nicht, wer das Amt leitet": the sources come
    /// first, then in the same clause a word for telling and a negation.
    fn states_ignorance(&self, sentence: &str) -> bool {
        let (clause, other) = sentence.split_once(',').unwrap_or((sentence, ""));
        let words: Vec<&str> =
            clause.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_among = |list: &[&str], word: &&str| list.contains(word);
        let leads = words.iter().take_while(|word| is_among(self.leads, word)).count();
        let Some((subject, predicate)) = words.get(leads..).and_then(<[&str]>::split_first) else { return false };
        let tells = predicate.iter().take(6).any(|word| self.telling.iter().any(|verb| word.starts_with(verb)));
        let denies = words.iter().any(|word| is_among(self.negations, word));
        let joins = words.iter().any(|word| is_among(self.joins, word));
        is_among(self.evidence, subject) && tells && denies && !joins && self.only_asks(other)
    }

    /// Whether a second clause does no more than name the question.
    fn only_asks(&self, clause: &str) -> bool {
        let mut words = clause.split_whitespace();
        let opens = words.next().is_none_or(|word| self.asking.contains(&word));
        opens && !clause.contains(',') && !words.any(|word| self.joins.contains(&word))
    }
}

fn is_ignorance_unspaced(sentence: &str) -> bool {
    sentence.chars().count() <= LONGEST_UNSPACED
        && UNSPACED.iter().any(|(evidence, untold, joins)| {
            let holds = |list: &[&str]| list.iter().any(|words| sentence.contains(words));
            holds(evidence) && holds(untold) && !holds(joins)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_statements_are_recognised() {
        for sentence in [
            "Die Quellen beantworten diese Frage nicht.",
            "Die vorliegenden Quellen enthalten keine Angaben dazu.",
            "In den Dokumenten steht nicht, wer das Amt leitet.",
            "Les sources ne répondent pas à cette question.",
            "Les documents fournis ne contiennent aucune information à ce sujet.",
            "Las fuentes no responden a esta pregunta.",
            "Los documentos no mencionan el precio.",
            "Le fonti non rispondono a questa domanda.",
            "As fontes não respondem a esta pergunta.",
            "Os documentos fornecidos não mencionam isso.",
            "De bronnen beantwoorden deze vraag niet.",
            "De bronnen vermelden niet, hoeveel dagen het zijn.",
            "资料中没有提到这一点。",
            "来源没有回答这个问题。",
            "資料には記載されていません。",
        ] {
            assert!(is_ignorance(sentence), "{sentence}");
        }
    }

    #[test]
    fn claims_are_not() {
        for sentence in [
            "Die Quellen beantworten diese Frage nicht, aber der Urlaub dauert lange.",
            "Die Quellen nennen nicht 5 Tage.",
            "Mitarbeiter dürfen die Dokumente nicht weitergeben.",
            "Die Dokumente dürfen nicht kopiert werden.",
            "Die Quellen beantworten diese Frage nicht, Anna Berg leitet das Amt.",
            "Les employés ne doivent pas partager les documents.",
            "Las fuentes no responden y Ana dirige la oficina.",
            "De bronnen beantwoorden deze vraag.",
            "资料没有提到这一点，但安娜负责。",
            "Urlaub wird nicht übertragen.",
        ] {
            assert!(!is_ignorance(sentence), "{sentence}");
        }
    }
}
