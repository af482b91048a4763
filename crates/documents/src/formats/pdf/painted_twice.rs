//! Text that is painted twice, a little apart, to look bold.

use std::collections::HashMap;
use unpdf::parser::TextSpan;

/// The greatest distance of the two, as a share of the type size: less than the narrowest letter is wide.
const APART: f32 = 0.1;

/// Text is painted again soon; a page may have the same text at very many places.
const MOST_PLACES: usize = 64;

/// Removes each text that is painted again at the same place.
pub(super) fn remove(spans: &mut Vec<TextSpan>) {
    let mut known: HashMap<String, Vec<(f32, f32)>> = HashMap::new();
    spans.retain(|span| {
        if span.text.trim().is_empty() {
            return true;
        }
        let reach = span.font_size.abs() * APART;
        let places = known.entry(span.text.clone()).or_default();
        let is_again = places
            .iter()
            .rev()
            .take(MOST_PLACES)
            .any(|(x, y)| (x - span.x).abs() <= reach && (y - span.y).abs() <= reach);
        if !is_again {
            places.push((span.x, span.y));
        }
        !is_again
    });
}
