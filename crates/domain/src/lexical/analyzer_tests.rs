#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use proptest::prelude::*;

use super::*;

fn terms(text: &str) -> String {
    Analyzer::english().terms(text).join(" ")
}

#[test]
fn words_are_lowered_stopped_and_stemmed() {
    assert_eq!(terms("The cats were RUNNING to their houses."), "cat run hous");
    assert_eq!(terms("NASA's don’t nations’"), "nasa nation");
    assert_eq!(terms(""), "");
    assert_eq!(terms("to be or not to be"), "");
}

#[test]
fn accents_and_compatibility_forms_are_folded() {
    assert_eq!(terms("Café Müller"), terms("cafe muller"));
    assert_eq!(terms("ﬁnance"), terms("finance"));
    assert_eq!(terms("Ｆｕｌｌ"), "full");
    assert_eq!(terms("Straße Łódź Øresund"), "strass lodz oresund");
    assert_eq!(terms("infor\u{ad}mation"), terms("information"));
    assert_eq!(terms("йод"), "и\u{306}од");
}

#[test]
fn identifiers_numbers_and_acronyms() {
    assert_eq!(terms("max_retry_count"), "max retri count");
    assert_eq!(terms("host.example"), "host exampl");
    assert_eq!(terms("U.S. US u.s.a."), "us us usa");
    assert_eq!(terms("1,000 1000 1,000,000"), "1000 1000 1000000");
    assert_eq!(terms("3.14 1.95.0 3,14"), "3.14 1.95.0 3,14");
    assert_eq!(terms("COVID-19 B12 mp3"), "covid 19 b12 mp3");
    assert_eq!(terms("C++ c# C F#."), "c++ c# c f#");
    assert_eq!(terms("state-of-the-art"), "state art");
}

#[test]
fn options_of_one_letter_are_terms() {
    assert_eq!(terms("What does tar -z do?"), "tar -z");
    assert_eq!(terms("-a, -s or −T; [-y] `-i`"), "-a -s -t -y -i");
    assert_eq!(terms("xargs -0"), "xarg -0 0");
    assert_eq!(terms("at -5.2 degrees, -50, -1990s"), "5.2 degre 50 1990s");
    assert_eq!(terms("e-z x-ray --z - z"), "e z x ray z z");
    let mut kept = Vec::new();
    Analyzer::english().for_each_index_term("-z or -a", |term| kept.push(term.to_owned()));
    assert_eq!(kept, ["-z", "z", "-a"]);
}

#[test]
fn an_abbreviation_in_capitals_is_no_stop_word() {
    assert_eq!(terms("Who works in IT?"), "work it");
    assert_eq!(terms("| Bob | IT |"), "bob it");
    assert_eq!(terms("IT: it is here."), "it");
    assert_eq!(terms("Which AS announces it as its own?"), "as announc");
    assert_eq!(terms("IS IT HERE? Say so."), "say");
    assert_eq!(terms("IT"), "");
    assert_eq!(Analyzer::of(Language::German).terms("Die IT hat es."), ["it"]);
}

#[test]
fn other_scripts_pass_through() {
    assert_eq!(terms("漢字 привет"), "漢字 привет");
    assert_eq!(terms("שלום مرحبا"), "שלום مرحبا");
    assert_eq!(terms("🙂 \u{0} \u{1F468}\u{200D}\u{1F469}"), "");
}

#[test]
fn scripts_without_spaces_are_found_by_their_words() {
    let index_terms = |text: &str| {
        let mut terms = Vec::new();
        Analyzer::english().for_each_index_term(text, |term| terms.push(term.to_owned()));
        terms
    };
    let rows = [
        ("Chinese", "员工每年可以把五天未休的年假转到下一年。", "年假"),
        ("Chinese, one character", "请多喝水", "水"),
        ("Japanese", "有給休暇は最大五日まで翌年に繰り越せます。", "有給休暇"),
        ("Japanese, Katakana", "バックアップは毎晩作成されます。", "バックアップ"),
        ("Korean", "직원은 매년 학교에서 휴가를 사용할 수 있습니다.", "학교"),
        ("Thai", "พนักงานสามารถยกวันลาพักร้อนไปปีหน้าได้ห้าวัน", "พนักงาน"),
    ];
    for (language, document, query) in rows {
        let document = index_terms(document);
        let query = Analyzer::english().terms(query);
        assert!(
            !query.is_empty() && query.iter().all(|term| document.contains(term)),
            "{language}: {query:?} {document:?}"
        );
    }
    assert_eq!(index_terms("東京都"), ["東京", "東", "京", "京都", "都"]);
}

