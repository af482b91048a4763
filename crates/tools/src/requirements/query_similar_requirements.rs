//! `query_similar_requirements`: what is like a requirement, among this job's and the integrated ones.

use crate::arguments::decode;
use crate::error::{Output, ToolResult};
use crate::requirements::checks::duplicates::{Likeness, compare, nearest, title};
use crate::requirements::checks::validation_queue;
use crate::requirements::similarity::SIMILAR;
use crate::requirements::validation_queue::{Asked, KnownRequirement};
use crate::search::SemanticMatches;
use crate::search::fuse;
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Phases, RecordedRequirement, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

/// Most requirements that are shown.
const MAX_SHOWN: usize = 5;
/// How many of the nearest are shown where none is alike.
const NEAREST: usize = 3;
/// From this cosine of their embeddings on, two texts are said to be alike in meaning. Models differ: unrelated sentences
/// stay below one half with all that were looked at, paraphrases reach two thirds.
const MEANT: f64 = 0.6;

fn spec() -> ToolSpec {
    ToolSpec {
        name: "query_similar_requirements",
        phases: Phases::Tactical,
        description: "Find recorded requirements like a text: this job's and integrated ones, with their similarity."
            .into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: true,
    }
}

const DOCUMENTATION: &str = "\
# query_similar_requirements

Compares a text with the requirements recorded by this job (in a validator: by the job that it judges) and with integrated
ones of all jobs. From a similarity of 0.95 on they are duplicates, from 0.7 on they are reported, and where none is that
like it, the nearest three with their similarity; texts that differ in a number or a negation are never duplicates. Where
embeddings are configured, requirements that say the like in other words are shown too, with their likeness `by meaning`; read
them before you call one a duplicate. What was recorded earlier in this same answer is compared by its words alone.

| argument | meaning |
|---|---|
| `text` | the words to compare |
| `limit` | how many at most, 1 to 5 (default 5) |

Example: `{\"text\": \"Invoices must be kept for ten years.\", \"limit\": 3}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 3, "maxLength": 10_000, "description": "The words to compare"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 5}
        },
        "required": ["text"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    text: String,
    limit: Option<usize>,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { text, limit } = decode(arguments)?;
    let validation_queue = validation_queue(env)?;
    let is_validator = env.ctx.bound.contains(&"next_requirement");
    let (job_id, recorded) = validation_queue.recorded(is_validator).await?;
    let asked = |widely| [Asked { job_id, text: &text, before: None, widely }];
    let here: Vec<KnownRequirement> = env.overlay.recorded_here().into_iter().map(of_batch).collect();
    let recorded = recorded + here.len() as u64;
    let mut known = validation_queue.similar(&asked(false)).await?.pop().unwrap_or_default();
    known.extend(here.iter().cloned());
    let alike = compare(&text, known).await;
    let SemanticMatches { mut requirements, remark } = match env.ctx.texts {
        Some(index) => index.similar_requirements(&text, MAX_SHOWN).await?,
        None => SemanticMatches::default(),
    };
    requirements.retain(|(_, likeness)| *likeness >= MEANT);
    let mut lines: Vec<String> = remark.map(|remark| format!("({remark})")).into_iter().collect();
    let found = merged(&alike, &requirements);
    if found.is_empty() {
        let mut wide = validation_queue.similar(&asked(true)).await?.pop().unwrap_or_default();
        wide.extend(here);
        lines.push(none_alike(recorded, &nearest(&text, wide, NEAREST).await));
    }
    lines.extend(found.into_iter().take(limit.unwrap_or(MAX_SHOWN)));
    Ok(Output::text(lines.join("\n")))
}

/// A requirement of this batch, whose row has no id yet: the digits of its short id are its id here.
fn of_batch(RecordedRequirement { requirement, status }: RecordedRequirement) -> KnownRequirement {
    let digits = requirement.candidate_id.trim_start_matches("req_");
    KnownRequirement {
        id: Uuid::from_u128(u128::from_str_radix(digits, 16).unwrap_or_default()),
        candidate_id: Some(requirement.candidate_id),
        name: Some(requirement.name),
        text: requirement.text,
        status,
        graph_node_id: None,
    }
}

/// What is said where nothing is alike: the nearest, so that it is seen how far away they are.
fn none_alike(recorded: u64, nearest: &[Likeness]) -> String {
    let head = format!("none of {recorded} recorded requirements reaches {SIMILAR}");
    if nearest.is_empty() {
        return format!("{head}; none shares a word with it");
    }
    let line = |likeness: &Likeness| {
        let Likeness { known, similarity } = likeness;
        format!("\n{similarity:.2}: {} ({}): {}", title(known), known.status, known.text)
    };
    format!("{head}; nearest:{}", nearest.iter().map(line).collect::<String>())
}

/// A line each, of those alike by their words and those alike by their meaning, by reciprocal rank fusion.
fn merged(by_words: &[Likeness], by_meaning: &[(KnownRequirement, f64)]) -> Vec<String> {
    let rankings = [
        by_words.iter().map(|likeness| likeness.known.id).collect::<Vec<_>>(),
        by_meaning.iter().map(|(known, _)| known.id).collect(),
    ];
    let line = |id| {
        let meaning = by_meaning.iter().find(|(known, _)| known.id == id);
        let mut figures = Vec::new();
        let known = match by_words.iter().find(|likeness| likeness.known.id == id) {
            Some(likeness) => {
                let same = if likeness.is_duplicate() { ", a duplicate" } else { "" };
                figures.push(format!("{:.2}{same}", likeness.similarity));
                &likeness.known
            }
            None => &meaning?.0,
        };
        figures.extend(meaning.map(|(_, likeness)| format!("{likeness:.2} by meaning")));
        Some(format!("{}: {} ({}): {}", figures.join(", "), title(known), known.status, known.text))
    };
    fuse(&rankings).into_iter().filter_map(line).collect()
}
