use proptest::prelude::*;

use super::tests::{hostile_source, parsed};
use super::*;
use crate::citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate};
use crate::evidence::passage::PassageEvidence;
use crate::identity::ChunkKey;
use crate::lexical::analyzer::Analyzer;
use crate::planning::{QuestionType, plan};

pub(super) fn given_of(question: &str, sources: &[AnswerSource<'_>]) -> Option<QuotedPassages> {
    let parsed = parsed(question);
    let evidence: Vec<PassageEvidence> = sources
        .iter()
        .map(|source| {
            let title = format!("{} {}", source.title, source.heading.join(" "));
            PassageEvidence::new(Analyzer::english(), &parsed.terms, &title, source.text)
        })
        .collect();
    let found = candidates(&parsed, sources, &evidence);
    let material = Material { question: &parsed, sources, evidence: &evidence };
    passages(&material, plan(question).question_type, &found, None)
}

fn given(question: &str, texts: &[&str]) -> Option<QuotedPassages> {
    given_of(question, &texts.iter().map(|text| AnswerSource::alone(text)).collect::<Vec<_>>())
}

fn text(question: &str, texts: &[&str]) -> String {
    given(question, texts).map_or_else(String::new, |given| given.text)
}

const PRINTER: &str = "# Printers\n\nThe printers are on the second floor.\n\n## Changing the toner\n\nTo change the toner of a printer:\n\n1. Open the lid.\n2. Pull the old toner out.\n3. Push the new one in.\n\nThen print a page:\n\n```sh\nlp test.txt\n```\n\n## Costs\n\nA page costs 2 cents.";

#[test]
fn a_how_to_is_given_its_section() {
    let given = given("How do I change the toner of a printer?", &["Toner is black.", PRINTER]).expect("passages");
    let expected = "### Changing the toner\n\nTo change the toner of a printer: [^2]\n\n1. Open the lid. [^2]\n2. Pull the old toner out. [^2]\n3. Push the new one in. [^2]\n\nThen print a page: [^2]\n\n```\nlp test.txt\n```";
    assert_eq!(given.text, expected);
    assert_eq!(given.passages, [GivenPassage { source_index: 1, reason: PassageReason::Steps, about: None }]);
}

#[test]
fn what_stands_below_a_title_tells_nobody_how() {
    let page = [
        "# jar-retire\n\nRetire a jar",
        "This command marks a jar as retired, so that nobody fills it. To retire one, do this:\n\n```\njar retire BLUE\n```",
    ];
    let heading = ["jar-retire".to_owned()];
    let sources = page.map(|text| AnswerSource { title: "jar-retire", heading: &heading, ..AnswerSource::alone(text) });
    let given = given_of("How do I retire a jar?", &sources).expect("passages");
    assert!(given.text.contains("jar retire BLUE"), "{}", given.text);
}

#[test]
fn what_makes_things_differ_compares_them() {
    let name = ["jar-fill-empty".to_owned()];
    let both = AnswerSource { heading: &name, ..AnswerSource::alone("Fill jars with an empty pump and test them.") };
    let differ = AnswerSource::alone(
        "This command is like jar fill.\n\nThe main differences between jar fill and jar empty are:\n\n- The jar must have a lid.\n- It stops at the first crack.",
    );
    let given = given_of("Compare jar fill and jar empty", &[both, differ]).expect("passages");
    assert!(given.text.contains("must have a lid") && !given.text.contains("empty pump"), "{}", given.text);
}

#[test]
fn of_a_list_of_what_to_do_no_item_is_the_answer() {
    let pump = "# Pumps\n\nThey are red.\n\n## The pump shows \"dry\"\n\n1. Is the inlet open? If not: turn the key.\n2. Red lamp: no oil. Call the desk.\n3. Otherwise: the pump is dry, so pull the plug for a minute.";
    let given = text("pump shows dry, what now?", &[pump]);
    assert!(["1. Is the inlet", "2. Red lamp", "3. Otherwise"].iter().all(|item| given.contains(item)), "{given}");
    let otherwise = "Full tanks are emptied.\n\n- jar in the tank? Drop it.\n- otherwise grow the full tank by a litre, which takes a day.";
    let said = super::tests::text("Which tank is full for a day?", &[otherwise]);
    assert!(!said.contains("otherwise"), "{said}");
}

#[test]
fn brief_items_are_quoted_with_their_heading() {
    let pool = "## Shut\n\n- Overhaul: 6 to 26 July\n- 24 and 25 May\n- Market Monday\n\n## Water\n\nThe pump of the pool is warm on Mondays.";
    assert_eq!(
        super::tests::text("Is the pool open on Market Monday?", &[pool]),
        "Shut [^1]\n\n- Overhaul: 6 to 26 July [^1]\n- 24 and 25 May [^1]\n- Market Monday [^1]"
    );
    let said = super::tests::text("When is the overhaul of the pool?", &[pool]);
    assert!(said.starts_with("Overhaul: 6 to 26 July [^1]") && !said.contains("Market"), "{said}");
}

#[test]
fn a_line_with_a_name_lists_what_is_asked_for() {
    let hooks = "Events: `lid.open`, `lid.shut`, `jar.full`.\n\nHooks are signed.";
    let moved = "The list of hooks has moved to hooks and events of the jar.";
    let said = super::tests::text("Which hook events exist?", &[moved, hooks]);
    assert!(said.starts_with("Events: `lid.open`"), "{said}");
}

#[test]
fn the_row_with_the_most_answers_and_no_other() {
    let table = "| Pump | Price | Guarantee of seals |\n|---|---|---|\n| north | 5,200 | 25 years |\n| south | 6,100 | 30 years |\n| east | 900 | 12 years |";
    let whole = AnswerSource::alone(table);
    let question = "Which pump has the longest seal guarantee?";
    let said = super::tests::text(question, &[table]);
    assert_eq!(
        (said.as_str(), given_of(question, &[whole])),
        ("Pump: south | Price: 6,100 | Guarantee of seals: 30 years [^1]", None)
    );
    assert_eq!(
        super::tests::text("Which is the cheapest pump?", &[table]),
        "Pump: east | Price: 900 | Guarantee of seals: 12 years [^1]"
    );
    // Where more rows may follow, or no column is meant, none of them is said to be it.
    for (question, has_cut_table) in [(question, true), ("Which pump is the biggest in north and south?", false)] {
        let given = given_of(question, &[AnswerSource { has_cut_table, ..whole }]).expect("the table");
        assert!(["north", "south", "east"].iter().all(|name| given.text.contains(name)), "{}", given.text);
    }
}

#[test]
fn steps_under_a_heading_for_them_belong_to_their_document() {
    let heading = |last: &str| vec!["Restoring the pump".to_owned(), last.to_owned()];
    let (about, steps) = (heading("About"), heading("Steps"));
    let told = AnswerSource::alone("The pump was restored in May. Restoring the pump takes an hour.");
    let listed = AnswerSource::alone("## Steps\n\n1. Close the inlet.\n2. Turn the key.");
    let about = AnswerSource { title: "Restoring the pump", heading: &about, ..told };
    let steps = AnswerSource { title: "Restoring the pump", heading: &steps, ..listed };
    let given = given_of("How do I restore the pump?", &[about, steps]).expect("passages");
    assert_eq!(given.text, "### Restoring the pump › Steps\n\n1. Close the inlet. [^2]\n2. Turn the key. [^2]");
}

#[test]
fn a_section_without_a_word_of_the_question_gives_way_whatever_its_title_is() {
    let contact = AnswerSource::alone("Owner: Finance.\n\nUpdated in May. Asked about often.");
    let contact = AnswerSource { title: "Travel expenses", probability: 0.9, ..contact };
    let told = AnswerSource::alone("Expenses are claimed in the portal. Send the receipts within a month.");
    let told = AnswerSource { title: "Getting your money back", ..told };
    let given = given_of("How do I claim travel expenses?", &[contact, told]).expect("passages");
    assert_eq!(given.passages, [GivenPassage { source_index: 1, reason: PassageReason::Steps, about: None }]);
}

#[test]
fn a_table_with_a_column_for_each_of_two_things_compares_them() {
    let fares = "# Fares\n\nThe single and the return are sold here.\n\n| | Single | Return |\n|---|---|---|\n| Adults | 3 | 5 |\n| Children | 1 | 2 |";
    let text = text("What is the difference between the single and the return ticket?", &[fares]);
    assert_eq!(text, "### Fares\n\n- Adults | Single: 3 | Return: 5 [^1]\n- Children | Single: 1 | Return: 2 [^1]");
}

#[test]
fn a_long_section_is_given_from_the_steps_on() {
    let filler = "The toner of a printer has a long history that nobody needs to know in order to use it. ".repeat(30);
    let page = format!("{filler}\n\nTo change the toner of a printer:\n\n- Open the lid.\n- Pull it out.\n\n{filler}");
    let text = text("How to change the toner of a printer?", &[&page]);
    assert_eq!(text, "To change the toner of a printer: [^1]\n\n- Open the lid. [^1]\n- Pull it out. [^1]");
}

#[test]
fn of_a_table_the_rows_that_tell_what_to_do_are_given() {
    let table = "## Commands\n\n| command | purpose |\n|---|---|\n| `kv get` | shows a value |\n| `kv keys` | makes, rotates and revokes keys |\n| `kv stop` | ends the server |";
    let text = text("How do I rotate keys?", &[table]);
    assert_eq!(text, "### Commands\n\n- command: `kv keys` | purpose: makes, rotates and revokes keys [^1]");
}

#[test]
fn things_compared_get_a_passage_each() {
    let plans = ["The Basic plan costs 5 euros. It has no support.", "The Premium plan costs 9 euros.\n\nCall us."];
    let question = "What is the difference between the Basic plan and the Premium plan?";
    let both = given(question, &plans).expect("passages");
    assert_eq!(
        both.text,
        "The Basic plan costs 5 euros. [^1] It has no support. [^1]\n\nThe Premium plan costs 9 euros. [^2]"
    );
    let about: Vec<_> = both.passages.iter().map(|passage| passage.about.as_deref()).collect();
    assert_eq!(about, [Some("the Basic plan"), Some("the Premium plan")]);
    let one = given("What is the difference between the Basic plan and the Enterprise plan?", &plans).expect("one");
    assert!(one.text.ends_with("\n\nThe sources do not say anything about the Enterprise plan."), "{}", one.text);
    assert_eq!(one.passages.len(), 1);
    let together = given(question, &["The Basic plan costs 5 euros, the Premium plan costs 9 euros."]).expect("one");
    assert_eq!(together.passages, [GivenPassage { source_index: 0, reason: PassageReason::Compared, about: None }]);
}

#[test]
fn things_of_which_one_is_named_within_the_other_get_what_is_about_both() {
    let shards = "## Usage\n\nThis crate has two types, Slab and Pool, which differ slightly.\n\nSlab stores small values and moves them in.\n\nPool, in contrast, keeps the storage of old ones.";
    let given = given("What is the difference between Slab and Pool in sharded-slab?", &[shards]).expect("passages");
    assert!(given.text.contains("moves them in") && given.text.contains("keeps the storage"), "{}", given.text);
    assert!(given.passages.iter().all(|passage| passage.reason == PassageReason::Compared));
}

#[test]
fn passages_of_a_mail_begin_below_its_head() {
    let mail = "From: Ada <ada@mill.example>\nTo: all@mill.example\nDate: 2026-04-02T16:40:00+02:00\n\nTo restart the pump, press the green button. Then wait for a minute.";
    let given = given("How do I restart the pump?", &[mail]).expect("passages");
    assert_eq!(given.text, "To restart the pump, press the green button. [^1] Then wait for a minute. [^1]");
}

#[test]
fn options_that_differ_in_case_get_their_entries() {
    let options = "-h: print this\n\n-j: compress with bzip2 instead of gzip\n\n-J: compress with xz instead of gzip\n\n-q: be quiet";
    let given = given("What is the difference between savelog -j and -J?", &[options]).expect("passages");
    assert_eq!(given.text, "-j: compress with bzip2 instead of gzip [^1]\n\n-J: compress with xz instead of gzip [^1]");
}

#[test]
fn a_list_is_given_whole_or_not_at_all() {
    let fees = "Fees of the visa office:\n\n- Visa: 60 euros\n- Stamp: 5 euros\n- Courier: 12 euros\n\nPay in cash.";
    let question = "What are the fees of the visa office?";
    assert_eq!(
        text(question, &[fees]),
        "Fees of the visa office: [^1]\n\n- Visa: 60 euros [^1]\n- Stamp: 5 euros [^1]\n- Courier: 12 euros [^1]"
    );
    assert_eq!(given("What are the colours of the flag?", &[fees]), None, "it is another list");
    assert_eq!(given(question, &["The fees of the visa office are the visa fee and the stamp fee."]), None);
    let table =
        "# Fees of the visa office\n\n| What | Price |\n|---|---|\n| Visa | 60 |\n| Stamp | 5 |\n| Courier | 12 |";
    assert_eq!(
        text("List the fees of the visa office", &[table]),
        "### Fees of the visa office\n\n- What: Visa | Price: 60 [^1]\n- What: Stamp | Price: 5 [^1]\n- What: Courier | Price: 12 [^1]"
    );
}

#[test]
fn a_summary_begins_at_the_beginning_of_the_document() {
    let part = |ordinal, text| {
        let of = AnswerSource::alone(text);
        AnswerSource { key: ChunkKey { ordinal, ..of.key }, title: "Leave", ..of }
    };
    let foreign = AnswerSource {
        key: ChunkKey { document_id: uuid::Uuid::max(), ordinal: 0 },
        ..AnswerSource::alone("The canteen policy covers lunch.")
    };
    let sources = [
        part(4, "The leave policy grants 26 weeks to parents. Apply early."),
        foreign,
        part(0, "# Leave\n\nThis leave policy covers everybody."),
    ];
    let given = given_of("Summarise the leave policy", &sources).expect("passages");
    let order: Vec<_> = given.passages.iter().map(|passage| (passage.source_index, passage.reason)).collect();
    assert_eq!(order, [(2, PassageReason::Overview), (0, PassageReason::Overview)]);
    assert!(
        given.text.starts_with("### Leave\n\nThis leave policy covers everybody. [^3]\n\n### Leave\n\n"),
        "{given:?}"
    );
}

#[test]
fn a_reason_is_quoted_and_its_lack_explained() {
    let question = "Why is the canteen closed on Fridays?";
    assert_eq!(given(question, &["The canteen is closed on Fridays because the cook is away."]), None);
    let around = "On Fridays the canteen is closed. The cook is away then.\n\nTea is free.";
    let given = given(question, &[around]).expect("passages");
    assert_eq!(given.text, "On Fridays the canteen is closed. [^1] The cook is away then. [^1]");
    assert_eq!(given.passages[0].reason, PassageReason::Explanation);
}

#[test]
fn questions_that_a_sentence_answers_get_no_passages() {
    for question in ["How long is parental leave?", "Who grants parental leave?", "When does parental leave begin?"] {
        assert_eq!(given(question, &["Parental leave lasts 26 weeks. It begins at birth. Ada grants it."]), None);
    }
    assert_eq!(given("How do I apply for parental leave?", &["Coffee is free for everybody."]), None);
    assert_eq!(given("How do I apply for parental leave?", &[]), None);
}

#[test]
fn the_lead_in_names_document_and_section_and_nothing_else() {
    let heading = ["Setup".to_owned(), "Network [^7]".to_owned()];
    let of = AnswerSource {
        title: "Handbook.",
        heading: &heading,
        ..AnswerSource::alone("## Wi-Fi\n\nTo join, type the password.")
    };
    let given = given_of("How do I join the Wi-Fi with a password?", &[of]).expect("passages");
    assert_eq!(given.text, "### Handbook. › Setup › Network \\[^7] › Wi-Fi\n\nTo join, type the password. [^1]");
}

#[test]
fn a_numbered_heading_is_named_once() {
    let heading = ["4. How do I change the toner?".to_owned()];
    let text = "4. How do I change the toner?\n\n    To change it, open the lid.\n\n    Then close it.";
    let of = AnswerSource { title: "Printer", heading: &heading, ..AnswerSource::alone(text) };
    let given = given_of("How do I change the toner?", &[of]).expect("passages");
    assert_eq!(given.text.lines().next(), Some("### Printer › 4. How do I change the toner?"));
}

#[test]
fn headings_of_plain_text_are_not_quoted() {
    let heading = ["PRINTER(1)".to_owned(), "TONER".to_owned()];
    let text = "TONER\n       To change the toner, open the lid.\n\n       Then close it.\n\n   Printing again";
    let of = AnswerSource { heading: &heading, ..AnswerSource::alone(text) };
    let given = given_of("How do I change the toner?", &[of]).expect("passages");
    let expected = "### PRINTER(1) › TONER\n\nTo change the toner, open the lid. [^1]\n\nThen close it. [^1]";
    assert_eq!(given.text, expected);
}

#[test]
fn a_column_of_both_things_compares_neither() {
    let table = "| leave | length |\n|---|---|\n| Birth parent | 26 weeks |\n| Second parent | 12 weeks |";
    let annual = "Annual leave is 28 days a year for everybody.";
    let given = given("What is the difference between annual leave and parental leave?", &[table, annual]);
    assert!(given.is_none_or(|given| !given.text.contains("Birth parent")), "the table is of one of them");
}

#[test]
fn rows_compare_by_themselves() {
    let table = "| Fee | 2018 | 2019 |\n|---|---|---|\n| Visa fee | 60 | 65 |\n| Stamp fee | 5 | 6 |";
    assert_eq!(given("Compare the visa fee with the stamp fee.", &[table]), None);
}

#[test]
fn a_figure_to_calculate_is_given_as_the_rows_that_it_comes_from() {
    let table = "| Fee | 2018 | 2019 |\n|---|---|---|\n| Visa fee | 60 | 65 |\n| Stamp fee | 5 | 6 |";
    let given_for = |question: &str| {
        let given = given_of(question, &[AnswerSource::alone(table)]).expect("passages");
        assert!(given.passages.iter().all(|passage| passage.reason == PassageReason::Figures), "{given:?}");
        given.text
    };
    let visa = "- Fee: Visa fee | 2018: 60 | 2019: 65 [^1]";
    assert_eq!(given_for("What was the percentage change in the visa fee from 2018 to 2019?"), visa);
    let both = format!("{visa}\n\n- Fee: Stamp fee | 2018: 5 | 2019: 6 [^1]");
    assert_eq!(given_for("What is the ratio of the visa fee to the stamp fee in 2019?"), both);
    let told = "| Fee | 2018 | 2019 | Change |\n|---|---|---|---|\n| Visa fee | 60 | 65 | 8 % |";
    assert_eq!(given("What was the percentage change in the visa fee from 2018 to 2019?", &[told]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// The validator accepts all passages at its strictest level, by construction, for any sources.
    #[test]
    fn all_passages_are_accepted(
        sources in prop::collection::vec(hostile_source(), 1..4),
        title in "[A-Za-z0-9 .:!?#*`_<>\\[\\]^()/-]{0,30}",
        question in prop::sample::select(vec![
            "How do I take weeks of parental leave?",
            "Compare leave with weeks",
            "Summarise parental leave",
            "List all weeks of leave",
            "Why is parental leave 26 weeks?",
            "Explain leave",
        ]),
    ) {
        let sources: Vec<AnswerSource<'_>> =
            sources.iter().map(|text| AnswerSource { title: &title, ..AnswerSource::alone(text) }).collect();
        if let Some(given) = given_of(question, &sources) {
            let prepared: Vec<PreparedSource> =
                sources.iter().map(|source| PreparedSource::with_context(source.text, source.title)).collect();
            let draft = Draft::new(given.text.clone(), &prepared);
            let verdict = validate(&draft, Level::Cited, Attempt::First);
            prop_assert!(matches!(verdict, Verdict::Accept(_)), "{:?}: {verdict:?}", given.text);
            let cited: Vec<usize> = draft.citations().iter().map(|citation| citation.source_index).collect();
            for passage in &given.passages {
                prop_assert!(cited.contains(&passage.source_index), "{:?}", given);
            }
        }
    }
}

#[test]
fn a_doubtful_answer_is_given_its_paragraph() {
    let parsed = parsed("Where is the toner of the printer?");
    let source = AnswerSource { title: "Printers", ..AnswerSource::alone(PRINTER) };
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, source.title, source.text)];
    let material = Material { question: &parsed, sources: &[source], evidence: &evidence };
    let found = candidates(&parsed, material.sources, &evidence);
    let answer = compose(&parsed, &found, None).expect("an answer");
    let given = closest(&material, &found, None, Some(&answer)).expect("passages");
    assert_eq!(given.passages, [GivenPassage { source_index: 0, reason: PassageReason::Closest, about: None }]);
    assert!(given.text.contains("2. Pull the old toner out. [^1]"), "lists stay whole: {}", given.text);
}

#[test]
fn of_a_list_of_entries_those_that_are_about_the_question_are_given() {
    let codes = "31: The command to go on failed.\n\n33: The range was wrong.\n\n36: Bad resume of a download. It could not be gone on with.\n\n37: The file could not be read. Permissions?\n\n38: The directory has no lid.";
    let parsed = parsed("Is it possible to resume a download?");
    let source = AnswerSource { title: "fetch(1)", ..AnswerSource::alone(codes) };
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, source.title, source.text)];
    let material = Material { question: &parsed, sources: &[source], evidence: &evidence };
    let found = candidates(&parsed, material.sources, &evidence);
    let answer = compose(&parsed, &found, None).expect("an answer");
    let given = closest(&material, &found, None, Some(&answer)).expect("passages");
    let expected = "### fetch(1)\n\n36: Bad resume of a download. [^1] It could not be gone on with. [^1]";
    assert_eq!(given.text, expected);
}