#[test]
fn ranges_point_at_the_words() {
    let text = "Ünder max_retry, C++!";
    let mut found = Vec::new();
    Analyzer::english().for_each_term(text, |term, range| {
        found.push((term.to_owned(), &text[range]));
    });
    let expected = [("max", "max_retry"), ("retri", "max_retry"), ("c++", "C++")];
    assert_eq!(found, expected.map(|(term, word)| (term.to_owned(), word)));
}

#[test]
fn long_words_are_kept_whole() {
    let word = "running".repeat(10_000);
    assert_eq!(terms(&word), word);
}

proptest! {
    #[test]
    fn any_text_gives_sound_terms(text in "\\PC*|[a-z.,_:;'0-9#+ éß\u{ad}]{0,40}") {
        Analyzer::english().for_each_term(&text, |term, range| {
            assert!(!term.is_empty() && !term.contains(char::is_whitespace), "{term:?}");
            assert!(!range.is_empty() && text.get(range).is_some());
        });
    }

    /// Case does not matter, for text that upper-casing does not change into other letters, and but for abbreviations that look
    /// like stop words.
    #[test]
    fn case_is_ignored(text in "[a-zA-Z0-9 .,'_-]{0,60}") {
        let mut words = text.split(|sign: char| !sign.is_ascii_alphabetic());
        prop_assume!(!words.any(|word| word == "IT" || word == "AS"));
        prop_assert_eq!(terms(&text), terms(&text.to_ascii_uppercase()));
    }
}

/// One analyzer serves all requests.
#[test]
fn analyzer_is_shared_between_threads() {
    const fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Analyzer>();
}

fn index_terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::english().for_each_index_term(text, |term| terms.push(term.to_owned()));
    terms
}

/// A query in one spelling finds text in the other: the terms of the query are among those of the text.
#[test]
fn spellings_find_each_other() {
    let rows = [
        ("max_retry_count", "Set max_retry_count to 3."),
        ("retry count", "Set max_retry_count to 3."),
        ("parseHeader", "call parseHeader()"),
        ("parse header", "call parseHeader()"),
        ("HTTPServer", "class HTTPServer"),
        ("http server", "class HTTPServer"),
        ("5 kg", "a load of 5kg"),
        ("2.5 GHz", "a clock of 2.5GHz"),
        ("email", "by e-mail only"),
        ("xray", "an X‑ray"),
        ("x-ray", "an X-ray"),
        ("E0308", "error[E0308]: mismatched types"),
        ("std::vec::Vec", "use std::vec::Vec;"),
        ("CVE-2021-44228", "affected by CVE-2021-44228"),
        ("high speed", "high-speed trains"),
        ("C++", "written in C++."),
    ];
    for (query, text) in rows {
        let known = index_terms(text);
        let wanted = Analyzer::english().terms(query);
        assert!(wanted.iter().all(|term| known.contains(term)), "{query}: {wanted:?} in {known:?}");
    }
}

