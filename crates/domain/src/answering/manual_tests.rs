use super::passages_tests::given_of;
use super::tests::{answer, parsed, text};
use super::*;
use crate::evidence::passage::PassageEvidence;
use crate::late_interaction::Likeness;
use crate::lexical::analyzer::Analyzer;

#[test]
fn what_a_named_entry_is_stands_where_it_begins() {
    let text = "OPTIONS\n\n     BatchMode\n             If set, passwords are not asked for and the ServerAliveInterval option is\n             300 seconds.\n\n     ServerAliveInterval\n             Sets a timeout in seconds after which a message is sent through the\n             channel.  The default is 0.\n\n     TCPKeepAlive\n             See ServerAliveInterval.\n";
    for (question, expected) in [
        ("What does ServerAliveInterval do?", "ServerAliveInterval Sets a timeout in seconds after which"),
        ("What is TCPKeepAlive?", "TCPKeepAlive See ServerAliveInterval."),
        ("Which option is 300 seconds if BatchMode is set?", "BatchMode If set, passwords are not asked for"),
        ("What is the default of ServerAliveInterval?", "ServerAliveInterval Sets a timeout"),
    ] {
        let said = answer(question, &[text], None).map_or_else(String::new, |answer| answer.text);
        assert!(said.starts_with(expected), "{question}: {said}");
    }
}

#[test]
fn what_a_named_section_is_stands_where_it_begins() {
    let section = "## server.close()\n\nAdded in: v0.7.9\n\nStops it from accepting new connections. Open ones outlive server.close().\n\nThe callback of server.close() is called at the end of all of them.\n";
    let parsed = parsed("What does server.close() do?");
    let source = AnswerSource { heading: &["server.close()".to_owned()], ..AnswerSource::alone(section) };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "server.close()", section);
    let found = candidates(&parsed, &[source], &[evidence]);
    let answer = compose(&parsed, &found, None).unwrap();
    assert_eq!(answer.text, "Stops it from accepting new connections. [^1] Open ones outlive server.close(). [^1]");
}

#[test]
fn a_heading_tells_when_a_version_was() {
    let notes = "# 1.50.0 (March 3, 2026)\n\n- Jars are sold with the paint.\n\n# 1.5.0 (May 2, 2021)\n\n- Released jars are red.\n";
    assert_eq!(text("When was 1.50.0 released?", &[notes]), "1.50.0 (March 3, 2026) [^1]");
    assert_eq!(text("With what are the jars of 1.50.0 sold?", &[notes]), "Jars are sold with the paint. [^1]");
}

#[test]
fn a_table_of_contents_does_not_answer_its_questions() {
    let contents = "| 1.1. | How do I start the pump? |\n| 1.2. | Where does the name of the pump come from? |\n\nThe name of the pump is an old one.";
    assert_eq!(
        text("Where does the name of the pump come from?", &[contents]),
        "The name of the pump is an old one. [^1]"
    );
}

#[test]
fn a_lead_in_is_quoted_with_its_list() {
    let exit = "The event is emitted when the process exits as a result of either:\n\n- The exit method was called;\n- Nothing is left to be done.\n\nListeners must be synchronous.\n";
    assert_eq!(
        text("When is the event of a process emitted?", &[exit]),
        "The event is emitted when the process exits as a result of either: [^1]\n\n- The exit method was called; [^1]\n- Nothing is left to be done. [^1]"
    );
    let kinds =
        "The following is a summary of the kinds of gears.\n\n- Spur gears.\n- Worm gears.\n\nGears are of steel.\n";
    assert_eq!(
        text("What are the kinds of gears?", &[kinds]),
        "The following is a summary of the kinds of gears. [^1]\n\n- Spur gears. [^1]\n- Worm gears. [^1]"
    );
    let long = format!("The colours of the rainbow are:\n\n{}", "- A colour that is not red.\n".repeat(40));
    assert!(!text("When is the rainbow seen?", &[&long]).contains("- A"));
}

