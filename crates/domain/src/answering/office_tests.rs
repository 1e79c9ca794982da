//! Documents as people write them at work: lists of questions, labels in bold, legends, tables of things, change logs.

use super::passages_tests::given_of;
use super::tests::{parsed, text};
use super::*;
use crate::evidence::passage::PassageEvidence;
use crate::late_interaction::Likeness;
use crate::lexical::analyzer::Analyzer;
use crate::release_notes::with_release;

fn given(question: &str, source: &AnswerSource<'_>) -> Option<QuotedPassages> {
    given_of(question, &[*source])
}

#[test]
fn a_question_in_the_text_is_answered_by_what_follows_it() {
    let notes = "Questions from the floor:\n\n- *Will the shop open on Sundays?* Not this year, said Ida.\n- *Is there a new van?* In May.";
    assert_eq!(text("Will the shop open on Sundays?", &[notes]), "Not this year, said Ida. [^1]");
    let page = "**How long does the glue dry?**\nSix hours at least.\n\n**Where is it kept?**\nIn the cellar.";
    assert_eq!(text("How long does the glue dry?", &[page]), "Six hours at least. [^1]");
}

#[test]
fn a_reason_stands_under_its_label() {
    let report = "**Impact.** The kiln stopped in June for a day.\n\n**Cause.** A fuse of the wrong size made the kiln stop.\n\n**Fix.** The kiln has another fuse since 9 June.";
    for question in ["Why did the kiln stop?", "What caused the kiln to stop in June for a day?"] {
        assert!(text(question, &[report]).contains("A fuse of the wrong size made the kiln stop. [^1]"), "{question}");
    }
}

#[test]
fn a_legend_is_no_code_and_a_title_no_answer() {
    let page = "Kiln 4 - operating notes\n\nHold the button until the lamp of the kiln blinks blue.\n\nLamp: green blink = ready, yellow = cooling, violet = door open";
    assert!(text("What does it mean if the lamp of the kiln is violet?", &[page]).contains("violet = door open"));
    assert!(!text("What are the operating notes of kiln 4?", &[page]).contains("operating notes"));
}

#[test]
fn both_parts_of_a_question_are_answered() {
    let page = "A meal costs 5 euros. Fish on Thursdays. Order by 9:30 at the board.";
    let both = text("How much does a meal cost, and until when do I have to order?", &[page]);
    assert_eq!(both, "A meal costs 5 euros. [^1]\n\nOrder by 9:30 at the board. [^1]");
}

#[test]
fn a_name_with_its_value_is_a_sentence_however_short() {
    let page = "The practical bits\n\nAddress: 12 Mill Lane.\nCleaners come on Monday after six.\nBins: Friday.\nPost: goes out at 16:00.";
    assert_eq!(text("When are the bins emptied?", &[page]), "Bins: Friday. [^1]");
    let both = text("What is the address, and when are the bins emptied?", &[page]);
    assert_eq!(both, "Address: 12 Mill Lane. [^1]\n\nBins: Friday. [^1]");
}

#[test]
fn a_brief_ruling_is_a_sentence() {
    let page =
        "Lunch is at noon in the yard. Bring your own cup and a chair. Children are welcome from Friday on. No dogs.";
    let given = text("Are dogs allowed at lunch?", &[page]);
    assert!(given.contains("No dogs. [^1]"), "{given}");
}

#[test]
fn what_points_back_comes_with_the_sentence_before_it() {
    let page = "A wrong block size damages the volume. For this reason the tool should not be run directly.";
    assert_eq!(
        text("Why should the tool not be run directly?", &[page]),
        "A wrong block size damages the volume. [^1] For this reason the tool should not be run directly. [^1]"
    );
}

#[test]
fn beside_the_entry_of_an_option_only_other_entries_stand() {
    let page = "OPTIONS\n       Without an option the tool prints all sorts of paint that are open or closed.\n\n       -a, --all\n              Print open and closed paint.\n\n       -c, --closed\n              Print closed paint only.\n";
    let answer = text("Which option prints closed paint only?", &[page]);
    assert!(answer.contains("-c, --closed") && !answer.contains("Without an option"), "{answer}");
}

