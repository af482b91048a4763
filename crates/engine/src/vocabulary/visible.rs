//! What a reader sees of a text.

use std::borrow::Cow;
use std::fmt::Write;

/// A text without hidden characters: control, bidirectional and zero-width characters are written `\u…`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if !is_hidden(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

/// A text as it is shown: without hidden characters, which can be within words. White space stays.
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_within_words = |character: char| is_hidden(character) && !character.is_whitespace();
    if text.contains(is_within_words) { text.replace(is_within_words, "").into() } else { text.into() }
}

/// A text without HTML comments, which Markdown does not show. One that does not end is text.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, from)) = rest.split_once("<!--") {
        let Some((_, behind)) = from.split_once("-->") else { break };
        kept.push_str(before);
        rest = behind;
    }
    if rest.len() == text.len() { text.into() } else { (kept + rest).into() }
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::{visible, without_comments};

    #[test]
    fn what_is_hidden_is_shown() {
        assert_eq!(visible("pay \u{202e}01\u{200b}\u{7f} to Ä\u{e0041}"), r"pay \u202e01\u200b\u007f to Ä\udb40\udc41");
    }

    #[test]
    fn comments_are_no_text() {
        for (text, expected) in [
            ("It is. <!-- > \"kept for ten years\" -->So it is.<!---->", "It is. So it is."),
            ("<!-- one -->\n<!-- two", "\n<!-- two"),
            ("a --> b", "a --> b"),
        ] {
            assert_eq!(without_comments(text), expected, "{text}");
        }
    }
}