#[test]
fn sentences_without_a_list_are_doubtful_where_one_is_asked_for() {
    let lacks = |page: &str| {
        let parsed = parsed("Which gears does the gear box have?");
        let source = AnswerSource::alone(page);
        let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "", page);
        compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).unwrap().lacks_kind
    };
    assert!(lacks("The gear box holds gears. The gears of the gear box turn in oil."));
    assert!(!lacks("The gear box holds gears. The gears of the gear box are spur, worm and bevel gears."));
}

#[test]
fn a_question_for_a_command_is_answered_by_its_entry() {
    let page = "COMMANDS\n\n     list-keys [-1aN] [-T key-table]\n                   (alias: lsk)\n             List key bindings.\n\n     list-sessions [-F format] [-f filter]\n                   (alias: ls)\n             List all sessions managed by the server.\n\nThe sessions are listed in the order in which the sessions were made.\n";
    let answer = text("Which command lists the sessions?", &[page]);
    assert!(answer.starts_with("list-sessions [-F format] [-f filter] (alias: ls) List all sessions"), "{answer}");
}

#[test]
fn a_name_below_its_heading_is_an_answer() {
    let parsed = parsed("Who is the author of jq?");
    let page = "AUTHOR\n       Stephen Dolan <mu@example.org>\n";
    let source = AnswerSource { title: "JQ(1)", heading: &["AUTHOR".to_owned()], ..AnswerSource::alone(page) };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "JQ(1) AUTHOR", page);
    let answer = compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).unwrap();
    assert_eq!(answer.text, "Stephen Dolan <mu@example.org> [^1]");
}

#[test]
fn when_may_ask_for_a_condition_or_begin_a_clause() {
    let worker = "When any of the workers die the module emits the 'exit' event. A timeout of 20 days kills workers that were not seen.";
    assert!(text("Which event is emitted when a worker dies?", &[worker]).starts_with("When any of the workers die"));
    assert!(text("When is the exit event of workers emitted?", &[worker]).starts_with("When any of the workers die"));
}

#[test]
fn a_section_named_in_the_plural_tells_what_one_is() {
    let page = "Here Documents\n       This  type  of  redirection  instructs  the shell to read input from the current\n       source until a line containing only delimiter (with no trailing blanks) is seen.\n\n       If any part of word is quoted, the lines in the here-document are not expanded.\n";
    let parsed = parsed("What is a here document?");
    let source = AnswerSource {
        title: "BASH(1)",
        heading: &["BASH(1)".to_owned(), "REDIRECTION".to_owned(), "Here Documents".to_owned()],
        ..AnswerSource::alone(page)
    };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "BASH(1) REDIRECTION Here Documents", page);
    let found = candidates(&parsed, &[source], &[evidence]);
    let answer = compose(&parsed, &found, None).unwrap();
    assert!(answer.text.starts_with("This type of redirection instructs the shell"), "{} {found:#?}", answer.text);
}

#[test]
fn a_definition_is_preferred_to_how_its_section_begins() {
    let page =
        "## Macros\n\nWe have used macros all over this book.\n\nThe term macro refers to a family of features.\n";
    let parsed = parsed("What is a macro?");
    let source = AnswerSource { heading: &["Macros".to_owned()], ..AnswerSource::alone(page) };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "Macros", page);
    let answer = compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).unwrap();
    assert!(answer.text.contains("The term macro refers to"), "{}", answer.text);
}

