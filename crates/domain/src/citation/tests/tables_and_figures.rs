//! Claims about tables, labels, codes and figures in the form in which models write them.

use super::assert_judged;
use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

/// A contract whose table is introduced by the sentence above it.
const RESPONSE: &str = "A fitter is on site within this time from the customer's call:\n\n\
    | Station | Monday to Friday | Saturday | Sunday, holiday |\n|---|---|---|---|\n| West | 4 hours | 6 hours | 8 hours |\n\
    | East | 8 hours | next day | next day |\n\nThe fee is 3,480 EUR and falls by 1.5 % for each hour of delay.";
const PARTS: &str = "| part_no: IMP-65-B | name: Impeller bronze | fits: BW-65 | price_eur: 342.00 | lead_time_days: 35 |\n\
    | part_no: IMP-65-G | name: Impeller cast iron | fits: BW-65 | price_eur: 187.50 | lead_time_days: 14 |\n\
    | part_no: GSK-65 | name: Gasket set | fits: BW-65 | price_eur: 12.60 | lead_time_days: 4 |";
const CODES: &str = "| Code | Meaning | Pump stops? |\n|---|---|---|\n| E07 | Leakage at the seal | no, warning only |\n\
    | E09 | Motor protection | yes |";
const TORQUES: &str =
    "| Bolt | Dry | Oiled |\n|---|---|---|\n| Cover M10 | 46 Nm | 39 Nm |\n| Nut M20 | 120 Nm | 102 Nm |";
const CREDITS: &str =
    "| Availability | Credit |\n|---|---|\n| below 99.5 %, at least 99.0 % | 10 % |\n| below 99.0 % | 25 % |";
const DROPS: &str =
    "Up to 10 drops a minute are permitted in the first day after fitting, afterwards at most 2 drops a minute.";
const STOCK: &str = "Seal MS-35 is at 3, the minimum is 6. Ordered: not yet, because we wait for the price letter.";
const INCOME: &str = "|  | Year ended December 31, |  |  |\n|---|---|---|---|\n|  | 2019 (1) | 2018 (2) | 2017 (3) |\n\
    |  | (in thousands, except per share amounts) |  |  |\n| Net sales | $1,496,475 | $1,202,898 | $1,107,709 |\n\
    | Operating income | $138,325 | $112,742 | $98,194 |";
const PLANS: &str = "## [Unreleased] – 3.4 (planned Q3 2025)\n\nNotifications move to the new queue.";
const CARRY: &str =
    "Leave must be used by 30 April, unless the employee was ill, in which case the limit is 31 December.";

#[test]
fn a_row_is_read_with_the_sentence_that_introduces_its_table() {
    assert_judged(
        "",
        "",
        &[
            (RESPONSE, "At West a fitter is on site within 4 hours of the customer's call, Monday to Friday.", true),
            (RESPONSE, "On Sundays a fitter is on site at West within 8 hours from the customer's call.", true),
            (RESPONSE, "On Sundays a fitter is on site at West within 6 hours from the customer's call.", false),
            // Another column of such values is named, in which the row has none.
            (RESPONSE, "At East a fitter is on site within 8 hours on a Sunday.", false),
            (TORQUES, "The torque of the cover bolts M10 is 39 Nm oiled.", true),
            (TORQUES, "The cover bolts M10 take 46 Nm dry and 39 Nm oiled.", true),
            (TORQUES, "The cover bolts M10 take 39 Nm dry and 46 Nm oiled.", false),
            (CREDITS, "For an availability below 99.5 %, at least 99.0 %, the credit is 10 %.", true),
            (CREDITS, "For an availability below 99.5 %, at least 99.0 %, the credit is 25 %.", false),
        ],
    );
}

#[test]
fn labels_name_units_and_rows_their_own_words() {
    assert_judged(
        "",
        "Spare parts",
        &[
            (PARTS, "IMP-65-B, Impeller bronze, costs 342.00 EUR.", true),
            (PARTS, "The spare parts list has a price of 12.60 EUR for GSK-65.", true),
            (PARTS, "IMP-65-B, Impeller bronze, costs 342.00 USD.", false),
            (PARTS, "IMP-65-B, Impeller bronze, costs 187.50 EUR.", false),
            (PARTS, "IMP-65-B, Impeller cast iron, costs 342.00 EUR.", false),
            (PARTS, "The lead time of IMP-65-B, the bronze impeller, is 35 days.", true),
            (PARTS, "The lead time of IMP-65-B, the bronze impeller, is 35 weeks.", false),
            (STOCK, "MS-35 has not been ordered yet, because they wait for the price letter.", true),
            (STOCK, "MS-35 has been ordered, because they wait for the price letter.", false),
        ],
    );
}

