//! Plain text and Markdown: only the encoding has to be found out.

use super::Page;
use super::child::Parsed;
use super::wire::{Failure, Trailer};
use std::borrow::Cow;

/// Text as it stands, in UTF-8, with line feeds for line ends.
pub(super) fn extract(bytes: &[u8]) -> Parsed {
    let (text, warning) = decode(bytes);
    let text = clean(&text);
    if text.trim().is_empty() {
        return Err(Failure::NoText { pages: 0, first: 1 });
    }
    let page = Page { number: 1, text: text.trim_matches('\n').to_owned() };
    Ok((vec![page], Trailer { warnings: warning.into_iter().collect(), ..Trailer::default() }))
}

/// Decodes by the mark of byte order, else as UTF-8, else as windows-1252, which has a character for nearly every
/// byte and contains ISO 8859-1; that last guess comes with a warning.
pub(super) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return (encoding.decode_with_bom_removal(bytes).0, None);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(_) => {
            let warning = "The text is not UTF-8; it was read as windows-1252.".to_owned();
            (encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0, Some(warning))
        }
    }
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
        assert_eq!(text_of(b"\x93quoted\x94 \x80 5").0, "\u{201c}quoted\u{201d} € 5");
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
