//! Plain text and Markdown: only the encoding has to be found out.

use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use std::borrow::Cow;

/// Bytes looked at for UTF-16 without a mark.
const PROBED_BYTES: usize = 8 << 10;
/// Bytes looked at for the encoding's guess; more do not make it better.
const GUESSED_BYTES: usize = 1 << 20;

/// Text as it stands, in UTF-8, with line feeds for line ends.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let (text, warning) = decode(bytes);
    let text = clean(&text);
    if text.trim().is_empty() {
        return Err(Failure::NoText { pages: 0, first: 1 });
    }
    let page = Page { number: 1, text: text.trim_matches('\n').to_owned() };
    Ok((vec![page], Trailer { warnings: warning.into_iter().collect(), ..Trailer::default() }))
}

/// Decodes by the mark of byte order, else as UTF-8, else as UTF-16 where every second byte is zero, else in the
/// encoding that makes the most sense of the bytes; that last guess comes with a warning.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (encoding.decode_with_bom_removal(bytes).0, None);
    }
    if let Some(encoding) = unmarked_utf16(bytes) {
        return (encoding.decode_without_bom_handling(bytes).0, None);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), None);
    }
    let encoding = guess(bytes);
    let warning = format!("The text is not UTF-8; it was read as {}.", encoding.name());
    (encoding.decode_without_bom_handling(bytes).0, Some(warning))
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

/// By the statistics that browsers use for pages that do not say.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(GUESSED_BYTES)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// One kind of line end; a form feed, which ends a page in printed text, becomes a blank line; other control
/// characters mean nothing in text and are dropped.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\u{c}' => out.push_str("\n\n"),
            '\n' | '\t' => out.push(character),
            _ if character.is_control() => {}
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(bytes: &[u8]) -> (String, usize) {
        let (pages, trailer) = extract(bytes).expect("text");
        (pages[0].text.clone(), trailer.warnings.len())
    }

    #[test]
    fn encodings_are_found_out() {
        let utf16: Vec<u8> = "\u{feff}Prüfung".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, warnings) in [
            ("Prüfung".as_bytes(), 0),
            ("\u{feff}Prüfung".as_bytes(), 0),
            (utf16.as_slice(), 0),
            (b"Pr\xfcfung".as_slice(), 1),
        ] {
            assert_eq!(text_of(bytes), ("Prüfung".to_owned(), warnings), "{bytes:?}");
        }
        let unmarked: Vec<u8> = "Prüfung".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text_of(&unmarked), ("Prüfung".to_owned(), 0));
        assert_eq!(text_of(b"\x93quoted\x94 \x80 5").0, "\u{201c}quoted\u{201d} € 5");
    }

    #[test]
    fn other_scripts_are_recognized_from_a_sentence() {
        use encoding_rs::{EUC_KR, GBK, ISO_8859_2, KOI8_R, SHIFT_JIS, WINDOWS_1251};
        for (encoding, sentence) in [
            (WINDOWS_1251, "Все документы хранятся десять лет, если закон не требует иного."),
            (KOI8_R, "Все документы хранятся десять лет, если закон не требует иного."),
            (SHIFT_JIS, "すべての書類は十年間保存しなければならない。"),
            (GBK, "所有文件必须保存十年，法律另有规定的除外。"),
            (EUC_KR, "모든 문서는 십 년 동안 보관해야 합니다."),
            (ISO_8859_2, "Všechny dokumenty musí být uchovávány po dobu deseti let; žádné výjimky."),
        ] {
            let (bytes, _, lossy) = encoding.encode(sentence);
            assert!(!lossy, "{sentence}");
            assert_eq!(text_of(&bytes), (sentence.to_owned(), 1), "{}", encoding.name());
        }
    }

    #[test]
    fn line_ends_and_control_characters() {
        assert_eq!(text_of(b"one\r\ntwo\rthree\x0cfour\x07").0, "one\ntwo\nthree\n\nfour");
    }

    #[test]
    fn white_space_alone_is_no_text() {
        assert_eq!(extract(b" \r\n\t"), Err(Failure::NoText { pages: 0, first: 1 }));
    }
}