#[test]
fn an_answer_without_the_number_or_the_date_asked_for_is_doubtful() {
    let page =
        "The local port is bound by the setting of X11, as version 1.10.2 did. The old port was opened in spring.";
    for (question, expected) in [
        ("What is the default port?", true),
        ("When was the local port bound?", true),
        ("Who opened the old port?", false),
        ("When is the local port bound?", true),
    ] {
        let answer = answer(question, &[page], Some(|_| 0.9)).expect(question);
        assert_eq!(answer.lacks_kind, expected, "{question}: {}", answer.text);
    }
    for (question, page) in [
        ("When is a port bound?", "A port is bound when the setting says so."),
        ("When is a sick note due?", "A sick note is due on the third day of an illness."),
        ("How often are backups made?", "Backups are made nightly."),
        ("How much does parking cost?", "Parking is free for visitors."),
    ] {
        let answer = answer(question, &[page], None).expect(question);
        assert!(!answer.lacks_kind, "{question}");
    }
}

#[test]
fn a_lead_in_is_quoted_with_its_code() {
    let page = "The pump is for water.\n\nOn a boat the pump is called from the bridge with:\n\n```sh\npump --quiet north\n```\n\nIt stops by itself.";
    let expected = "On a boat the pump is called from the bridge with: [^1]\n\n```\npump --quiet north\n```";
    assert_eq!(text("With which words is the pump called from the bridge on a boat?", &[page]), expected);
    let long = format!("The pump is called from the bridge with:\n\n```\n{}```", "pump --quiet north\n".repeat(60));
    assert!(!text("With which words is the pump called from the bridge?", &[&long]).contains("--quiet"));
}

/// The passages for a question over sections of one document, each with its heading.
fn given_of_sections(question: &str, title: &str, sections: &[(&str, &str)]) -> String {
    let headings: Vec<[String; 1]> = sections.iter().map(|(heading, _)| [(*heading).to_owned()]).collect();
    let sources: Vec<AnswerSource<'_>> = sections
        .iter()
        .zip(&headings)
        .map(|((_, text), heading)| AnswerSource { title, heading, ..AnswerSource::alone(text) })
        .collect();
    given_of(question, &sources).map_or_else(String::new, |given| given.text)
}

#[test]
fn what_stands_above_all_manuals_is_no_instruction() {
    let bugs = "Send pumps that do not start to the pump yard. Start the pump and say what it does.";
    let told = "Open the valve. Then turn the key of the pump until it runs.";
    let of = |question: &str| given_of_sections(question, "pump(8)", &[("REPORTING BUGS", bugs), ("USE", told)]);
    assert!(of("How do I start the pump?").starts_with("### pump(8) › USE"), "{}", of("How do I start the pump?"));
    assert!(of("How do I report bugs of the pump?").starts_with("### pump(8) › REPORTING BUGS"));
}

#[test]
fn an_entry_tells_what_to_do_before_a_section_with_code_does() {
    let entries =
        "-q: Print nothing but errors of the pump.\n\n--skip <basin>: Skip a basin when the pump empties the dock.";
    let shown = "The pump empties the dock:\n\n```\npump dock\n```\n\nThe pump then stops by itself.";
    let sections = [("EXAMPLES", shown), ("OPTIONS", entries)];
    assert_eq!(
        given_of_sections("How do I make the pump skip a basin?", "pump(8)", &sections),
        "### pump(8) › OPTIONS\n\n--skip <basin>: Skip a basin when the pump empties the dock. [^2]"
    );
}

#[test]
fn words_in_code_tell_which_section_is_asked_for() {
    let dock = "The pump of the harbour is called like this. It then runs for a day:\n\n```\npump --flood\n```";
    let basin = "The pump of the harbour is called like this. It then runs for a day:\n\n```\npump --drain\n```";
    let sections = [("Dock", dock), ("Basin", basin)];
    let given = given_of_sections("How do I drain with the pump of the harbour?", "", &sections);
    assert!(given.starts_with("### Basin"));
}

