//! Claims about tables through the public interface: true ones are supported, and false ones are not.

mod comparisons;
mod many_lines;

use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

/// Checks which claims a source supports.
#[track_caller]
fn assert_told(source: &str, are_so: &[&str], are_not: &[&str]) {
    let sources = [PreparedSource::new(source)];
    let is_supported = |claim: &&&str| LexicalScorer::new(&sources).support(claim, &[0]).is_enough();
    let refused: Vec<_> = are_so.iter().filter(|claim| !is_supported(claim)).collect();
    let passed: Vec<_> = are_not.iter().filter(is_supported).collect();
    assert!(refused.is_empty() && passed.is_empty(), "refused: {refused:#?}\npassed: {passed:#?}");
}

#[test]
fn yes_and_no_are_said_of_a_row_below_a_column() {
    assert_told(
        "| Plan | SSO | Audit log | Storage (GB) | Price (EUR) |\n\
|---|---|---|---|---|\n\
| Free | no | no | 5 | 0 |\n\
| Team | yes | no | 100 | 12 |\n\
| Business | yes | yes | 500 | 24 |\n\
| Enterprise | yes | yes | 2,000 | 60 |",
        &[
            "The Business plan has an audit log.",
            "The Free plan has no SSO.",
            "The Free plan does not include SSO.",
            "The Team plan includes SSO but no audit log.",
            "The Enterprise plan costs 60 EUR.",
            "The Enterprise plan costs €60.",
            "The Team plan has 100 GB of storage.",
            "The Free plan costs nothing.",
            "Business and Enterprise have an audit log.",
        ],
        &[
            "The Business plan has no audit log.",
            "The Business plan does not include an audit log.",
            "The Free plan has SSO.",
            "The Team plan includes an audit log.",
            "The Team plan includes an audit log but no SSO.",
            "The Enterprise plan costs $60.",
            "The Enterprise plan costs €24.",
            "The Team plan has 100 MB of storage.",
            "The Team plan has 500 GB of storage.",
            "Team and Business have an audit log.",
        ],
    );
}

#[test]
fn signs_say_yes_and_no() {
    assert_told(
        "| Feature | Lite | Pro | Max |\n\
|---|---|---|---|\n\
| Offline mode | ✗ | ✓ | ✓ |\n\
| Shared folders | – | ✓ | ✓ |\n\
| Phone support | – | – | ✓ |\n\
| Users | 1 | 10 | 50 |",
        &[
            "Lite has no offline mode.",
            "Pro has an offline mode.",
            "Pro has no phone support.",
            "Max includes phone support.",
            "Lite does not have shared folders.",
            "Max allows 50 users.",
        ],
        &[
            "Lite has an offline mode.",
            "Pro has no offline mode.",
            "Pro has phone support.",
            "Lite includes shared folders.",
            "Max allows 10 users.",
        ],
    );
}

#[test]
fn rises_and_falls_are_those_between_two_columns() {
    assert_told(
        "Consolidated income, in EUR thousand\n\
\n\
|  | 2019 | 2018 | Change |\n\
|---|---|---|---|\n\
| Revenue | 84,310 | 79,120 | 5,190 |\n\
| Cost of sales | 51,204 | 52,880 | (1,676) |\n\
| Net loss | (3,415) | (1,200) | (2,215) |\n\
| Operating margin | 12.5% | 11.0% | 1.5% |",
        &[
            "Revenue rose to 84,310 in 2019 from 79,120 in 2018.",
            "Revenue was 84,310 in 2019 and 79,120 in 2018.",
            "Revenue was higher in 2019 than in 2018.",
            "Cost of sales decreased from 52,880 in 2018 to 51,204 in 2019.",
            "Cost of sales decreased by 1,676.",
            "The net loss was 3,415 in 2019.",
            "The net loss grew from 1,200 in 2018 to 3,415 in 2019.",
            "Operating margin rose from 11.0% to 12.5%.",
            "Revenue was €84.3 million in 2019.",
            "Revenue was EUR 84,310 thousand in 2019.",
            "Revenue changed by 5,190.",
        ],
        &[
            "Revenue fell to 84,310 in 2019 from 79,120 in 2018.",
            "Revenue rose to 79,120 in 2019 from 84,310 in 2018.",
            "Revenue was 79,120 in 2019 and 84,310 in 2018.",
            "Revenue was higher in 2018 than in 2019.",
            "Cost of sales increased from 52,880 in 2018 to 51,204 in 2019.",
            "Cost of sales increased by 1,676 in 2019.",
            "The net profit was 3,415 in 2019.",
            "Operating margin fell from 12.5% to 11.0%.",
            "Revenue was €84,310 in 2019.",
            "Revenue was 84,310 million in 2019.",
            "Revenue was 5,190 in 2019.",
        ],
    );
}

