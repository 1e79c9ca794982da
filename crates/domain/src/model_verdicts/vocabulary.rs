//! The words in which models state verdicts, by what they do to a phrase.
//!
//! The lists may lack words: an unknown word in front of a verdict makes it no assent.

use std::{collections::HashMap, sync::LazyLock};

/// The effect of a word on the phrase in which it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// States a yes.
    Assent,
    /// States a no.
    Dissent,
    /// Denies the verdict beside it.
    Negation,
    /// Takes a verdict half back, and is one itself.
    Hedge,
    /// Takes a verdict half back, and is none alone.
    Modal,
    /// Tells how far a verdict goes: if not fully, then perhaps in part.
    Degree,
    /// Nothing.
    Filler,
    /// Unknown.
    Other,
}

const ASSENT: &[&str] = &[
    "correct relevant supported support supports supporting yes true entailed entails entailment verified confirmed \
     accurate y substantiated",
    "ja richtig korrekt wahr belegt gestützt zutreffend unterstützt juist waar ondersteund",
    "oui vrai correcte pertinent pertinente étayé étayée soutenu soutenue relevante",
    "sí sì sim verdadero verdadeiro vero correcto correto corretto cierto respaldado supportato suportado sustentado",
    "tak evet kyllä jo да верно правда 예 네",
];

const DISSENT: &[&str] = &[
    "incorrect irrelevant unsupported unrelated false wrong contradicted contradicts contradict contradictory \
     contradiction contradicting refuted refutes refute disproved unverified unconfirmed inaccurate untrue unfounded \
     baseless invented hallucinated fabricated misleading unproven n opposite contrary differs mismatch",
    "nein falsch inkorrekt unwahr unbelegt irrelevante onjuist onwaar nee fout widerlegt",
    "non faux fausse incorrecte incorrecto incorreto scorretto falso errado sbagliato não nao",
    "nej nei nie hayır нет неверно ложь 아니요 아니",
];

const NEGATION: &[&str] = &[
    "not no never hardly barely scarcely cannot cant without neither nor none nothing nobody nowhere lacks lacking lack \
     fails failed fail insufficiently insufficient inadequately poorly little isnt arent doesnt dont didnt wasnt werent \
     wont wouldnt couldnt shouldnt hasnt havent far anything too absent missing unable impossible denied denies \
     rejected",
    "nicht kein keine keinen keiner keines nie niemals kaum ohne niet geen nauwelijks inte ikke ei",
    "pas ne sans aucun aucune jamais guère ningún ninguna nunca tampoco sin nessun nessuna senza mai nenhum nenhuma sem",
    "не ни без",
];

const HEDGE: &[&str] = &[
    "ambiguous partial partially partly unclear unsure uncertain maybe perhaps possibly somewhat probably probable likely \
     mostly largely marginally loosely tangentially indirectly vaguely weakly doubtful questionable arguably undecided \
     unknown mixed inconclusive plausible plausibly neutral",
    "vielleicht teilweise teils möglicherweise wahrscheinlich unklar misschien deels gedeeltelijk",
    "partiellement probablement quizás quizá parcialmente probablemente forse parzialmente probabilmente talvez \
     provavelmente возможно частично",
];

const MODAL: &[&str] = &[
    "part might may could would should if whether unless half limited possible sometimes almost nearly depends only \
     except peut wenn si",
];

const DEGREE: &[&str] = &[
    "entirely fully completely wholly totally strictly exactly quite directly always explicitly sufficiently adequately",
    "vollständig ganz direkt völlig volledig helemaal entièrement totalement directement totalmente completamente \
     pleinement",
];

const FILLER: &[&str] = &[
    "a an the is are was be been it its this that these they them both each every so and but or rather really very at all \
     clearly definitely certainly indeed plainly strongly statement statements source sources passage passages claim \
     claims verdict grade answer ruling judgement judgment relevance label conclusion by well as of to in for question \
     grounded therefore thus final actually however though still just simply here",
    "ist die der das den aussage quelle von durch es wird klar het de door est la le les par source el los las fuente es \
     fonte é è lo",
];

/// Words that set a clause against what stands before it.
const CONTRAST: &[&str] = &[
    "but however though although except yet",
    "aber jedoch obwohl maar mais pourtant pero aunque sino ma però mas porém но",
];

static WORDS: LazyLock<HashMap<&'static str, Word>> = LazyLock::new(|| {
    // A word of two lists counts as the stricter one: the later ones replace the earlier.
    let lists = [
        (FILLER, Word::Filler),
        (DEGREE, Word::Degree),
        (ASSENT, Word::Assent),
        (MODAL, Word::Modal),
        (HEDGE, Word::Hedge),
        (DISSENT, Word::Dissent),
        (NEGATION, Word::Negation),
    ];
    let words = lists.into_iter().flat_map(|(list, word)| list_words(list).map(move |text| (text, word)));
    words.collect()
});

fn list_words(list: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    list.iter().flat_map(|line| line.split_ascii_whitespace())
}

/// The part that a lower-case word plays. A contraction with "not" denies: "isn't".
pub(super) fn word(text: &str) -> Word {
    if text.ends_with("n't") || text.starts_with("n'") {
        return Word::Negation;
    }
    WORDS.get(text).copied().unwrap_or(Word::Other)
}

/// Whether a lower-case word sets its clause against the one before.
pub(super) fn is_contrast(text: &str) -> bool {
    list_words(CONTRAST).any(|word| word == text)
}

/// Signs and syllables of languages written without spaces, by what they state.
pub(super) const SIGNS: [(&[&str], Word); 3] = [
    (&["正确", "相关", "支持", "正しい", "はい", "関連", "是", "对", "✓", "✔", "✅"], Word::Assent),
    (&["不", "否", "没", "非", "无", "未", "ない", "なし", "いいえ", "ません", "错", "✗", "✘", "❌"], Word::Negation),
    (&["部分", "可能", "一部", "かも", "或许", "也许"], Word::Hedge),
];
