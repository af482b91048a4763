//! Raised numbers, such as powers and marks of notes: they are none of the digits before them.

/// The digits as superscripts.
const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// A raised text as superscript digits; none unless it is a number, or several.
pub(crate) fn raised(text: &str) -> Option<String> {
    let high = |sign: char| match sign {
        '-' | '\u{2212}' => Some('\u{207b}'),
        '+' => Some('\u{207a}'),
        '(' => Some('\u{207d}'),
        ')' => Some('\u{207e}'),
        ',' | ';' | ' ' => Some(sign),
        sign => sign.to_digit(10).and_then(|digit| RAISED.get(digit as usize)).copied(),
    };
    let number: Option<String> = text.chars().map(high).collect();
    number.filter(|number| number.contains(RAISED))
}

#[cfg(test)]
mod tests {
    use super::raised;

    #[test]
    fn numbers_alone_are_superscript_digits() {
        for (text, expected) in [
            ("2", Some("\u{b2}")),
            ("-12", Some("\u{207b}\u{b9}\u{b2}")),
            ("1, 2", Some("\u{b9}, \u{b2}")),
            ("3)", Some("\u{b3}\u{207e}")),
            ("", None),
            ("-", None),
            ("2a", None),
            ("th", None),
        ] {
            assert_eq!(raised(text).as_deref(), expected, "{text}");
        }
    }
}