#[test]
fn an_option_whose_name_is_the_question_answers_it() {
    let first = "OPTIONS\n       -b, --base-dir BASE_DIR\n              The default base directory for the home directory if -d HOME_DIR is not specified.\n\n       -d, --home-dir HOME_DIR\n              The new user will be created using HOME_DIR as the home directory.\n";
    let second = "       -m, --create-home\n              Create the user's home directory if it does not exist.\n";
    let answer = text("Which option of useradd creates the home directory?", &[first, second]);
    assert!(answer.starts_with("-m, --create-home"), "{answer}");
}

#[test]
fn pictures_links_and_parts_of_synopses_are_no_answers() {
    let page = "[![glue](https://example.org/glue.svg)](https://example.org/glue)\n\nglue | paint ]\n\n[glue]: https://example.org/glue\n\nThe glue was made by Ida Holm.";
    assert_eq!(text("Who makes the glue?", &[page]), "The glue was made by Ida Holm. [^1]");
}

#[test]
fn whoever_made_something_is_named() {
    let doubtful = |page: &str| {
        let answer = super::tests::answer("Who maintains the kiln?", &[page], None).expect("an answer");
        answer.is_doubtful()
    };
    assert!(doubtful("The list of the kiln is maintained as a Texinfo manual."));
    assert!(!doubtful("The kiln is maintained by Holm."));
}

const CARS: &str = "| Plate: K 1 | Vehicle: Van | Based in: Ulm | Remarks: tow bar |\n| Plate: K 2 | Vehicle: Zoe | Based in: Ulm | Remarks: pool car |\n| Plate: K 3 | Vehicle: Octavia | Based in: Bonn | Remarks: pool car, petrol |\n";

#[test]
fn the_rows_that_are_asked_for_are_given() {
    let source = AnswerSource { title: "fleet", ..AnswerSource::alone(CARS) };
    let pool = given("Which pool cars do we have?", &source).expect("rows");
    assert_eq!(
        pool.text,
        "### fleet\n\n- Plate: K 2 | Vehicle: Zoe | Based in: Ulm | Remarks: pool car [^1]\n\n- Plate: K 3 | Vehicle: Octavia | Based in: Bonn | Remarks: pool car, petrol [^1]"
    );
    assert_eq!(pool.passages, [GivenPassage { source_index: 0, reason: PassageReason::List, about: None }]);
    let table = "| Supplier | Rating |\n|---|---|\n| Holm | A |\n| Berg | B |\n| Lund | A |\n";
    let suppliers = AnswerSource { title: "suppliers", ..AnswerSource::alone(table) };
    let rated = given("List the suppliers with rating A", &suppliers).expect("rows");
    assert!(
        rated.text.contains("Holm") && rated.text.contains("Lund") && !rated.text.contains("Berg"),
        "{}",
        rated.text
    );
}

#[test]
fn the_changes_of_a_version_are_a_list() {
    let changes = "- Colours can be mixed\n- Removed: grey\n- The lid closes";
    let heading = ["4.2.0 (June)".to_owned()];
    let source = AnswerSource { title: "Paint release notes", heading: &heading, ..AnswerSource::alone(changes) };
    let listed = given("What changed in Paint 4.2?", &source).expect("the list");
    assert!(listed.text.contains("- Removed: grey [^1]"), "{}", listed.text);
    let other = ["4.3.0 (May)".to_owned()];
    let source = AnswerSource { heading: &other, ..source };
    assert_eq!(given("What changed in Paint 4.2?", &source), None);
}

/// The passages given where the answer stands in a passage that is farther from the question than another one by `behind`,
/// whose sentence has this cosine; `None` if the answer is given.
fn passages_beside(behind: f32, other: f32) -> Option<QuotedPassages> {
    let parsed = parsed("Where is the glue kept?");
    let texts = ["The glue is kept in the cellar.", "The glue is not kept for ever."];
    let sources = [0.6 - behind, 0.6].into_iter().zip(texts);
    let sources: Vec<AnswerSource<'_>> = sources
        .map(|(similarity, text)| AnswerSource { similarity: Some(similarity), ..AnswerSource::alone(text) })
        .collect();
    let evidence = texts.map(|text| PassageEvidence::new(Analyzer::english(), &parsed.terms, "", text));
    let found = candidates(&parsed, &sources, &evidence);
    let cosine = |one: &SentenceCandidate| Likeness::of_cosine(if one.source() == 0 { 0.8 } else { other });
    let likenesses: Vec<Likeness> = found.iter().map(cosine).collect();
    let answer = compose(&parsed, &found, Some(&likenesses)).expect("an answer");
    let material = Material { question: &parsed, sources: &sources, evidence: &evidence };
    answer.is_doubtful().then(|| closest(&material, &found, Some(&likenesses), Some(&answer)).expect("passages"))
}