#[test]
fn an_entry_is_quoted_with_the_value_that_it_tells_further_down() {
    let options = "-b block_size: Specify the size of blocks in bytes. The default is 1024.\n\n-c number of blocks: is the number of blocks which are tested at a time. The default is 64.\n\n-e max bad block count: Specify a maximum number of bad blocks before aborting the test. The default is 0.";
    assert_eq!(
        text("How many blocks are tested at a time?", &[options]),
        "-c number of blocks: is the number of blocks which are tested at a time. [^1] The default is 64. [^1]"
    );
    let setting = "## server_idle_timeout\n\nConnections to a server that are idle are closed after these seconds. If 0 then it is off.\n\nDefault: 600.0";
    assert_eq!(
        text("After how many seconds are idle connections to a server closed?", &[setting]),
        "Connections to a server that are idle are closed after these seconds. [^1]\n\nDefault: 600.0 [^1]"
    );
    let prose = "The pump was painted by the people of the mill. It stands near the lake. In 1912 the mill burnt down.";
    assert!(!text("How many people painted the pump?", &[prose]).contains("1912"));
}

#[test]
fn a_supposed_case_does_not_answer() {
    let policy = "This crate's least version of the compiler is `1.65.0`. For example, if crate 1.0 requires version 1.20.0 of the compiler, then crate 1.0.1 requires version 1.20.0 of the compiler too.";
    assert_eq!(
        text("Which version of the compiler does the crate require?", &[policy]),
        "This crate's least version of the compiler is `1.65.0`. [^1]"
    );
    let setting = "CountMax: Sets the number of messages. The default value is 3. If, for example, Interval is set to 15 and CountMax is left at the default, the connection ends after 45 seconds.";
    assert!(text("CountMax default", &[setting]).contains("The default value is 3."));
    assert!(!text("CountMax default", &[setting]).contains("45"));
}

#[test]
fn a_denial_is_quoted_with_what_takes_it_back() {
    let stash = "If you drop a stash by mistake, it cannot be recovered by the normal means. However, you can list the ones that are not reachable any more.";
    assert!(text("I dropped a stash by mistake, can it be recovered?", &[stash]).contains("However, you can list"));
}

#[test]
fn the_error_that_is_asked_about_is_no_answer() {
    let errors = "Could not serialize access due to concurrent update. Retry the whole transaction when access could not be serialized.";
    let question = "What should my program do when it gets could not serialize access due to concurrent update?";
    assert_eq!(text(question, &[errors]), "Retry the whole transaction when access could not be serialized. [^1]");
}

#[test]
fn what_holds_if_nothing_is_said_is_a_default() {
    let create =
        "The compression selects the algorithm, see the compression command. The default of the compression is lz4.";
    assert_eq!(
        text("Which compression is used if I don't specify one?", &[create]),
        "The default of the compression is lz4. [^1]"
    );
}

#[test]
fn a_sentence_that_begins_with_the_heading_alone_on_its_line_keeps_it() {
    let page = "Jiffs\nare kept beside the pump, where the frost does not reach.";
    let source = AnswerSource { heading: &["Jiffs".to_owned()], ..AnswerSource::alone(page) };
    let parsed = parsed("Where are jiffs kept?");
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "Jiffs", page)];
    let found = compose(&parsed, &candidates(&parsed, &[source], &evidence), None).expect("an answer");
    assert!(found.text.starts_with("Jiffs are kept beside the pump"), "{}", found.text);
}

#[test]
fn rows_of_both_names_are_quoted() {
    let table = "| Level | Hotline |\n|---|---|\n| Basic | 9 to 17 |\n| Plus | 7 to 20 |\n| Critical | always |";
    let said = text("When is the hotline of Basic and Plus?", &[table]);
    assert!(said.contains("9 to 17") && said.contains("7 to 20") && !said.contains("always"), "{said}");
}

#[test]
fn a_default_is_that_of_the_entry_about_what_is_asked() {
    let page = "OPTIONS\n\n     oil-buffer-size: <number>\n             Number of bytes of the oil buffers.  The default is 65552 bytes, enough for the largest oil message.\n\n     oil-cache-size: <number>\n             Number of bytes of the cache of oil messages.  The default is 4 megabytes.\n";
    let said = text("How large is the oil message cache by default?", &[page]);
    assert!(said.contains("4 megabytes") && !said.contains("65552"), "{said}");
    let pumps = "You can set how many pumps run at once (10 by default):\n\n---%<---\nmax_pumps = 10\n---%<---\n";
    let said = text("How many pumps run at once by default?", &[pumps]);
    assert_eq!(said, "You can set how many pumps run at once (10 by default): [^1]");
}