#[test]
fn a_column_of_changes_is_not_that_of_its_years() {
    assert_told(
        "|  | 2019 | 2018 | Change 2019 vs. 2018 |\n\
|---|---|---|---|\n\
| Seats | 410 | 380 | 30 |\n\
| Desks | 95 | 120 | (25) |",
        &[
            "There were 410 seats in 2019 and 380 in 2018.",
            "There were 95 desks in 2019.",
            "The number of desks fell from 120 in 2018 to 95 in 2019.",
        ],
        &[
            "There were 380 seats in 2019 and 410 in 2018.",
            "There were 30 seats in 2019.",
            "There were 120 desks in 2019.",
            "The number of desks rose from 120 in 2018 to 95 in 2019.",
        ],
    );
}

#[test]
fn numbers_lie_in_the_range_that_names_a_row() {
    assert_told(
        "| Weight | Zone 1 | Zone 2 | Zone 3 |\n\
|---|---|---|---|\n\
| up to 2 kg | 4.90 | 7.50 | 11.20 |\n\
| 2–5 kg | 6.90 | 9.80 | 15.40 |\n\
| 5–10 kg | 9.50 | 14.20 | 22.00 |",
        &[
            "A parcel of up to 2 kg costs 7.50 to zone 2.",
            "A 7 kg parcel to zone 1 costs 9.50.",
            "A parcel of 3 kg to zone 3 costs 15.40.",
        ],
        &[
            "A parcel of up to 2 kg costs 4.90 to zone 2.",
            "A 7 kg parcel to zone 1 costs 6.90.",
            "A parcel of 3 kg to zone 3 costs 22.00.",
            "A parcel of 3 kg to zone 2 costs 15.40.",
        ],
    );
}

#[test]
fn units_are_those_of_the_column() {
    assert_told(
        "| Part | Mass (g) | Length (mm) | Price (EUR) |\n\
|---|---|---|---|\n\
| Bolt M8 | 22 | 40 | 0.30 |\n\
| Rod 900 | 1,400 | 900 | 16.30 |",
        &[
            "The bolt M8 is 40 mm long.",
            "The bolt M8 has a length of 40 mm.",
            "The bolt M8 weighs 22 g.",
            "The Rod 900 costs 16.30 EUR.",
        ],
        &[
            "The bolt M8 is 40 cm long.",
            "The bolt M8 weighs 40 g.",
            "The bolt M8 weighs 22 kg.",
            "The Rod 900 costs $16.30.",
        ],
    );
}

#[test]
fn german_claims_are_held_against_cells() {
    assert_told(
        "| Standort | Leitung | Mitarbeitende | Parkplatz |\n\
|---|---|---|---|\n\
| Bremen | Frau Okafor | 42 | ja |\n\
| Kassel | Herr Lindqvist | 17 | nein |\n\
| Ulm | Frau Sand | 8 | ja |",
        &[
            "In Kassel gibt es keinen Parkplatz.",
            "Der Standort Bremen hat einen Parkplatz.",
            "In Bremen arbeiten 42 Mitarbeitende.",
            "Herr Lindqvist leitet den Standort Kassel.",
            "Die Leitung in Ulm hat Frau Sand.",
        ],
        &[
            "In Kassel gibt es einen Parkplatz.",
            "Der Standort Bremen hat keinen Parkplatz.",
            "In Bremen arbeiten 17 Mitarbeitende.",
            "Herr Lindqvist leitet den Standort Bremen.",
        ],
    );
}

