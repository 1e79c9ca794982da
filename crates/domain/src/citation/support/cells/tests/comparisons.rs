//! Claims that compare rows or columns, and numbers that follow from cells.

use super::assert_told;

const TOWNS: &str = "| Town | Residents | Area (km²) | Founded |\n\
|---|---|---|---|\n\
| Arden | 12,400 | 31 | 1204 |\n\
| Dale | 3,150 | 18 | 1388 |\n\
| Hove | 8,020 | 44 | 1291 |";

#[test]
fn rows_are_compared() {
    assert_told(
        TOWNS,
        &[
            "Arden has more residents than Dale.",
            "Dale has fewer residents than Arden.",
            "Hove covers a larger area than Arden.",
            "Arden was founded earlier than Dale.",
            "Arden has 4,380 more residents than Hove.",
            "Arden has more residents than any other town.",
        ],
        &[
            "Arden has fewer residents than Dale.",
            "Dale has more residents than Hove.",
            "Hove covers a smaller area than Arden.",
            "Dale was founded earlier than Arden.",
            "Arden has 4,480 more residents than Hove.",
            "Arden has 4,380 fewer residents than Hove.",
            "Hove has more residents than any other town.",
            "Dale has as many residents as Hove.",
        ],
    );
}

#[test]
fn superlatives_are_those_of_the_column() {
    assert_told(
        TOWNS,
        &[
            "Arden has the most residents.",
            "Dale has the fewest residents.",
            "The town with the most residents is Arden.",
            "Hove has the largest area.",
            "Arden is the oldest town.",
        ],
        &[
            "Dale has the most residents.",
            "Arden has the fewest residents.",
            "The town with the most residents is Hove.",
            "Arden has the largest area.",
            "Dale is the oldest town.",
        ],
    );
}

#[test]
fn prices_and_unlimited_values_are_compared() {
    assert_told(
        "| Plan | Users | Price per month (EUR) |\n\
|---|---|---|\n\
| Free | 3 | 0 |\n\
| Team | 20 | 12 |\n\
| Business | 100 | 24 |\n\
| Enterprise | unlimited | 60 |",
        &[
            "The cheapest plan is Free.",
            "Enterprise is the most expensive plan.",
            "Team is cheaper than Business.",
            "Business costs more than Team.",
            "Business is twice as expensive as Team.",
            "Business costs 12 EUR more per month than Team.",
            "Enterprise allows the most users.",
        ],
        &[
            "The cheapest plan is Team.",
            "Business is the most expensive plan.",
            "Team is more expensive than Business.",
            "Business costs less than Team.",
            "Enterprise is twice as expensive as Team.",
            "Business allows the most users.",
        ],
    );
}

#[test]
fn columns_are_compared_in_a_row_that_is_measured() {
    assert_told(
        "| Feature | Lite | Pro | Max |\n\
|---|---|---|---|\n\
| Search | ✓ | ✓ | ✓ |\n\
| Users | 1 | 10 | 50 |",
        &["Max allows more users than Pro.", "Max allows the most users.", "Lite allows the fewest users."],
        &["Pro allows more users than Max.", "Lite allows the most users.", "Pro allows the fewest users."],
    );
}

#[test]
fn years_of_a_row_are_compared() {
    assert_told(
        "Sales by year, in EUR million\n\
\n\
| Region | 2021 | 2022 | 2023 |\n\
|---|---|---|---|\n\
| North | 14.2 | 15.1 | 13.8 |\n\
| South | 20.4 | 19.9 | 22.3 |\n\
| Total | 34.6 | 35.0 | 36.1 |",
        &[
            "Sales in the South were higher than in the North in 2023.",
            "The North had its highest sales in 2022.",
            "South sales were highest in 2023.",
            "The South had the highest sales in 2022.",
        ],
        &[
            "Sales in the North were higher than in the South in 2023.",
            "The North had its highest sales in 2023.",
            "South sales were highest in 2022.",
            "The North had the highest sales in 2022.",
        ],
    );
}

#[test]
fn bounds_hold_for_the_value_of_the_cell() {
    assert_told(
        TOWNS,
        &[
            "Arden has more than 10,000 residents.",
            "Dale has fewer than 4,000 residents.",
            "Hove has about 8,000 residents.",
            "Dale covers less than 20 km².",
        ],
        &[
            "Arden has more than 13,000 residents.",
            "Dale has fewer than 3,000 residents.",
            "Hove has about 9,000 residents.",
        ],
    );
}

#[test]
fn a_row_moves_by_as_much_as_its_values_differ() {
    assert_told(
        "Consolidated income, in EUR thousand\n\
\n\
|  | 2019 | 2018 |\n\
|---|---|---|\n\
| Revenue | 84,310 | 79,120 |\n\
| Cost of sales | 51,204 | 52,880 |\n\
| Operating margin | 12.5% | 11.0% |",
        &[
            "Revenue rose by 5,190 in 2019.",
            "Revenue rose by 6.6% in 2019.",
            "Revenue increased by about 7% from 2018 to 2019.",
            "Revenue increased by EUR 5,190 thousand in 2019.",
            "Cost of sales fell by 1,676 in 2019.",
            "Operating margin rose by 1.5 percentage points in 2019.",
        ],
        &[
            "Revenue fell by 5,190 in 2019.",
            "Revenue rose by 5,290 in 2019.",
            "Revenue rose by 8.6% in 2019.",
            "Cost of sales rose by 1,676 in 2019.",
        ],
    );
}
