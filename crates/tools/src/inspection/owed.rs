//! The deliverables whose content is checked, and their errors.

use crate::schemas::{BoundedSchema, SchemaBudget};
use jsonschema::{ValidationError, error::ValidationErrorKind};
use plumbline_engine::beginning;
use serde_json::Value;
use std::sync::Arc;

/// Maximum schema errors of a file, and maximum documents, named in a refusal; the others are counted.
pub(super) const MAX_NAMED: usize = 5;
/// Maximum characters of a quote or passage that are repeated.
const MAX_REPEATED: usize = 240;
/// Maximum values of a file that must be JSON.
const MOST_VALUES: usize = 1_000_000;

/// The checks of a job.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Files and their required contents.
    pub files: Vec<OwedContent>,
    /// Files that must contain quotes; the quotes are looked up.
    pub quoting: Vec<String>,
}

impl Inspection {
    /// Whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.quoting.is_empty() && !self.files.iter().any(OwedContent::is_looked_into)
    }
}

/// The required content of a file.
#[derive(Clone, Debug)]
pub struct OwedContent {
    pub(super) path: String,
    is_json: bool,
    schema: Option<Arc<BoundedSchema>>,
}

impl OwedContent {
    /// A file that must be JSON, or match a JSON Schema, or neither. All schemas of a job share one budget.
    ///
    /// # Errors
    /// The reason, if the schema is invalid or exceeds the budget.
    pub fn new(path: String, is_json: bool, schema: Option<&Value>, budget: &mut SchemaBudget) -> Result<Self, String> {
        let schema = schema.map(|schema| BoundedSchema::new(schema, budget).map(Arc::new)).transpose()?;
        Ok(Self { path, is_json, schema })
    }

    pub(super) fn is_looked_into(&self) -> bool {
        self.is_json || self.schema.is_some()
    }

    /// The error in a content.
    pub(super) fn wrong(&self, content: &[u8]) -> Option<String> {
        if !self.is_looked_into() {
            return None;
        }
        let schema = self.schema.as_ref();
        // Before it is parsed: two bytes of it may become a hundred in memory.
        if schema.is_some_and(|schema| !schema.takes(content)) || plumbline_llm::values_in(content) > MOST_VALUES {
            return Some(format!(
                "{} has more values than can be looked into; write fewer, or several files",
                self.path
            ));
        }
        let value: Value = match serde_json::from_slice(content) {
            Ok(value) => value,
            Err(error) => return Some(format!("{} is no JSON ({error})", self.path)),
        };
        let schema = schema?;
        let Some(mut errors) = schema.errors(content, &value) else {
            return Some(format!("{} does not meet its JSON Schema; it has too many values to say where", self.path));
        };
        let mut named: Vec<String> = errors.named.by_ref().take(MAX_NAMED).map(|error| violation(&error)).collect();
        if named.is_empty() {
            return None;
        }
        named.extend(match errors.may_be_more {
            true => Some("and perhaps elsewhere".to_owned()),
            false => and_more(errors.named.count()),
        });
        Some(format!("{} does not meet its JSON Schema {}", self.path, named.join(", ")))
    }
}

/// The place and the reason. The value itself is omitted: it may be long, and the model has the file.
fn violation(error: &ValidationError<'_>) -> String {
    let value = match (error.kind(), error.instance().as_array()) {
        (ValidationErrorKind::MinItems { .. } | ValidationErrorKind::MaxItems { .. }, Some(items)) => {
            format!("a list of {}", items.len())
        }
        _ => "value".to_owned(),
    };
    let (place, reason) = (error.instance_path().to_string(), cut(&error.masked_with(value).to_string()));
    let place = if place.is_empty() { "its whole".to_owned() } else { format!("`{}`", cut(&place)) };
    format!("at {place}: {reason}")
}

pub(super) fn and_more(count: usize) -> Option<String> {
    (count > 0).then(|| format!("and {count} more"))
}

/// The beginning of a long text.
pub(super) fn cut(text: &str) -> String {
    beginning(text, MAX_REPEATED)
}
