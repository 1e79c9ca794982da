//! Pagination of lists.
//!
//! A list is fetched with one row more than its page holds. If that row exists, a cursor names the last row of the
//! page, and the next page starts after it.

use super::{fields::Faults, problem::ApiError};

/// Largest number of rows per page.
pub(super) const MAX_LIMIT: i64 = 200;

/// Number of rows per page if a request does not specify it.
pub(super) const fn default_limit() -> i64 {
    50
}

/// Number of rows to fetch for a page of `limit`.
///
/// # Errors
/// 422 if a page may not have that many rows.
pub(super) fn rows_to_fetch(limit: i64) -> Result<i64, ApiError> {
    let mut faults = Faults::default();
    faults.range("?limit", limit, 1, MAX_LIMIT);
    faults.finish()?;
    Ok(limit + 1)
}

/// Converts the position in a list from which rows are returned.
///
/// # Errors
/// 422 if the position exceeds the longest possible list.
pub(super) fn position(name: &str, from: u32) -> Result<i32, ApiError> {
    i32::try_from(from).map_err(|_| ApiError::invalid_field(name, format!("must lie between 0 and {}", i32::MAX)))
}

/// Truncates the fetched rows to a page of `limit`. If there are more rows, returns the cursor that `name` makes from
/// the last row of the page.
pub(super) fn next_cursor<T>(rows: &mut Vec<T>, limit: i64, name: impl Fn(&T) -> String) -> Option<String> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if rows.len() <= limit {
        return None;
    }
    rows.truncate(limit);
    rows.last().map(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_last_row_if_more_rows_follow() {
        for (fetched, limit, kept, cursor) in [(0, 3, 0, None), (3, 3, 3, None), (4, 3, 3, Some("2"))] {
            let mut rows: Vec<i32> = (0..fetched).collect();
            assert_eq!(next_cursor(&mut rows, limit, ToString::to_string).as_deref(), cursor, "{fetched} of {limit}");
            assert_eq!(rows.len(), kept);
        }
    }

    #[test]
    fn a_page_has_a_size() {
        assert_eq!(rows_to_fetch(200).expect("allowed"), 201);
        assert!(rows_to_fetch(0).is_err() && rows_to_fetch(201).is_err());
    }
}