#[test]
fn beside_a_nearer_passage_a_sentence_needs_a_clear_lead() {
    assert_eq!(passages_beside(0.0, 0.75), None, "no passage is nearer");
    assert_eq!(passages_beside(0.1, 0.2), None, "no other sentence is");
    let both = passages_beside(0.1, 0.75).expect("passages");
    assert_eq!(both.text, "The glue is kept in the cellar. [^1]\n\nThe glue is not kept for ever. [^2]");
}

#[test]
fn at_most_three_sections_come_nearest_each_of_another_source() {
    let parsed = parsed("When was the glue delivered?");
    let texts = ["by car", "to the workshop", "and paid", "late"];
    let texts = texts.map(|how| format!("The glue was delivered {how}. It was the glue that was delivered {how}."));
    let sources: Vec<AnswerSource<'_>> = texts.iter().map(|text| AnswerSource::alone(text)).collect();
    let evidence = texts.each_ref().map(|text| PassageEvidence::new(Analyzer::english(), &parsed.terms, "", text));
    let found = candidates(&parsed, &sources, &evidence);
    let answer = compose(&parsed, &found, None).expect("an answer");
    assert!(answer.is_doubtful(), "it holds no date");
    let material = Material { question: &parsed, sources: &sources, evidence: &evidence };
    let given = closest(&material, &found, None, Some(&answer)).expect("passages");
    let numbers: std::collections::BTreeSet<usize> = given.passages.iter().map(|given| given.source_index).collect();
    assert_eq!((numbers.len(), given.passages.len()), (3, 3), "{}", given.text);
}

#[test]
fn a_reply_goes_before_the_mail_that_it_answers() {
    let asked = parsed("How many mirrors are ordered?");
    let (mail, reply) =
        (AnswerSource::alone("24 mirrors are ordered."), AnswerSource::alone("20 mirrors are ordered."));
    let first = |title| {
        let sources = [AnswerSource { title: "Mirrors", ..mail }, AnswerSource { title, ..reply }];
        let evidence =
            |source: &AnswerSource<'_>| PassageEvidence::new(Analyzer::english(), &asked.terms, "", source.text);
        let evidence: Vec<PassageEvidence> = sources.iter().map(evidence).collect();
        candidates(&asked, &sources, &evidence).first().map(|candidate| candidate.source)
    };
    assert_eq!(first("Re: mirrors"), Some(1));
    assert_eq!(first("Re: vans"), Some(0));
}

#[test]
fn a_question_that_heads_its_passage_is_no_part_of_the_answer() {
    let heading = ["Where is the glue kept? Who has the key?".to_owned()];
    for question in
        ["**Where is the glue kept? Who has the key?**\n", "Q: Where is the glue kept?\n   Who has the key?\n\nA: "]
    {
        let page =
            format!("{question}In the cellar, on the shelf beside the door. The key hangs in the office of Ida.");
        let source = AnswerSource { heading: &heading, ..AnswerSource::alone(&page) };
        let evidence = PassageEvidence::new(Analyzer::english(), &parsed("Where is the glue kept?").terms, "", &page);
        let units = super::units::units(&source, &evidence);
        let is_heading = |unit: &super::units::Unit| unit.kind == super::units::UnitKind::Heading;
        let said: Vec<&super::units::Unit> = units.iter().filter(|unit| !is_heading(unit)).collect();
        let texts: Vec<&str> = said.iter().map(|unit| page.get(unit.range.clone()).unwrap_or_default()).collect();
        assert!(texts.len() == 1 && texts.iter().all(|text| !text.contains('?')), "{texts:?}");
    }
}

