//! Passages and requirements carried over from another job, whose rows a recording does not contain: as recorded by the
//! step.

use plumbline_engine::{Carried, CarriedPassage, Citation, FileWrite, Product, Requirement, Versions};
use plumbline_store::RecordedStep;
use plumbline_tools::{CHANGES, content_key};
use serde::Deserialize;
use serde_json::{Value, from_slice, from_value, json};
use uuid::Uuid;

/// The step's files about it.
#[derive(Deserialize)]
struct Changes {
    versions: Versions,
    carried: Numbers,
}

#[derive(Deserialize)]
struct Numbers {
    #[serde(default)]
    answers: Vec<CarriedPassage>,
    /// In the order in which they were recorded.
    requirements: Vec<String>,
}

/// The earlier job that the job's context names.
pub(crate) fn previous(step: &RecordedStep) -> Option<Uuid> {
    let context: Value = from_slice(step.files.get("input/context.json")?.as_deref()?).ok()?;
    context.get("previous_job_id")?.as_str()?.parse().ok()
}

/// What the step carried over; else why it is unknown.
pub(crate) fn recorded(step: &RecordedStep) -> Result<Carried, String> {
    let content = step.files.get(CHANGES).cloned().flatten();
    let content = content.ok_or_else(|| format!("step {} carried nothing over, but should have", step.step))?;
    let unreadable = |error: serde_json::Error| format!("{CHANGES} of step {} cannot be read: {error}", step.step);
    let Changes { versions, carried } = from_slice(&content).map_err(unreadable)?;
    let mut products = Vec::new();
    for citation in &step.citations {
        products.push(Product::AddCitation(from_value::<Citation>(citation.clone()).map_err(unreadable)?));
    }
    for id in &carried.requirements {
        let known = step.requirements.iter().find(|known| known["candidate_id"] == **id);
        let mut requirement =
            known.cloned().ok_or_else(|| format!("requirement {id} of step {} is missing", step.step))?;
        requirement["content_key"] = json!(content_key(requirement["text"].as_str().unwrap_or_default()));
        let requirement: Requirement = from_value(requirement).map_err(unreadable)?;
        products.push(Product::AddRequirement(Box::new(requirement)));
    }
    products.push(Product::WriteFile(FileWrite { path: CHANGES.to_owned(), content }));
    Ok(Carried { passages: carried.answers, versions, products })
}
