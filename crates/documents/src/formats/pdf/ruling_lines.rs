//! The horizontal lines of a page: whether they may be rulings of a table.
//!
//! Most pages of a report have two such lines, below the running header and above the footer, and program code is often
//! printed in a box. The lines of a table are closer together than the former, and have columns between them, unlike
//! the latter.

use std::collections::BTreeMap;
use unpdf::parser::TextSpan;
use unpdf::parser::backend::{ContentOp, PdfValue, get_number_from_value};

/// Shorter ones underline a word.
const SHORTEST: f32 = 40.0;
/// Lines whose ends differ by no more belong together.
const SAME_ENDS: f32 = 3.0;
/// Lines at most this far apart are one line drawn twice, or the two edges of a thick one.
const SAME_LINE: f32 = 3.0;
/// Pieces of text at least this far apart, in type sizes, are in different columns.
const COLUMN_GAP: f32 = 0.7;
/// Lines further apart than this share of the page are a frame of its text.
const FRAME: f32 = 0.6;

/// The lines found on a page.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    level: Vec<Level>,
    /// Whether lines were drawn at unknown positions.
    elsewhere: bool,
    read: bool,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    y: f32,
    left: f32,
    right: f32,
}

impl Rules {
    /// Adds a content stream: the first is the page's own, the others belong to its forms.
    pub(crate) fn take(&mut self, operations: &[ContentOp]) {
        let mut path = Path::default();
        operations.iter().for_each(|operation| path.follow(operation));
        if self.read {
            self.elsewhere |= path.drawn.len() > 1 || path.tilted;
        } else {
            self.level = path.drawn;
            self.elsewhere |= path.tilted;
        }
        self.read = true;
    }

    /// The heights of the lines that divide the page's tables into rows, from the top: the lines of the most common
    /// ends.
    pub(crate) fn between_rows(&self) -> Vec<f32> {
        let mut by_ends = BTreeMap::<[i32; 2], Vec<f32>>::new();
        for line in &self.level {
            let ends = [line.left, line.right].map(|end| (end / SAME_ENDS).round() as i32);
            by_ends.entry(ends).or_default().push(line.y);
        }
        let mut heights = by_ends.into_values().max_by_key(Vec::len).unwrap_or_default();
        heights.sort_by(|one, other| other.total_cmp(one));
        heights.dedup_by(|lower, upper| *upper - *lower <= SAME_LINE);
        heights
    }

    /// Whether there is text in columns between lines of one length, on a page of that height.
    pub(crate) fn may_contain_table(&self, height: f32, spans: &[TextSpan]) -> bool {
        let pairs = self.level.iter().flat_map(|upper| self.level.iter().map(move |lower| (upper, lower)));
        let mut bands = pairs.filter(|(upper, lower)| upper.holds_with(lower, height));
        self.elsewhere || bands.any(|(upper, lower)| has_columns(between(spans, upper, lower)))
    }
}

impl Level {
    /// Whether this line and one below it may be rulings of a table.
    fn holds_with(&self, lower: &Self, height: f32) -> bool {
        let apart = self.y - lower.y;
        let alike = (self.left - lower.left).abs() <= SAME_ENDS && (self.right - lower.right).abs() <= SAME_ENDS;
        alike && apart > SAME_LINE && apart < height * FRAME
    }
}

/// The text between two lines.
fn between<'a>(spans: &'a [TextSpan], upper: &Level, lower: &Level) -> impl Iterator<Item = &'a TextSpan> {
    let (upper, lower) = (*upper, *lower);
    spans.iter().filter(move |span| {
        let middle = span.x + span.width / 2.0;
        (lower.y..upper.y).contains(&span.y) && (upper.left..=upper.right).contains(&middle)
    })
}

/// Whether two pieces of text are on one line and in different columns.
pub(crate) fn has_columns<'a>(spans: impl Iterator<Item = &'a TextSpan>) -> bool {
    let mut spans: Vec<&TextSpan> = spans.collect();
    spans.sort_by(|one, other| other.y.total_cmp(&one.y));
    spans.chunk_by_mut(|one, other| (one.y - other.y).abs() <= one.font_size * 0.5).any(|line| {
        line.sort_by(|one, other| one.x.total_cmp(&other.x));
        line.windows(2).any(|pair| {
            let end = pair[0].x + pair[0].ink_width.unwrap_or(pair[0].width);
            pair[1].x - end >= pair[0].font_size * COLUMN_GAP
        })
    })
}