#[test]
fn the_yes_or_no_comes_with_what_explains_it() {
    let page = "**May I pay in cash?** No, not any more. The kiosk at the gate still takes notes and coins of visitors who pay.";
    let said = text("Can visitors pay in notes and coins?", &[page]);
    assert_eq!(
        said,
        "No, not any more. [^1] The kiosk at the gate still takes notes and coins of visitors who pay. [^1]"
    );
    let signed = "Q: Does the kiln keep its heat?\nA: No. The kiln loses its heat in a night.";
    assert_eq!(
        text("Does the kiln keep its heat at night?", &[signed]),
        "A: No. [^1] The kiln loses its heat in a night. [^1]"
    );
    // Other paragraphs answer something else.
    let apart = "No, not any more.\n\nThe kiosk takes notes and coins.";
    assert_eq!(text("Does the kiosk take notes and coins?", &[apart]), "The kiosk takes notes and coins. [^1]");
}

#[test]
fn a_rule_comes_with_its_exception() {
    let page = "Films are wiped after 72 hours. If a film shows a theft it is kept for 60 days. Ida has the key.";
    assert_eq!(
        text("For how many days is a film kept?", &[page]),
        "Films are wiped after 72 hours. [^1] If a film shows a theft it is kept for 60 days. [^1]"
    );
    let asked = text("For how many days is a film kept if it shows a theft?", &[page]);
    assert_eq!(asked, "If a film shows a theft it is kept for 60 days. [^1]");
}

#[test]
fn a_row_of_two_short_cells_is_an_answer() {
    let page = "A night costs up to:\n\n| London | £165 |\n| Elsewhere in the country | £110 |\n| Paris | €170 |";
    assert_eq!(text("What is the limit for London?", &[page]), "London | £165 [^1]");
}

#[test]
fn a_question_is_no_answer_to_itself() {
    let page = "Should I keep my key?\n\nNo, hand the key in, unless you keep it at home.";
    assert!(!text("Should I keep my key?", &[page]).contains("Should I keep my key?"));
    assert_eq!(text("Is the upper lid dry?", &["The upper lid is dry."]), "The upper lid is dry. [^1]");
}

#[test]
fn a_sample_of_an_error_does_not_say_what_it_means() {
    let page = "The log may hold: unexpected kiln error 64 in file kiln.c, reading stopped.\n\nThis points to a wrong key file of the kiln. It means an encoding error of 64 bits.";
    let answer = text("What does the unexpected kiln error 64 mean?", &[page]);
    assert!(answer.contains("points to") || answer.contains("It means"), "{answer}");
    assert!(!answer.contains("reading stopped"), "{answer}");
}

#[test]
fn two_names_that_are_asked_for_together_are_both_answered() {
    let page = "KEY1 can have up to 8 slots. KEY2 can have up to 32 slots. A slot holds one word.";
    assert_eq!(
        text("How many slots can KEY1 and KEY2 have?", &[page]),
        "KEY1 can have up to 8 slots. [^1] KEY2 can have up to 32 slots. [^1]"
    );
}

#[test]
fn the_lines_below_the_title_are_no_steps() {
    let intro = "# Travel and expenses\n\nOwner: Finance (Ada Lind). Version 7, in force since 1 March 2026.";
    let money = "## Getting your money back\n\nHand in expenses within 30 days of the end of the trip. Expenses older than 90 days are not paid.";
    let headings = [
        vec!["Travel and expenses".to_owned()],
        vec!["Travel and expenses".to_owned(), "Getting your money back".to_owned()],
    ];
    let sources: Vec<AnswerSource<'_>> = [intro, money]
        .iter()
        .zip(&headings)
        .map(|(text, heading)| AnswerSource { title: "Travel and expenses", heading, ..AnswerSource::alone(text) })
        .collect();
    let given = given_of("How do I claim travel expenses?", &sources).expect("passages");
    assert!(given.text.contains("Hand in expenses") && !given.text.contains("Owner"), "{}", given.text);
}

#[test]
fn the_row_of_an_abbreviated_day_is_found() {
    let menu = "| Day | Meal | Sweet |\n|---|---|---|\n| Mon | Leek soup | apple |\n| Wed | Pasta | plum cake |\n| Thu | Fish pie | jelly |";
    assert_eq!(text("What is the meal on Thursday?", &[menu]), "Day: Thu | Meal: Fish pie | Sweet: jelly [^1]");
}

