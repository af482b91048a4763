//! Half characters in JSON from outside.
//!
//! JSON writes a character outside the Basic Multilingual Plane as two escapes, the halves of a surrogate pair. A
//! server that slices strings by UTF-16 units sends one half in one event and the other in the next, or drops one.
//! Neither a Rust string nor a `serde_json::Value` can contain a half, and parsing rejects the whole text.
//!
//! So halves are encoded before parsing, each as one private-use character, and joined again when the answer is
//! complete. A half without a partner becomes U+FFFD. The encoding is lossless: a character of that private-use block
//! that a server really sends is written as its own two encoded halves.

use std::borrow::Cow;

/// The first of the 2,048 characters that encode the halves D800 to DFFF.
const FIRST: u32 = 0x10_F800;

/// JSON text with each half without a partner encoded as a character.
pub(crate) fn coded(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    // Everything before `kept` is in `out`.
    let (mut at, mut kept) = (0, 0);
    while at < bytes.len() {
        let (length, replacement) = match bytes[at] {
            b'\\' => of_escape(&bytes[at..]),
            0xf4 => of_character(&json[at..]),
            _ => (1, None),
        };
        if let Some(halves) = replacement {
            out.push_str(&json[kept..at]);
            out.extend(halves.into_iter().flatten());
            kept = at + length;
        }
        at += length;
    }
    match kept {
        0 => Cow::Borrowed(json),
        _ => Cow::Owned(out + &json[kept..]),
    }
}

/// The same text with pairs of encoded halves joined, and U+FFFD for each other half.
pub(crate) fn joined(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| half_of(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let pair = half_of(c).map(|high| (high, chars.peek().copied().and_then(half_of)));
        out.push(match pair {
            None => c,
            Some((high, Some(low))) if let Some(whole) = character(high, low) => {
                chars.next();
                whole
            }
            Some(_) => char::REPLACEMENT_CHARACTER,
        });
    }
    Cow::Owned(out)
}

/// A complete body without half characters. Invalid UTF-8 is kept: the parser rejects it.
pub(crate) fn mended(body: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&body) else { return body };
    match coded(text) {
        Cow::Borrowed(_) => body,
        Cow::Owned(text) => joined(&text).into_owned().into_bytes(),
    }
}

type Halves = [Option<char>; 2];

/// The length of a sequence that begins with an escape, and its replacement.
fn of_escape(bytes: &[u8]) -> (usize, Option<Halves>) {
    let Some(first) = escaped_unit(bytes) else { return (2, None) };
    if code_of(first).is_none() {
        return (6, None);
    }
    match escaped_unit(&bytes[6..]).map(|second| (second, character(first, second))) {
        Some((_, Some(whole))) if half_of(whole).is_none() => (12, None),
        Some((second, Some(_))) => (12, Some([code_of(first), code_of(second)])),
        _ => (6, Some([code_of(first), None])),
    }
}

/// The same for a character that looks like an encoded half.
fn of_character(text: &str) -> (usize, Option<Halves>) {
    let Some(c) = text.chars().next() else { return (1, None) };
    let mut units = [0; 2];
    let halves = half_of(c).map(|_| {
        c.encode_utf16(&mut units);
        units.map(code_of)
    });
    (c.len_utf8(), halves)
}

/// The UTF-16 unit of a `\u` escape at the front of a text.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)? as u16))
}

fn code_of(unit: u16) -> Option<char> {
    matches!(unit, 0xd800..=0xdfff).then(|| char::from_u32(FIRST + u32::from(unit - 0xd800)))?
}

fn half_of(c: char) -> Option<u16> {
    let place = u32::from(c).checked_sub(FIRST)?;
    u16::try_from(place).ok().map(|place| 0xd800 + place)
}

fn character(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok().filter(|c| c.len_utf16() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(json: &str) -> String {
        let text: String = serde_json::from_str(&coded(json)).unwrap();
        joined(&text).into_owned()
    }

    #[test]
    fn a_half_that_stays_alone_is_replaced_and_nothing_else() {
        for (json, text) in [
            (r#""plain \n \\u \\ud83d ü 😀""#, "plain \n \\u \\ud83d ü 😀"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\uD83D\uDE00 \u00fc""#, "😀 ü"),
            (r#""not \ud83d delete""#, "not \u{fffd} delete"),
            (r#""\ude00""#, "\u{fffd}"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            // Characters of the block that the code uses, as such and as escapes.
            ("\"\u{10f800}\u{10ffff}\"", "\u{10f800}\u{10ffff}"),
            (r#""\udbfe\udc00\udbff\udfff""#, "\u{10f800}\u{10ffff}"),
            ("\"\u{10f7ff}\"", "\u{10f7ff}"),
        ] {
            assert_eq!(text_of(json), text, "{json}");
        }
    }

    #[test]
    fn text_that_is_sliced_at_any_utf_16_unit_comes_together_again() {
        let text = "a\u{1d465}😀\u{10f83d}\u{10fe00}ü\u{10ffff}";
        let units: Vec<u16> = text.encode_utf16().collect();
        for cut in 0..=units.len() {
            let pieces = [&units[..cut], &units[cut..]].map(|units| {
                let json: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
                serde_json::from_str::<String>(&coded(&format!("\"{json}\""))).unwrap()
            });
            assert_eq!(joined(&pieces.concat()), text, "at {cut}");
        }
    }

    #[test]
    fn a_body_is_mended_or_left_as_it_is() {
        for (body, mended_body) in [
            (&br#"{"a":"\ud83d"}"#[..], "{\"a\":\"\u{fffd}\"}".as_bytes()),
            (br#"{"a":"\ud83d\ude00"}"#, br#"{"a":"\ud83d\ude00"}"#),
            (br#"{"a":"\ud83"#, br#"{"a":"\ud83"#),
            (br#"{"a":"\"#, br#"{"a":"\"#),
            (b"\xff \\ud83d", b"\xff \\ud83d"),
        ] {
            assert_eq!(mended(body.to_vec()), mended_body);
        }
    }
}
