//! Rows of tables, and code, as answers.

use super::passages_tests::given_of;
use super::tests::{answer, parsed, text};
use super::*;
use crate::evidence::passage::PassageEvidence;
use crate::late_interaction::Likeness;
use crate::lexical::analyzer::Analyzer;

const SALES: &str = "| Month | Jars sold | Breakage % |\n|---|---|---|\n| 2025-09 | 310 | 2.1 |\n| 2025-10 | 290 | 2.6 |\n| 2025-11 | 305 | 2.4 |\n| 2025-12 | 350 | 2.2 |";

fn composed(question: &str, page: &str) -> ExtractiveAnswer {
    let question = parsed(question);
    let evidence = [PassageEvidence::new(Analyzer::english(), &question.terms, "", page)];
    let found = candidates(&question, &[AnswerSource::alone(page)], &evidence);
    let near = vec![Likeness::of_cosine(0.9); found.len()];
    compose(&question, &found, Some(&near)).expect("an answer")
}

#[test]
fn a_row_is_given_with_the_name_of_its_group() {
    let page = "| | 2019 | 2018 |\n|---|---|---|\n| Americas: | | |\n| Vans | 343 | 401 |\n| Trailers | 12 | 10 |\n| EMEA: | | |\n\
        | Vans | 80 | 77 |\n| Boats | 9 | 4 |";
    assert_eq!(text("How many vans were there in EMEA in 2019?", &[page]), "EMEA: Vans | 2019: 80 [^1]");
    assert_eq!(text("How many vans were there in the Americas in 2019?", &[page]), "Americas: Vans | 2019: 343 [^1]");
    assert_eq!(text("How many boats were there in 2018?", &[page]), "Boats | 2018: 4 [^1]");
}

#[test]
fn the_row_of_a_month_is_the_one_with_its_date() {
    assert_eq!(text("breakage in October", &[SALES]), "Month: 2025-10 | Jars sold: 290 | Breakage %: 2.6 [^1]");
}

#[test]
fn rows_that_nothing_tells_apart_are_no_answer() {
    assert!(composed("breakage of the blue jars", SALES).is_doubtful());
    assert!(!composed("breakage in October", SALES).is_doubtful());
    let fees = "| Jars | Hire | Fee |\n|---|---|---|\n| up to 10 | a day | 4 |\n| 11–50 | a day | 9 |\n| 51–200 | a day | 20 |\n| over 200 | a day | 50 |";
    let fee = composed("fee for the hire of 60 blue jars", fees);
    assert_eq!((fee.text.as_str(), fee.is_doubtful()), ("Jars: 51–200 | Hire: a day | Fee: 20 [^1]", false));
}

#[test]
fn code_is_given_where_no_sentence_is_about_the_question() {
    let page = "It is a compromise.\n\n```\n# jar_sync always\njar_sync everysec\n```";
    let parsed = parsed("What are the choices for jar_sync?");
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "", page)];
    let material = Material { question: &parsed, sources: &[AnswerSource::alone(page)], evidence: &evidence };
    let given = closest(&material, &[], None, None).expect("a passage");
    assert!(given.text.contains("jar_sync everysec"), "{}", given.text);
}

#[test]
fn a_column_tells_how_many_there_are_of_what_it_is_named_for() {
    let tours = "| Tour | Max. people | Price |\n|---|---|---|\n| Foundry | 6 | 20 per person |\n| Yard | 15 | free |";
    let both = text("What does the foundry tour cost and how many people can join?", &[tours]);
    assert_eq!(both, "Tour: Foundry | Max. people: 6 | Price: 20 per person [^1]");
}

#[test]
fn a_column_may_be_abbreviated_and_a_measure_named() {
    let staff = "| Name | Ext. | Room |\n|---|---|---|\n| Ida Holm | 306 | 1.2 |\n| Ove Lind | 261 | 2.4 |";
    assert_eq!(text("Who has extension 306?", &[staff]), "Name: Ida Holm | Ext.: 306 [^1]");
    let kiln = "| | Kiln 4 | Kiln 6 |\n|---|---|---|\n| Load, max. (kg) | 180 | 450 |\n| Weight (kg) | 2,300 | 4,900 |";
    assert!(text("How heavy is kiln 6?", &[kiln]).starts_with("Weight (kg)"));
}

