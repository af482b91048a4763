//! Whether a page has columns, and its lines if it has none.
//!
//! The parser searches for columns above and below every line of a page, which takes quadratic time. Most pages of
//! running text have no columns: their lines can be computed a few rows at a time, with little to search, and the same
//! result.

use unpdf::parser::{LayoutAnalyzer, TextLine, TextSpan};

/// Rows per request: the parser searches for columns in larger groups.
const ROWS: usize = 4;
/// The gap that the parser treats as a column gap, in median type sizes, and its minimum in points.
const GUTTER: (f32, f32) = (0.5, 4.0);
/// Texts with baselines this share of their size apart are on separate rows; closer ones may be sub- or superscripts.
const APART: f32 = 0.85;

/// The lines of a page as the parser finds them.
pub(crate) fn lines(analyzer: &LayoutAnalyzer<'_>, mut spans: Vec<TextSpan>) -> Vec<TextLine> {
    let Some(gutter) = gutter(&spans) else { return Vec::new() };
    if spans.iter().any(TextSpan::is_rotated) || !spans.iter().all(|span| span.y.is_finite()) {
        return analyzer.group_spans_into_lines_pub(spans);
    }
    // In the parser's order, which is stable for texts at one height.
    spans.sort_by(|one, other| other.y.total_cmp(&one.y));
    let counts = counts(&spans, gutter);
    let mut spans = spans.into_iter();
    let mut next = |count| analyzer.group_spans_into_lines_pub(spans.by_ref().take(count).collect());
    counts.into_iter().flat_map(&mut next).collect()
}

/// The number of text pieces in each part of a page that can be read separately: a few consecutive rows without
/// columns, from the top; a single part if a row has columns.
fn counts(spans: &[TextSpan], gutter: f32) -> Vec<usize> {
    let mut counts = Vec::new();
    let (mut start, mut end, mut rows) = (0, 0, 0);
    for row in spans.chunk_by(|above, below| !apart(above, below)) {
        if has_gap(row, gutter) {
            return vec![spans.len()];
        }
        (end, rows) = (end + row.len(), rows + 1);
        if rows >= ROWS && !has_gap(&spans[start..end], gutter) {
            counts.push(end - start);
            (start, rows) = (end, 0);
        }
    }
    // The remainder, with as many rows above as needed.
    let mut last = spans.len() - start;
    while last > 0 && has_gap(&spans[spans.len() - last..], gutter) {
        let Some(above) = counts.pop() else { break };
        last += above;
    }
    counts.extend((last > 0).then_some(last));
    counts
}

fn gutter(spans: &[TextSpan]) -> Option<f32> {
    let mut sizes: Vec<f32> = spans.iter().map(|span| span.font_size).collect();
    sizes.sort_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).map(|median| (median * GUTTER.0).max(GUTTER.1))
}

fn apart(above: &TextSpan, below: &TextSpan) -> bool {
    above.y - below.y >= above.font_size.max(below.font_size) * APART
}

/// Whether an empty strip as wide as a column gap divides pieces of text from top to bottom.
fn has_gap(spans: &[TextSpan], gutter: f32) -> bool {
    let mut pieces: Vec<(f32, f32)> = spans.iter().map(extent).collect();
    pieces.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut end = f32::INFINITY;
    pieces.into_iter().any(|(left, right)| {
        let gap = left - end;
        end = if end.is_finite() { end.max(right) } else { right };
        gap.is_nan() || gap >= gutter
    })
}

/// The horizontal extent of a piece of text; a point if unknown.
fn extent(span: &TextSpan) -> (f32, f32) {
    (span.x, span.x + span.ink_width.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of text of ten points at heights, from one place to another.
    fn spans(places: &[(f32, f32, f32)]) -> Vec<TextSpan> {
        let span = |&(y, left, right): &(f32, f32, f32)| {
            let mut span = TextSpan::new("words".to_owned(), left, y, 10.0, "Times".to_owned());
            (span.width, span.ink_width) = (right - left, Some(right - left));
            span
        };
        places.iter().map(span).collect()
    }

    #[test]
    fn running_text_is_read_a_few_rows_at_a_time() {
        let rows: Vec<_> = (0..10).map(|row| (700.0 - 12.0 * row as f32, 72.0, 500.0)).collect();
        assert_eq!(counts(&spans(&rows), 5.0), [4, 4, 2]);
        // A script belongs to its row, a word space is not a gap.
        let script = [(704.0, 200.0, 203.0), (700.0, 72.0, 200.0), (700.0, 203.0, 500.0)];
        assert_eq!(counts(&spans(&[&script, &rows[1..]].concat()), 5.0), [6, 4, 2]);
    }

    #[test]
    fn columns_side_by_side_are_each_read_as_a_whole() {
        let lines = |left: f32, right: f32, top: f32| (0..10).map(move |row| (top - 12.0 * row as f32, left, right));
        for top in [700.0, 694.0] {
            let mut columns: Vec<_> = lines(72.0, 280.0, 700.0).chain(lines(300.0, 508.0, top)).collect();
            columns.sort_by(|one, other| other.0.total_cmp(&one.0));
            assert_eq!(counts(&spans(&columns), 5.0), [20], "the second from {top}");
        }
    }

    #[test]
    fn a_heading_at_the_other_margin_is_not_read_without_what_joins_the_two() {
        let heading = [(700.0, 400.0, 500.0), (680.0, 420.0, 500.0)];
        let text = |count: usize, right| (0..count).map(move |row| (640.0 - 12.0 * row as f32, 72.0, right));
        let short: Vec<_> = heading.into_iter().chain(text(3, 300.0)).collect();
        assert_eq!(counts(&spans(&short), 5.0), [5]);
        let long: Vec<_> = heading.into_iter().chain(text(1, 300.0)).chain(text(7, 500.0).skip(1)).collect();
        assert_eq!(counts(&spans(&long), 5.0), [4, 4, 1]);
        let last = [(500.0, 72.0, 100.0), (480.0, 300.0, 400.0)];
        let after: Vec<_> = text(4, 500.0).chain(last).collect();
        assert_eq!(counts(&spans(&after), 5.0), [6]);
    }

    #[test]
    fn nothing_has_no_parts_and_no_gap_hides_in_what_is_not_known() {
        assert!(counts(&[], 5.0).is_empty());
        let mut unknown = spans(&[(700.0, 72.0, 100.0), (700.0, 100.0, 200.0), (680.0, 72.0, 100.0)]);
        unknown[0].ink_width = None;
        assert_eq!(counts(&unknown, 5.0), [3]);
    }
}
