//! `/ActualText`: what a part of a page says where the codes of its glyphs do not (ISO 32000-1, 14.9.4). The parser reads
//! the codes only.

use super::strings::text_of;
use memchr::memmem;
use unicode_normalization::UnicodeNormalization as _;

/// Maximum texts of a page.
const MOST: usize = 2_000;
/// Shorter texts are single glyphs, mostly hyphens and ligatures, which the codes give as well.
const FEWEST_LETTERS: usize = 4;

/// The texts that a content stream states.
pub(super) fn in_content(content: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"/ActualText";
    let texts = memmem::find_iter(content, KEY).filter_map(|at| string(&content[at + KEY.len()..]));
    let says = |text: &String| text.chars().filter(|c| c.is_alphabetic()).count() >= FEWEST_LETTERS;
    texts.map(|bytes| text_of(&bytes)).filter(says).take(MOST).collect()
}

/// Those that a page's text does not have, joined; none if it has all.
pub(super) fn missing(texts: &[String], page: &str) -> Option<String> {
    if texts.is_empty() {
        return None;
    }
    let letters = |text: &str| text.nfkc().filter(|c| c.is_alphanumeric()).collect::<String>();
    let page = letters(page);
    let missing: Vec<&str> = texts.iter().filter(|text| !page.contains(&letters(text))).map(String::as_str).collect();
    (!missing.is_empty()).then(|| missing.join(" "))
}

/// The bytes of the string that a text begins with, in either form.
fn string(text: &[u8]) -> Option<Vec<u8>> {
    match text.trim_ascii_start().split_first()? {
        (b'(', rest) => literal(rest),
        (b'<', rest) => hexadecimal(rest),
        _ => None,
    }
}

fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let digits = &text[..memchr::memchr(b'>', text)?];
    let digits: Option<Vec<u32>> =
        digits.iter().filter(|c| !c.is_ascii_whitespace()).map(|c| char::from(*c).to_digit(16)).collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair.get(1).unwrap_or(&0)).ok();
    digits?.chunks(2).map(byte).collect()
}

fn literal(text: &[u8]) -> Option<Vec<u8>> {
    let (mut bytes, mut open, mut rest) = (Vec::new(), 1, text.iter().copied().peekable());
    loop {
        match rest.next()? {
            b')' if open == 1 => return Some(bytes),
            b'\\' => escaped(&mut rest, &mut bytes)?,
            byte => {
                open += i32::from(byte == b'(') - i32::from(byte == b')');
                bytes.push(byte);
            }
        }
    }
}

/// What a backslash escapes: a control character, an octal code, a line end that counts for nothing, or itself.
fn escaped(rest: &mut std::iter::Peekable<impl Iterator<Item = u8>>, bytes: &mut Vec<u8>) -> Option<()> {
    match rest.next()? {
        b'n' => bytes.push(b'\n'),
        b'r' => bytes.push(b'\r'),
        b't' => bytes.push(b'\t'),
        b'\n' | b'b' | b'f' => {}
        first @ b'0'..=b'7' => {
            let mut code = u32::from(first - b'0');
            for _ in 0..2 {
                let Some(digit) = rest.next_if(|next| (b'0'..=b'7').contains(next)) else { break };
                code = code * 8 + u32::from(digit - b'0');
            }
            bytes.extend(u8::try_from(code));
        }
        other => bytes.push(other),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_both_forms_are_read() {
        for (content, expected) in [
            (r"/Span <</ActualText (a \(small\) (one\151) \\) >> BDC", r"a (small) (onei) \"),
            ("/Span<</ActualText<FEFF 0050 0072 00FC 0066>>>BDC", "Pr\u{fc}f"),
        ] {
            assert_eq!(in_content(content.as_bytes()), [expected]);
        }
        for content in ["/ActualText (fi)", "/ActualText (open", "/ActualText <0", "/ActualText 5"] {
            assert_eq!(in_content(content.as_bytes()), [""; 0], "{content}");
        }
    }

    #[test]
    fn what_a_page_lacks_is_missing() {
        let texts = ["certificate".to_owned(), "shall be".to_owned()];
        assert_eq!(missing(&texts, "It shall\nbe a certi0cate."), Some("certificate".to_owned()));
        assert_eq!(missing(&texts, "It shall be a certi\u{ad}ficate."), None);
    }
}