#[test]
fn a_change_comes_with_the_version_that_its_heading_names() {
    let notes = "## 2.12.0 (2025-10-17)\n\n- Jars hold grains as of glaze 1.86.\n- Added lids to jars, as those of glaze 1.86.\n\n## 2.11.0\n\n- Added handles.";
    let said = text("Which version added lids?", &[notes]);
    assert!(said.starts_with("2.12.0 (2025-10-17) [^1] Added lids"), "{said}");
}

#[test]
fn a_time_is_of_the_month_that_is_asked_for() {
    let minutes = "The works meeting began at 13:00. About 240 were present. The next works meeting is on 20 May.";
    assert!(composed("When is the works meeting in November?", minutes).lacks_kind);
    assert!(!composed("When is the works meeting in May?", minutes).lacks_kind);
    assert!(!composed("When is the next works meeting?", minutes).lacks_kind);
}

#[test]
fn a_row_is_of_the_day_that_is_asked_for() {
    let menu = "| Day | With fish | Without |\n|---|---|---|\n| Monday | Cod | Dal |\n| Tuesday | Plaice | Curry |\n| Wednesday | Fish pie | Fish-free fish pie, a dish of the fish shop |";
    let tuesday = "Day: Tuesday | With fish: Plaice | Without: Curry [^1]";
    for question in ["Which fish dish is there on Tuesday?", "Is there a fish dish on tuesday?", "fish on Tue"] {
        assert_eq!(text(question, &[menu]), tuesday, "{question}");
    }
}

#[test]
fn rows_that_share_the_most_are_all_given() {
    let fees = "| Category | Fee | Work hours | Note |\n|---|---|---|---|\n| Adult | 264 | 12 | |\n| Couple | 432 | 20 | same household |\n| Youth | 108 | 4 | |\n| Family | 468 | 20 | same household |";
    let said = text("Which category has the most work hours?", &[fees]);
    assert!(said.contains("Couple") && said.contains("Family") && !said.contains("Adult"), "{said}");
    let page = "OPTIONS\n\n       shared_jars (integer): Sets the jars that are shared.  The default is typically 128.\n\nWith a shelf of its own, a reasonable share of the shelf for shared_jars is 25%.";
    let said = text("What share of the shelf should I give to shared_jars?", &[page]);
    assert!(said.contains("25%"), "{said}");
}

#[test]
fn only_the_table_that_a_source_begins_in_has_the_header_before_it() {
    let cut = "| Ada | A |\n| Bo | B |\n| Di | A |\n\nThe boats are kept on the quay of Cyd.\n\n| Cyd | A |";
    let header = Some("| Supplier | Rating |");
    let source = AnswerSource { title: "Suppliers and ratings", table_header: header, ..AnswerSource::alone(cut) };
    let rated = given_of("List the suppliers with rating A", &[source]).expect("rows").text;
    let expected = ["- Supplier: Ada | Rating: A [^1]", "- Supplier: Di | Rating: A [^1]"];
    assert!(expected.iter().all(|row| rated.contains(row)) && !rated.contains("Cyd"), "{rated}");
    let parsed = parsed("boats on the quay");
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "", cut)];
    let found = candidates(&parsed, &[source], &evidence);
    let material = Material { question: &parsed, sources: &[source], evidence: &evidence };
    let whole = closest(&material, &found, None, None).expect("a passage").text;
    assert!(whole.contains("- Supplier: Bo | Rating: B [^1]"), "{whole}");
    assert!(whole.ends_with("Cyd | A [^1]") && !whole.contains("Supplier: Cyd"), "{whole}");
}

#[test]
fn an_average_over_all_rows_is_given_all_of_them() {
    let pumps = "| Pump | Weight kg |\n|---|---|\n| Alfa | 40 |\n| Bravo | 50 |\n| Coil | 60 |";
    let given = given_of("What is the average weight of the pumps?", &[AnswerSource::alone(pumps)]).expect("passages");
    assert!(["40", "50", "60"].iter().all(|weight| given.text.contains(weight)), "{}", given.text);
}

#[test]
fn a_cell_that_is_named_by_row_and_column_answers() {
    let boats = "| Boat | Q1 | Q2 | Berth |\n|---|---|---|---|\n| Heron II | 310 | 290 | 4 |\n| Tern | 305 | 350 | 6 |\n| Gull | 12 | 14 | 7 |";
    let question = parsed("How many passengers came with the Heron II in Q2 of the summer that rained so much?");
    let evidence = [PassageEvidence::new(Analyzer::english(), &question.terms, "", boats)];
    let found = candidates(&question, &[AnswerSource::alone(boats)], &evidence);
    let answer = compose(&question, &found, Some(&vec![Likeness::of_cosine(0.1); found.len()])).expect("an answer");
    assert!(answer.features.probability() < confidence::LEAST, "{}", answer.features.probability());
    assert_eq!((answer.text.as_str(), answer.is_doubtful()), ("Boat: Heron II | Q2: 290 [^1]", false));
}

