//! Raised numbers and letters, such as powers and marks of notes: they are none of the word before them.

/// The digits as superscripts.
const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
/// The letters from `a` on; there is none for `q`.
const LETTERS: [char; 26] = [
    'ᵃ', 'ᵇ', 'ᶜ', 'ᵈ', 'ᵉ', 'ᶠ', 'ᵍ', 'ʰ', 'ⁱ', 'ʲ', 'ᵏ', 'ˡ', 'ᵐ', 'ⁿ', 'ᵒ', 'ᵖ', 'q', 'ʳ', 'ˢ', 'ᵗ', 'ᵘ', 'ᵛ', 'ʷ',
    'ˣ', 'ʸ', 'ᶻ',
];

/// Whether a sign is a raised digit or letter.
pub(crate) fn is_raised(sign: char) -> bool {
    DIGITS.contains(&sign) || (LETTERS.contains(&sign) && sign != 'q')
}

/// A raised text as superscript characters; none unless it is numbers and single letters: `th` is an ending.
pub(crate) fn raised(text: &str) -> Option<String> {
    let is_letter = |sign: char| sign.is_ascii_lowercase();
    let is_word = text.as_bytes().windows(2).any(|pair| pair.iter().all(|sign| is_letter(char::from(*sign))));
    let high: Option<String> = text.chars().map(high).collect();
    high.filter(|_| !is_word && text.contains(|sign: char| is_letter(sign) || sign.is_ascii_digit()))
}

fn high(sign: char) -> Option<char> {
    match sign {
        '0'..='9' => DIGITS.get(sign as usize - '0' as usize).copied(),
        'a'..='z' => LETTERS.get(sign as usize - 'a' as usize).copied(),
        '-' | '\u{2212}' => Some('\u{207b}'),
        '+' => Some('\u{207a}'),
        '(' => Some('\u{207d}'),
        ')' => Some('\u{207e}'),
        ',' | ';' | ' ' => Some(sign),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::raised;

    #[test]
    fn numbers_and_single_letters_are_superscripts() {
        for (text, expected) in [
            ("2", Some("\u{b2}")),
            ("-12", Some("\u{207b}\u{b9}\u{b2}")),
            ("1, 2", Some("\u{b9}, \u{b2}")),
            ("3)", Some("\u{b3}\u{207e}")),
            ("a", Some("ᵃ")),
            ("a,c", Some("ᵃ,ᶜ")),
            ("", None),
            ("-", None),
            ("2A", None),
            ("th", None),
            ("er", None),
            ("*", None),
        ] {
            assert_eq!(raised(text).as_deref(), expected, "{text}");
        }
    }
}
