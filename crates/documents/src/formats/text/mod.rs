//! Plain text and Markdown: only encoding, page ends and drawn tables must be detected.

mod drawn_tables;
mod encoding;
mod escapes;
mod older;
mod printed_pages;
mod separated;
mod utf7;

pub(crate) use encoding::{decode, decode_as, unmarked_utf16};
pub(crate) use separated::extract as extract_table;
pub use separated::rows as table_rows;

use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};

/// Unchanged text, in UTF-8, with line feeds as line ends; a drawn table as rows.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let (text, warning) = decode(bytes);
    let text = drawn_tables::read(escapes::resolved(clean(&text)));
    if text.trim().is_empty() {
        return Err(Failure::no_text(Vec::new()));
    }
    let mut warnings: Vec<String> = warning.into_iter().collect();
    match printed_pages::split(&text).filter(|_| has_printed_pages(bytes)) {
        Some((pages, left_out)) => {
            warnings.extend(left_out);
            let count = u32::try_from(pages.len()).ok();
            Ok((pages, Trailer { pages: count, warnings, ..Trailer::default() }))
        }
        None => {
            let text = text.replace('\u{c}', "\n\n");
            let page = Page { number: 1, text: text.trim_matches('\n').to_owned() };
            Ok((vec![page], Trailer { warnings, ..Trailer::default() }))
        }
    }
}

/// Whether a form feed separates two parts of plain text, so that its pages are known. Not for UTF-16, where the byte
/// is part of other characters.
pub(crate) fn has_printed_pages(bytes: &[u8]) -> bool {
    let is_wide = || {
        let marked = encoding_rs::Encoding::for_bom(bytes).is_some_and(|(encoding, _)| encoding != encoding_rs::UTF_8);
        marked || unmarked_utf16(bytes).is_some()
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    memchr::memchr(0x0c, text).is_some() && !is_wide()
}

/// Normalizes line ends; keeps form feeds, which end a page in printed text; drops other control characters.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            // Printers struck a letter again for bold type, and over a line for an underline.
            '\u{8}' if !out.ends_with('\n') => drop(out.pop()),
            // Colours of terminals: `ESC [ 1 m`.
            '\u{1b}' if rest.peek() == Some(&'[') => while rest.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' | '\u{b}' | '\u{85}' | '\u{2028}' => out.push('\n'),
            '\u{2029}' => out.push_str("\n\n"),
            '\n' | '\t' | '\u{c}' => out.push(character),
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
        assert_eq!(text_of(b"one\r\ntwo\rthree\x07").0, "one\ntwo\nthree");
        assert_eq!(
            text_of(b"I\x08It _\x08s_\x08h_\x08a_\x08l_\x08l \x1b[1;31mlog\x1b[0m.\n\x08It").0,
            "It shall log.\nIt"
        );
        assert_eq!(
            text_of("one\u{85}two\u{2028}three\u{2029}four\u{b}five".as_bytes()).0,
            "one\ntwo\nthree\n\nfour\nfive"
        );
    }

    #[test]
    fn a_form_feed_ends_a_page() {
        let (pages, trailer) = extract(b"three\x0cfour\x0c").expect("text");
        assert_eq!(
            pages.iter().map(|page| (page.number, page.text.as_str())).collect::<Vec<_>>(),
            [(1, "three"), (2, "four")]
        );
        assert_eq!(trailer.pages, Some(2));
        assert!(has_printed_pages(b"three\x0cfour\x0c") && !has_printed_pages(b"\x0cthree\n\x0c\n"));
        let wide: Vec<u8> = "\u{feff}one\u{c}two".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text_of(&wide).0, "one\n\ntwo");
    }

    #[test]
    fn white_space_alone_is_no_text() {
        assert_eq!(extract(b" \r\n\t"), Err(Failure::no_text(Vec::new())));
    }
}
