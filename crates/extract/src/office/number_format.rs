//! The formats of cells with numbers (ISO/IEC 29500-1, 18.8.30 and 18.8.31), as far as they say how a value reads:
//! percentages, currencies and units, leading zeros, times. A number in any other format is written as it is stored.

/// The format of a cell.
#[derive(Clone, Debug)]
pub(super) enum Format {
    /// None, or one that is not known.
    General,
    Number(NumberFormat),
    Time(TimeFormat),
}

/// The smallest part of a date that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Date {
    Year,
    Month,
    Day,
}

/// The parts of a time that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeFormat {
    pub(super) date: Option<Date>,
    /// Whether hours are counted beyond a day.
    pub(super) is_span: bool,
    pub(super) has_time: bool,
    pub(super) has_seconds: bool,
}

/// The sections for positive and negative numbers and for zero, as far as there are any.
#[derive(Clone, Debug)]
pub(super) struct NumberFormat(Vec<Section>);

#[derive(Clone, Debug, Default)]
struct Section {
    signs: Vec<Sign>,
    /// The number is multiplied by a hundred.
    is_percentage: bool,
    is_grouped: bool,
    /// By how many thousands it is divided.
    thousands: u32,
}

/// A sign of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// A place for a digit before the point; `true` where zeros are shown.
    Digit(bool),
    /// The same after the point.
    Decimal(bool),
    Point,
    Literal(char),
}

/// Most decimal places; a number has no more digits than that.
const MOST_DECIMALS: usize = 30;

/// Most sections that are for numbers.
const MOST_SECTIONS: usize = 3;

impl Format {
    /// Reads a format's code.
    pub(super) fn of(code: &str) -> Self {
        if let Some(format) = TimeFormat::of(code) {
            return Self::Time(format);
        }
        let sections: Option<Vec<Section>> = sections_of(code).take(MOST_SECTIONS).map(Section::of).collect();
        match sections {
            Some(sections) if sections.iter().any(|section| !section.signs.is_empty()) => {
                Self::Number(NumberFormat(sections))
            }
            _ => Self::General,
        }
    }
}

impl TimeFormat {
    /// `None` if the code is none of a time.
    fn of(code: &str) -> Option<Self> {
        let section = sections_of(code).next()?;
        let (bare, brackets) = bare_letters(section);
        let is_span = brackets.iter().any(|inner| matches!(inner.as_str(), "h" | "hh" | "m" | "mm" | "s" | "ss"));
        // Letters that are no quoted words, and no placeholders of numbers with them.
        if bare.contains(['0', '#', '?', '@', 'e']) && !bare.contains("ss.0") || bare.contains("general") {
            return None;
        }
        let has_hours = bare.contains('h') || is_span;
        let has_seconds = bare.contains('s');
        let date = match (bare.contains('d'), bare.contains('m') && is_month(&bare), bare.contains('y')) {
            (true, ..) => Some(Date::Day),
            (_, true, _) => Some(Date::Month),
            (.., true) => Some(Date::Year),
            _ => None,
        };
        let has_time = has_hours || has_seconds;
        let date = date.filter(|_| !is_span);
        (date.is_some() || has_time).then_some(Self { date, is_span, has_time, has_seconds })
    }
}

/// Whether an `m` means months: minutes stand after hours or before seconds.
fn is_month(bare: &str) -> bool {
    let letters: Vec<char> = bare.chars().filter(|sign| matches!(sign, 'y' | 'm' | 'd' | 'h' | 's')).collect();
    let runs: Vec<char> = letters.chunk_by(PartialEq::eq).filter_map(|run| run.first().copied()).collect();
    runs.iter().enumerate().any(|(place, run)| {
        let before = place.checked_sub(1).and_then(|before| runs.get(before));
        *run == 'm' && before != Some(&'h') && runs.get(place + 1) != Some(&'s')
    })
}

/// A section in small letters without its literal words, and what stands in brackets.
fn bare_letters(section: &str) -> (String, Vec<String>) {
    let (mut bare, mut brackets) = (String::new(), Vec::new());
    let mut signs = section.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '"' => signs.by_ref().take_while(|sign| *sign != '"').for_each(drop),
            '[' => brackets.push(signs.by_ref().take_while(|sign| *sign != ']').collect::<String>().to_lowercase()),
            '\\' | '_' | '*' => drop(signs.next()),
            sign => bare.extend(sign.to_lowercase()),
        }
    }
    (bare, brackets)
}

