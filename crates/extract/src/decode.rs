//! Decodes bytes to characters.
//!
//! The encoding is determined by a byte order mark, then UTF-8, because text in other encodings is hardly ever valid
//! UTF-8 by accident, then the encoding that the sender or the page declares, then the most likely one by `chardetng`,
//! the detector of a web browser.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::{
    Cause, ExtractError,
    repair::{Control, is_binary, restored},
};
use domain::job::ReadingNotes;

/// Number of bytes that are examined to detect UTF-16 without a mark.
const SAMPLE: usize = 4096;

/// Decodes text in any encoding of the WHATWG Encoding Standard, and restores what a wrong decoding before damaged; byte
/// order marks are left out.
///
/// `declared` is the name of the encoding that sender or document give, if any.
///
/// # Errors
/// `encoding` when no encoding fits, `binary` when the bytes are not text.
pub(super) fn decode(bytes: &[u8], declared: Option<&str>, notes: &mut ReadingNotes) -> Result<String, ExtractError> {
    restored(characters(bytes, declared)?, notes)
}

/// Decodes text as it is.
///
/// # Errors
/// `encoding` when no encoding fits.
pub(super) fn characters(bytes: &[u8], declared: Option<&str>) -> Result<String, ExtractError> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        strictly(encoding, bytes.get(mark..).unwrap_or_default())
    } else if let Some(encoding) = unmarked_utf16(bytes) {
        strictly(encoding, bytes)
    } else {
        eight_bit(bytes, declared)
    }
}

/// Whether bytes with this beginning may be text.
pub(super) fn may_be_text(beginning: &[u8]) -> bool {
    let is_control = |byte: &&u8| byte.is_ascii() && Control::of(char::from(**byte)).is_some();
    Encoding::for_bom(beginning).is_some()
        || unmarked_utf16(beginning).is_some()
        || !is_binary(beginning.iter().filter(is_control).count(), beginning.len())
}

fn strictly(encoding: &'static Encoding, bytes: &[u8]) -> Result<String, ExtractError> {
    encoding.decode_without_bom_handling_and_without_replacement(bytes).map(std::borrow::Cow::into_owned).ok_or_else(
        || {
            ExtractError::new(
                Cause::Encoding,
                format!("the document starts like {} but is not; convert it to UTF-8", encoding.name()),
            )
        },
    )
}

/// UTF-16 whose first characters are mostly of the Latin script.
fn unmarked_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let (pairs, rest) = bytes.get(..SAMPLE).unwrap_or(bytes).as_chunks::<2>();
    if pairs.len() < 2 || !rest.is_empty() {
        return None;
    }
    let is_latin = |high: u8, low: u8| high == 0 && low != 0;
    let little = pairs.iter().filter(|[low, high]| is_latin(*high, *low)).count();
    let big = pairs.iter().filter(|[high, low]| is_latin(*high, *low)).count();
    let most = pairs.len() * 7 / 10;
    match (little > most, big > most) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        (false, false) => None,
    }
}

fn eight_bit(bytes: &[u8], declared: Option<&str>) -> Result<String, ExtractError> {
    // ISO-2022-JP is ASCII with escapes, and so is valid UTF-8 too.
    let declared = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
    let is_escaped = bytes.windows(2).any(|pair| matches!(pair, b"\x1b$" | b"\x1b("));
    if !is_escaped && let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    let by_name = declared.filter(|encoding| *encoding != UTF_8 && encoding.is_ascii_compatible());
    if let Some(text) = by_name.and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(bytes))
    {
        return Ok(text.into_owned());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let likeliest = detector.guess(None, Utf8Detection::Deny);
    let likeliest = if is_western(bytes, likeliest) { WINDOWS_1252 } else { likeliest };
    if let Some(text) = mixed(bytes, likeliest) {
        return Ok(text);
    }
    likeliest.decode_without_bom_handling_and_without_replacement(bytes).map(std::borrow::Cow::into_owned).ok_or_else(
        || {
            let wrong = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
            ExtractError::new(
                Cause::Encoding,
                format!(
                    "the document is not text in one encoding (first doubtful byte at {wrong}); convert it to UTF-8"
                ),
            )
        },
    )
}