#[test]
fn what_a_command_does_without_options_is_told() {
    let page = "DESCRIPTION\n     keygen generates keys for doors.  The type of key to be generated is specified with the -t option.\n     If invoked without any arguments, keygen will generate a brass key.\n\n     -A      Generate keys of all types (brass, steel) if they do not already exist.\n";
    let said = text("What type of key does keygen generate if I give no option?", &[page]);
    assert!(said.contains("brass key") && !said.starts_with("-A"), "{said}");
}

#[test]
fn a_page_of_another_year_does_not_answer() {
    let answer_of = |question: &str, heading: &str, page: &str| {
        let parsed = parsed(question);
        let heading = [heading.to_owned()];
        let source = AnswerSource { title: "Tariff", heading: &heading, ..AnswerSource::alone(page) };
        let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "Tariff", page);
        compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).map(|answer| answer.text)
    };
    let page = "A car to the island costs 89 pounds.";
    assert_eq!(answer_of("What does a car to the island cost in 2027?", "Cars 2026", page), None);
    assert!(answer_of("What does a car to the island cost in 2026?", "Cars 2026", page).is_some());
    assert!(answer_of("What does a car to the island cost in 2027?", "Cars", page).is_some());
    let fiscal = "| Income | FY2026 | FY25 |\n|---|---|---|\n| Cars | 89 | 95 |";
    assert!(answer_of("What is the income of cars in 2025?", "Cars 2026", fiscal).is_some());
    assert!(answer_of("What is the income of cars in FY25?", "Cars 2026", fiscal).is_some());
    assert_eq!(answer_of("What is the income of cars in 2024?", "Cars 2026", fiscal), None);
    let both = "A car to the island costs 89 pounds, and 95 pounds from 2027 on.";
    assert!(answer_of("What does a car to the island cost in 2027?", "Cars 2026", both).is_some());
}

#[test]
fn a_row_without_a_statement_is_no_yes_or_no() {
    let table = "| Variable | Meaning |\n|---|---|\n| lid_limit | Maximum height of lid |\n";
    let entry = "lid-limit lines\n    Set the height of the lid.  This setting applies only to new lids; existing lids keep theirs.";
    let said = text("Does lid_limit change the height of lids that are open?", &[table, entry]);
    assert!(!said.contains("Maximum"), "{said}");
}

#[test]
fn what_is_so_by_default_is_told_of_what_is_asked() {
    let path = "## path\n\nThe path of the jar.\n\nBy default, this is set to '/', which is the root of all jars.\n";
    let name = "## name\n\nThe name of the jar on its label.\n\nThe default value is 'jar.one'.\n";
    let said = text("What is the default name of the jar?", &[path, name]);
    assert!(said.contains("jar.one") && !said.contains("root"), "{said}");
}

#[test]
fn who_may_do_something_is_told_by_an_office() {
    let page = "| Traffic | Opens |\n|---|---|\n| Cars, Campers | Gate opens 3 hours before |\n| Late Cyclists | Gate opens 2 hours before |\n\nLate arrivals: the duty manager, and nobody else, can let a car through the gate.\n";
    let said = text("Who can let a late car through the gate?", &[page]);
    assert!(said.starts_with("Late arrivals"), "{said}");
    let lacks = |page: &str| answer("Who may delete a jar?", &[page], None).unwrap().lacks_kind;
    assert!(lacks("A jar that may be deleted is asked for by itself, and names its lid."));
    assert!(!lacks("Jars may be deleted by anyone with a key."));
    assert!(!lacks("Ada may delete a jar."));
}

