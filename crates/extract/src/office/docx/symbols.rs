//! Signs of the fonts Symbol and Wingdings, which documents name by their place in the font.

/// First of the places that documents use for the signs of such fonts: those of the private use area.
const FIRST: u32 = 0xF000;

/// Signs of the font Symbol from its places 0x61, 0x41 and 0xA1 on.
const SMALL: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
const CAPITAL: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const SIGNS: &str = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑";

/// Signs of Wingdings that text uses.
const WINGDINGS: [(u32, char); 16] = [
    (0x28, '☎'),
    (0x2A, '✉'),
    (0x4A, '☺'),
    (0x6C, '●'),
    (0x6E, '■'),
    (0x6F, '□'),
    (0x9F, '•'),
    (0xA7, '▪'),
    (0xA8, '☐'),
    (0xDF, '←'),
    (0xE0, '→'),
    (0xE1, '↑'),
    (0xE2, '↓'),
    (0xFB, '✗'),
    (0xFC, '✓'),
    (0xFE, '☑'),
];

/// The sign at a place of a font, as `w:sym` names both; `None` if it is not known.
pub(super) fn symbol(font: &str, place: &str) -> Option<char> {
    let code = u32::from_str_radix(place, 16).ok()?;
    let place = code.checked_sub(FIRST).filter(|place| *place <= 0xFF);
    match (font, place.unwrap_or(code)) {
        ("Symbol", place @ 0..=0xFF) => of_symbol(place),
        (font, place @ 0..=0xFF) if font.starts_with("Wingdings") => {
            WINGDINGS.iter().find(|(other, _)| *other == place).map(|(_, sign)| *sign)
        }
        _ if place.is_some() => None,
        (_, code) => char::from_u32(code).filter(|sign| !sign.is_control()),
    }
}

fn of_symbol(place: u32) -> Option<char> {
    let at = |signs: &str, first: u32| signs.chars().nth(usize::try_from(place.checked_sub(first)?).ok()?);
    match place {
        0x22 => Some('∀'),
        0x24 => Some('∃'),
        0x27 => Some('∋'),
        0x2D => Some('−'),
        0x40 => Some('≅'),
        0x41..=0x5A => at(CAPITAL, 0x41),
        0x5C => Some('∴'),
        0x5E => Some('⊥'),
        0x61..=0x7A => at(SMALL, 0x61),
        0x7E => Some('∼'),
        0x20..=0x7D => char::from_u32(place),
        0xA1.. => at(SIGNS, 0xA1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_found_by_font_and_place() {
        let cases = [
            ("Symbol", "F0B3", Some('≥')),
            ("Symbol", "F0B0", Some('°')),
            ("Symbol", "B1", Some('±')),
            ("Symbol", "F0A3", Some('≤')),
            ("Symbol", "F06D", Some('μ')),
            ("Symbol", "F057", Some('Ω')),
            ("Symbol", "F0E5", Some('∑')),
            ("Symbol", "F0FF", None),
            ("Wingdings", "F0E0", Some('→')),
            ("Wingdings", "F0FC", Some('✓')),
            ("Wingdings", "F021", None),
            ("Arial", "2265", Some('≥')),
            ("Webdings", "F061", None),
            ("Symbol", "x", None),
        ];
        for (font, place, sign) in cases {
            assert_eq!(symbol(font, place), sign, "{font} {place}");
        }
    }
}