#[test]
fn what_is_said_about_an_entry_begins_none() {
    let settings = "lid_limit: Sets how many lids a jar may have.\n\nIntroduced: 3.0\n\nDefault: 4\n\njar_limit: Sets how many jars there are.\n\nIntroduced: 3.1\n\nDefault: 9";
    let parsed = parsed("Where are the lids of a jar?");
    let source = AnswerSource::alone(settings);
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "", settings)];
    let material = Material { question: &parsed, sources: &[source], evidence: &evidence };
    let found = candidates(&parsed, material.sources, &evidence);
    let answer = compose(&parsed, &found, None).expect("an answer");
    let given = closest(&material, &found, None, Some(&answer)).expect("passages").text;
    let entry = "lid_limit: Sets how many lids a jar may have. [^1]\n\nIntroduced: 3.0 [^1]\n\nDefault: 4 [^1]";
    assert!(given.starts_with(entry), "{given}");
}

#[test]
fn a_paragraph_below_a_list_of_options_is_no_part_of_its_last_entry() {
    let page = "-z, --zero: lines end with a zero\n\n--version: print the version and exit\n\nWith --follow, the tail of a log is followed as it grows. A renamed log file is followed on.";
    let given = text("How do I follow a log file as it grows?", &[page]);
    assert!(given.starts_with("With --follow") && !given.contains("--version"), "{given}");
}

