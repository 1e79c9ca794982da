//! The values of the cells of a workbook, as programs show them.

use calamine::{DataType, ExcelDateTime};

use super::number_format::{Date, Format, TimeFormat};

/// The text of a value in the format of its cell.
pub(super) fn text_of(value: &impl DataType, format: &Format) -> String {
    if let Some(time) = value.get_datetime() {
        return match format {
            Format::Time(format) => time_of(&time, *format),
            _ => time_of(&time, usual(&time)),
        };
    }
    if let (Format::Number(format), Some(number)) = (format, value.get_float()) {
        return format.shown(number);
    }
    let text = value.get_string().or_else(|| value.get_datetime_iso()).or_else(|| value.get_duration_iso());
    let text = text.map(str::to_owned);
    text.or_else(|| value.get_int().map(|number| number.to_string()))
        .or_else(|| value.get_float().map(written))
        .or_else(|| value.get_bool().map(|value| value.to_string()))
        .unwrap_or_default()
}

/// A number with the 15 digits that programs keep: `0.3`, not `0.30000000000000004`.
fn written(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().unwrap_or(number).to_string()
}

/// The format of a time of which nothing more is known.
fn usual(time: &ExcelDateTime) -> TimeFormat {
    if time.is_duration() {
        return TimeFormat { date: None, is_span: true, has_time: true, has_seconds: false };
    }
    let has_time = time.as_f64().fract() != 0.0;
    let date = if time.as_f64() < 1.0 && has_time { None } else { Some(Date::Day) };
    TimeFormat { date, is_span: false, has_time, has_seconds: true }
}

/// A date in ISO 8601, a time of day, both, or a duration in hours.
fn time_of(time: &ExcelDateTime, format: TimeFormat) -> String {
    if format.is_span {
        return span_of(time.as_f64(), format.has_seconds);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = match format.date {
        Some(Date::Day) => format!("{year:04}-{month:02}-{day:02}"),
        Some(Date::Month) => format!("{year:04}-{month:02}"),
        Some(Date::Year) => format!("{year:04}"),
        None => String::new(),
    };
    // Midnight is no time of day where a date says it all.
    let has_clock = format.has_time && (format.date.is_none() || (hour, minute, second) != (0, 0, 0));
    let clock = match has_clock {
        true if format.has_seconds || second != 0 => format!("{hour:02}:{minute:02}:{second:02}"),
        true => format!("{hour:02}:{minute:02}"),
        false => String::new(),
    };
    format!("{date} {clock}").trim().to_owned()
}

/// A duration of so many days, in hours, minutes and seconds, if there are any: `38:30`.
fn span_of(days: f64, has_seconds: bool) -> String {
    const SECONDS_A_DAY: f64 = 86_400.0;
    let all = (days.abs() * SECONDS_A_DAY).round();
    let sign = if days < 0.0 { "-" } else { "" };
    let (hours, minutes, seconds) = ((all / 3600.0).floor(), (all % 3600.0 / 60.0).floor(), all % 60.0);
    let seconds = if has_seconds || seconds > 0.0 { format!(":{seconds:02}") } else { String::new() };
    format!("{sign}{hours}:{minutes:02}{seconds}")
}

#[cfg(test)]
mod tests {
    use calamine::{Data, ExcelDateTimeType};

    use super::*;

    fn shown(value: &Data, code: &str) -> String {
        text_of(value, &Format::of(code))
    }

    #[test]
    fn times_are_shown_as_far_as_their_format_goes() {
        let time = |value| Data::DateTime(ExcelDateTime::new(value, ExcelDateTimeType::DateTime, false));
        let cases = [
            (46_090.0, "dd.mm.yyyy", "2026-03-09"),
            (46_090.0, "General", "2026-03-09"),
            (46_082.0, "mmm yy", "2026-03"),
            (46_082.0, "yyyy", "2026"),
            (46_090.5, "yyyy\\-mm\\-dd hh:mm", "2026-03-09 12:00"),
            (46_090.0, "yyyy-mm-dd h:mm:ss", "2026-03-09"),
            (46_090.5, "d/m/yy", "2026-03-09"),
            (46_090.5, "h:mm AM/PM", "12:00"),
            (0.3125, "hh:mm", "07:30"),
            (0.0, "h:mm", "00:00"),
            (0.3125, "[$-409]h:mm:ss", "07:30:00"),
            (0.25, "General", "06:00:00"),
            (1.604_166_666_7, "[h]:mm", "38:30"),
            (-0.5, "[hh]:mm:ss", "-12:00:00"),
        ];
        for (value, code, expected) in cases {
            assert_eq!(shown(&time(value), code), expected, "{value} {code}");
        }
        let span = Data::DateTime(ExcelDateTime::new(1.5, ExcelDateTimeType::TimeDelta, false));
        assert_eq!(shown(&span, "General"), "36:00");
    }

    #[test]
    fn other_values_are_written_out() {
        assert_eq!(shown(&Data::Float(0.1 + 0.2), "General"), "0.3");
        assert_eq!(shown(&Data::Float(-0.0974), "0.0%"), "-9.7%");
        assert_eq!(shown(&Data::Int(7), "0.00"), "7");
        assert_eq!(shown(&Data::Bool(true), "0%"), "true");
        assert_eq!(shown(&Data::String("a".to_owned()), "0%"), "a");
    }
}
