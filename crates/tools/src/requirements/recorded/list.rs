//! `list_requirements`: lists this job's records, one line each.

use super::page;
use crate::documents::document_names::resolve;
use crate::documents::word_search::prepared;
use crate::error::{Output, ToolError, ToolResult};
use crate::requirements::ids;
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Phases, RecordedRequirement, Requirement};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeSet, HashSet};

/// Default number of listed requirements.
const DEFAULT_LIMIT: usize = 100;
/// Maximum passages that a call may name.
const MAX_PASSAGES: u32 = 1000;
/// Characters of a quote by which its passage is found: the quote may end in the next one.
const BEGINNING: usize = 80;

/// Lists the requirements that this job has recorded, in the order in which they were recorded, a line each: ids (`r12`, `req_…`), page, type,
/// priority, name. Withdrawn ones are counted and not listed. Where there are more than fit, the last line says how to go on.
///
/// {arguments}
///
/// Example: `{"document": "input/policy.pdf", "passages": "7-9"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRequirements {
    /// # Only those of this document, e.g. input/policy.pdf
    /// only those of this document, e.g. `input/policy.pdf`
    document: Option<String>,
    /// # Only those of these chunks, by their numbers: 7-9, 12
    /// only those whose quote begins in these chunks, by their numbers: `7-9, 12`
    #[schemars(regex(pattern = "^[0-9 ,-]+$"))]
    passages: Option<String>,
    /// # Go on behind this id, r12
    /// go on behind this id, `r12` or `req_…`
    after: Option<String>,
    /// # How many at most (default 100)
    /// how many at most, 1 to 500 (default 100)
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

impl Declared for ListRequirements {
    const NAME: &str = "list_requirements";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        List what this job has recorded: id, page, type, priority and name of each requirement, a line \
        each.";
    const READS_ONLY: bool = true;

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { document, passages, after, limit } = self;
        let mut recorded = env.overlay.recorded().await?;
        let n_withdrawn = recorded.iter().filter(|known| known.is_withdrawn()).count();
        recorded.retain(|known| !known.is_withdrawn());
        let n_recorded = recorded.len();
        if let Some(document) = &document {
            let path = &resolve(env.overlay, document).await?.path;
            recorded.retain(|known| known.requirement.source_document.as_ref() == Some(path));
        }
        if let Some(passages) = &passages {
            let wanted = of_passages(env, &recorded, &numbers(passages)?).await?;
            recorded.retain(|known| wanted.contains(&known.requirement.candidate_id));
        }
        let found = recorded.len();
        let begin = match &after {
            Some(id) => behind(&recorded, id.trim())?,
            None => 0,
        };
        let shown = &recorded[begin..found.min(begin + limit.unwrap_or(DEFAULT_LIMIT))];
        let mut head = format!("{n_recorded} recorded");
        if n_withdrawn > 0 {
            head.push_str(&format!(", {n_withdrawn} withdrawn"));
        }
        if document.is_some() || passages.is_some() {
            head.push_str(&format!("; {found} of them here"));
        }
        let mut lines = vec![head];
        lines.extend(shown.iter().map(line));
        if begin + shown.len() < found {
            let last = shown.last().map(|known| short_id(&known.requirement)).unwrap_or_default();
            let rest = found - begin - shown.len();
            lines.push(format!("{rest} more; go on with {{\"after\": \"{last}\"}}"));
        }
        Ok(Output::text(lines.join("\n")))
    }
}

fn line(known: &RecordedRequirement) -> String {
    let Requirement { name, r#type, priority, .. } = &known.requirement;
    let id = shown_id(&known.requirement);
    let page = page(&known.requirement).map_or_else(|| "-".to_owned(), |page| format!("p. {page}"));
    let status = if known.is_pending() { String::new() } else { format!(" ({})", known.status) };
    format!("{id} | {page} | {type} | {priority} | {name}{status}")
}

/// The short id, and the id used in the system's files.
fn shown_id(requirement: &Requirement) -> String {
    match requirement.number {
        Some(_) => format!("{} {}", short_id(requirement), requirement.candidate_id),
        None => short_id(requirement),
    }
}

/// The id by which the model names it.
fn short_id(requirement: &Requirement) -> String {
    requirement.number.map_or_else(|| requirement.candidate_id.clone(), |number| format!("r{number}"))
}

fn behind(recorded: &[RecordedRequirement], id: &str) -> Result<usize, ToolError> {
    let at = recorded.iter().position(|known| ids::means(id, &known.requirement));
    at.map(|at| at + 1).ok_or_else(|| ToolError::refused(format!("`after` is {id}, which is not in this list")))
}

/// Parses `7-9, 12` into numbers.
fn numbers(text: &str) -> Result<BTreeSet<u32>, ToolError> {
    let wrong = || ToolError::refused(format!("`passages` is {text}; give numbers of chunks such as 7-9, 12"));
    let mut numbers = BTreeSet::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let [from, to] = [from, to].map(|number| number.trim().parse::<u32>());
        let (from, to) = (from.map_err(|_| wrong())?, to.map_err(|_| wrong())?);
        if from > to || to - from >= MAX_PASSAGES {
            return Err(wrong());
        }
        numbers.extend(from..=to);
    }
    if numbers.is_empty() { Err(wrong()) } else { Ok(numbers) }
}

/// The ids of those with a quote that begins in one of these chunks.
async fn of_passages(
    env: &ToolEnv<'_>,
    recorded: &[RecordedRequirement],
    passages: &BTreeSet<u32>,
) -> Result<HashSet<String>, ToolError> {
    let mut wanted = HashSet::new();
    for number in passages {
        let path = chunk(env, *number)?;
        let source = &resolve(env.overlay, &path).await?.path;
        let Some(text) = prepared(env, &path).await? else { continue };
        let begins_here = |quote: &str| {
            let beginning: String = quote.chars().take(BEGINNING).collect();
            let whole_words = match quote.len() > beginning.len() {
                true => beginning.rsplit_once(' ').map_or(beginning.as_str(), |(words, _)| words),
                false => beginning.as_str(),
            };
            text.contains(whole_words)
        };
        for known in recorded {
            let citations = known.requirement.citations.as_array().map(Vec::as_slice).unwrap_or_default();
            let of_source = citations.iter().filter(|citation| citation["source"] == source.as_str());
            if of_source.filter_map(|citation| citation["quote"].as_str()).any(begins_here) {
                wanted.insert(known.requirement.candidate_id.clone());
            }
        }
    }
    Ok(wanted)
}

/// The chunk's file.
fn chunk(env: &ToolEnv<'_>, number: u32) -> Result<String, ToolError> {
    let is_it = |path: &str| {
        let digits = path.strip_prefix("chunks/chunk_").and_then(|rest| rest.strip_suffix(".md"));
        digits.and_then(|digits| digits.parse::<u32>().ok()) == Some(number)
    };
    let files = env.overlay.list("chunks");
    let found = files.iter().find(|(path, _)| is_it(path)).map(|(path, _)| (*path).to_owned());
    found.ok_or_else(|| ToolError::refused(format!("there is no chunk {number}; chunks/manifest.json lists them")))
}