/// The path being drawn. Only scaling and translation are followed; rotation is recorded and not followed.
struct Path {
    space: [f32; 4],
    saved: Vec<[f32; 4]>,
    at: (f32, f32),
    pending: Vec<Level>,
    drawn: Vec<Level>,
    tilted: bool,
}

impl Default for Path {
    fn default() -> Self {
        let space = [1.0, 1.0, 0.0, 0.0];
        Self { space, saved: Vec::new(), at: (0.0, 0.0), pending: Vec::new(), drawn: Vec::new(), tilted: false }
    }
}

impl Path {
    fn follow(&mut self, operation: &ContentOp) {
        match (operation.operator.as_str(), operation.operands.as_slice()) {
            ("q", _) => self.saved.push(self.space),
            ("Q", _) => self.space = self.saved.pop().unwrap_or(self.space),
            ("cm", values @ [_, _, _, _, _, _]) => self.transform(values),
            ("m", [x, y]) => self.at = self.point(x, y),
            ("l", [x, y]) => {
                let to = self.point(x, y);
                self.line(self.at, to);
                self.at = to;
            }
            ("re", [x, y, width, height]) => {
                let (left, bottom) = self.point(x, y);
                let (width, height) = (number(width) * self.space[0], number(height) * self.space[1]);
                self.line((left, bottom), (left + width, bottom));
                self.line((left, bottom + height), (left + width, bottom + height));
            }
            ("n", _) => self.pending.clear(),
            ("S" | "s" | "f" | "F" | "f*" | "B" | "B*" | "b" | "b*", _) => self.drawn.append(&mut self.pending),
            _ => {}
        }
    }

    fn transform(&mut self, values: &[PdfValue]) {
        let of = |index: usize| number(&values[index]);
        let [x_scale, y_scale, x, y] = self.space;
        self.tilted |= of(1) != 0.0 || of(2) != 0.0;
        self.space = [x_scale * of(0), y_scale * of(3), x + x_scale * of(4), y + y_scale * of(5)];
    }

    fn point(&self, x: &PdfValue, y: &PdfValue) -> (f32, f32) {
        (number(x) * self.space[0] + self.space[2], number(y) * self.space[1] + self.space[3])
    }

    fn line(&mut self, from: (f32, f32), to: (f32, f32)) {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        if (from.1 - to.1).abs() <= 1.0 && right - left >= SHORTEST {
            self.pending.push(Level { y: from.1, left, right });
        }
    }
}

fn number(value: &PdfValue) -> f32 {
    get_number_from_value(value).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        let operation = |line: &str| {
            let (operands, operator) = line.trim().rsplit_once(' ').unwrap_or(("", line.trim()));
            let operands = operands.split_whitespace().map(|word| PdfValue::Real(word.parse().unwrap())).collect();
            ContentOp::new(operator, operands)
        };
        let mut rules = Rules::default();
        for stream in text.split('|') {
            rules.take(&stream.split(';').map(operation).collect::<Vec<_>>());
        }
        rules
    }

    #[test]
    fn text_in_columns_between_lines_may_be_a_table() {
        let span = |x, y| {
            let mut span = TextSpan::new("word".to_owned(), x, y, 10.0, "Times".to_owned());
            span.width = 20.0;
            span
        };
        let (in_columns, together) = ([span(80.0, 720.0), span(200.0, 720.5)], [span(80.0, 720.0), span(102.0, 720.0)]);
        for (drawn, expected) in [
            ("72 760 m; 540 760 l; S; 72 60 m; 540 60 l; S", false),
            ("72 760 m; 540 760 l; S; 72 700 m; 540 700 l; S", true),
            ("72 760 m; 540 760 l; S; 72 730 m; 540 730 l; S", false),
            ("72 760 m; 540 760 l; S; 72 700 m; 300 700 l; S", false),
            ("72 700 m; 540 700 l; S; q; 1 0 0 1 0 50 cm; 72 700 m; 540 700 l; S; Q", true),
            ("72 700 468 1 re; f", false),
            ("72 700 468 40 re; f", true),
            ("72 700 468 40 re; W; n", false),
        ] {
            assert_eq!(rules(drawn).may_contain_table(800.0, &in_columns), expected, "{drawn}");
            assert!(!rules(drawn).may_contain_table(800.0, &together), "{drawn}");
        }
        for elsewhere in ["0 1 -1 0 0 0 cm; 72 700 468 1 re; f", "72 700 468 1 re; f | 0 0 400 50 re; f"] {
            assert!(rules(elsewhere).may_contain_table(800.0, &together), "{elsewhere}");
        }
    }
}
