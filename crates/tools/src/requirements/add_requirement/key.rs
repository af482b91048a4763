//! The identity of a requirement: its text and its first quote.
//!
//! A clause that occurs twice, in one or two documents, is two duties. The first requirement with a text has the key of
//! the text; a further one with the same text at another place has the key of text and place.
//!
//! White space, typographic quotation marks and dashes, ligatures, combining accents and what no reader sees depend on the
//! parser and the model, so they do not distinguish requirements. Case and every word do.

use plumbline_documents::{composed, letters_of};
use plumbline_engine::shown;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The content key of a requirement: SHA-256 of its normalized text.
pub fn of(text: &str) -> Vec<u8> {
    Sha256::digest(normalized(text)).to_vec()
}

/// The content key of a requirement whose text another one has at another place.
pub(crate) fn at(text: &str, place: &str) -> Vec<u8> {
    Sha256::digest(format!("{}\0{place}", normalized(text))).to_vec()
}

/// The start of a requirement's first quote, from its stored citations: the sentence, or, if the document was not cut,
/// the quote itself; none without a citation.
pub(crate) fn place(citations: &Value) -> Option<String> {
    let first = citations.get(0)?;
    match (first["passage"].as_i64(), first["from"].as_i64()) {
        (Some(passage), Some(from)) => Some(format!("{passage}:{from}")),
        _ => Some(format!("{}\0{}\0{}", first["source"], first["page"], first["quote"])),
    }
}

/// The text, normalized for the key.
pub(crate) fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in composed(&shown(text)).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        word.chars().for_each(|character| push_plain(&mut out, character));
    }
    out
}

fn push_plain(out: &mut String, character: char) {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => out.push('\''),
        '\u{201c}'..='\u{201f}' | '«' | '»' => out.push('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
        // The key is stored: another folding would give known requirements other keys.
        '\u{fb00}'..='\u{fb04}' => out.push_str(letters_of(character).unwrap_or_default()),
        _ => out.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typesetting_makes_no_other_requirement() {
        let plain = "The \"ﬁle\" must be kept - for 10 years.";
        for same in
            ["The “file” must\n be kept – for 10 years. ", "  The \u{ab}fi\u{ad}le\u{bb} must be kept — for 10\tyears."]
        {
            assert_eq!(of(same), of(plain), "{same}");
        }
        for same in
            ["Beleg f\u{fc}r X", "Beleg fu\u{308}r X", "Beleg f\u{fc}r\u{2063} X\u{fe0f}", "Beleg\u{200b} f\u{fc}r X"]
        {
            assert_eq!(of(same), of("Beleg für X"), "{same:?}");
        }
        for other in ["the \"file\" must be kept - for 10 years.", "The \"file\" must be kept - for 11 years."] {
            assert_ne!(of(other), of(plain), "{other}");
        }
    }
}
