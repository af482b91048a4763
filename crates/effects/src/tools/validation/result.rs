//! `validation_result`: what is kept with a row of its validation. It has the same members whatever the verdict, so that a
//! query over it need not know the verdict first.

use super::relevance::{self, Known};
use super::{Findings, fulfilment, relations};
use crate::graph::Link;
use crate::tools::hand_over::HeldRequirement;
use serde_json::{Value, json};
use uuid::Uuid;

/// What was found of a row and decided about it.
pub(in crate::tools) struct Assessed<'a> {
    /// The row.
    pub(in crate::tools) row: &'a HeldRequirement,
    /// Its checks.
    pub(in crate::tools) findings: &'a Findings,
    /// What the graph knows of it; none without a graph.
    pub(in crate::tools) known: Option<Known>,
    /// Its relations; none of a row that was not integrated.
    pub(in crate::tools) links: &'a [Link],
    /// `open`, `partial` or `fulfilled`.
    pub(in crate::tools) compliance_status: &'a str,
    /// What is worth knowing of its relations.
    pub(in crate::tools) warnings: Vec<String>,
    /// What came of writing it: `done`, `failed`, `switched off`; `none` where it was not to be written.
    pub(in crate::tools) integration: &'a str,
    /// What else was found.
    pub(in crate::tools) notes: Option<String>,
}

/// As it stands in the column.
pub(in crate::tools) fn of(validator: Uuid, assessed: &Assessed<'_>) -> Value {
    let Assessed { row, findings, known, links, compliance_status, warnings, integration, notes } = assessed;
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
    })
}
