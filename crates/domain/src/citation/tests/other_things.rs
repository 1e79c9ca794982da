//! Claims whose words a source holds and which it does not state.

use crate::citation::{
    Attribution, Basis, ClaimVerdict, ContradictionKind, Draft, LexicalScorer, PreparedSource, Support, SupportScorer,
};

fn support(claim: &str, source: &str) -> Support {
    LexicalScorer::new(&[PreparedSource::new(source)]).support(claim, &[0])
}

#[track_caller]
fn assert_judged(rows: &[(&str, &str, bool)]) {
    super::assert_judged("", "", rows);
}

const ITEMS: &str = "# Lost property\n\n| Item | Kept | Then |\n|---|---|---|\n| Phones, laptops | 90 days | recycled |\n\
    | Umbrellas | 30 days | charity shop |\n| Passports | 7 days | sent to the issuer |";
const WIND: &str =
    "| Gusts | Rule |\n|---|---|\n| from 60 mph | speed 20 mph on the bridge |\n| from 75 mph | bridge closed |";
const BIDS: &str = "- Alder: 6 units, £31.2 m, range 118 km\n- Birch Works: 6 units, £27.9 m, range 104 km";
const FARES: &str = "| From | To | Single |\n|---|---|---|\n| Aldby | Marsh | 4.20 |\n| Aldby | Colne | 6.80 |";
const LABELLED: &str =
    "Delay: 30 min | Who: desk | What: tells the driver\n\nDelay: 60 min | Who: control | What: stops";

#[test]
fn a_value_of_another_row_is_not_that_of_this_one() {
    assert_judged(&[
        (ITEMS, "Phones are kept for 90 days.", true),
        (ITEMS, "Phones are kept for 30 days.", false),
        (ITEMS, "Passports are kept for 90 days.", false),
        (ITEMS, "Umbrellas are kept for 30 days.", true),
        (ITEMS, "Umbrellas are kept for 7 days.", false),
        (ITEMS, "Phones are kept for 90 days and umbrellas for 30 days.", true),
        (WIND, "The bridge is closed at gusts from 75 mph.", true),
        (WIND, "The bridge is closed at gusts from 60 mph.", false),
        (BIDS, "Alder offers the units for £31.2 m.", true),
        (BIDS, "Alder offers the units for £27.9 m.", false),
        (BIDS, "Birch Works has a range of 118 km.", false),
        (BIDS, "Birch Works has a range of 104 km.", true),
        (FARES, "A single from Aldby to Marsh is 4.20.", true),
        (FARES, "A single from Aldby to Marsh is 6.80.", false),
        // Rows as they stand, and as labelled cells.
        (ITEMS, "Phones, laptops | 90 days | recycled", true),
        (ITEMS, "Item: Phones, laptops | Kept: 90 days | Then: recycled", true),
        (WIND, "Gusts: from 75 mph | Rule: bridge closed", true),
        (LABELLED, "Delay: 30 min | Who: desk", true),
    ]);
}

const SIGNAL: &str = "At 17:53 train 1712 passed signal PK7 at danger by 84 metres and stopped 126 metres before the \
    points. Nobody was hurt.";
const OFFERS: &str = "Alder asks 31 million euros, Birch 27 million euros and Cedar 35 million euros.";
const PRICES: &str = "Adults pay 12 euros and children 8 euros.";
const OFFICES: &str = "The Oslo office opened in 1998 and the Turku office in 2003.";
const BUILT: &str = "The price is 31 euros from Alder and 27 euros from Birch.";
const TOWER: &str = "The tower is 100 m wide and rises to a height of 300 m.";
const SALES: &str =
    "Sales grew from 84 to 126 units. The staff grew by 12 people in May and shrank by 9 people in June.";