#[test]
fn a_question_in_tags_is_no_answer() {
    let page = "<details><summary>Should I paint my `lid`?</summary><br/>\n\nNo. Lids of jars are never painted.\n\n</details>\n\n<details><summary>What if I paint my `lid` by accident?</summary><br/>\n\nWash it.\n\n</details>\n";
    let said = text("Should I paint my lid?", &[page]);
    assert!(!said.contains('?'), "{said}");
}

#[test]
fn steps_are_those_of_the_section_that_is_headed_so() {
    let row = "| Name | Meaning |\n|---|---|\n| `[lids.NAME]` | further lids, for jars that [change the lid](jars.md#changing-the-lid-of-a-jar) of a jar |\n";
    let section = "New jars have the lid of the shop. A jar keeps its lid until it is moved:\n\n1. Open both lids.\n";
    let given = given_of_sections(
        "How do I change the lid of a jar?",
        "Jars",
        &[("Names", row), ("Changing the lid of a jar", section)],
    );
    assert!(given.contains("Open both lids"), "{given}");
}

#[test]
fn a_variable_and_a_maker_are_told_or_not() {
    let lacks = |question: &str, page: &str| answer(question, &[page], None).unwrap().lacks_kind;
    let question = "Which environment variable sets the lid of the jar?";
    assert!(lacks(question, "An environment variable sets the lid, because the jar has none."));
    assert!(!lacks(question, "The lid of the jar is set by JAR_LID."));
    let question = "Who maintains the jar?";
    assert!(lacks(question, "The jar: Models of lids in the order in which they are tried, separated by commas."));
    assert!(!lacks(question, "The jar is maintained by Ada."));
    assert!(!lacks(question, "The Jar was made by the lid makers of Paris."));
}

#[test]
fn a_version_and_a_path_are_told_or_not() {
    let lacks = |question: &str, page: &str| answer(question, &[page], None).unwrap().lacks_kind;
    let question = "Since which version are lids sealed by default?";
    assert!(lacks(question, "Lids are sealed by default on jars where it is supported."));
    assert!(!lacks(question, "Lids are sealed by default from jar 11 on."));
    assert!(!lacks(question, "Since 1.21 lids are sealed by default."));
    let question = "Where does the jar keep its cache?";
    assert!(lacks(question, "You can ask the jar to show where it keeps its cache."));
    assert!(!lacks(question, "The jar keeps its cache in ~/.cache/jar."));
    assert!(!lacks("Where are the lids kept?", "The lids are kept below the sink."));
}

#[test]
fn what_stands_between_two_sentences_is_quoted_too() {
    let flag = "The lid flag is a single bit, whose meaning depends on the kind of jar. For tin jars, it keeps others from moving them; this is called the deletion flag. For glass jars the bit keeps the lid on; this is called the lid flag.";
    let said = text("What does the lid flag do?", &[flag]);
    let (first, last) = (said.find("a single bit"), said.find("keeps the lid on"));
    assert!(first.is_some() == last.is_some() || said.matches("[^1]").count() == 1, "{said}");
    if first.is_some() && last.is_some() {
        assert!(said.contains("tin jars"), "{said}");
    }
}

#[test]
fn of_the_page_that_is_named_and_of_no_other() {
    let parsed = parsed("What is the default block size of dd?");
    let (dd, disk) = (
        "bs=BYTES: read and write up to BYTES bytes at a time (default: 512)",
        "In most common cases, the default block size is 4k.",
    );
    let source = |title, text| AnswerSource { title, ..AnswerSource::alone(text) };
    let sources = [source("mke2fs(8)", disk), source("dd(1)", dd)];
    let evidence =
        sources.map(|source| PassageEvidence::new(Analyzer::english(), &parsed.terms, source.title, source.text));
    let answer = compose(&parsed, &candidates(&parsed, &sources, &evidence), None).unwrap();
    assert_eq!(answer.text, format!("{dd} [^2]"));
    // Where the page says nothing, others may.
    let sources = [source("mke2fs(8)", disk), source("dd(1)", "dd [OPERAND]...")];
    let evidence =
        sources.map(|source| PassageEvidence::new(Analyzer::english(), &parsed.terms, source.title, source.text));
    let answer = compose(&parsed, &candidates(&parsed, &sources, &evidence), None).unwrap();
    assert!(answer.text.starts_with(disk), "{}", answer.text);
}

