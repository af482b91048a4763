//! Whether a requirement is fulfilled, according to its relations: one line for each node that fulfils it or is a gap,
//! and for book-keeping which of the four criteria it concerns.

use crate::graph::Link;
use plumbline_bounds::pattern;
use plumbline_engine::HeldRequirement;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The criteria of proper book-keeping, with the stems of words that indicate them, English and German.
static CRITERIA: LazyLock<[(&str, Regex); 4]> = LazyLock::new(|| {
    let of = |words: &str| pattern::own(&format!(r"(?i)\b(?:{words})"));
    [
        ("retention", of("retain|retention|kept|keep|preserv|stor(?:e|age)|archiv|aufbewahr|aufzubewahr|gespeichert")),
        ("traceability", of("trac|audit|log|document|record|verif|nachvollzieh|protokoll|nachprüf|dokument")),
        (
            "immutability",
            of("immutab|unalter|tamper|not be (?:changed|altered|deleted|modified)|unveränder|revisionssicher"),
        ),
        ("completeness", of("complete|every|all |entire|without gaps|vollständig|lückenlos|jede[rsnm]?\\b|sämtlich")),
    ]
});

/// The overall status by the relations: `fulfilled` if some fulfil it and none is a gap, `partial` if there are both,
/// otherwise `open`.
pub(crate) fn status(links: &[Link]) -> &'static str {
    match (meets(links).next().is_some(), gaps(links).next().is_some()) {
        (true, false) => "fulfilled",
        (true, true) => "partial",
        (false, _) => "open",
    }
}

/// The findings in `validation_result`.
pub(crate) fn report(row: &HeldRequirement, links: &[Link]) -> Value {
    let mut report = json!({
        "status": status(links),
        "fulfilled_by": meets(links).map(described).collect::<Vec<_>>(),
        "gaps": gaps(links).map(described).collect::<Vec<_>>(),
    });
    if row.gobd_relevant {
        let spoken = CRITERIA.iter().filter(|(_, words)| words.is_match(&row.text)).map(|(name, _)| *name);
        report["gobd_criteria"] = spoken.collect();
    }
    report
}

fn meets(links: &[Link]) -> impl Iterator<Item = &Link> {
    links.iter().filter(|link| link.kind.name.starts_with("FULFILLED_BY_"))
}

fn gaps(links: &[Link]) -> impl Iterator<Item = &Link> {
    links.iter().filter(|link| link.kind.name.starts_with("NOT_FULFILLED_BY_"))
}

/// The target with the relation's properties (confidence, evidence, severity and so on).
fn described(link: &Link) -> Value {
    let mut described: Map<String, Value> = link.properties.clone();
    described.insert("target".into(), link.target.clone().into());
    Value::Object(described)
}