#[test]
fn a_value_of_something_else_in_the_sentence_is_not_that_of_this() {
    assert_judged(&[
        (SIGNAL, "The signal PK7 was passed at danger by 84 metres.", true),
        (SIGNAL, "The signal PK7 was passed at danger by 126 metres.", false),
        (SIGNAL, "By 84 metres the signal PK7 was passed at danger.", true),
        (SIGNAL, "The train stopped 126 metres before the points.", true),
        (SIGNAL, "The train stopped 84 metres before the points.", false),
        (OFFERS, "Alder asks 31 million euros.", true),
        (OFFERS, "Birch asks 27 million euros.", true),
        (OFFERS, "Birch asks 31 million euros.", false),
        (OFFERS, "Cedar asks 27 million euros.", false),
        (OFFERS, "Alder asks 27 million euros and Birch asks 31 million euros.", false),
        (PRICES, "Children pay 8 euros.", true),
        (PRICES, "Children pay 12 euros.", false),
        (PRICES, "Adults pay 8 euros.", false),
        (OFFICES, "The Oslo office opened in 1998.", true),
        (OFFICES, "The Oslo office opened in 2003.", false),
        (OFFICES, "The Turku office opened in 2003.", true),
        (OFFICES, "The Turku office opened in 1998.", false),
        (BUILT, "The price from Alder is 31 euros.", true),
        (BUILT, "The price from Birch is 27 euros.", true),
        (BUILT, "The price from Alder is 27 euros.", false),
        (BUILT, "The price from Birch is 31 euros.", false),
        (TOWER, "The tower is 100 m wide.", true),
        (TOWER, "The tower is 300 m wide.", false),
        (TOWER, "The tower rises to 300 m.", true),
        (TOWER, "The height of the tower is 300 m.", true),
        (SALES, "Sales grew to 126 units.", true),
        (SALES, "The staff grew by 12 people in May.", true),
    ]);
}

#[test]
fn a_contradiction_shows_the_value_of_the_claim() {
    let cases = [
        (ITEMS, "Phones are kept for 30 days.", ContradictionKind::Number, "90 days"),
        (SIGNAL, "The signal PK7 was passed at danger by 126 metres.", ContradictionKind::Number, "by 84 metres"),
        (BIDS, "Alder offers the units for £27.9 m.", ContradictionKind::Number, "31.2"),
        (OFFICES, "The Oslo office opened in 2003.", ContradictionKind::Date, "1998"),
        (TRAINS, "The last train on Christmas Eve is at 21:12.", ContradictionKind::Number, "not 21:12"),
        (FILES, "The installer keeps an existing cache folder.", ContradictionKind::Opposite, "removes"),
        (GUARDS, "Guards may keep unclaimed property.", ContradictionKind::Denial, "No."),
    ];
    for (source, claim, kind, words) in cases {
        let found = support(claim, source);
        assert_eq!(found.verdict(), ClaimVerdict::Contradicted, "{claim}: {found:?}");
        let contradiction = found.contradiction.expect("it is contradicted");
        assert_eq!(contradiction.kind, kind, "{claim}");
        assert!(contradiction.quote.text.contains(words), "{claim}: {:?}", contradiction.quote);
    }
}

const LOGIN: &str = "accept_timeout: The timeout for a connection.\n\nDefault: 5\n\nlisten_port: The port on which it \
    listens.\n\nDefault: 21\n\nlocal_root: The folder after a login.\n\nmax_fails: After this many login failures, the \
    session is killed.\n\nDefault: 3";

#[test]
fn a_number_that_stands_far_from_the_words_of_the_claim_is_missing() {
    assert_judged(&[
        (LOGIN, "The session is killed after 3 login failures.", true),
        (LOGIN, "The session is killed after 5 login failures.", false),
    ]);
    let missing = support("The session is killed after 5 login failures.", LOGIN).missing;
    assert_eq!(missing.iter().map(|missing| missing.text.as_str()).collect::<Vec<_>>(), ["5"]);
}

#[test]
fn a_number_of_the_title_counts_only_beside_its_words() {
    let fails = "max_fails: After this many login failures, the session is killed.\n\nDefault: 3";
    let enough = |claim: &str, title: &str| {
        let sources = [PreparedSource::with_context(fails, title)];
        LexicalScorer::new(&sources).support(claim, &[0]).is_enough()
    };
    assert!(enough("The session is killed after 3 login failures.", "server.conf(5) Options"));
    assert!(!enough("The session is killed after 5 login failures.", "server.conf(5) Options"));
    assert!(enough("In version 5 the session is killed after 3 login failures.", "Server, version 5"));
    assert!(enough("In 2026 the session is killed after 3 login failures.", "Options of 2026"));
}

