//! Texts as they are shown within a message.

/// A text on one line, its words apart by one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text says anything: it has a letter or a digit. Spaces, dots and characters without a shape say nothing.
pub fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The first `most` characters of a text, with an ellipsis in place of the others.
pub fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