#[test]
fn german_figures_rise_and_fall() {
    assert_told(
        "Umsatz nach Sparte, in Millionen Euro:\n\
\n\
| Sparte | 2023 | 2022 |\n\
|---|---|---|\n\
| Strom | 1.204,5 | 1.180,0 |\n\
| Gas | 640,2 | 702,9 |",
        &[
            "Im Jahr 2023 betrug der Umsatz mit Strom 1.204,5 Millionen Euro.",
            "Der Umsatz mit Gas sank von 702,9 Millionen Euro im Jahr 2022 auf 640,2 Millionen Euro im Jahr 2023.",
        ],
        &[
            "Der Umsatz mit Gas stieg von 702,9 Millionen Euro im Jahr 2022 auf 640,2 Millionen Euro im Jahr 2023.",
            "Im Jahr 2023 betrug der Umsatz mit Strom 1.180,0 Millionen Euro.",
            "Im Jahr 2022 betrug der Umsatz mit Gas 640,2 Millionen Euro.",
        ],
    );
}

#[test]
fn values_are_paired_with_their_rows() {
    assert_told(
        "| Office | June 2018 | June 2019 | Lead |\n\
|---|---|---|---|\n\
| Dover | 14 | 19 | Ivy Chen |\n\
| Hull | 22 | 31 | Tom Reed |",
        &[
            "Dover had 14 people in June 2018.",
            "Dover had 14 people in June 2018 and Hull had 22.",
            "Ivy Chen leads the office in Dover.",
            "Tom Reed leads Hull.",
        ],
        &[
            "Dover had 19 people in June 2018.",
            "Dover had 14 people in June 2019.",
            "Dover had 22 people in June 2018 and Hull had 14.",
            "Tom Reed leads the office in Dover.",
            "Ivy Chen leads Hull and Tom Reed leads Dover.",
        ],
    );
}

#[test]
fn labels_in_cells_name_their_columns() {
    assert_told(
        "| Region: North | Product: Bolts | 2023 – Q1: 10 | 2023 – Q2: 12 | 2024 – Q1: 11 | 2024 – Q2: 15 |\n\
| Region: South | Product: Nuts | 2023 – Q1: 7 | 2023 – Q2: 9 | 2024 – Q1: 8 | 2024 – Q2: 10 |",
        &[
            "The North region sold 15 in Q2 2024.",
            "The South region sold 8 in Q1 2024.",
            "In Q1 2023 the South sold 7 and the North sold 10.",
        ],
        &[
            "The North region sold 15 in Q2 2023.",
            "The North region sold 10 in Q2 2024.",
            "The South region sold 15 in Q2 2024.",
            "In Q1 2023 the South sold 10 and the North sold 7.",
        ],
    );
}

#[test]
fn words_of_cells_are_values() {
    assert_told(
        "| Name: Anna Berg | Team: Sales | Remote: yes | Phone: 555-0101 |\n\
| Name: Bo Lind | Team: Paint | Remote: no | Phone: 555-0102 |\n\
| Name: Cy Dahl | Team: Sales | Remote: yes | Phone: 555-0103 |",
        &[
            "Anna Berg works in Sales.",
            "Bo Lind is in the Paint team and Cy Dahl in Sales.",
            "Bo Lind does not work remotely.",
            "Anna Berg works remotely.",
            "Bo Lind's phone number is 555-0102.",
        ],
        &[
            "Anna Berg works in Paint.",
            "Bo Lind is in the Sales team and Cy Dahl in Paint.",
            "Bo Lind works remotely.",
            "Anna Berg does not work remotely.",
            "Bo Lind's phone number is 555-0103.",
        ],
    );
}

#[test]
fn times_are_values() {
    assert_told(
        "| Day | Opens | Closes |\n\
|---|---|---|\n\
| Monday | 9:00 | 17:30 |\n\
| Tuesday | 10:00 | 19:00 |\n\
| Saturday | closed | closed |",
        &[
            "On Monday the desk opens at 9:00 and closes at 17:30.",
            "The desk is closed on Saturday.",
            "It opens at 9:00 on Monday and at 10:00 on Tuesday.",
        ],
        &[
            "On Monday the desk opens at 10:00.",
            "On Tuesday the desk closes at 17:30.",
            "On Saturday the desk opens at 9:00.",
            "It opens at 10:00 on Monday and at 9:00 on Tuesday.",
        ],
    );
}

