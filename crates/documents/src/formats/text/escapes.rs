//! Decodes escaped letters, `\\u00fc` in JSON and `&#252;` in XML, so that words can be found and quotes match. Escapes
//! of characters with a meaning in the formats are kept.

/// Code points of letters without a special meaning in any format.
const FIRST: u32 = 0x80;

/// A text with decoded letters, if it looks like JSON or XML.
pub(super) fn resolved(text: String) -> String {
    match text.trim_start().chars().next() {
        Some('{' | '[' | '"') if text.contains("\\u") => of_json(&text),
        Some('<') if text.contains("&#") => of_xml(&text),
        _ => text,
    }
}

fn of_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (letter, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                (char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 12)
            }
            (Some(unit), _) => (char::from_u32(unit).filter(|_| unit >= FIRST), 6),
            (None, _) => (None, escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end)),
        };
        match letter {
            Some(letter) => out.push(letter),
            None => out.push_str(&escape[..length]),
        }
        rest = &escape[length..];
    }
    out + rest
}

/// The code point of an escape at the beginning of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

fn of_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("&#") {
        let (before, reference) = rest.split_at(at);
        out.push_str(before);
        let letter = reference[2..].split_once(';').and_then(|(digits, _)| {
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => digits.parse().ok(),
            };
            Some((char::from_u32(number.filter(|number| *number >= FIRST)?)?, digits.len() + 3))
        });
        let (letter, length) = letter.map_or((None, 2), |(letter, length)| (Some(letter), length));
        match letter {
            Some(letter) => out.push(letter),
            None => out.push_str(&reference[..length]),
        }
        rest = &reference[length..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn letters_are_letters_and_signs_of_the_format_stay() {
        for (text, expected) in [
            (
                r#"{"a":"m\u00fcssen \ud83d\ude00 \u0022 \n \\u00fc"}"#,
                "{\"a\":\"m\u{fc}ssen \u{1f600} \\u0022 \\n \\\\u00fc\"}",
            ),
            (r#"["\ud83d \u00f"]"#, r#"["\ud83d \u00f"]"#),
            ("<a>m&#252;ssen &#xFC; &#60; &#x; &# 1</a>", "<a>m\u{fc}ssen \u{fc} &#60; &#x; &# 1</a>"),
            (r"A path is \u00fc, and &#252; too.", r"A path is \u00fc, and &#252; too."),
        ] {
            assert_eq!(resolved(text.to_owned()), expected);
        }
    }
}
