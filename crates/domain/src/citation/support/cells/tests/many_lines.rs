//! Claims about all rows or columns, about some and about none.

use super::assert_told;

#[test]
fn all_rows_and_none_are_as_their_cells_say() {
    assert_told(
        "| Plan | SSO | API | Users |\n\
|---|---|---|---|\n\
| Free | no | yes | 3 |\n\
| Team | no | yes | 20 |\n\
| Business | yes | yes | 100 |\n\
| Enterprise | yes | yes | unlimited |",
        &[
            "All plans include the API.",
            "Every plan includes the API.",
            "Both Business and Enterprise include SSO.",
            "Neither Free nor Team includes SSO.",
            "Not all plans include SSO.",
            "Some plans do not include SSO.",
        ],
        &[
            "All plans include SSO.",
            "No plan includes the API.",
            "None of the plans includes SSO.",
            "Neither Business nor Enterprise includes SSO.",
            "Neither Team nor Business includes SSO.",
            "Both Team and Business include SSO.",
            "All plans except Team include SSO.",
            "Not all plans include the API.",
            "Some plans do not include the API.",
        ],
    );
}

#[test]
fn all_columns_and_none_are_as_their_cells_say() {
    assert_told(
        "| Feature | Lite | Pro | Max |\n\
|---|---|---|---|\n\
| Offline mode | ✗ | ✓ | ✓ |\n\
| Search | ✓ | ✓ | ✓ |\n\
| Phone support | – | – | ✓ |",
        &[
            "All editions include search.",
            "Every edition has search.",
            "Neither Lite nor Pro includes phone support.",
            "Not all editions have an offline mode.",
        ],
        &["All editions include phone support.", "Every edition has an offline mode.", "No edition includes search."],
    );
}

#[test]
fn lines_may_be_left_out() {
    assert_told(
        "| Recipe | Time | Vegetarian |\n\
|---|---|---|\n\
| Lentil soup | 45 min | yes |\n\
| Beef stew | 180 min | no |\n\
| Pancakes | 25 min | yes |",
        &[
            "All recipes except beef stew are vegetarian.",
            "Beef stew takes three hours.",
            "Pancakes are the fastest recipe.",
        ],
        &[
            "All recipes are vegetarian.",
            "All recipes except pancakes are vegetarian.",
            "Lentil soup takes three hours.",
            "Beef stew is the fastest recipe.",
        ],
    );
}

#[test]
fn days_lie_in_the_range_of_a_column_or_row() {
    assert_told(
        "| Branch | Mon–Fri | Sat | Sun |\n\
|---|---|---|---|\n\
| Central | 9–20 | 10–18 | closed |\n\
| Harbour | 10–18 | 10–14 | closed |",
        &[
            "Central is open from 9 to 20 on Tuesday.",
            "Central opens at 9 on Wednesdays.",
            "Harbour is closed on Sundays.",
            "All branches are closed on Sunday.",
            "No branch is open on Sunday.",
        ],
        &[
            "Central is closed on Tuesday.",
            "Central is open from 10 to 18 on Tuesday.",
            "Harbour is open on Sunday.",
            "All branches are open on Sunday.",
        ],
    );
}