const GUARDS: &str = "- *Can a guard keep unclaimed property?* No. Since 2019 finders get nothing.\n\
    - *Can a guard open a bag?* Yes, with a colleague.\n- *How long do we keep phones?* 90 days.";
const SUMMER: &str = "# Is the canteen open in August?\n\nAsk the desk about hours.\n\n# When does the pool open?\n\nThe \
    pool opens at 9.";

#[test]
fn a_question_states_nothing() {
    assert_judged(&[
        (GUARDS, "Guards may keep unclaimed property.", false),
        (GUARDS, "Guards may not keep unclaimed property.", true),
        (
            "FAQ\n: *Can a guard keep what nobody claims?* No. Since 2019 finders get nothing.",
            "Guards may keep it.",
            false,
        ),
        (GUARDS, "A guard can open a bag with a colleague.", true),
        (GUARDS, "A guard cannot open a bag.", false),
        (GUARDS, "We keep phones for 90 days.", true),
        (SUMMER, "The canteen is open in August.", false),
        (SUMMER, "The pool opens at 9.", true),
        ("May visitors park here? No, never.", "Visitors may park here.", false),
        ("May visitors park here? No, never.", "Visitors may not park here.", true),
        ("May visitors park here? Yes.", "Visitors may park here.", true),
        ("May visitors park here? Yes.", "Visitors may not park here.", false),
        ("Do visitors park here? No one knows.", "Visitors park here.", false),
    ]);
    let quote = support("Visitors may not park here.", "May visitors park here? No, never.").quote;
    assert_eq!(quote.expect("the answer is quoted too").text, "May visitors park here? No, never.");
}

const TRAINS: &str = "24 Dec: last train at 20:12 (not 21:12 as Glen wrote).\n\n> Glen wrote on 3 December:\n>\n> The \
    last train on Christmas Eve is at 21:12.";
const START: &str =
    "In this shell arrays start at 1, not 0. The option ZERO takes a value of 0 in arrays for the first.";

#[test]
fn a_value_that_the_source_corrects_supports_nothing() {
    assert_judged(&[
        (TRAINS, "The last train on Christmas Eve is at 21:12.", false),
        (TRAINS, "The last train is at 20:12.", true),
        (TRAINS, "The last train is at 20:12, not 21:12.", true),
        (START, "Arrays start at 0 in this shell.", false),
        (START, "Arrays start at 1 in this shell.", true),
        ("The fee is 30 euros, not 20 euros.", "The fee is 20 euros.", false),
        ("The fee is 30 euros, not 20 euros.", "The fee is not 20 euros.", true),
        ("The form is due in May, not in March.", "The form is due in March.", false),
    ]);
}

const FILES: &str = "The installer removes an existing cache folder before it begins.";

#[test]
fn the_contrary_of_a_verb_beside_the_same_words_does_not_support() {
    assert_judged(&[
        (FILES, "The installer removes an existing cache folder.", true),
        (FILES, "The installer keeps an existing cache folder.", false),
        (FILES, "The installer does not keep an existing cache folder.", true),
        ("The update enables the firewall at each start.", "The update disables the firewall at each start.", false),
        ("The rules allow dogs on the platform.", "The rules ban dogs on the platform.", false),
        ("The rules allow dogs on the platform.", "The rules forbid dogs on the platform.", false),
        ("The north gate opens at noon.", "The north gate closes at noon.", false),
        ("The north gate opens at noon and closes at six.", "The north gate closes at six.", true),
        ("Fill in the form before the trip begins.", "Fill in the form after the trip begins.", false),
        ("The fare of the branch increased in spring.", "The fare of the branch decreased in spring.", false),
        ("The fare of the branch increased in spring.", "The fare of the branch was reduced in spring.", false),
        ("The board approved the plan of the depot.", "The board rejected the plan of the depot.", false),
        ("The tool encrypts the copy of the database.", "The tool decrypts the copy of the database.", false),
        ("Staff receive the vouchers in December.", "Staff send the vouchers in December.", false),
        ("The old mode deletes logs. The new mode keeps logs.", "The new mode keeps logs.", true),
    ]);
}