/// Most characters beyond ASCII from which the detector is sure.
const MOST_UNSURE: usize = 64;

/// Letters that German, French, Spanish and Nordic words have.
const WESTERN_LETTERS: &str = "äöüßÄÖÜéèêàâçîôùûëïáíóúñåæøÅÆØÉ";

/// Signs that stand behind a unit or a number.
const RAISED: [char; 6] = ['²', '³', '°', '½', '¼', '¾'];

/// Units whose square or cube is a unit as well.
const UNITS: [&str; 9] = ["m", "cm", "mm", "dm", "km", "Nm", "qm", "in", "ft"];

/// Whether the few characters of a text beyond ASCII are those of Western Europe, although another encoding seems as
/// likely: "m³/h" is no Polish. Each is the same letter in both, or a sign that stands where it belongs.
fn is_western(bytes: &[u8], likeliest: &'static Encoding) -> bool {
    let beyond = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if beyond > MOST_UNSURE || [WINDOWS_1252, UTF_8].contains(&likeliest) {
        return false;
    }
    let (western, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    let (other, is_damaged) = likeliest.decode_without_bom_handling(bytes);
    // In encodings of several bytes the characters do not stand side by side.
    let has_same_places = !is_damaged && western.chars().count() == other.chars().count();
    let mut others = other.chars();
    let mut before = String::new();
    let mut has_sign = false;
    western.chars().all(|sign| {
        let same = others.next().filter(|_| has_same_places) == Some(sign);
        let is_raised = RAISED.contains(&sign) && is_behind_unit(&before);
        let is_letter = WESTERN_LETTERS.contains(sign) && (same || !has_same_places);
        has_sign |= is_raised;
        if sign.is_alphanumeric() && !RAISED.contains(&sign) {
            before.push(sign);
        } else {
            before.clear();
        }
        sign.is_ascii() || is_raised || is_letter
    }) && has_sign
}

/// Whether a word is a number or a unit of length.
fn is_behind_unit(word: &str) -> bool {
    let unit = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    !word.is_empty() && unit.is_empty() || UNITS.contains(&unit)
}

/// A text that was put together from several: most of its lines beyond ASCII are UTF-8, the others `other`.
fn mixed(bytes: &[u8], other: &'static Encoding) -> Option<String> {
    let lines = || bytes.split_inclusive(|byte| *byte == b'\n');
    let (all, utf8) = lines()
        .filter(|line| !line.is_ascii())
        .fold((0, 0), |(all, utf8), line| (all + 1, utf8 + usize::from(std::str::from_utf8(line).is_ok())));
    if utf8 * 2 < all || utf8 == 0 {
        return None;
    }
    // The detector saw mostly UTF-8; what is left of such a text is as a rule that of Western Europe.
    let other = if other == UTF_8 { WINDOWS_1252 } else { other };
    lines()
        .map(|line| match std::str::from_utf8(line) {
            Ok(text) => Some(text.into()),
            Err(_) => other
                .decode_without_bom_handling_and_without_replacement(line)
                .or_else(|| WINDOWS_1252.decode_without_bom_handling_and_without_replacement(line)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], declared: Option<&str>) -> Result<String, ExtractError> {
        decode(bytes, declared, &mut ReadingNotes::default())
    }

    fn cause(bytes: &[u8]) -> Cause {
        read(bytes, None).expect_err("not text").cause
    }

    #[test]
    fn byte_order_marks_go() {
        assert_eq!(read(b"\xEF\xBB\xBFhi", None).as_deref(), Ok("hi"));
        assert_eq!(read(b"\xFF\xFEh\0i\0", None).as_deref(), Ok("hi"));
        assert_eq!(read(b"\xFE\xFF\0h\0i", None).as_deref(), Ok("hi"));
        assert_eq!(cause(b"\xFF\xFEh\0i"), Cause::Encoding);
    }

    #[test]
    fn encodings_are_found() {
        let samples = [
            ("UTF-8", "Größe 漢字 😀"),
            ("windows-1252", "Die Größe der Tür beträgt zwei Meter – “genau” fünf Schritte für alle."),
            ("shift_jis", "有給休暇は年に二十八日あります。申請は二週間前までに上司へ提出してください。"),
            ("euc-jp", "有給休暇は年に二十八日あります。申請は二週間前までに上司へ提出してください。"),
            ("iso-2022-jp", "有給休暇は年に二十八日あります。"),
            ("gbk", "每位员工每年享有二十八天带薪休假，请提前两周向主管提出申请。"),
            ("big5", "每位員工每年享有二十八天帶薪休假，請提前兩週向主管提出申請。"),
            ("euc-kr", "모든 직원은 매년 이십팔 일의 유급 휴가를 받습니다. 두 주 전에 신청하세요."),
            ("windows-1251", "Каждому сотруднику полагается двадцать восемь дней оплачиваемого отпуска."),
            ("windows-1250", "Każdy pracownik ma prawo do dwudziestu ośmiu dni płatnego urlopu. Żółć źdźbło."),
        ];
        for (name, text) in samples {
            let encoding = Encoding::for_label(name.as_bytes()).expect(name);
            let (bytes, _, _) = encoding.encode(text);
            assert_eq!(read(&bytes, None).as_deref(), Ok(text), "{name}");
            assert_eq!(read(&bytes, Some(name)).as_deref(), Ok(text), "{name}");
        }
        let utf16: Vec<u8> = "Plain words.".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&utf16, None).as_deref(), Ok("Plain words."));
        let utf16: Vec<u8> = "Plain words.".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&utf16, None).as_deref(), Ok("Plain words."));
        // A declared encoding counts only if the bytes are possible in it.
        assert_eq!(read("é".as_bytes(), Some("iso-8859-1")).as_deref(), Ok("é"));
    }

    #[test]
    fn few_signs_of_western_europe_are_no_polish() {
        for text in ["Room;m³/h\nHall;12,500\n", "Räume;m³/h;20°\nHalle;12.500;1½\n", "3 m²", "4½ tins"] {
            let (bytes, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(read(&bytes, None).as_deref(), Ok(text));
        }
        let polish = Encoding::for_label(b"windows-1250").expect("known");
        for text in ["Cena: 12 zł", "mały dom, 3 zł", "stał tam mąż"] {
            let (bytes, _, _) = polish.encode(text);
            assert!(!is_western(&bytes, polish), "{text}");
        }
    }

    #[test]
    fn lines_of_two_encodings_are_read_each_in_its_own() {
        let mut bytes = "Zürich liegt am See.\nGenève aussi.\n".as_bytes().to_vec();
        bytes.extend_from_slice(b"M\xfcnchen nicht.\n");
        assert_eq!(read(&bytes, None).as_deref(), Ok("Zürich liegt am See.\nGenève aussi.\nMünchen nicht.\n"));
    }

    #[test]
    fn what_is_not_text_is_called_so() {
        assert_eq!(cause(b"a\0b"), Cause::Binary);
        assert_eq!(cause(&[1, 2, 3, 200, 5, 6, 7, 14, 15, 16]), Cause::Binary);
        assert_eq!(read(b"", None).as_deref(), Ok(""));
        assert_eq!(read(b"\x1b[1mbold\x1b[0m", None).as_deref(), Ok("\x1b[1mbold\x1b[0m"));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(text) = read(&bytes, None) {
                prop_assert!(!text.contains('\0'));
            }
        }

        #[test]
        fn utf8_is_left_alone(text in "[^\\x00-\\x1f\\x7f-\\x9f\\u{feff}]{0,60}") {
            prop_assert_eq!(read(text.as_bytes(), Some("windows-1252")), Ok(text));
        }
    }
}
