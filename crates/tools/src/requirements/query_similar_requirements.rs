//! `query_similar_requirements`: finds similar requirements among this job's and the integrated ones.

use crate::error::{Output, ToolResult};
use crate::requirements::checks::duplicates::{Likeness, compare, nearest, title};
use crate::requirements::checks::of_call::validation_queue;
use crate::requirements::similarity::SIMILAR;
use crate::search::SemanticMatches;
use crate::search::fuse;
use crate::tool::{Declared, ToolEnv};
use crate::workspace::WorkspaceError;
use plumbline_engine::{Asked, KnownRequirement, place_of};
use plumbline_engine::{Phases, RecordedRequirement};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

/// Maximum requirements shown.
const MAX_SHOWN: usize = 5;
/// How many of the nearest are shown if none is similar.
const NEAREST: usize = 3;
/// Minimum cosine of two embeddings for texts to count as similar in meaning. Models differ: with all that were tried,
/// unrelated sentences stay below one half, and paraphrases reach two thirds.
const MEANT: f64 = 0.6;

/// Compares a text with the requirements recorded by this job (in a validator: by the job that it judges) and with integrated
/// ones of the same login's jobs. From a similarity of 0.7 on they are reported, and where none
/// is that like it, the nearest three with their similarity; texts that differ in a number or a negation are never duplicates. Where
/// embeddings are configured, requirements that say the like in other words are shown too, with their likeness `by meaning`; read
/// them before you call one a duplicate. What was recorded earlier in this same answer is compared by its words alone.
///
/// {arguments}
///
/// Example: `{"text": "Invoices must be kept for ten years.", "limit": 3}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuerySimilarRequirements {
    /// # The words to compare
    /// the words to compare
    #[schemars(length(min = 3, max = 10_000))]
    text: String,
    /// how many at most, 1 to 5 (default 5)
    #[schemars(range(min = 1, max = 5))]
    limit: Option<usize>,
}

impl Declared for QuerySimilarRequirements {
    const NAME: &str = "query_similar_requirements";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Find recorded requirements like a text: this job's and integrated ones, with their similarity.";
    const READS_ONLY: bool = true;

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { text, limit } = self;
        let validation_queue = validation_queue(env)?;
        let is_validator = env.ctx.bound.contains(&"next_requirement");
        let (job_id, recorded) = validation_queue.recorded(is_validator).await?;
        let asked = |widely| [Asked { job_id, text: &text, before: None, widely }];
        let recorded = recorded.saturating_add_signed(env.overlay.more_recorded());
        let known = validation_queue.similar(&asked(false)).await?.pop().unwrap_or_default();
        let alike = compare(&text, as_it_is_now(env, known).await?).await;
        let SemanticMatches { mut requirements, remark } = match env.ctx.texts {
            Some(index) => index.similar_requirements(job_id, &text, MAX_SHOWN).await?,
            None => SemanticMatches::default(),
        };
        requirements.retain(|(_, likeness)| *likeness >= MEANT);
        let mut lines: Vec<String> = remark.map(|remark| format!("({remark})")).into_iter().collect();
        let found = merged(&alike, &requirements);
        if found.is_empty() {
            let wide = validation_queue.similar(&asked(true)).await?.pop().unwrap_or_default();
            lines.push(none_alike(recorded, &nearest(&text, as_it_is_now(env, wide).await?, NEAREST).await));
        }
        lines.extend(found.into_iter().take(limit.unwrap_or(MAX_SHOWN)));
        Ok(Output::text(lines.join("\n")))
    }
}

/// The found rows, with this answer's records, changes and withdrawals applied. The job may change only rows that are
/// pending.
async fn as_it_is_now(
    env: &ToolEnv<'_>,
    mut known: Vec<KnownRequirement>,
) -> Result<Vec<KnownRequirement>, WorkspaceError> {
    let touched = env.overlay.touched();
    if touched.is_empty() {
        return Ok(known);
    }
    let is_touched = |id: &str| touched.contains(id);
    known.retain(|known| known.status == "integrated" || !known.candidate_id.as_deref().is_some_and(is_touched));
    let mut here = env.overlay.recorded().await?;
    here.retain(|known| !known.is_withdrawn() && is_touched(&known.requirement.candidate_id));
    known.extend(here.into_iter().map(of_batch));
    Ok(known)
}

/// A requirement of this answer, whose row has no id yet: the digits of its candidate id are used as its id.
fn of_batch(RecordedRequirement { requirement, status }: RecordedRequirement) -> KnownRequirement {
    let digits = requirement.candidate_id.trim_start_matches("req_");
    let place = place_of(&requirement.citations[0]);
    KnownRequirement {
        id: Uuid::from_u128(u128::from_str_radix(digits, 16).unwrap_or_default()),
        job_id: Uuid::nil(),
        number: None,
        candidate_id: Some(requirement.candidate_id),
        name: Some(requirement.name),
        text: requirement.text,
        status,
        graph_node_id: None,
        place,
    }
}

/// The answer if none is similar: the nearest, so that the reader sees how far away they are.
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

/// One line each, merging matches by words and by meaning with reciprocal rank fusion.
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
                let same = if likeness.has_the_same_words() { ", the same words" } else { "" };
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
