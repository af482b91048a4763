//! Locates a quote in a text.
//!
//! A citation was accepted because its quote occurs in the source, ignoring white space, hyphenation and the shapes of
//! quotation marks. To show it in place, both texts are compared with the same exceptions, and each compared character
//! keeps its position.

/// The parts of a text around a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) before: &'a str,
    pub(crate) quote: &'a str,
    pub(crate) after: &'a str,
}

/// Splits the text around the first occurrence of the quote.
pub(crate) fn locate<'a>(text: &'a str, quote: &str) -> Option<Parts<'a>> {
    let wanted: Vec<char> = essence(quote).map(|(_, _, char)| char).collect();
    if wanted.is_empty() {
        return None;
    }
    let held: Vec<(usize, usize, char)> = essence(text).collect();
    let at = held.windows(wanted.len()).position(|window| window.iter().map(|(_, _, char)| char).eq(&wanted))?;
    let (start, end) = (held[at].0, held[at + wanted.len() - 1].1);
    Some(Parts { before: &text[..start], quote: &text[start..end], after: &text[end..] })
}

/// The compared characters, each with its byte range.
fn essence(text: &str) -> impl Iterator<Item = (usize, usize, char)> {
    text.char_indices().flat_map(|(at, char)| {
        let end = at + char.len_utf8();
        let kept: &'static [char] = match char {
            'ﬁ' => &['f', 'i'],
            'ﬂ' => &['f', 'l'],
            'ﬀ' => &['f', 'f'],
            'ﬃ' => &['f', 'f', 'i'],
            'ﬄ' => &['f', 'f', 'l'],
            '“' | '”' | '„' | '«' | '»' => &['"'],
            '’' | '‘' | '‚' => &['\''],
            _ => &[],
        };
        let skipped =
            char.is_whitespace() || matches!(char, '-' | '‐' | '‑' | '–' | '—' | '\u{ad}' | '\u{200b}' | '\u{feff}');
        let plain = (kept.is_empty() && !skipped).then_some(char);
        kept.iter().copied().chain(plain).map(move |char| (at, end, char))
    })
}

#[cfg(test)]
mod tests {
    use super::locate;

    #[test]
    fn a_quote_is_found_as_typesetting_left_it() {
        let text = "1.\nRecords shall be kept for the peri-\nods in Annex A, “if any”. The oﬃce decides.";
        let parts = locate(text, "Records shall be kept for the periods in Annex A, \"if any\".").expect("it is there");
        assert_eq!(parts.before, "1.\n");
        assert_eq!(parts.quote, "Records shall be kept for the peri-\nods in Annex A, “if any”.");
        assert_eq!(locate(text, "The office").expect("a ligature").quote, "The oﬃce");
        assert_eq!(locate(text, "Records must be kept"), None);
        assert_eq!(locate(text, " - "), None);
    }
}