#[test]
fn no_in_a_cell_denies_the_head_of_its_column() {
    assert_judged(
        "",
        "",
        &[
            (CODES, "E07 means leakage at the seal; it is a warning only, and the pump does not stop.", true),
            (CODES, "E09 means motor protection, and the pump stops.", true),
            (CODES, "E07 means leakage at the seal, and the pump stops.", false),
        ],
    );
}

#[test]
fn values_that_change_places_are_misplaced() {
    assert_judged(
        "",
        "",
        &[
            (
                DROPS,
                "In the first day after fitting up to 10 drops a minute are permitted, and at most 2 drops afterwards.",
                true,
            ),
            (
                DROPS,
                "Up to 2 drops a minute are permitted in the first day after fitting, afterwards at most 10 drops a minute.",
                false,
            ),
        ],
    );
}

#[test]
fn versions_and_days_of_the_title_are_those_of_the_text() {
    assert_judged(
        "",
        "meeting 2025 02 11 Reference (3.3)",
        &[
            (
                "The switch stays on 30 june, and Ana takes over from 1 march.",
                "The meeting of 2025-02-11 says that Ana takes over from 1 March.",
                true,
            ),
            (
                "The switch stays on 30 june, and Ana takes over from 1 march.",
                "The meeting of 2025-02-12 says that Ana takes over from 1 March.",
                false,
            ),
            ("The default tolerance is 3 cents.", "The default tolerance is 3 cents as of version 3.3.0.", true),
            (PLANS, "The queue of 3.4 is planned for Q3 2025.", true),
            (PLANS, "Version 3.4 was released in Q3 2025, and notifications moved to the new queue.", false),
        ],
    );
}

#[test]
fn what_is_calculated_from_figures_of_sources_and_question_is_supported() {
    assert_judged(
        "What do 4 of them and a delay of 3 hours cost, with 99.3 %?",
        "",
        &[
            (PARTS, "IMP-65-B at 342.00 EUR plus GSK-65 at 12.60 EUR costs 354.60 EUR.", true),
            (PARTS, "IMP-65-B at 342.00 EUR plus GSK-65 at 12.60 EUR costs 364.60 EUR.", false),
            (PARTS, "The price of 4 bronze impellers IMP-65-B is 4 × 342.00 EUR = 1,368.00 EUR.", true),
            (PARTS, "The price of 5 bronze impellers IMP-65-B is 5 × 342.00 EUR = 1,710.00 EUR.", false),
            (RESPONSE, "The fee falls by 1.5 % for each hour of delay, so by 3 × 1.5 % = 4.5 % for 3 hours.", true),
            (RESPONSE, "The fee falls by 1.5 % for each hour of delay, so by 3 × 1.5 % = 5.5 % for 3 hours.", false),
            (
                CREDITS,
                "With 99.3 % the credit is 10 %, because the availability is below 99.5 % and at least 99.0 %.",
                true,
            ),
            (
                CREDITS,
                "With 98.3 % the credit is 10 %, because the availability is below 99.5 % and at least 99.0 %.",
                false,
            ),
        ],
    );
}

#[test]
fn an_exception_is_told_as_a_case_of_its_own() {
    assert_judged(
        "",
        "",
        &[
            (CARRY, "Leave must be used by 30 April, or by 31 December if the employee was ill.", true),
            (CARRY, "Leave must be used by 30 April, also by an employee who was ill.", false),
        ],
    );
}

#[test]
fn what_heads_the_columns_of_a_row_neither_denies_nor_moves_its_values() {
    assert_judged(
        "",
        "",
        &[
            (
                INCOME,
                "Operating income | 2019 (1): $138,325 | 2018 (2) (in thousands, except per share amounts): $112,742",
                true,
            ),
            (
                INCOME,
                "Operating income | 2019 (1): $112,742 | 2018 (2): $138,325 | 2017 (3) (in thousands): $98,194",
                false,
            ),
            (INCOME, "Operating income was $138,325 in 2019 and $112,742 in 2018.", true),
            (INCOME, "There was no operating income of $138,325 in 2019.", false),
        ],
    );
}

/// A report whose years stand in the first of two header rows, and whose rows are far from both.
const REPORT: &str = "|  |  | 2019 | 2018 |\n|---|---|---|---|\n| (in thousands) | Notes | £'000 | £'000 |\n| Cash |  | 120 | 110 |\n\
    | Bonds |  | 15 | 13 |\n| Goods |  | 71 | 85 |\n| Trade receivables | 9 | 3,770 | 3,054 |\n| Other receivables |  | 4,223 | 4,082 |";

