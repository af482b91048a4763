//! The headings of a text, which extraction writes as Markdown: shown as headings, without their `#` signs.

use plumbline_documents::marked::Piece;
use std::ops::Range;

/// A part of a piece that is of a heading, or is not.
pub(crate) struct Run<'a> {
    pub(crate) text: &'a str,
    pub(crate) is_heading: bool,
    /// Whether the piece begins with it.
    pub(crate) is_first: bool,
}

/// Where a reader of pieces is.
#[derive(Default)]
pub(crate) struct Headings {
    in_line: bool,
    in_heading: bool,
    in_fence: bool,
}

impl Headings {
    /// The runs of the next piece of a page.
    pub(crate) fn runs<'a>(&mut self, piece: &Piece<'a>) -> Vec<Run<'a>> {
        let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
        let mut end = 0;
        for line in piece.text.split_inclusive('\n') {
            let start = end + line.len() - self.shown(line).len();
            end += line.len();
            match runs.last_mut() {
                Some((range, is_heading)) if range.end == start && *is_heading == self.in_heading => range.end = end,
                _ => runs.push((start..end, self.in_heading)),
            }
            self.in_line = !line.ends_with('\n');
        }
        let run = |(n, (range, is_heading))| Run { text: &piece.text[range], is_heading, is_first: n == 0 };
        runs.into_iter().enumerate().map(run).collect()
    }

    /// What is shown of a line, or of the rest of one.
    fn shown<'a>(&mut self, line: &'a str) -> &'a str {
        if self.in_line {
            return line;
        }
        self.in_fence ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        let signs = line.len() - title.len();
        self.in_heading = !self.in_fence && (1..=6).contains(&signs) && title.starts_with(' ');
        if self.in_heading { title.trim_start() } else { line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str]) -> Vec<(String, bool)> {
        let mut headings = Headings::default();
        let runs = |text: &&str| {
            let piece = Piece { text, begin: Vec::new(), go_on: Vec::new() };
            let runs = headings.runs(&piece);
            runs.into_iter().map(|run| (run.text.to_owned(), run.is_heading)).collect::<Vec<_>>()
        };
        pieces.iter().flat_map(runs).collect()
    }

    fn line(text: &str, is_heading: bool) -> (String, bool) {
        (text.to_owned(), is_heading)
    }

    #[test]
    fn a_heading_has_no_signs_also_where_a_mark_begins_within_it() {
        let pieces = ["## 2 Records of ", "the supplier", "\nKept.\n", "#hash\n"];
        let lines =
            [("2 Records of ", true), ("the supplier", true), ("\n", true), ("Kept.\n", false), ("#hash\n", false)];
        assert_eq!(shown(&pieces), lines.map(|(text, is_heading)| line(text, is_heading)));
    }

    #[test]
    fn code_keeps_its_comments() {
        assert_eq!(shown(&["```sh\n# stop it\n```\n"]), [line("```sh\n# stop it\n```\n", false)]);
    }
}