#[test]
fn a_denial_reaches_no_further_than_its_clause() {
    assert_judged(&[
        (SIGNAL, "Nobody was hurt when signal PK7 was passed at danger.", true),
        (SIGNAL, "Somebody was hurt when signal PK7 was passed at danger.", false),
        (
            "The alarm rang. The staff were not warned when it rang.",
            "The staff were warned when the alarm rang.",
            false,
        ),
    ]);
}

fn checked(claim: &str, sources: &[&str]) -> (ClaimVerdict, Option<usize>) {
    let basis = Basis::new(sources.iter().map(|text| PreparedSource::new(text)).collect(), "");
    let draft = Draft::read(claim, &basis, Attribution::Best);
    let checked = draft.checked_claims(&basis);
    (checked[0].claim.verdict, checked[0].citations.first().map(|citation| citation.source_index))
}

#[test]
fn a_source_that_says_less_yields_to_one_that_contradicts() {
    let title = "Incident report: signal PK7 passed at danger";
    let claim = "Somebody was hurt when signal PK7 was passed at danger.";
    assert_eq!(checked(claim, &[title, SIGNAL]), (ClaimVerdict::Contradicted, Some(1)));
    let lock = "To avoid reading the cache folder repeatedly, the installer uses a lock in an existing cache folder.";
    let keeps = "The installer keeps an existing cache folder.";
    assert_eq!(checked(keeps, &[lock, FILES]), (ClaimVerdict::Contradicted, Some(1)));
    assert_eq!(
        checked("The installer removes an existing cache folder.", &[lock, FILES]),
        (ClaimVerdict::Supported, Some(1))
    );
    // Two sources that say it both ways: the claim is said.
    assert_eq!(checked(keeps, &[FILES, keeps]), (ClaimVerdict::Supported, Some(1)));
    // A correction of something else.
    let video = "Footage is kept 31 days (not 90 as first said).";
    assert_eq!(checked("Phones are kept for 90 days.", &[ITEMS, video]), (ClaimVerdict::Supported, Some(0)));
    let old = "The last train on Christmas Eve is at 21:12.";
    let new = "The last train on 24 December is at 20:12 (not 21:12).";
    assert_eq!(checked(old, &[old, new]), (ClaimVerdict::Contradicted, Some(1)));
}

#[test]
fn what_is_qualified_otherwise_is_not_supported() {
    let order = "If the supplier is late by more than 14 days, the buyer may withdraw from the order.";
    let withdraws = "If the supplier is late by more than 14 days, the buyer must withdraw from the order.";
    assert_eq!(checked(withdraws, &[order]), (ClaimVerdict::Contradicted, Some(0)));
    assert_eq!(checked(&withdraws.replace("must", "can"), &[order]), (ClaimVerdict::Supported, Some(0)));
    let course = "A course on mediation is planned for autumn.";
    assert_eq!(checked("There is a course on mediation in autumn.", &[course]), (ClaimVerdict::Unsupported, Some(0)));
    let rooms = "Rooms can be cancelled free of charge until 18:00 on the day of arrival.";
    assert_eq!(checked(&rooms.replace("until", "from"), &[rooms]), (ClaimVerdict::Contradicted, Some(0)));
}

const PLATFORMS: &str = "| System | Architecture | Versions | Support |\n|---|---|---|---|\n\
    | GNU/Linux | x64 | kernel >= 4.18 (1), glibc >= 2.28 | Tier 1 |\n\
    | GNU/Linux | x64 | kernel >= 3.10, musl >= 1.1.19 | Experimental |\n\
    | GNU/Linux | x86 | kernel >= 3.10, glibc >= 2.17 | Experimental |";
const LIVES: &str = "| | Lives (in years) | Value |\n|---|---|---|\n| Purchased technology | 4.2 | $232 |\n\
    | Trademarks | 5.0 | 25 |\n| Other | 2.0 | 20 |";

#[test]
fn values_of_rows_that_a_claim_puts_side_by_side_are_theirs() {
    assert_judged(&[
        (PLATFORMS, "GNU/Linux on x64, with kernel >= 4.18 and glibc >= 2.28.", true),
        (PLATFORMS, "GNU/Linux on x64, with kernel >= 4.18 and glibc >= 2.17.", false),
        (LIVES, "The lives of Trademarks are 5.0 years and those of Other 2.0 years.", true),
        (LIVES, "The lives of Trademarks are 2.0 years.", false),
    ]);
}