#[test]
fn rates_and_words_for_yes_are_read() {
    assert_told(
        "| Tier | Requests per minute | Burst | Webhooks |\n\
|---|---|---|---|\n\
| Basic | 60 | 100 | not included |\n\
| Plus | 600 | 1,000 | included |\n\
| Premium | 6,000 | unlimited | included |",
        &[
            "The Plus tier allows 600 requests per minute.",
            "Webhooks are included in Plus and Premium.",
            "Webhooks are not included in Basic.",
            "Only Plus and Premium include webhooks.",
            "The burst of Premium is unlimited.",
            "Basic has a burst of 100, Plus one of 1,000.",
        ],
        &[
            "The Plus tier allows 6,000 requests per minute.",
            "The Plus tier allows 600 requests per second.",
            "The Plus tier allows 600 requests per hour.",
            "Webhooks are included in all tiers.",
            "Webhooks are included in Basic.",
            "Only Premium includes webhooks.",
            "The burst of Plus is unlimited.",
            "Basic has a burst of 1,000, Plus one of 100.",
        ],
    );
}

#[test]
fn columns_may_have_two_rows_of_names() {
    assert_told(
        "Consolidated statements of cash flows (in millions)\n\
\n\
|  | Year ended December 31, |  |\n\
|---|---|---|\n\
| | 2019 | 2018 |\n\
| Net cash from operations | 412.5 | 388.1 |\n\
| Purchases of property | (95.2) | (110.7) |\n\
| Dividends paid | (60.0) | (55.0) |\n\
| Net increase in cash | 12.4 | (8.9) |",
        &[
            "Net cash from operations increased to 412.5 million in 2019.",
            "Purchases of property fell from $110.7 million in 2018 to $95.2 million in 2019.",
            "Dividends paid increased from 55.0 to 60.0.",
            "Net cash from operations rose by 24.4 million from 388.1 to 412.5.",
            "In 2019 purchases of property decreased.",
            "The net increase in cash was 12.4 in 2019.",
            "Dividends paid were $60.0 million in 2019, compared to $55.0 million in 2018.",
            "Net cash from operations was higher in 2019 than in 2018.",
            "Dividends were lower in 2018.",
        ],
        &[
            "Net cash from operations decreased to 412.5 million in 2019.",
            "Purchases of property rose from $110.7 million in 2018 to $95.2 million in 2019.",
            "Dividends paid were $55.0 million in 2019.",
            "Dividends paid were $60.0 billion in 2019.",
        ],
    );
}

#[test]
fn cells_that_a_claim_copies_are_said_as_they_stand() {
    assert_told(
        "| Feature | Lite | Pro |\n|---|---|---|\n| Offline mode | – | ✓ |\n| Ökostrom | nein | ja |",
        &[
            "Offline mode | Lite: –",
            "Offline mode | Lite: – | Pro: ✓",
            "Offline mode, Lite: –",
            "Ökostrom | Lite: nein",
        ],
        &[],
    );
}

#[test]
fn cells_beside_a_value_are_no_other_values_of_it() {
    assert_told(
        "| Site | Beds | Manager | Parking spaces |\n|---|---|---|---|\n| Oslo | 120 | Kari Moen | 35 |\n| Kiel | 80 | Bo Lind | 40 |",
        &["Oslo has 35 parking spaces.", "Kiel has 80 beds."],
        &["Oslo has 40 parking spaces.", "Oslo has 120 parking spaces."],
    );
    assert_told(
        "| Server | vCPU | RAM (GB) | SSD (GB) |\n|---|---|---|---|\n| Small | 2 | 4 | 80 |\n| Medium | 6 | 12 | 160 |",
        &["Medium has 6 vCPUs and 12 GB of RAM.", "Medium has 12 GB of RAM."],
        &["Medium has 160 GB of RAM.", "Medium has 12 TB of RAM."],
    );
}

#[test]
fn rows_apart_have_their_values() {
    assert_told(
        "| City | Residents | Schools |\n|---|---|---|\n| Arden | 48,210 | 12 |\n| Boll | 51,655 | 14 |\n| Dale | 69,120 | 30 |",
        &[
            "Arden has 48,210 residents and Dale has 69,120.",
            "Arden and Dale have 12 and 30 schools, respectively.",
            "Dale has 30 schools, Arden only 12.",
        ],
        &["Arden has 69,120 residents and Dale has 48,210.", "Arden and Dale have 30 and 12 schools, respectively."],
    );
}