#[test]
fn a_table_below_another_has_not_its_columns() {
    let tables = "| Room | Beds |\n|---|---|\n| Elm | 2 |\n| Oak | 4 |\n\n| Warden | Uwe Lind |\n| Alarm code | 7731 |";
    let told = text("Who is the warden?", &[tables]);
    assert!(told.contains("Uwe Lind") && !told.contains("Beds"), "{told}");
    let told = text("How many beds does Oak have?", &[tables]);
    assert!(told.contains("Beds: 4"), "{told}");
    // Rows of a table that began in an earlier chunk, and those of another one.
    let told = |question: &str| {
        let (header, rows) = ("| Room | Beds |", "| Oak | 4 |\n\n| Alarm code | 7731 |");
        let question = parsed(question);
        let source = AnswerSource { table_header: Some(header), ..AnswerSource::alone(rows) };
        let evidence = PassageEvidence::new(Analyzer::english(), &question.terms, header, rows);
        compose(&question, &candidates(&question, &[source], &[evidence]), None)
            .map_or_else(String::new, |answer| answer.text)
    };
    assert!(told("How many beds does Oak have?").contains("Beds: 4"));
    let code = told("What is the alarm code?");
    assert!(code.contains("7731") && !code.contains("Beds"), "{code}");
}

#[test]
fn a_row_without_the_attribute_that_no_document_has_is_no_answer() {
    let staff = "| Name | Office | Phone |\n|---|---|---|\n| Bo Lind | Oslo | 5101 |\n| Cy Dahl | Kiel | 5102 |";
    for (question, expected) in [("What is the salary of Bo Lind?", true), ("What is the phone of Bo Lind?", false)] {
        let frequency = |term: &str| u64::from(!term.starts_with("salar"));
        let question = Question::new(Analyzer::english(), question, 100, frequency);
        let evidence = [PassageEvidence::new(Analyzer::english(), &question.terms, "", staff)];
        let found = candidates(&question, &[AnswerSource::alone(staff)], &evidence);
        let near = vec![Likeness::of_cosine(0.9); found.len()];
        let answer = compose(&question, &found, Some(&near)).expect("an answer");
        assert_eq!(answer.is_doubtful(), expected, "{}", question.text);
    }
}

#[test]
fn the_scale_above_a_table_is_told_with_a_row() {
    let page = "Income statement (in EUR thousand)\n\n| | 2024 | 2023 |\n|---|---|---|\n| Revenue | 84,310 | 79,120 |\n| Net profit | 14,820 | 9,710 |\n\n\
        The staff is 412.\n\n| Site | Desks |\n|---|---|\n| Kiel | 40 |\n| Jena | 35 |";
    assert_eq!(
        text("What was the net profit in 2023?", &[page]),
        "Income statement (in EUR thousand) [^1]\n\nNet profit | 2023: 9,710 [^1]"
    );
    assert_eq!(text("How many desks has Kiel?", &[page]), "Site: Kiel | Desks: 40 [^1]");
}

#[test]
fn rows_that_stand_in_groups_by_their_place_are_told_apart() {
    let sales = "| | 2024 | 2025 |\n|---|---|---|\n| Shop | | |\n| Cakes | 881 | 793 |\n| Café | | |\n| Cakes | 417 | 460 |\n| Drinks | 632 | 719 |";
    assert_eq!(text("What did the café sell in cakes in 2025?", &[sales]), "Café: Cakes | 2025: 460 [^1]");
    assert_eq!(text("What did the shop sell in cakes in 2024?", &[sales]), "Shop: Cakes | 2024: 881 [^1]");
}

#[test]
fn the_one_with_an_office_is_the_row_that_has_it() {
    let staff = "| Name | Role | Phone |\n|---|---|---|\n| Mira Holt | Mechanic | 10 |\n| Jonas Bek | Clerk | 11 |";
    let guests = "Guests of Ada Byron may use the tools if a mechanic is there.";
    assert_eq!(text("Who is the mechanic?", &[guests, staff]), "Name: Mira Holt | Role: Mechanic [^2]");
}