#[test]
fn documents_that_are_compared_begin_with_what_they_are() {
    let page = |title, document, text| {
        let of = AnswerSource::alone(text);
        AnswerSource { key: ChunkKey { document_id: uuid::Uuid::from_u128(document), ordinal: 0 }, title, ..of }
    };
    let sources = [
        page("jar-open(1)", 1, "jar-open - takes the lid off"),
        page("jar-close(1)", 2, "jar-close - puts the lid on"),
        page("Notes", 3, "Before jar open and jar close the lid is warm."),
    ];
    let given = given_of("What is the difference between jar open and jar close?", &sources).expect("passages");
    let about: Vec<_> = given.passages.iter().map(|passage| (passage.source_index, passage.about.as_deref())).collect();
    assert_eq!(about, [(0, Some("jar open")), (1, Some("jar close"))], "{}", given.text);
}

#[test]
fn a_few_words_are_given_the_section_that_they_head() {
    let parsed = parsed("toner msds");
    let (about, safety) = (["Toner".to_owned(), "About".to_owned()], ["Toner".to_owned(), "MSDS".to_owned()]);
    let about = AnswerSource { title: "Toner", heading: &about, ..AnswerSource::alone("Toner is sold as toner.") };
    let text = "The safety sheet is in the drawer. It has four pages.";
    let safety = AnswerSource { title: "Toner", heading: &safety, ..AnswerSource::alone(text) };
    let of =
        |source: &AnswerSource<'_>, title| PassageEvidence::new(Analyzer::english(), &parsed.terms, title, source.text);
    let evidence = [of(&about, "Toner About"), of(&safety, "Toner MSDS")];
    let material = Material { question: &parsed, sources: &[about, safety], evidence: &evidence };
    let found = candidates(&parsed, material.sources, &evidence);
    let answer = compose(&parsed, &found, None).expect("an answer");
    let given = closest(&material, &found, None, Some(&answer)).expect("passages");
    assert!(given.text.starts_with("### Toner › MSDS\n\nThe safety sheet is in the drawer. [^2]"), "{}", given.text);

    // Where it begins within a sentence, another section is given.
    let key = ChunkKey { ordinal: 1, ..safety.key };
    let cut = AnswerSource { key, text: "sheet is in the drawer, And has four pages.", ..safety };
    let evidence = [of(&about, "Toner About"), of(&cut, "Toner MSDS")];
    let material = Material { question: &parsed, sources: &[about, cut], evidence: &evidence };
    let found = candidates(&parsed, material.sources, &evidence);
    let answer = compose(&parsed, &found, None).expect("an answer");
    let given = closest(&material, &found, None, Some(&answer)).expect("passages");
    assert!(given.text.starts_with("### Toner › About\n\nToner is sold as toner. [^1]"), "{}", given.text);
}

