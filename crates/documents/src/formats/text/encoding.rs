//! Detects the encoding of bytes, and the parts that could not be decoded.

use super::{older, utf7};
use crate::formats::warnings::first_words;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// Bytes examined for UTF-16 without a byte order mark.
const PROBED_BYTES: usize = 8 << 10;
/// Bytes examined to guess the encoding; more do not improve the guess.
const GUESSED_BYTES: usize = 1 << 20;
/// Characters shown around the first one that could not be decoded.
const SHOWN_BEFORE: usize = 30;

/// Decodes by the byte order mark, also that of UTF-7, else as UTF-8, else as UTF-16 if every second byte is zero, else
/// in the most likely encoding, with a warning. Text that is UTF-8 except for some bytes is decoded as UTF-8, with U+FFFD
/// in their place, and also a warning.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, &bytes[mark..]);
    }
    if utf7::is_marked(bytes) {
        let (text, damaged) = utf7::decode(bytes);
        let warning = damaged.then(|| damage("UTF-7", &text));
        return (Cow::Owned(text), warning);
    }
    if let Some(encoding) = unmarked_utf16(bytes) {
        return decode_as(encoding, bytes);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), None);
    }
    if is_damaged_utf8(bytes) {
        return decode_as(UTF_8, bytes);
    }
    let encoding = guess(bytes);
    if let Some((name, text)) = older::read(bytes, encoding) {
        return (Cow::Owned(text), Some(format!("The text is not UTF-8; it was read as {name}.")));
    }
    let (text, damage) = decode_as(encoding, bytes);
    let warning = format!("The text is not UTF-8; it was read as {}.", encoding.name());
    (text, Some(damage.map_or(warning.clone(), |damage| format!("{warning} {damage}"))))
}

/// Decodes in a known encoding, with a warning about invalid bytes.
pub(crate) fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> (Cow<'a, str>, Option<String>) {
    let (text, damaged) = encoding.decode_without_bom_handling(bytes);
    let warning = damaged.then(|| damage(encoding.name(), &text));
    (text, warning)
}

/// How many characters could not be decoded, and the position of the first.
fn damage(encoding: &str, text: &str) -> String {
    let count = text.matches(char::REPLACEMENT_CHARACTER).count();
    let first = text.find(char::REPLACEMENT_CHARACTER).unwrap_or_default();
    let line = text[..first].matches('\n').count() + 1;
    let from = text[..first].char_indices().rev().nth(SHOWN_BEFORE - 1).map_or(0, |(at, _)| at);
    let begin = text[from..first].rfind('\n').map_or(from, |at| from + at + 1);
    let what = if count == 1 { "1 character is".to_owned() } else { format!("{count} characters are") };
    format!(
        "{what} no proper {encoding} and U+FFFD in the text, the first in line {line}: {}",
        first_words(&text[begin..])
    )
}

/// Whether bytes are damaged UTF-8: multi-byte sequences are rarely valid by chance, so at least as many of them as
/// invalid bytes prove it.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        wrong += chunk.invalid().len();
    }
    right > 0 && right >= wrong
}

/// UTF-16 without a mark: in text of any language, line ends, spaces and digits have a zero byte, and always on the
/// same side.
pub(crate) fn unmarked_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PROBED_BYTES) & !1];
    let zeros = |side: usize| head.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let enough = |count: usize| count > 0 && count * 20 >= head.len();
    let encoding = match (zeros(0), zeros(1)) {
        (0, low) if enough(low) => encoding_rs::UTF_16LE,
        (high, 0) if enough(high) => encoding_rs::UTF_16BE,
        _ => return None,
    };
    let text = encoding.decode_without_bom_handling(head).0;
    // The last character may have been cut in two.
    let strange = |c: char| c == char::REPLACEMENT_CHARACTER || (c.is_control() && !c.is_whitespace());
    (!text.trim_end_matches(char::REPLACEMENT_CHARACTER).contains(strange)).then_some(encoding)
}

/// By the statistics that browsers use for pages without a declared encoding.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(GUESSED_BYTES)], true);
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn a_bad_byte_is_one_character_with_a_warning() {
        for (bytes, text, warning) in [
            (
                b"Invoices must be \xff kept. Pr\xc3\xbcfung muss sein.".as_slice(),
                "Invoices must be \u{fffd} kept. Pr\u{fc}fung muss sein.",
                "1 character is no proper UTF-8 and U+FFFD in the text, the first in line 1: \u{ab}Invoices must be",
            ),
            (
                b"\xef\xbb\xbfone\ntwo \x80\nthree \xe2\x82 end",
                "one\ntwo \u{fffd}\nthree \u{fffd} end",
                "2 characters are no proper UTF-8 and U+FFFD in the text, the first in line 2: \u{ab}two \u{fffd}",
            ),
            (b"a\0b\0\0\xd8c\0 \0d\0 \0e\0\xff\xfe", "", ""),
        ] {
            let (read, said) = decode(bytes);
            if !text.is_empty() {
                assert_eq!(read, text);
            }
            assert!(said.as_deref().unwrap_or_default().starts_with(warning), "{said:?}");
        }
    }
}
