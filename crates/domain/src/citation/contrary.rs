//! Words of contrary meaning, of which either often stands in a sentence that says nothing against the other.
//!
//! [`opposites`] turns a claim wherever the source has one for the other. These do so only beside the same words.

use crate::wording::opposites;

/// Pairs of contraries, as stems, each in the order of the alphabet.
const CONTRARIES: [(&str, &str); 110] = [
    ("absent", "present"),
    ("accept", "declin"),
    ("accept", "refus"),
    ("activ", "deactiv"),
    ("add", "delet"),
    ("add", "remov"),
    ("agre", "disagre"),
    ("allow", "ban"),
    ("allow", "deni"),
    ("allow", "disallow"),
    ("appear", "disappear"),
    ("append", "prepend"),
    ("approv", "refus"),
    ("approv", "reject"),
    ("arriv", "depart"),
    ("ascend", "descend"),
    ("async", "sync"),
    ("attach", "detach"),
    ("augmenté", "baissé"),
    ("augmenté", "diminué"),
    ("autorisé", "interdit"),
    ("ban", "permit"),
    ("borrow", "lend"),
    ("cheap", "expens"),
    ("cheaper", "dearer"),
    ("close", "open"),
    ("cold", "hot"),
    ("cold", "warm"),
    ("compulsori", "option"),
    ("compulsori", "voluntari"),
    ("contract", "expand"),
    ("creat", "delet"),
    ("creat", "destroy"),
    ("cut", "rais"),
    ("danger", "safe"),
    ("declin", "grow"),
    ("declin", "increas"),
    ("decrypt", "encrypt"),
    ("delet", "insert"),
    ("delet", "keep"),
    ("delet", "preserv"),
    ("delet", "retain"),
    ("deni", "grant"),
    ("deni", "permit"),
    ("discard", "keep"),
    ("discard", "preserv"),
    ("discard", "retain"),
    ("discourag", "encourag"),
    ("dismiss", "hire"),
    ("downgrad", "upgrad"),
    ("dri", "wet"),
    ("drop", "increas"),
    ("drop", "keep"),
    ("empti", "full"),
    ("enter", "leav"),
    ("eras", "keep"),
    ("eras", "retain"),
    ("erhöht", "gesenkt"),
    ("erlaubt", "untersagt"),
    ("erlaubt", "verboten"),
    ("expand", "shrink"),
    ("fail", "pass"),
    ("fail", "succeed"),
    ("fail", "success"),
    ("fals", "true"),
    ("fermé", "ouvert"),
    ("fiel", "stieg"),
    ("fielen", "stiegen"),
    ("forbid", "permit"),
    ("forget", "rememb"),
    ("gefallen", "gestiegen"),
    ("geschlossen", "geöffnet"),
    ("gestiegen", "gesunken"),
    ("grow", "shrink"),
    ("heavi", "light"),
    ("hidden", "visibl"),
    ("hide", "show"),
    ("höchstens", "mindestens"),
    ("illeg", "legal"),
    ("improv", "worsen"),
    ("includ", "omit"),
    ("increas", "lower"),
    ("increas", "reduc"),
    ("instal", "uninstal"),
    ("invalid", "valid"),
    ("join", "leav"),
    ("keep", "remov"),
    ("load", "unload"),
    ("lock", "open"),
    ("lock", "unlock"),
    ("lose", "win"),
    ("loss", "profit"),
    ("lower", "rais"),
    ("mandatori", "option"),
    ("mandatori", "voluntari"),
    ("mount", "unmount"),
    ("new", "old"),
    ("old", "young"),
    ("open", "shut"),
    ("paid", "unpaid"),
    ("permit", "prohibit"),
    ("preserv", "remov"),
    ("pull", "push"),
    ("rais", "reduc"),
    ("receiv", "send"),
    ("remov", "retain"),
    ("sank", "stieg"),
    ("sanken", "stiegen"),
    ("sinken", "steigen"),
    ("verboten", "zulässig"),
];

/// The contraries and the opposites of a stem.
pub(super) fn contraries(stem: &str) -> impl Iterator<Item = &'static str> {
    let listed = CONTRARIES.iter().filter_map(move |(one, two)| match stem {
        stem if stem == *one => Some(*two),
        stem if stem == *two => Some(*one),
        _ => None,
    });
    opposites(stem).chain(listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::term::{TermKind, terms};

    #[test]
    fn contraries_are_stems_in_order() {
        assert!(CONTRARIES.is_sorted());
        for (one, two) in CONTRARIES {
            assert!(one < two, "{one}, {two}");
            assert!(opposites(one).all(|other| other != two), "{one} and {two} are opposites already");
        }
    }

    #[test]
    fn forms_of_contraries_meet() {
        let pairs = [
            ("keeps", "removed"),
            ("retained", "deletes"),
            ("allowing", "banned"),
            ("allow", "denies"),
            ("opens", "closed"),
            ("installing", "uninstalled"),
            ("mandatory", "voluntary"),
            ("dry", "wet"),
            ("enables", "disabled"),
            ("grows", "shrinking"),
            ("raised", "reduced"),
            ("agrees", "disagreed"),
            ("empty", "full"),
            ("arrives", "departs"),
            ("activate", "deactivated"),
        ];
        for (one, two) in pairs {
            let both = terms(&format!("{one} {two}"));
            let [first, second] = both.as_slice() else { panic!("{both:?}") };
            assert_eq!(first.kind, TermKind::Word, "{one}");
            assert!(contraries(&first.stem).any(|other| other == second.stem), "{first:?}, {second:?}");
        }
    }
}