#[test]
fn the_row_of_a_range_without_a_unit_holds_the_amount_of_its_column() {
    let fees = "| Income per month | 25 h | 35 h |\n|---|---|---|\n| up to 1,500 | 20 | 35 |\n| 1,501–2,500 | 48 | 70 |\n| 2,501–3,500 | 96 | 131 |\n| above 3,500 | 138 | 196 |";
    let row = text("nursery fee 35 hours with 3000 pounds income", &[fees]);
    assert!(row.starts_with("Income per month: 2,501–3,500") && row.matches("Income").count() == 1, "{row}");
}

#[test]
fn a_sentence_in_brackets_comes_with_the_one_before_it() {
    let rules = "Two editors must approve a change. (One approval is enough if the change has waited for a week.) Nobody approves their own.";
    let given = text("How many approvals does a change need if it has waited?", &[rules]);
    assert!(given.starts_with("Two editors must approve a change. [^1]"), "{given}");
}

#[test]
fn a_list_of_offices_names_nobody() {
    let statutes = "The board: chair, vice chair, treasurer, captain and secretary. Up to 500 the treasurer of the board need not ask the AGM.";
    let parsed = parsed("Who is the treasurer of the board?");
    let source = AnswerSource { probability: 0.8, ..AnswerSource::alone(statutes) };
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "", statutes)];
    let found = candidates(&parsed, &[source], &evidence);
    assert!(compose(&parsed, &found, None).is_some_and(|answer| answer.is_doubtful()));
    assert!(text("Who is the treasurer of the board?", &["The treasurer of the board is Ida Moss."]).contains("Ida"));
}

#[test]
fn a_date_beside_what_it_is_of_answers_the_second_part() {
    let notes = "Kiln 1.18, called \"No mystery\", came on 12 December 2022. It burns less gas.";
    let both = text("What was kiln 1.18 called and when was it released?", &[notes]);
    assert!(both.contains("No mystery") && !both.contains("None of the passages"), "{both}");
}

#[test]
fn a_correct_source_without_a_related_sentence_is_given_from_its_beginning() {
    let recipe = "300 g flour, 250 g sugar and 60 g cocoa. Mix dry, mix wet, do not stir for long.";
    let parsed = parsed("Which cake has no eggs?");
    let heading = ["Petra's cake without eggs".to_owned()];
    let source = AnswerSource { probability: 0.8, heading: &heading, ..AnswerSource::alone(recipe) };
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "Petra's cake without eggs", recipe)];
    let material = Material { question: &parsed, sources: &[source], evidence: &evidence };
    let given = closest(&material, &[], None, None).expect("a passage");
    assert!(given.text.starts_with("### Petra's cake without eggs\n\n300 g flour"), "{}", given.text);
}

#[test]
fn a_version_stands_over_what_it_brought() {
    let notes = "## 3.8.0 - 8 January\n\n- Jars of 250 ml.\n\n## 3.7.1 - 2 December\n\n- Fixed a leak in the kiln bridge with more than 800 jars.\n- Lids.";
    let asked = "In which release was the leak of the kiln bridge fixed?";
    let given = text(asked, &[notes]);
    assert!(given.starts_with("3.7.1 - 2 December [^1]\n\nFixed a leak in the kiln bridge"), "{given}");
    let given = text("Was the leak of the kiln bridge fixed?", &[notes]);
    assert!(given.starts_with("Fixed a leak"), "{given}");
}

#[test]
fn a_part_is_answered_in_its_own_measure() {
    let report = "214 groups were hit and 3,180 orders failed. Orders were down for 92 minutes.";
    let both = text("How long were orders down and how many groups were hit?", &[report]);
    assert!(both.contains("92 minutes") && both.contains("214 groups"), "{both}");
}

#[test]
fn the_number_of_a_telephone_has_digits() {
    let is_doubtful = |page: &str| {
        let parsed = parsed("What is Dr Moss's phone number?");
        let source = AnswerSource { probability: 0.8, ..AnswerSource::alone(page) };
        let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "", page)];
        let found = candidates(&parsed, &[source], &evidence);
        compose(&parsed, &found, None).expect("an answer").is_doubtful()
    };
    assert!(is_doubtful("Dr Moss has a phone and family medicine. She is on leave until 31 August 2026."));
    assert!(!is_doubtful("Dr Moss has a phone of her own: 01632 960 440. She is number 2 of the practice."));
}

