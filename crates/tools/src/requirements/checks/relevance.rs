//! The relevance of a requirement to the graph: advice for the judgement, stored with the row; it rejects nothing by
//! itself.
//!
//! The scale is that of the validator that built these graphs (lessons, section 9.1): law counts most, then the share
//! of mentioned names that the graph has, then whether the text mentions the graph's nodes at all.

use plumbline_engine::HeldRequirement;
use serde_json::{Value, json};

/// Minimum share of known names for a requirement to concern the graph.
const MOST: f64 = 0.7;
/// Minimum share of known names if the text also mentions nodes of the graph.
const SOME: f64 = 0.3;

/// The graph's knowledge of a requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// The number of object and message names that the row mentions.
    pub(crate) mentioned: usize,
    /// How many of them the graph has, exactly or similarly.
    pub(crate) found: usize,
    /// Whether the text contains the name of an object or a message of the graph.
    pub(crate) speaks_of_it: bool,
}

/// The assessment in `validation_result`. Without a graph only the law is considered.
pub(crate) fn report(row: &HeldRequirement, known: Option<Known>) -> Value {
    let regulated = row.gobd_relevant || row.gdpr_relevant || row.r#type.as_deref() == Some("compliance");
    let (decision, confidence) = match known {
        Some(known) => assess(regulated, known),
        None if regulated => ("relevant", 0.75),
        None => ("needs review", 0.5),
    };
    let mut report = json!({"decision": decision, "confidence": confidence, "regulated": regulated});
    if let Some(Known { mentioned, found, speaks_of_it }) = known {
        report["names"] = json!({"mentioned": mentioned, "in_graph": found, "in_text": speaks_of_it});
    }
    report
}

fn assess(regulated: bool, known: Known) -> (&'static str, f64) {
    let Known { mentioned, found, speaks_of_it } = known;
    let share = if mentioned == 0 { 0.0 } else { found as f64 / mentioned as f64 };
    match (regulated, speaks_of_it) {
        (true, true) => ("relevant", 0.9),
        _ if share >= MOST => ("relevant", 0.85),
        (true, false) => ("relevant", 0.75),
        (false, true) if share >= SOME => ("relevant", 0.7),
        (false, true) => ("partially relevant", 0.55),
        (false, false) if mentioned > 0 => ("needs review", 0.5),
        (false, false) => ("not relevant", 0.3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn law_counts_most_then_known_names_then_the_text() {
        for (regulated, mentioned, found, speaks_of_it, expected) in [
            (true, 0, 0, true, ("relevant", 0.9)),
            (true, 0, 0, false, ("relevant", 0.75)),
            (false, 10, 7, false, ("relevant", 0.85)),
            (false, 10, 6, false, ("needs review", 0.5)),
            (false, 10, 3, true, ("relevant", 0.7)),
            (false, 10, 2, true, ("partially relevant", 0.55)),
            (false, 0, 0, true, ("partially relevant", 0.55)),
            (false, 0, 0, false, ("not relevant", 0.3)),
        ] {
            let known = Known { mentioned, found, speaks_of_it };
            assert_eq!(assess(regulated, known), expected, "{regulated} {known:?}");
        }
    }
}