#[test]
fn of_a_doubtful_answer_the_row_that_is_named_is_given() {
    let towns = "| Town | Most | Breakfast |\n|---|---|---|\n| Jena | 130 | with |\n| Kiel | 110 | without |\n| Bonn | 90 | with |";
    let given = |question: &str| {
        let question = parsed(question);
        let evidence = [PassageEvidence::new(Analyzer::english(), &question.terms, "", towns)];
        let sources = [AnswerSource::alone(towns)];
        let found = candidates(&question, &sources, &evidence);
        let material = Material { question: &question, sources: &sources, evidence: &evidence };
        closest(&material, &found, None, None).map_or_else(String::new, |given| given.text)
    };
    assert_eq!(given("sleeping in Kiel at night"), "- Town: Kiel | Most: 110 | Breakfast: without [^1]");
    let both = given("breakfast in the towns");
    assert!(both.contains("Kiel") && both.contains("Bonn"), "{both}");
}

#[test]
fn things_are_counted_by_a_sentence_or_by_their_list() {
    let tiers = "There are three jar tiers:\n\n- **Tier 1**: These jars are kept by most of the users of the jar.\n- **Tier 2**: These jars are kept by few users.";
    let said = text("How many tiers of jars are there for users?", &[tiers]);
    assert!(said.starts_with("There are three jar tiers:"), "{said}");
    let food = "| Food | Nuts | Milk |\n|---|---|---|\n| Roll | yes | no |\n| Loaf | no | no |\n| Bar | yes | yes |";
    let given = given_of("How many foods contain nuts?", &[AnswerSource::alone(food)]).expect("rows").text;
    assert!(given.contains("Roll") && given.contains("Bar") && !given.contains("Loaf"), "{given}");
    let releases = "## Former jar releases\n\n- `1.8` - jar release until February 2022.\n- `1.14` - jar release until June 2022.\n- `1.18` - jar release until June 2023.";
    let given = given_of("How many former jar releases were there?", &[AnswerSource::alone(releases)]).expect("a list");
    assert_eq!(given.text.matches("until").count(), 3, "{}", given.text);
}

#[test]
fn the_row_that_is_named_tells_what_is_asked_of_it() {
    let table = "| System | Chip | Support |\n|---|---|---|\n| Linux | arm64 | Tier 1 |\n| Windows | x64 | Tier 1 |\n| Windows | arm64 | Tier 2 |";
    let said = text("Is Windows arm64 a tier 1 platform?", &[table]);
    assert!(said.contains("System: Windows") && !said.contains("Linux"), "{said}");
    let levels =
        "| Level | Meaning | Response |\n|---|---|---|\n| P2 | All is slow | 4 h |\n| P3 | A single fault | 9 h |";
    let said = text("How fast is the response to a P2 fault?", &[levels]);
    assert!(said.contains("4 h") && !said.contains("P3"), "{said}");
}

#[test]
fn the_row_that_is_named_comes_before_one_with_more_of_the_words() {
    let levels = "| Priority | Meaning | First response | Solved within |\n|---|---|---|---|\n| P1 | Jars are lost | 30 minutes | 4 hours |\n| P2 | A lid fails for several users | 2 hours | 1 day |\n| P3 | A single fault, there is a way around | 1 day | 5 days |";
    let told = text("How fast do you respond to a P2 fault?", &[levels]);
    assert!(told.starts_with("Priority: P2 | "), "{told}");
}

#[test]
fn a_row_that_says_neither_yes_nor_no_does_not_tell_whether() {
    let plans = "| Plan | Price | SSO |\n|---|---|---|\n| Lite | 0 EUR | no |\n| Max | on request | yes |";
    let is_doubtful = |question: &str, plans: &str| answer(question, &[plans], None).expect("a row").is_doubtful();
    assert!(is_doubtful("Was the price of the Max plan raised?", plans));
    assert!(!is_doubtful("Does the Max plan have SSO?", plans));
}

#[test]
fn places_that_are_open_on_a_day_are_listed() {
    let offices = "| Office | Mon–Fri | Sat |\n|---|---|---|\n| Leeds | 8:00–18:00 | 9:00–13:00 |\n| York | 9:00–17:00 | closed |\n| Hull | 7:00–16:00 | 7:00–12:00 |";
    let listed = |question: &str| given_of(question, &[AnswerSource::alone(offices)]).expect("rows").text;
    let (open, closed) =
        (listed("Which offices are open on Tuesday?"), listed("Which offices are closed on Saturday?"));
    assert!(["Leeds", "York", "Hull"].iter().all(|office| open.contains(office)), "{open}");
    assert!(closed.contains("York") && !closed.contains("Leeds"), "{closed}");
}
