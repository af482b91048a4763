//! Checks before `job_complete` whether the requirements named in a deliverable exist.

use crate::error::ToolError;
use crate::tool::ToolEnv;
use crate::workspace::path;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Hexadecimal digits of a requirement's id, after `req_`.
const DIGITS: usize = 12;
/// Maximum ids of a file that a refusal names.
const MAX_NAMED: usize = 10;

/// Looks up the ids that a call's deliverables name.
///
/// # Errors
/// A sentence for the model, if the job never recorded one of them.
pub(crate) async fn check(env: &ToolEnv<'_>, call: &Map<String, Value>) -> Result<(), ToolError> {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let deliverables = call.get("deliverables").and_then(Value::as_array);
    for name in deliverables.into_iter().flatten().filter_map(Value::as_str) {
        let Ok(path) = path::file(name) else { continue };
        if let Some(content) = env.overlay.read(&path).await? {
            let ids = std::str::from_utf8(&content).map(ids_in).unwrap_or_default();
            if !ids.is_empty() {
                named.insert(path, ids);
            }
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    let recorded = env.overlay.recorded().await?;
    let known: HashSet<&str> = recorded.iter().map(|known| known.requirement.candidate_id.as_str()).collect();
    let mut wrong = Vec::new();
    for (path, ids) in &named {
        let unknown: Vec<&str> = ids.iter().map(String::as_str).filter(|id| !known.contains(id)).collect();
        if !unknown.is_empty() {
            let more = unknown.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let first = &unknown[..unknown.len().min(MAX_NAMED)];
            wrong.push(format!("{path} names {}{more}, which this job never recorded", first.join(", ")));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(ToolError::refused(format!(
            "the job is not complete: {}. Put these ids right (the recorded ones are in the lists that the system writes), or \
             leave the file out.",
            wrong.join("; ")
        ))),
    }
}

/// The ids of requirements that a text names.
fn ids_in(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.split(|character: char| !is_part(character)).filter(|word| is_id(word)).map(str::to_owned).collect()
}

fn is_id(word: &str) -> bool {
    word.strip_prefix("req_").is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::ids_in;

    #[test]
    fn ids_are_found_anywhere_and_nothing_else_is() {
        let text = "| req_0123456789ab | (req_0123456789ac), `req_0123456789ad`: req_ids, req_0123, req_0123456789abc.";
        let found: Vec<String> = ids_in(text).into_iter().collect();
        assert_eq!(found, ["req_0123456789ab", "req_0123456789ac", "req_0123456789ad"]);
    }
}