/// The sections of a code.
fn sections_of(code: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    code.split(move |sign| {
        let ends = sign == ';' && !is_quoted && !is_escaped;
        is_quoted ^= sign == '"' && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped && !is_quoted;
        ends
    })
}

impl Section {
    /// `None` if it holds anything that is not known here.
    fn of(section: &str) -> Option<Self> {
        let mut read = Self::default();
        let mut signs = section.chars().peekable();
        let mut has_point = false;
        while let Some(sign) = signs.next() {
            match sign {
                '0' | '#' | '?' if has_point => read.signs.push(Sign::Decimal(sign == '0')),
                '0' | '#' | '?' => {
                    read.is_grouped |= read.thousands > 0;
                    read.thousands = 0;
                    read.signs.push(Sign::Digit(sign == '0'));
                }
                ',' if read.has_digits() => read.thousands += 1,
                '.' if !has_point => {
                    has_point = true;
                    read.signs.push(Sign::Point);
                }
                '%' => {
                    read.is_percentage = true;
                    read.signs.push(Sign::Literal('%'));
                }
                '"' => read.signs.extend(signs.by_ref().take_while(|sign| *sign != '"').map(Sign::Literal)),
                '[' => {
                    let inner: String = signs.by_ref().take_while(|sign| *sign != ']').collect();
                    read.signs.extend(in_brackets(&inner)?.chars().map(Sign::Literal));
                }
                '\\' => read.signs.push(Sign::Literal(signs.next()?)),
                // As wide as the next sign, or filled with it.
                '_' => {
                    signs.next()?;
                    read.signs.push(Sign::Literal(' '));
                }
                '*' => {
                    signs.next()?;
                }
                sign if sign.is_ascii_alphanumeric() || matches!(sign, '/' | '@' | '.') => return None,
                sign => read.signs.push(Sign::Literal(sign)),
            }
        }
        Some(read)
    }

    fn has_digits(&self) -> bool {
        self.signs.iter().any(|sign| matches!(sign, Sign::Digit(_)))
    }

    /// A number that is not negative.
    fn shown(&self, number: f64) -> String {
        let decimals: Vec<bool> = self
            .signs
            .iter()
            .filter_map(|sign| if let Sign::Decimal(zero) = sign { Some(*zero) } else { None })
            .collect();
        let factor = if self.is_percentage { 100.0 } else { 1.0 };
        let scaled = number * factor / 1000_f64.powi(i32::try_from(self.thousands).unwrap_or(0));
        let (whole, fraction) = digits_of(scaled, decimals.len().min(MOST_DECIMALS));
        let mut whole = self.whole(&whole).into_iter();
        let mut fraction = shown_decimals(&fraction, &decimals).into_iter();
        let has_fraction = fraction.len() > 0 || decimals.is_empty();
        let mut shown = String::new();
        for sign in &self.signs {
            match sign {
                Sign::Digit(_) => shown.extend(whole.next()),
                Sign::Decimal(_) => shown.extend(fraction.next()),
                Sign::Point if has_fraction => shown.push('.'),
                Sign::Point => {}
                Sign::Literal(sign) => shown.push(*sign),
            }
        }
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The digits before the point by their places, all that have no place of their own at the first one.
    fn whole(&self, digits: &str) -> Vec<String> {
        let places: Vec<bool> = self
            .signs
            .iter()
            .filter_map(|sign| if let Sign::Digit(zero) = sign { Some(*zero) } else { None })
            .collect();
        let digits: Vec<char> = digits.chars().collect();
        let mut left = digits.as_slice();
        let mut written = 0_usize;
        let mut by_place: Vec<String> = Vec::with_capacity(places.len());
        for (rank, is_zero_shown) in places.iter().rev().enumerate() {
            let mut text = String::new();
            let is_first = rank + 1 == places.len();
            while let Some((digit, rest)) = left.split_last() {
                text.insert(0, *digit);
                (left, written) = (rest, written + 1);
                if self.is_grouped && written.is_multiple_of(3) && !left.is_empty() {
                    text.insert(0, ',');
                }
                if !is_first {
                    break;
                }
            }
            if text.is_empty() && *is_zero_shown {
                text.push('0');
            }
            by_place.push(text);
        }
        by_place.reverse();
        by_place
    }
}

/// The digits of a number before and after its point, so many; none before it for a number below 1.
fn digits_of(number: f64, decimals: usize) -> (String, String) {
    // A half is rounded up, though it may be stored as a little less.
    let rounded = format!("{:.decimals$}", number * (1.0 + 2.0 * f64::EPSILON));
    let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
    (whole.trim_start_matches('0').to_owned(), fraction.to_owned())
}

/// The digits after the point without zeros at the end that are not shown.
fn shown_decimals(digits: &str, places: &[bool]) -> Vec<char> {
    let mut digits: Vec<char> = digits.chars().collect();
    while digits.last() == Some(&'0') && places.get(digits.len() - 1) == Some(&false) {
        digits.pop();
    }
    digits
}

/// The text that stands for a part in brackets: the sign of a currency. `None` for a condition.
fn in_brackets(inner: &str) -> Option<&str> {
    if let Some(currency) = inner.strip_prefix('$') {
        return Some(currency.split_once('-').map_or(currency, |(sign, _)| sign));
    }
    // A colour; a condition holds other signs.
    inner.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == ' ').then_some("")
}

