//! Text that runs in another direction than the lines of its page: a note up the margin, a mark across the page. It is
//! read on its own: within the lines beside it, it would interrupt their sentences.

use unpdf::parser::TextSpan;

/// The lines of a scan are crooked, so a smaller turn is none; as the cosine of its angle.
const LEAST_TURN: f32 = 0.9;
/// The length of the shortest word that is more than a sign.
const SHORTEST_WORD: usize = 3;
/// Lines of one note are this near to each other, in sizes of type.
const NEXT_LINE: f32 = 1.6;

/// Takes the text in other directions from a page's text.
pub(super) fn take(spans: &mut Vec<TextSpan>) -> Vec<TextSpan> {
    spans.extract_if(.., |span| span.direction[0] < LEAST_TURN && !is_mirrored(span)).collect()
}

/// Whether a text may be mirrored letters of a word that is not, which have the direction of text upside down: the `E`
/// of a logo. A text upside down has words.
fn is_mirrored(span: &TextSpan) -> bool {
    span.direction[0] < -LEAST_TURN && span.text.split_whitespace().all(|word| word.chars().count() < SHORTEST_WORD)
}

/// The paragraphs of such text, with their line ends. The parser has joined each line of it to one span.
pub(super) fn paragraphs(spans: &[TextSpan]) -> Vec<String> {
    let mut spans: Vec<&TextSpan> = spans.iter().filter(|span| !span.text.trim().is_empty()).collect();
    spans.sort_by(|one, other| {
        let key = |span: &TextSpan| span.direction.map(|part| (part * 10.0) as i32);
        key(one).cmp(&key(other)).then_with(|| below(one).total_cmp(&below(other)))
    });
    let lines = spans.chunk_by(|above, line| {
        let apart = below(line) - below(above);
        above.direction == line.direction && (0.1..=line.font_size * NEXT_LINE).contains(&apart)
    });
    lines.map(|lines| lines.iter().map(|span| span.text.trim()).collect::<Vec<_>>().join("\n")).collect()
}

/// How far a line is from the first one in its direction.
fn below(span: &TextSpan) -> f32 {
    span.x * span.direction[1] - span.y * span.direction[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, (x, y): (f32, f32), direction: [f32; 2]) -> TextSpan {
        let mut span = TextSpan::new(text.to_owned(), x, y, 10.0, "Times".to_owned());
        span.direction = direction;
        span
    }

    #[test]
    fn notes_in_other_directions_are_paragraphs_of_their_own() {
        let mut spans = vec![
            span("Upright", (100.0, 700.0), TextSpan::LEFT_TO_RIGHT),
            span("crooked", (150.0, 700.0), [0.999, 0.02]),
            span("of two lines", (42.0, 250.0), [0.0, 1.0]),
            span("A note", (30.0, 250.0), [0.0, 1.0]),
            span("DRAFT", (200.0, 300.0), [0.7, 0.7]),
            span("E E", (210.0, 700.0), [-1.0, 0.0]),
            span("COPY", (200.0, 400.0), [-1.0, 0.0]),
            span("the other margin", (560.0, 250.0), [0.0, 1.0]),
        ];
        let aside = take(&mut spans);
        assert_eq!(spans.iter().map(|span| span.text.as_str()).collect::<Vec<_>>(), ["Upright", "crooked", "E E"]);
        assert_eq!(paragraphs(&aside), ["COPY", "A note\nof two lines", "the other margin", "DRAFT"]);
    }
}