#[test]
fn a_section_is_of_what_it_is_headed_by() {
    let page = "## Environment\n\n### `JAR_COLOR`\n\nColors the labels of jars.\n\n### `NO_JAR_COLORS=1`\n\nWhen set, colors will not be used in the list of jars.\n\n## Options\n\n### `--dry`\n\nDries the jars before they are filled.\n\n### `--wet`\n\nWets the jars before they are emptied.\n";
    for (question, expected) in [
        (
            "Which environment variable disables colors in the list of jars?",
            "`NO_JAR_COLORS=1` [^1]\n\nWhen set, colors will not be used in the list of jars. [^1]",
        ),
        (
            "Which option dries jars before they are filled?",
            "`--dry` [^1]\n\nDries the jars before they are filled. [^1]",
        ),
    ] {
        assert_eq!(text(question, &[page]), expected, "{question}");
    }
}

#[test]
fn the_section_name_says_what_something_is_for() {
    let answer = |question: &str, headings: [&str; 2]| {
        let page = ["NAME\n\njar - keep things dry in a cellar", "SECURITY\n\njar is a regular, closed program."];
        let parsed = parsed(question);
        let headings = headings.map(|heading| [heading.to_owned()]);
        let sources: Vec<AnswerSource<'_>> = page
            .iter()
            .zip(&headings)
            .map(|(text, heading)| AnswerSource { title: "jar(1)", heading, ..AnswerSource::alone(text) })
            .collect();
        let evidence: Vec<PassageEvidence> = sources
            .iter()
            .map(|source| PassageEvidence::new(Analyzer::english(), &parsed.terms, "jar(1)", source.text))
            .collect();
        compose(&parsed, &candidates(&parsed, &sources, &evidence), None).map_or_else(String::new, |answer| answer.text)
    };
    let told = answer("What is jar for?", ["NAME", "SECURITY"]);
    assert!(told.starts_with("jar - keep things dry"), "{told}");
}

#[test]
fn a_lowest_version_is_told_by_what_says_so() {
    let notes = "With versions of Rust older than 1.81, jars may require an additional lid.";
    for question in ["minimum Rust version for jars", "What is the minimum Rust version of jars?"] {
        assert!(answer(question, &[notes], None).is_none_or(|answer| answer.is_doubtful()), "{question}");
    }
    let policy = "Jars require Rust 1.70 or later.";
    assert!(!answer("minimum Rust version for jars", &[policy], None).expect("it").is_doubtful());
}

#[test]
fn who_does_it_is_no_month() {
    let minutes = "The summer party is on 19 June. Hugo Petit organises it.";
    let told = text("Who organises the summer party?", &[minutes]);
    assert!(told.contains("Hugo Petit organises it"), "{told}");
}

#[test]
fn a_sentence_that_has_little_but_the_name_of_the_subject_is_doubtful() {
    let page = "-s save-file: Save the environment of jar to save-file on exit.";
    let is_doubtful = |question: &str| {
        let parsed = parsed(question);
        let source = AnswerSource { title: "jar(1)", ..AnswerSource::alone(page) };
        let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, "jar(1)", page)];
        let found = candidates(&parsed, &[source], &evidence);
        compose(&parsed, &found, Some(&vec![Likeness::of_cosine(0.9); found.len()]))
            .is_none_or(|answer| answer.is_doubtful())
    };
    assert!(is_doubtful("Which exit status table does jar print?"));
    assert!(!is_doubtful("Which environment does jar save on exit?"));
}
