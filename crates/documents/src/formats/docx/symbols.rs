//! Characters of the fonts Symbol and Wingdings, whose codes are no Unicode: a comparison sign, a ticked box.

/// The characters of Symbol from code 0x20, by Adobe's Symbol encoding; a space for a code without one.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// The same from code 0xA0.
const SYMBOL_HIGH: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";
/// Boxes, ticks, bullets and arrows of Wingdings, by their codes.
const WINGDINGS: [(u32, char); 27] = [
    (0x46, '☞'),
    (0x4a, '☺'),
    (0x4c, '☹'),
    (0x6c, '●'),
    (0x6d, '❍'),
    (0x6e, '■'),
    (0x6f, '□'),
    (0x70, '□'),
    (0x71, '❑'),
    (0x72, '❒'),
    (0x74, '⧫'),
    (0x75, '◆'),
    (0x76, '❖'),
    (0x77, '⬥'),
    (0x9f, '•'),
    (0xa7, '▪'),
    (0xa8, '◻'),
    (0xd8, '➢'),
    (0xdf, '←'),
    (0xe0, '→'),
    (0xe1, '↑'),
    (0xe2, '↓'),
    (0xf0, '⇨'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
];
/// Files add this to a code of such a font.
const PRIVATE: u32 = 0xf000;

/// A font whose codes are no Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbols {
    Symbol,
    Wingdings,
}

impl Symbols {
    /// By the font's name.
    pub(super) fn of(font: &str) -> Option<Self> {
        match font {
            "Symbol" => Some(Self::Symbol),
            "Wingdings" => Some(Self::Wingdings),
            _ => None,
        }
    }

    /// The character of a code, with or without the private offset.
    pub(super) fn character(self, code: u32) -> Option<char> {
        let code = code.checked_sub(PRIVATE).unwrap_or(code);
        let known = match self {
            Self::Symbol if code >= 0xa0 => SYMBOL_HIGH.chars().nth((code - 0xa0) as usize),
            Self::Symbol => SYMBOL.chars().nth(code.checked_sub(0x20)? as usize),
            Self::Wingdings => WINGDINGS.iter().find(|(own, _)| *own == code).map(|(_, sign)| *sign),
        };
        known.filter(|sign| *sign != ' ' || code == 0x20)
    }

    /// A text in this font; codes that are not known are kept.
    pub(super) fn text(self, text: &str) -> String {
        text.chars().map(|sign| self.character(u32::from(sign)).unwrap_or(sign)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_characters_that_the_font_shows() {
        for (font, code, expected) in [
            ("Symbol", 0xf0b3, Some('≥')),
            ("Symbol", 0xa3, Some('≤')),
            ("Symbol", 0xf0fe, Some('⎭')),
            ("Symbol", 0x7e, Some('∼')),
            ("Symbol", 0xf06d, Some('μ')),
            ("Symbol", 0xf0f0, None),
            ("Symbol", 0x1f, None),
            ("Wingdings", 0xf0fe, Some('☑')),
            ("Wingdings", 0xf0a8, Some('◻')),
            ("Wingdings", 0xf041, None),
        ] {
            assert_eq!(Symbols::of(font).expect("a font").character(code), expected, "{font} {code:x}");
        }
        assert_eq!(Symbols::of("Arial"), None);
        assert_eq!(Symbols::Symbol.text("a\u{f0b3}"), "α≥");
    }
}
