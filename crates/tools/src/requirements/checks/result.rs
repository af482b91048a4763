//! `validation_result`: the stored result of a row's validation. It has the same members for every verdict, so that a
//! query need not know the verdict.

use super::relevance::{self, Known};
use super::{Findings, fulfilment, relations};
use crate::graph::Link;
use crate::requirements::validation_queue::HeldRequirement;
use serde_json::{Value, json};
use uuid::Uuid;

/// What was found of a row and decided about it.
pub(crate) struct Assessed<'a> {
    /// The row.
    pub(crate) row: &'a HeldRequirement,
    /// Its checks.
    pub(crate) findings: &'a Findings,
    /// What the graph knows of it; none without a graph.
    pub(crate) known: Option<Known>,
    /// Its relations; none of a row that was not integrated.
    pub(crate) links: &'a [Link],
    /// `open`, `partial` or `fulfilled`.
    pub(crate) compliance_status: &'a str,
    /// What is worth knowing of its relations.
    pub(crate) warnings: Vec<String>,
    /// What came of writing it: `done`, `failed`, `switched off`; `none` where it was not to be written.
    pub(crate) integration: &'a str,
    /// What else was found.
    pub(crate) notes: Option<String>,
    /// Whether the checks alone decided.
    pub(crate) by_rule: bool,
}

/// As it stands in the column.
pub(crate) fn of(validator: Uuid, assessed: &Assessed<'_>) -> Value {
    let Assessed { row, findings, known, links, compliance_status, warnings, integration, notes, by_rule } = assessed;
    json!({
        "checks": findings.report(row),
        "relevance": relevance::report(row, *known),
        "fulfilment": fulfilment::report(row, links),
        "compliance_status": compliance_status,
        "relations": relations::report(links),
        "warnings": warnings,
        "integration": integration,
        "notes": notes,
        "validated_by_job": validator,
        "by": if *by_rule { "rule" } else { "model" },
    })
}
