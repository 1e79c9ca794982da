#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use super::kind::AnswerKind;
use super::numbers::Numbers;
use super::passage::PassageEvidence;
use super::*;

fn question(text: &str) -> QuestionTerms {
    QuestionTerms::new(Analyzer::english(), text, 100, |stem| match stem {
        "leav" => 20,
        "parent" => 5,
        "week" => 50,
        _ => 0,
    })
}

#[test]
fn weighs_terms_by_rarity() {
    let terms = question("How many weeks of parental leave and leave?");
    let stems: Vec<&str> = terms.terms().iter().map(|term| term.stem.as_str()).collect();
    assert_eq!(stems, ["mani", "week", "parent", "leav"]);
    let weight = |stem: &str| terms.position(stem).map(|at| terms.terms()[at].weight).unwrap();
    assert!(weight("week") < weight("leav") && weight("leav") < weight("parent"));
    assert!(terms.unknown() == 1 && weight("mani") < weight("parent"));
    assert!((terms.share(u128::MAX) - 1.0).abs() < 1e-6);
    assert!(QuestionTerms::default().share(1).abs() < 1e-6);
}

#[test]
fn very_long_questions_are_cut() {
    let text: String = (0..1000).map(|number| format!("word{number} ")).collect();
    assert_eq!(question(&text).terms().len(), MAX_TERMS);
}

#[test]
fn finds_terms_sentence_by_sentence() {
    let terms = question("weeks of parental leave");
    let text = "# Rules\n\nLeave is generous. Parental leave lasts 26 weeks.";
    let passage = PassageEvidence::new(Analyzer::english(), &terms, "Leave", text);
    assert_eq!((passage.title_mask, passage.text_mask), (0b100, 0b111));
    let best = passage.best_sentence(&terms).unwrap();
    assert_eq!(&text[best.range.clone()], "Parental leave lasts 26 weeks.");
    assert_eq!((best.mask, best.pairs), (0b111, 0b010));
    assert_eq!(passage.sentences.len(), 3);
}

#[test]
fn reads_numbers() {
    let numbers = Numbers::of("In 1,500 battles (1990-1995), how often did the B-52's crew use v1.95.0, or 20%?");
    assert_eq!(numbers.iter().collect::<Vec<_>>(), ["1500", "1990", "1995", "20%", "52", "v1.95.0"]);
    assert!((numbers.missing_in("1500 or 1,990; 20%, 52 and V1.95.0") - 1.0 / 6.0).abs() < 1e-6);
    assert!(Numbers::of("how long is leave?").missing_in("").abs() < 1e-6);
}

#[test]
fn tells_kinds_of_questions_apart() {
    let rows = [
        ("What share of blocks is kept for root?", AnswerKind::Number),
        ("Which exit code tells the command to skip?", AnswerKind::Number),
        ("Which Python version does it need?", AnswerKind::Number),
        ("Which version of the Bible did he read?", AnswerKind::Other),
        ("What code did he write?", AnswerKind::Other),
        ("When did it begin?", AnswerKind::Date),
        ("In what year did it end?", AnswerKind::Date),
        ("How many people came?", AnswerKind::Number),
        ("By whom was it written? Who wrote it?", AnswerKind::Person),
        ("Where is Warsaw?", AnswerKind::Place),
        ("In which country is Normandy?", AnswerKind::Place),
        ("What is a prime number?", AnswerKind::Definition),
        ("Why is it so?", AnswerKind::Other),
        ("Is somewhere nowhere?", AnswerKind::YesNo),
        ("If it breaks again, is the repair free?", AnswerKind::YesNo),
        ("If it breaks, who pays?", AnswerKind::Person),
        ("What are the fees?", AnswerKind::List),
        ("What two rivers meet there?", AnswerKind::List),
        ("Which event is emitted when a worker dies?", AnswerKind::Other),
        ("What is the state when a disk is full?", AnswerKind::Definition),
        ("Does it stop when the disk is full?", AnswerKind::YesNo),
        ("Can you tell me when it was built?", AnswerKind::Date),
        ("Which option tells where the file is?", AnswerKind::Other),
        ("Who built it and when was it built?", AnswerKind::Date),
    ];
    for (question, kind) in rows {
        assert_eq!(AnswerKind::of(question), kind, "{question}");
    }
}

#[test]
fn tells_what_sentences_hold() {
    let rows = [
        ("When was Rome built?", "It began in 753 BC.", true),
        ("When was Rome built?", "It was not built in a day.", false),
        ("How many came in 1990?", "In 1990 they came.", false),
        ("How many came in 1990?", "In 1990 twenty came.", true),
        ("Who wrote Emma?", "The author was Jane Austen.", true),
        ("Who wrote Emma?", "The book was liked.", false),
        ("What is a quark?", "A quark is a particle.", true),
        ("What are the fees?", "Visa, stamp and courier.", true),
        ("What are the fees?", "The fees are listed elsewhere.", false),
        ("Is it so?", "It is.", true),
        ("Why?", "Because.", true),
    ];
    for (question, sentence, expected) in rows {
        assert_eq!(
            AnswerKind::of(question).is_held_by(&KnownWords::of(question), sentence),
            expected,
            "{question} {sentence}"
        );
    }
}

#[test]
fn a_word_that_the_question_writes_as_two_is_found_as_one() {
    let analyzer = Analyzer::english();
    let known = |stem: &str| u64::from(["back", "backup", "databas"].contains(&stem));
    let terms = QuestionTerms::new(analyzer, "How can I back up the database?", 10, known);
    let words: Vec<&str> = terms.terms().iter().map(|term| term.word.as_str()).collect();
    assert_eq!(words, ["back", "database"], "an auxiliary is no term");
    for (text, share) in [("Backups of databases", 1.0), ("Backup", 0.5), ("Back to the database", 1.0), ("Down", 0.0)]
    {
        let mask = PassageEvidence::new(analyzer, &terms, "", text).mask();
        assert!((terms.share(mask) - share).abs() < 0.01, "{text}");
    }
}
