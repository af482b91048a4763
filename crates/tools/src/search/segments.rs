//! Splits texts into segments, the units that a search shows, ranks and embeds.

/// A segment ends after the line that reaches this many bytes, even in mid-paragraph.
const MAX_BYTES: usize = 2_000;
/// Of a longer line only the beginning is indexed: it is data rather than text.
const MAX_LINE_BYTES: usize = 8_000;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The line it begins on, from 1.
    pub first_line: u32,
    /// Its lines.
    pub text: String,
}

/// The paragraphs of a text, long ones in several segments; a heading belongs to the paragraph after it. White space
/// alone is not a segment.
pub fn segments(text: &str) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    let mut open: Option<Segment> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            let stays_open = open.as_ref().is_some_and(|segment| is_heading(segment.text.lines().last().unwrap_or("")));
            if !stays_open {
                found.extend(open.take());
            }
            continue;
        }
        let segment = open.get_or_insert_with(|| Segment { first_line: number, text: String::new() });
        if !segment.text.is_empty() {
            segment.text.push('\n');
        }
        segment.text.push_str(&line[..line.floor_char_boundary(MAX_LINE_BYTES)]);
        if segment.text.len() >= MAX_BYTES {
            found.extend(open.take());
        }
    }
    found.extend(open);
    found
}

fn is_heading(line: &str) -> bool {
    line.trim_start_matches('#').starts_with(' ') && line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(u32, String)> {
        segments(text).into_iter().map(|segment| (segment.first_line, segment.text)).collect()
    }

    #[test]
    fn paragraphs_are_passages_and_keep_their_headings() {
        let text = "# Duties\n\nKeep records.\nAll of them.\n\n\nNo exception.\n\n## Last\n";
        let expected = [(1, "# Duties\nKeep records.\nAll of them."), (7, "No exception."), (9, "## Last")];
        assert_eq!(cut(text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(cut(" \n\n"), []);
    }

    #[test]
    fn long_paragraphs_and_lines_are_bounded() {
        let text = "word ".repeat(100) + "\n";
        let found = cut(&text.repeat(9));
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 5, 9]);
        let found = cut(&"ä".repeat(100_000));
        assert_eq!((found.len(), found[0].1.len()), (1, MAX_LINE_BYTES));
    }
}