#[test]
fn a_row_is_headed_by_all_rows_of_the_header_however_far_they_are() {
    assert_judged(
        "",
        "Balance sheet",
        &[
            (REPORT, "Trade receivables were 3,770 in 2019.", true),
            (REPORT, "Trade receivables were £3,770 thousand in 2019 and £3,054 thousand in 2018.", true),
            (REPORT, "Trade receivables (in thousands) | 2019 £'000: 3,770 | 2018 £'000: 3,054", true),
            (REPORT, "Trade receivables were 3,054 in 2019.", false),
            (REPORT, "Trade receivables were 3,770 in 2017.", false),
            (REPORT, "Other receivables were 3,770 in 2019.", false),
        ],
    );
}

/// A table whose header has groups of columns.
const ZONES: &str = "| Weight | Inland | | Abroad | |\n|---|---|---|---|---|\n| | Slow | Fast | Slow | Fast |\n| 1 kg | 3.10 | 5.20 | 4.30 | 7.40 |\n\
    | 2 kg | 3.60 | 5.90 | 4.90 | 8.80 |";

#[test]
fn a_label_heads_all_columns_of_its_group() {
    assert_judged(
        "",
        "Parcels",
        &[
            (ZONES, "A fast parcel of 2 kg costs 5.90 inland.", true),
            (ZONES, "A fast parcel of 2 kg costs 8.80 inland.", false),
            (ZONES, "2 kg | Inland Slow: 3.60 | Inland Fast: 5.90 | Abroad Slow: 4.90 | Abroad Fast: 8.80", true),
        ],
    );
}

/// A table whose rows are named by numbers.
const WIDTHS: &str =
    "| Model | Front width (mm) | Rear width (mm) |\n|---|---|---|\n| 6082 | 262 | 312 |\n| 7075 | 301 | 344 |";

#[test]
fn the_number_that_names_a_row_is_no_value_of_a_column() {
    assert_judged(
        "",
        "Wheels",
        &[
            (WIDTHS, "The rear width of 6082 is 312 mm.", true),
            (WIDTHS, "The rear width of 6082 is 262 mm.", false),
            (WIDTHS, "The rear width of 7075 is 312 mm.", false),
        ],
    );
}

/// A table whose rows are in groups.
const GROUPS: &str = "|  | 2019 | 2018 |\n|---|---|---|\n| Americas: |  |  |\n| Property | 343 | 401 |\n| Leases | 12 | 10 |\n\
    | Total Americas | 355 | 411 |\n| EMEA: |  |  |\n| Property | 80 | 77 |\n| Leases | 9 | 4 |\n| Total EMEA | 89 | 81 |";

#[test]
fn a_row_is_headed_by_the_name_of_its_group() {
    assert_judged(
        "",
        "Segments",
        &[
            (GROUPS, "Property in the Americas was 343 in 2019.", true),
            (GROUPS, "Property in EMEA was 80 in 2019.", true),
            (GROUPS, "Leases of EMEA were 4 in 2018.", true),
            (GROUPS, "Americas: Property | 2019: 343 | 2018: 401", true),
        ],
    );
}

#[test]
fn a_name_with_pro_is_counted_by_nothing() {
    let prices =
        "| Article | Product | Unit price |\n|---|---|---|\n| D-100 | Jar One | 49.00 |\n| D-200 | Jar Pro | 129.00 |";
    assert_judged(
        "",
        "",
        &[
            (prices, "The Jar Pro costs 129.00.", true),
            (prices, "Article: D-200 | Product: Jar Pro | Unit price: 129.00", true),
            (prices, "The Jar Pro costs 49.00.", false),
        ],
    );
}

#[test]
fn later_rows_of_a_table_are_read_below_its_header() {
    let header = "Obligations:\n|  |  | Payments due (in thousands) |  |\n|  | Total | Less than 1 year | 1-3 years |";
    let rows = "| Operating leases | 603,185 | 118,312 | 187,644 |\n| Finance leases | 77,829 | 6,038 | 11,726 |";
    let source = PreparedSource::with_context(rows, "Annual report").below(Some(header)).starting_at(1_000);
    let sources = [source];
    let scorer = LexicalScorer::new(&sources);
    for (claim, expected) in [
        ("Finance leases of 6,038 are due in less than 1 year.", true),
        ("Finance leases of 11,726 are due in 1-3 years.", true),
        ("Finance leases of 11,726 are due in less than 1 year.", false),
        ("Operating leases | Payments due (in thousands) Total: 603,185 | Less than 1 year: 118,312", true),
    ] {
        assert_eq!(scorer.support(claim, &[0]).is_enough(), expected, "{claim}");
    }
    // Quotes are of the text alone, and counted in its document.
    let quote =
        scorer.support("Operating leases | Total: 603,185 | Less than 1 year: 118,312", &[0]).quote.expect("a quote");
    assert_eq!((quote.start, quote.text.as_str()), (1_000, rows.lines().next().expect("a row")));
    assert_eq!(scorer.support("Payments due, in thousands", &[0]).quote, None);
}