/// Another form of the word is found, and so is one typed without its accents.
#[test]
fn every_language_finds_other_forms_of_a_word() {
    let rows = [
        (Language::German, "Die Kündigungsfristen aller Verträge", "vertrag kündigungsfrist KUNDIGUNGSFRISTEN"),
        (Language::Dutch, "De opzegtermijnen van contracten", "opzegtermijn contract"),
        (Language::Swedish, "Uppsägningstiderna är långa", "uppsägningstid uppsagningstiderna"),
        (Language::French, "Les congés payés des salariées", "congé payé salarié salariees"),
        (
            Language::Spanish,
            "Las vacaciones de los trabajadores y sus canciones",
            "vacación trabajador canción cancion",
        ),
        (Language::Italian, "Le ferie dei lavoratori", "lavoratore"),
        (Language::Portuguese, "As férias dos trabalhadores", "trabalhador ferias"),
        (Language::Russian, "Отпуск сотрудников компании", "сотрудник компания"),
        (Language::Ukrainian, "Відпустка працівників компанії", "працівник компанія"),
        (Language::Polish, "Umowy z pracownikami", "umowa pracownik"),
        (Language::Finnish, "Työntekijöiden sopimukset", "sopimuksen tyontekijoiden"),
        (Language::Hungarian, "A szerződések felmondása", "szerződés szerzodesek"),
        (Language::Turkish, "Çalışanların izinleri", "çalışan calisanlarin"),
        (Language::Greek, "Οι άδειες των υπαλλήλων", "άδεια υπάλληλος"),
        (Language::Arabic, "الموظفون والعقود", "الموظفين"),
        (Language::Hindi, "कर्मचारियों की छुट्टियाँ", "कर्मचारी"),
        (Language::Catalan, "Els contractes dels treballadors", "treballador contracte"),
        (Language::Czech, "Smlouvy zaměstnanců", "smlouva zaměstnanec"),
        (Language::Danish, "Medarbejdernes kontrakter", "medarbejder kontrakt"),
        (Language::Norwegian, "Kontraktene til alle ansatte", "kontrakt"),
        (Language::Romanian, "Contractele angajaților", "contract angajat"),
        (Language::Estonian, "Töötajate lepingud", "töötaja lepingu"),
        (Language::Indonesian, "Kontrak itu dibatalkan", "pembatalan"),
        (Language::Lithuanian, "Darbuotojų sutartys", "darbuotojas sutartis"),
        (Language::Tamil, "ஊழியர்களுக்கு விடுமுறைகள்", "விடுமுறை"),
    ];
    let mut missed = Vec::new();
    for (language, text, query) in rows {
        let analyzer = Analyzer::of(language);
        let mut known = Vec::new();
        analyzer.for_each_index_term(text, |term| known.push(term.to_owned()));
        let wanted = analyzer.terms(query);
        if wanted.is_empty() || !wanted.iter().all(|term| known.contains(term)) {
            missed.push(format!("{query}: {wanted:?} in {known:?}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn languages_have_their_own_stop_words_and_none_has_none() {
    assert_eq!(Analyzer::of(Language::German).terms("Das ist für die Mitarbeiter"), ["mitarbeit"]);
    assert_eq!(
        Analyzer::of(Language::French).terms("C'est l'été"),
        Analyzer::of(Language::French).terms("c'est l'ete")
    );
    assert_eq!(Analyzer::of(Language::None).terms("The leaves are für alle"), ["the", "leaves", "are", "fur", "alle"]);
    assert_eq!(Analyzer::of(Language::German).terms("有給休暇"), Analyzer::english().terms("有給休暇"));
}

#[test]
fn a_whole_identifier_is_a_term_of_its_own() {
    let whole = |text: &str| index_terms(text).contains(&"max_retry_count".to_owned());
    assert!(whole("max_retry_count") && whole("`MAX_RETRY_COUNT`") && whole("__max_retry_count__"));
    assert!(!whole("max retry count"));
    assert_eq!(
        index_terms("McDonald iPhone 1990s 2nd high-speed A-B"),
        Analyzer::english().terms("McDonald iPhone 1990s 2nd high-speed A-B ab")
    );
}

#[test]
fn a_mark_that_stands_alone_leaves_no_space_in_a_term() {
    let mut terms = Vec::new();
    Analyzer::of(Language::Arabic).for_each_index_term("\u{fc70}0", |term| terms.push(term.to_owned()));
    assert!(terms.iter().all(|term| !term.contains(' ')), "{terms:?}");
}

proptest! {
    #[test]
    fn index_terms_begin_with_the_terms(
        text in "[a-zA-Z0-9 _.,-]{0,60}|[a-zäöüßéèçñşığ ]{0,40}|[а-яёіїє ]{0,40}|\\PC*",
        language in prop::sample::select(Language::ALL.to_vec()),
    ) {
        let analyzer = Analyzer::of(language);
        let (terms, mut index) = (analyzer.terms(&text), Vec::new());
        analyzer.for_each_index_term(&text, |term| index.push(term.to_owned()));
        let mut rest = index.iter();
        prop_assert!(terms.iter().all(|term| rest.any(|known| known == term)), "{:?} {:?}", terms, index);
        prop_assert!(index.iter().all(|term| !term.is_empty() && !term.contains(char::is_whitespace)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn words_among_the_wanted_terms_are_found_without_the_others(
        text in "([A-Ia-z]{1,9}(s|es|ies|ing|ed|ly|y|'s)? ?|dying |lying |skies |C\\+\\+ |é[a-z]{0,3} |[a-z]_[a-z] |,|漢){0,8}",
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let analyzer = Analyzer::english();
        let all = analyzer.terms(&text);
        prop_assume!(!all.is_empty());
        let wanted: Vec<&str> = picks.iter().map(|pick| pick.get(&all).as_str()).collect();
        let mut found = Vec::new();
        analyzer.for_each_term_among(&Openings::of(wanted.iter().copied()), &text, |term, _| found.push(term.to_owned()));
        let expected: Vec<&String> = all.iter().filter(|term| wanted.contains(&term.as_str())).collect();
        let found: Vec<&String> = found.iter().filter(|term| wanted.contains(&term.as_str())).collect();
        prop_assert_eq!(found, expected);
    }
}