#[test]
fn what_we_set_is_no_default() {
    let manual = "The setting jar_count is 5 by default. It takes effect at once.";
    let ours = "In the shop jar_count is 9 since the summer, and lids are counted twice.";
    assert_eq!(text("What do we set jar_count to?", &[manual, ours]), ours.to_owned() + " [^2]");
    assert!(text("What is the default of jar_count?", &[manual, ours]).contains("5 by default"));
}

#[test]
fn a_title_in_bold_is_a_label() {
    let page =
        "**Returning Contributors: New Requirements for Submissions Below**\n\nThe glaze was written up by Ada Byron.";
    assert!(!text("Who wrote up the glaze for contributors?", &[page]).contains("Returning"));
}

#[test]
fn a_release_tells_its_changes_its_version_and_its_date() {
    let notes = "## 2.0.0 - 2024-09-10\n\n### Added\n- Blue jars can be glazed.\n- A window of glass.\n\n### Removed\n- Lids of tin, as jars of 1.8.0 had them.\n\n## 1.8.0 - 2023-02-28\n\n### Added\n- Lids of tin.";
    let source = AnswerSource { title: "Changelog", ..AnswerSource::alone(notes) };
    let of = |question: &str| {
        let parsed = parsed(question);
        let title = with_release("Changelog".to_owned(), &["2.0.0 - 2024-09-10".to_owned()]);
        let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, &title, notes)];
        let found = candidates(&parsed, &[source], &evidence);
        compose(&parsed, &found, Some(&vec![Likeness::of_cosine(0.3); found.len()]))
            .unwrap_or_else(|| panic!("{question}"))
    };
    for (question, expected) in [
        (
            "Which version removed lids of tin?",
            "2.0.0 - 2024-09-10 [^1]\n\nLids of tin, as jars of 1.8.0 had them. [^1]",
        ),
        ("Since when are there blue jars?", "2.0.0 - 2024-09-10 [^1]\n\nBlue jars can be glazed. [^1]"),
        ("Which version added a window of glass?", "2.0.0 - 2024-09-10 [^1]\n\nA window of glass. [^1]"),
        ("When was 2.0.0 released?", "2.0.0 - 2024-09-10 [^1]"),
        ("When was 1.8.0 released?", "1.8.0 - 2023-02-28 [^1]"),
        ("What is the latest version?", "2.0.0 - 2024-09-10 [^1]"),
    ] {
        let answer = of(question);
        assert_eq!((answer.text.as_str(), answer.is_doubtful()), (expected, false), "{question}");
    }
}

#[test]
fn both_parts_are_answered_by_sentences_beside_each_other() {
    let page = "Laptops are replaced every 4 years. The standard model is the Kestrel 14.";
    // No chunk holds "often".
    let frequency = |stem: &str| if stem == "often" { 0 } else { 5 };
    let asked = "What is the standard laptop model and how often are laptops replaced?";
    let parsed = Question::new(Analyzer::english(), asked, 100, frequency);
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "", page)];
    let both =
        compose(&parsed, &candidates(&parsed, &[AnswerSource::alone(page)], &evidence), None).expect("an answer");
    assert!(both.text.contains("every 4 years") && both.text.contains("Kestrel 14"), "{}", both.text);
    assert_eq!(parsed.terms.unknown_words().count(), 0);
    let german = Question::new(Analyzer::english(), "Wie viele Deckel darf ein Glas haben?", 100, |_| 0);
    assert_eq!(german.terms.unknown_words().collect::<Vec<_>>(), ["Deckel", "darf", "Glas"]);
}

#[test]
fn a_thing_with_a_number_is_told_of_by_the_range_that_holds_it() {
    let page = "Room 101 is the ticket office, and room 102 holds lost property. Room 201 is the control room. Rooms 205 to 208 are training rooms.";
    let heading = ["Rooms".to_owned()];
    let source = AnswerSource { title: "Terminal", heading: &heading, ..AnswerSource::alone(page) };
    let parsed = parsed("What is room 207?");
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "Terminal Rooms", page)];
    let found = candidates(&parsed, &[source], &evidence);
    let near = |text: &str| Likeness::of_cosine(if text.contains("101") { 0.9 } else { 0.1 });
    let likenesses: Vec<Likeness> = found.iter().map(|candidate| near(candidate.text())).collect();
    let answer = compose(&parsed, &found, Some(&likenesses)).expect("an answer");
    assert_eq!(answer.text, "Rooms 205 to 208 are training rooms. [^1]");
}
