//! Marks that tools add to a document's text.

/// A text without the line that names the chunk's source.
pub(super) fn without_source_line(text: &str) -> &str {
    match text.strip_prefix("<!-- source: ") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, text)| text),
        None => text,
    }
}

/// Bytes of the mark at the beginning of a text: `[page 4]` or `[12]`; 0 if there is none.
pub(super) fn mark(text: &str) -> usize {
    let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside) else {
        return 0;
    };
    let number = inside.strip_prefix("page ").unwrap_or(inside);
    let is_mark = !number.is_empty() && number.len() <= 6 && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_mark { inside.len() + 2 } else { 0 }
}
