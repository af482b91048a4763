//! `deliverables` and `citations_required`: the results that a job must have at its end, as data.

use super::job::JobConfig;
use crate::{
    Resolved,
    rules::{json_schema, violation::RuleViolation},
};
use plumbline_engine::path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A deliverable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Deliverable {
    /// Its path in the workspace.
    Path(String),
    /// Its path and its conditions.
    Described(DescribedDeliverable),
}

/// A deliverable with its conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribedDeliverable {
    /// Its path in the workspace, e.g. `output/answers.json`.
    pub path: String,
    /// A JSON Schema for the file.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub json_schema: Option<Value>,
    /// Whether the job can complete only with the file; true when absent. An optional file is checked only if it
    /// exists.
    pub required: Option<bool>,
}

impl Deliverable {
    /// Its path as written.
    pub fn path(&self) -> &str {
        match self {
            Self::Path(path) => path,
            Self::Described(described) => &described.path,
        }
    }

    /// Its schema.
    pub fn json_schema(&self) -> Option<&Value> {
        match self {
            Self::Path(_) => None,
            Self::Described(described) => described.json_schema.as_ref(),
        }
    }

    /// Whether the job requires it.
    pub fn is_required(&self) -> bool {
        match self {
            Self::Path(_) => true,
            Self::Described(described) => described.required.unwrap_or(true),
        }
    }

    /// Whether this one is at least as strict as the other.
    fn covers(&self, other: &Self) -> bool {
        self.path() == other.path()
            && (other.json_schema().is_none() || self.json_schema() == other.json_schema())
            && (self.is_required() || !other.is_required())
    }
}

/// A path as the workspace has it.
pub fn normal_path(written: &str) -> String {
    path::normalize(written).unwrap_or_else(|_| written.to_owned())
}

/// Invalid paths.
pub(crate) fn broken(config: &JobConfig) -> Vec<RuleViolation> {
    let owed = config.deliverables.iter().flatten().map(|owed| ("deliverables", owed.path()));
    let quoting = config.citations_required.iter().flatten().map(|path| ("citations_required", path.as_str()));
    owed.chain(quoting).filter_map(|(key, written)| wrong_path(key, written)).collect()
}

/// Settings without the apparent effect.
pub(crate) fn warnings(resolved: &Resolved) -> Vec<RuleViolation> {
    let config = &resolved.config;
    let deliverables = config.deliverables.as_deref().unwrap_or_default();
    let is_owed = |path: &String| deliverables.iter().any(|owed| normal_path(owed.path()) == normal_path(path));
    let nobodys = config.citations_required.iter().flatten().filter(|path| !is_owed(path)).map(|path| {
        let sentence = format!(
            "`citations_required` names `{path}`, which is no deliverable: a job without that file is complete, and nothing is looked \
             up; add it to `deliverables`"
        );
        RuleViolation::new(&["citations_required"], sentence)
    });
    let misspelt = deliverables.iter().flat_map(|owed| {
        let found = owed.json_schema().map(json_schema::unknown_keywords).unwrap_or_default();
        found.into_iter().map(|unknown| {
            let sentence = format!("`deliverables` has a `json_schema` for `{}` with {unknown}", owed.path());
            RuleViolation::new(&["deliverables"], sentence)
        })
    });
    let no_json = deliverables.iter().filter(|owed| owed.json_schema().is_some() && is_no_json(owed.path())).map(|owed| {
        let sentence = format!(
            "`deliverables` has a `json_schema` for `{}`, whose content must then be JSON, though its name says otherwise; name a .json \
             file, or leave the schema out",
            owed.path()
        );
        RuleViolation::new(&["deliverables"], sentence)
    });
    let found = without_texts(resolved).into_iter().chain(without_sources(config)).chain(nobodys);
    found.chain(misspelt).chain(no_json).collect()
}

/// Whether a file's name has another format than JSON.
fn is_no_json(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".md", ".csv", ".txt", ".html"].iter().any(|ending| path.ends_with(ending))
}

/// Documents that must not be quoted.
fn without_sources(config: &JobConfig) -> Option<RuleViolation> {
    let all = config.no_sources.iter().flatten().any(|pattern| pattern.trim() == "*");
    let message = "`no_sources` names every document by `*`, so that nothing can be quoted or cited; name those that are no source";
    all.then(|| RuleViolation::new(&["no_sources"], message.to_owned()))
}

/// Quotes that can never be found, because the job has no extracted text.
fn without_texts(resolved: &Resolved) -> Option<RuleViolation> {
    let config = &resolved.config;
    let asks = config.citations_required.as_ref().is_some_and(|files| !files.is_empty());
    let has = |tool: &str| config.tools.all().any(|name| name == tool);
    let gets_texts = has("extract_document_text") || config.connections.web_search.is_some() && has("fetch_page");
    let message = "`citations_required` looks quotes up in texts that `extract_document_text` extracted, and no list of \
                   `tools` names it, so that every quote is refused; add it to `tools.domain`";
    (asks && !gets_texts).then(|| RuleViolation::new(&["citations_required", "tools.domain"], message.to_owned()))
}

fn wrong_path(key: &str, written: &str) -> Option<RuleViolation> {
    let reason = match path::normalize(written) {
        Err(reason) => reason,
        Ok(path) if path.is_empty() => "it is empty".to_owned(),
        Ok(path) if path.starts_with("input/") => "what lies there is given to the job".to_owned(),
        Ok(path) if key == "citations_required" && path.ends_with(".csv") => {
            "quotes are looked up in text, Markdown and JSON".to_owned()
        }
        Ok(_) => return None,
    };
    let reason = reason.trim_end_matches('.');
    let message =
        format!("`{key}` names `{written}`, which no job can deliver ({reason}); name a file like output/report.md");
    Some(RuleViolation::new(&[key], message))
}

/// The first entry of a list of the type, of deliverables or of names, that a row removes or relaxes.
pub(crate) fn taken_away(below: &Value, row: &Value) -> Option<String> {
    let read = |list: &Value| serde_json::from_value::<Vec<Deliverable>>(list.clone()).unwrap_or_default();
    let left = read(row);
    let gone = read(below).into_iter().find(|owed| !left.iter().any(|one| one.covers(owed)));
    gone.map(|owed| owed.path().to_owned())
}
