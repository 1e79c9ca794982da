//! The delay that a server requests before the next call.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Parses `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). A date is counted from the `Date` of the
/// same reply, so that the clocks of both sides need not agree; a server that has a clock sends it. Fractions of a
/// second are not part of the standard, but model servers send them. A date in the past is no delay.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let sent = httpdate::parse_http_date(text(DATE)?).ok()?;
    Some(until.duration_since(sent).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str, date: Option<&str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().expect("a header"));
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a header"));
        }
        retry_after(&headers)
    }

    #[test]
    fn seconds_are_read() {
        assert_eq!(read("7", None), Some(Duration::from_secs(7)));
        assert_eq!(read(" 7 ", Some("Wed, 21 Oct 2026 07:28:00 GMT")), Some(Duration::from_secs(7)));
        assert_eq!(read("0.5", None), Some(Duration::from_millis(500)));
        for unreadable in ["soon", "-1", "NaN", "1e30", "", "Wed, 21 Oct 2026"] {
            assert_eq!(read(unreadable, Some("Wed, 21 Oct 2026 07:28:00 GMT")), None, "{unreadable}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn dates_are_read_in_the_three_forms_of_the_standard() {
        let sent = Some("Wed, 21 Oct 2026 07:26:30 GMT");
        for until in ["Wed, 21 Oct 2026 07:28:00 GMT", "Wednesday, 21-Oct-26 07:28:00 GMT", "Wed Oct 21 07:28:00 2026"]
        {
            assert_eq!(read(until, sent), Some(Duration::from_secs(90)), "{until}");
        }
        assert_eq!(read("Wed, 21 Oct 2026 07:26:00 GMT", sent), Some(Duration::ZERO), "it has passed");
        assert_eq!(read("Wed, 21 Oct 2026 07:28:00 GMT", None), None);
        assert_eq!(read("Wed, 21 Oct 2026 07:28:00 GMT", Some("now")), None);
    }
}
