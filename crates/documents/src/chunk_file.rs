//! The file of a chunk: a line with its origin, then its text.

/// The text of a chunk's file without the line with its origin.
pub fn body(file: &str) -> &str {
    match file.strip_prefix("<!-- source: ") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, body)| body).trim_start_matches('\n'),
        None => file,
    }
}
