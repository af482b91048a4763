//! The results that a job must have at its end: what the engine knows of them, and the lookups in the files.

use plumbline_config::{Deliverable, JobConfig, RuleViolation, normal_path};
use plumbline_engine::{Owed, OwedFile, REQUIREMENT_LISTS, is_recorder};
use plumbline_tools::{Inspection, OwedContent, SchemaBudget};

/// The form for the engine.
pub(crate) fn owed(config: &JobConfig) -> Owed {
    let file = |owed: &Deliverable| OwedFile {
        path: normal_path(owed.path()),
        required: owed.is_required(),
        has_schema: owed.json_schema().is_some(),
    };
    let looks_into = |owed: &Deliverable| owed.json_schema().is_some() || is_json(owed.path());
    let quotes = config.citations_required.as_ref().is_some_and(|files| !files.is_empty());
    Owed {
        files: deliverables(config).map(file).collect(),
        is_inspected: quotes || deliverables(config).any(looks_into),
    }
}

/// The lookups in the files before the engine decides.
///
/// # Errors
/// If a schema is invalid.
pub fn inspection(config: &JobConfig) -> Result<Inspection, RuleViolation> {
    let quoting = config.citations_required.iter().flatten().map(|path| normal_path(path));
    // The system writes these from verified rows at the end, replacing the model's content.
    let is_rendered = |path: &String| REQUIREMENT_LISTS.contains(&path.as_str()) && config.tools.all().any(is_recorder);
    Ok(Inspection {
        files: contents(config).collect::<Result<_, _>>()?,
        quoting: quoting.filter(|path| !is_rendered(path)).collect(),
    })
}

/// The required content of each file, or what is wrong with its schema.
pub(crate) fn contents(config: &JobConfig) -> impl Iterator<Item = Result<OwedContent, RuleViolation>> {
    let mut budget = SchemaBudget::default();
    deliverables(config).map(move |owed| {
        let path = owed.path();
        let content = OwedContent::new(normal_path(path), is_json(path), owed.json_schema(), &mut budget);
        content.map_err(|reason| {
            let message = format!(
                "`deliverables` has a `json_schema` for `{path}` that is no JSON Schema ({reason}); correct it"
            );
            RuleViolation::new(&["deliverables"], message)
        })
    })
}

fn deliverables(config: &JobConfig) -> impl Iterator<Item = &Deliverable> {
    config.deliverables.iter().flatten()
}

fn is_json(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".json")
}