#[test]
fn other_words_deny_too() {
    assert_told(
        "| Edition | Debugger | Database tools |\n|---|---|---|\n| Community | ✗ | ✗ |\n| Standard | ✓ | ✗ |\n| Professional | ✓ | ✓ |",
        &[
            "Community lacks a debugger.",
            "Standard has a debugger but lacks database tools.",
            "Both Standard and Professional have a debugger.",
        ],
        &[
            "Standard lacks a debugger.",
            "Professional lacks database tools.",
            "Both Community and Standard have a debugger.",
        ],
    );
    assert_told(
        "| Formule | Piscine | Sauna |\n|---|---|---|\n| Essentielle | non | non |\n| Confort | oui | oui |",
        &["La formule Essentielle ne comprend pas le sauna."],
        &["La formule Confort ne comprend pas le sauna."],
    );
}

#[test]
fn rises_and_falls_lead_from_row_to_row() {
    assert_told(
        "| Year | Residents | Births |\n|---|---|---|\n| 2019 | 48,210 | 512 |\n| 2020 | 48,630 | 498 |\n| 2022 | 49,120 | 430 |",
        &["Births fell from 512 in 2019 to 430 in 2022.", "The residents grew from 48,210 in 2019 to 49,120 in 2022."],
        &["Births rose from 512 in 2019 to 430 in 2022.", "Residents fell from 48,210 in 2019 to 49,120 in 2022."],
    );
}

#[test]
fn branches_are_closed_where_their_cells_say_so() {
    assert_told(
        "| Branch | Weekdays | Saturday | Sunday |\n|---|---|---|---|\n| Harbour | 10:00–19:00 | 10:00–14:00 | closed |\n\
        | Central | 9:00–20:00 | 9:00–18:00 | 12:00–17:00 |",
        &[
            "The Harbour branch is open on Saturdays from 10:00 to 14:00.",
            "The Harbour branch is closed on Sunday.",
            "Central is open on Sunday.",
        ],
        &[
            "The Harbour branch is closed on Saturday.",
            "The Harbour branch is open on Sunday.",
            "Both Central and Harbour are closed on Sundays.",
        ],
    );
}

#[test]
fn of_labels_that_share_words_the_others_tell_which_is_which() {
    assert_told(
        "| Department: Legal | Budget 2024: 480,000 | Budget 2025: 450,000 |\n\
        | Department: Sales | Budget 2024: 1,200,000 | Budget 2025: 1,350,000 |",
        &["The budget of Legal was 480,000 in 2024 and 450,000 in 2025."],
        &["The budget of Legal was 450,000 in 2024 and 480,000 in 2025.", "The budget of Sales was 1,350,000 in 2024."],
    );
    assert_told(
        "| Edition | Editor | Debugger |\n|---|---|---|\n| Standard | ✓ | ✗ |\n| Professional | ✓ | ✓ |",
        &["The debugger is only available in the Professional edition."],
        &["The editor is only available in the Professional edition."],
    );
}

#[test]
fn names_of_other_rows_contradict() {
    assert_told(
        "| Course | Day | Instructor | Room |\n|---|---|---|---|\n| Pottery | Tuesday | Ann Fox | B12 |\n| Watercolour | Monday | Karl Voss | B14 |\n\
        | Photography | Friday | Lea Stern | C3 |\n| Calligraphy | Sunday | Ida Kern | B20 |",
        &["Calligraphy is taught by Ida Kern.", "Photography is in room C3.", "Karl Voss teaches Watercolour."],
        &["Calligraphy is taught by Karl Voss.", "Photography is in room B12."],
    );
    assert_told(
        "| Department | Owner | Floor |\n|---|---|---|\n| IT | Ina Wolf | 5 |\n| HR | Marc Dubois | 2 |",
        &["The owner of IT is Ina Wolf.", "IT is on floor 5."],
        &["The owner of IT is Marc Dubois.", "IT is on floor 2."],
    );
}