#[test]
fn steps_in_a_list_of_options_are_its_entries() {
    let page = "OPTIONS\n       -P, --physical\n              Link files as they are.\n\n       -s, --symbolic\n              Make symbolic links instead of hard links.\n\n       -v, --verbose\n              Print the name of each file.\n\n       -S, --suffix=SUFFIX\n              Add this to names.\n";
    let parsed = parsed("How do I make a symbolic link?");
    let heading = ["LN(1)".to_owned(), "OPTIONS".to_owned()];
    let source = AnswerSource { title: "LN(1)", heading: &heading, ..AnswerSource::alone(page) };
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "LN(1) OPTIONS", page)];
    let material = Material { question: &parsed, sources: &[source], evidence: &evidence };
    let found = candidates(&parsed, material.sources, &evidence);
    let given = passages(&material, QuestionType::Lookup, &found, None).expect("passages");
    assert_eq!(given.passages, [GivenPassage { source_index: 0, reason: PassageReason::Steps, about: None }]);
    assert!(given.text.contains("-s, --symbolic Make symbolic links"), "{}", given.text);
    assert!(!given.text.contains("--verbose") && !given.text.contains("--suffix"), "{}", given.text);
}

#[test]
fn a_section_headed_by_both_things_compares_them() {
    let heading = ["6. What is the difference between KILN1+0 and KILN10?".to_owned()];
    let text = "## 6. What is the difference between KILN1+0 and KILN10?\n\nThe first has two parts, one over the other. The second is one piece.";
    let section = AnswerSource { title: "FAQ", heading: &heading, ..AnswerSource::alone(text) };
    let other = AnswerSource::alone("It is a classic KILN1+0. KILN10 layouts are near and far.");
    let given = given_of("What is the difference between KILN10 and KILN1+0?", &[other, section]).expect("passages");
    assert_eq!(given.passages, [GivenPassage { source_index: 1, reason: PassageReason::Compared, about: None }]);
    assert!(given.text.contains("The second is one piece."), "{}", given.text);
}

