//! `validation_result`: the stored result of a row's validation. It has the same members for every verdict, so that
//! queries need no case distinction.

use super::relevance::{self, Known};
use super::{Findings, fulfilment, relations};
use crate::graph::Link;
use plumbline_engine::HeldRequirement;
use serde_json::{Value, json};
use uuid::Uuid;

/// The findings on a row and the decision.
pub(crate) struct Assessed<'a> {
    /// The row.
    pub(crate) row: &'a HeldRequirement,
    /// Its checks.
    pub(crate) findings: &'a Findings,
    /// The graph's knowledge of it; none without a graph.
    pub(crate) known: Option<Known>,
    /// Its relations; empty for a row that was not integrated.
    pub(crate) links: &'a [Link],
    /// `open`, `partial` or `fulfilled`.
    pub(crate) compliance_status: &'a str,
    /// Warnings about its relations.
    pub(crate) warnings: Vec<String>,
    /// The result of writing it: `done`, `failed`, `switched off`; `none` if it was not to be written.
    pub(crate) integration: &'a str,
    /// Further notes.
    pub(crate) notes: Option<String>,
    /// Whether it was judged by rule.
    pub(crate) by_rule: bool,
}

/// The column's value.
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