impl NumberFormat {
    /// A number as this format shows it.
    pub(super) fn shown(&self, number: f64) -> String {
        let (section, has_sign) = match (self.0.as_slice(), number) {
            ([_, second, ..], ..0.0) => (Some(second), false),
            ([_, _, third], 0.0) => (Some(third), false),
            (sections, _) => (sections.first(), number < 0.0),
        };
        let shown = section.map(|section| section.shown(number.abs())).unwrap_or_default();
        // A small number may be shown as zero, which has no sign.
        let is_zero = !shown.contains(|sign: char| matches!(sign, '1'..='9'));
        if has_sign && !is_zero { format!("-{shown}") } else { shown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_their_formats_say() {
        let cases = [
            ("0.0%", -0.0974, "-9.7%"),
            ("0%", 0.25, "25%"),
            ("0.00%", 0.105, "10.50%"),
            ("#,##0.00 \"€\"", 18_600.0, "18,600.00 €"),
            ("[$€-407] #,##0.00", 99.0, "€ 99.00"),
            ("[$$-409]#,##0.00", 1999.9, "$1,999.90"),
            ("[$£-809]#,##0", 1500.0, "£1,500"),
            ("€ 0.00", 1.95, "€ 1.95"),
            ("000000", 417.0, "000417"),
            ("000-00-000", 12_345_678.0, "123-45-678"),
            ("0.0\" kg\"", 72.4, "72.4 kg"),
            ("0\"°C\"", -7.0, "-7°C"),
            ("#,##0.0,\"K\"", 1_234_567.0, "1,234.6K"),
            ("#,##0.00;(#,##0.00)", -4520.5, "(4,520.50)"),
            ("#,##0.00;[Red]-#,##0.00", -4520.5, "-4,520.50"),
            ("_-* #,##0.00 \"€\"_-;-* #,##0.00 \"€\"_-;_-* \"-\"??_-;_-@_-", 0.0, "-"),
            ("_-* #,##0.00 \"€\"_-;-* #,##0.00 \"€\"_-;_-* \"-\"??_-;_-@_-", 12.0, "12.00 €"),
            ("\"Yes\";;\"No\"", 0.0, "No"),
            ("0.##", 2.5, "2.5"),
            ("0.##", 2.0, "2"),
            ("#.00", 0.5, ".50"),
            ("0.00", 0.125, "0.13"),
            ("0.00", 1.005, "1.01"),
            ("0", -0.2, "0"),
            ("0", 12_345_678_901.0, "12345678901"),
            ("\\;0\\\"", 3.0, ";3\""),
        ];
        for (code, number, expected) in cases {
            let Format::Number(format) = Format::of(code) else { panic!("{code} is no format of numbers") };
            assert_eq!(format.shown(number), expected, "{code} {number}");
        }
    }

    #[test]
    fn other_formats_leave_numbers_as_they_are() {
        for code in ["General", "", "@", "# ?/?", "0.00E+00", "[>=90]\"A\";[>=75]\"B\";\"C\"", "0.0.0", "\\", "_", "0x"]
        {
            assert!(matches!(Format::of(code), Format::General), "{code}");
        }
        assert!(matches!(Format::of("[h]:mm"), Format::Time(TimeFormat { is_span: true, .. })));
        assert!(matches!(Format::of("mm:ss.0"), Format::Time(TimeFormat { date: None, .. })));
    }
}