#[test]
fn a_reason_is_given_from_the_section_that_is_headed_so() {
    let (what, why) =
        (vec!["Report".to_owned(), "What happened".to_owned()], vec!["Report".to_owned(), "Why".to_owned()]);
    let told =
        AnswerSource { heading: &what, ..AnswerSource::alone("At six the hose of the press burst. Oil ran out.") };
    let cause =
        AnswerSource { heading: &why, ..AnswerSource::alone("It was made in 2011. A tray had rubbed its skin.") };
    let given = given_of("Why did the hose of the press burst?", &[told, cause]).expect("passages");
    assert_eq!(given.passages, [GivenPassage { source_index: 1, reason: PassageReason::Explanation, about: None }]);
}

#[test]
fn an_explanation_begins_with_the_best_source() {
    let best = "The pump fills each jar by the weight of the water above it.";
    let other = "How the jar pump works is told to every visitor. The jar pump works at night.";
    let given = given("How does the jar pump work?", &[best, other]).expect("passages");
    let sources: Vec<usize> = given.passages.iter().map(|passage| passage.source_index).collect();
    assert_eq!(sources, [0, 1], "{}", given.text);
}

#[test]
fn what_leads_in_code_explains() {
    let page = "### Shelves\n\nThe pump works by a shelf of lids at the front of the jar:\n\nlids:jar\n\nThe pump has a shelf of jars, too.";
    let given = text("How does the pump work?", &[page]);
    assert!(given.contains("works by a shelf of lids") && given.contains("lids:jar"), "{given}");
}
