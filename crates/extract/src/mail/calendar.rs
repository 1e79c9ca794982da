//! Events of invitations (iCalendar, RFC 5545).

/// Most events of an invitation.
const MOST_EVENTS: usize = 100;

/// The events of a calendar, each as lines that name their values.
pub(super) fn events(calendar: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut open: Option<Vec<String>> = None;
    let (mut is_cancelled, mut is_alarm) = (false, false);
    for line in unfolded(calendar) {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, parameters) = name.split_once(';').unwrap_or((name, ""));
        match (name.to_ascii_uppercase().as_str(), value.trim()) {
            ("METHOD", "CANCEL") => is_cancelled = true,
            ("BEGIN", "VEVENT") => open = Some(Vec::new()),
            ("END", "VEVENT") if events.len() < MOST_EVENTS => {
                if let Some(mut lines) = open.take() {
                    lines.extend(is_cancelled.then(|| "Status: cancelled".to_owned()));
                    events.push(lines.join("\n"));
                }
            }
            // It has a description of its own.
            ("BEGIN", "VALARM") => is_alarm = true,
            ("END", "VALARM") => is_alarm = false,
            (name, value) => {
                if let Some(lines) = open.as_mut().filter(|_| !is_alarm) {
                    lines.extend(line_of(name, parameters, value));
                }
            }
        }
    }
    events
}

/// The lines of a calendar, those that were folded whole again.
fn unfolded(calendar: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in calendar.lines() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some(above)) => above.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// The line of a property that people read.
fn line_of(name: &str, parameters: &str, value: &str) -> Option<String> {
    let zone = parameters.split(';').find_map(|parameter| parameter.strip_prefix("TZID="));
    let (label, value) = match name {
        "SUMMARY" => ("Event", unescaped(value)),
        "DTSTART" => ("Start", time(value, zone)),
        "DTEND" => ("End", time(value, zone)),
        "LOCATION" => ("Location", unescaped(value)),
        "DESCRIPTION" => ("Description", unescaped(value)),
        "STATUS" if value == "CANCELLED" => ("Status", "cancelled".to_owned()),
        _ => return None,
    };
    let value = value.trim();
    (!value.is_empty()).then(|| format!("{label}: {value}"))
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut signs = value.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some('n' | 'N') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            },
            sign => text.push(sign),
        }
    }
    text
}

/// A date or a time, `20260319T133000Z`, as people read it, with its zone.
fn time(value: &str, zone: Option<&str>) -> String {
    let written = || {
        let date = format!("{}-{}-{}", value.get(..4)?, value.get(4..6)?, value.get(6..8)?);
        let Some(clock) = value.get(8..).and_then(|clock| clock.strip_prefix('T')) else { return Some(date) };
        let zone = if clock.ends_with('Z') { Some("UTC") } else { zone.map(|zone| zone.trim_matches('"')) };
        let zone = zone.map(|zone| format!(" ({zone})")).unwrap_or_default();
        Some(format!("{date} {}:{}{zone}", clock.get(..2)?, clock.get(2..4)?))
    };
    written().unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_name_their_values() {
        let calendar = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY;LANGUAGE=en:Paint the\r\n  shed\r\nDTSTART;TZID=Europe/Oslo:20260319T133000\r\nDTEND:20260319T140000Z\r\nLOCATION:Gate C\\, hall 3\r\nDESCRIPTION:Bring:\\noil\r\nUID:1\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20260401\r\nDTEND:soon\r\nSTATUS:CANCELLED\r\nEND:VEVENT\r\nSUMMARY:no event\r\nEND:VCALENDAR\r\n";
        let expected = [
            "Event: Paint the shed\nStart: 2026-03-19 13:30 (Europe/Oslo)\nEnd: 2026-03-19 14:00 (UTC)\nLocation: Gate C, hall 3\nDescription: Bring:\noil",
            "Start: 2026-04-01\nEnd: soon\nStatus: cancelled",
        ];
        assert_eq!(events(calendar), expected);
        assert_eq!(events("METHOD:CANCEL\nBEGIN:VEVENT\nEND:VEVENT"), ["Status: cancelled"]);
        assert_eq!(events("END:VEVENT\nnone").len(), 0);
        let alarm = "BEGIN:VEVENT\nSUMMARY:Oil\nBEGIN:VALARM\nDESCRIPTION:Reminder\nEND:VALARM\nEND:VEVENT";
        assert_eq!(events(alarm), ["Event: Oil"]);
    }
}
