//! `next_requirement`: claims pending requirements and returns them with the results of the checks.

use crate::error::{Output, ToolError, ToolResult};
use crate::requirements::checks::claimed_rows::check;
use crate::requirements::checks::evidence::CitedTexts;
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::of_call::validation_queue;
use crate::requirements::ids::HeldNames;
use crate::requirements::judged::list;
use crate::requirements::row_shown::{LONGEST, RowShown};
use crate::requirements::validation_queue::ValidationQueue;
use crate::tool::{Declared, ToolEnv};
use plumbline_bounds::Cancellation;
use plumbline_engine::{GivenRow, Handler, Phases, Replay, Verdict};
use plumbline_engine::{HeldRequirement, Tally};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Maximum requirements at once; fewer if their descriptions do not fit into the conversation.
const MAX_AT_ONCE: u32 = 40;
/// Maximum requirements that a job holds unjudged.
const MOST_HELD: usize = 100;
/// Maximum reasons in the last answer.
const MAX_REASONS: usize = 20;

/// The beginning of the answer if no requirement is left.
const NOTHING_LEFT: &str = "no pending requirement";

/// Claims the oldest pending requirements for this job, so that no other validator takes them, and gives each with what
/// rules can say of it. `id` is the short id by which every tool takes it. `quote` is what it rests on, with its page; an entry of a
/// list has what stands `before` and `after` it. `text` is there where it is not the quote itself. Then `faults` (a requirement with
/// one has to be rejected), `remarks`, `similar` requirements with their status and likeness, and which `objects` and `messages` of
/// the graph its mentioned names are (null: the graph has none). `gobd`: it bears on book-keeping. `relevance` is told where it may
/// not concern what the graph is about. What is left out is empty or false.
///
/// Each requirement is given once; `again: true` gives those that you hold and have not judged once more. When a phase begins or the
/// conversation was summarized, they come first again, and nothing is lost when a worker dies. What a job has not judged when it
/// ends becomes pending again. Where one result has no room for all, `held_back` says how many more are claimed already: the
/// next call gives them; `still_pending` is how many are not claimed yet.
///
/// Judge them with `judge_requirements`; the same answer may claim the next. What is judged leaves the conversation. The result begins
/// with `no pending requirement` when nothing is left, followed by what this job has judged and by how many rows somebody else holds
/// locked.
///
/// {arguments}
///
/// Example: `{"count": 40}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextRequirement {
    /// # How many at most
    /// how many at most, 1 to 40 (default 1)
    #[schemars(range(min = 1, max = MAX_AT_ONCE))]
    count: Option<u32>,
    /// # Those you hold, once more
    /// true: those that you hold and have not judged, once more
    #[serde(default)]
    again: bool,
}

impl Declared for NextRequirement {
    const NAME: &str = "next_requirement";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Claim pending requirements to validate. Gives each with the results of all checks and the graph's \
        nodes of the names it mentions.";
    const HANDLER: Handler = Handler::External;
    const REPLAY: Replay = Replay::Keyed;

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let validation_queue = validation_queue(env)?;
        // The graph is contacted first: while it is unreachable, nothing is claimed.
        let graph = match env.ctx.graph.client()? {
            Some(client) => Some(GraphNames::load(env.names, client).await?),
            None => None,
        };
        let recheck = graph.is_some();
        let mut claim = Claim::of(env, self, validation_queue.held().await?)?;
        let mut rows = claim.rows(validation_queue, recheck).await?;
        if rows.is_empty() {
            let tally = with_judged(validation_queue.tally(recheck).await?, env.overlay.judged().values().copied());
            // A row that a concurrent transaction was changing was skipped, and is found by the second read.
            rows = if tally.waiting > 0 { claim.rows(validation_queue, recheck).await? } else { rows };
            if rows.is_empty() {
                return Ok(Output::text(claim.nothing_left(&tally)));
            }
        }
        claim.held.extend(
            rows.iter().filter(|row| claim.held.iter().all(|known| known.id != row.id)).cloned().collect::<Vec<_>>(),
        );
        let names = HeldNames::of(&claim.held);
        let mut shown = Vec::with_capacity(rows.len());
        let mut texts = CitedTexts::new(validation_queue);
        for checked in check(validation_queue, rows).await? {
            let quotes = texts.quotes_of(&checked.row).await?;
            shown.push(RowShown::of(graph.as_ref(), &checked, quotes, names.name(&checked.row)).await?);
        }
        if shown.iter().flat_map(RowShown::sources).collect::<BTreeSet<_>>().len() > 1 {
            shown.iter_mut().for_each(RowShown::show_source);
        }
        let waiting = validation_queue.tally(recheck).await?.waiting;
        let max_tokens = env.ctx.max_result_tokens;
        let (text, gives) =
            crate::run_blocking(move |cancellation| fitting(shown, waiting, max_tokens, cancellation)).await;
        env.rows.give(gives.iter().map(|row| row.id));
        Ok(Output { gives, ..Output::text(text) })
    }
}

/// A call's claim.
struct Claim {
    count: u32,
    /// The rows that the job holds unjudged.
    held: Vec<HeldRequirement>,
    /// Rows that the call does not present, since the conversation has them or this answer has judged them.
    left_out: Vec<Uuid>,
}

impl Claim {
    fn of(env: &ToolEnv<'_>, call: NextRequirement, mut held: Vec<HeldRequirement>) -> Result<Self, ToolError> {
        let NextRequirement { count, again } = call;
        let judged = env.overlay.judged();
        held.retain(|row| !judged.contains_key(&row.id));
        let has = |row: &&HeldRequirement| match again {
            true => env.rows.was_given(row.id) || env.ctx.given.in_answer(row.id),
            false => env.rows.was_given(row.id) || env.ctx.given.in_conversation(row.id),
        };
        let had: Vec<Uuid> = held.iter().filter(has).map(|row| row.id).collect();
        let most = (held.len() - had.len()) + MOST_HELD.saturating_sub(held.len());
        if most == 0 {
            return Err(ToolError::refused(format!(
                "nothing was claimed: {} requirements are held and not judged, which is the most; judge them first (again: \
                 true shows them once more)",
                held.len()
            )));
        }
        // Rows judged in this answer are held until its commit.
        let left_out = judged.keys().copied().chain(had).collect();
        Ok(Self { count: count.unwrap_or(1).min(u32::try_from(most).unwrap_or(MAX_AT_ONCE)), held, left_out })
    }

    async fn rows(
        &self,
        validation_queue: &dyn ValidationQueue,
        recheck: bool,
    ) -> Result<Vec<HeldRequirement>, ToolError> {
        Ok(validation_queue.claim(self.count, recheck, &self.left_out).await?)
    }

    /// The last answer, or a reminder of what must be judged before it.
    fn nothing_left(&self, tally: &Tally) -> String {
        if self.held.is_empty() {
            return nothing_left(tally);
        }
        let names = HeldNames::of(&self.held);
        let named: Vec<String> = self.held.iter().map(|row| names.name(row)).collect();
        format!(
            "every requirement has been given; held and not judged: {}. Judge them; again: true shows them once more.",
            list(&named)
        )
    }
}

/// As many requirements as fit into a result's token limit, and at least one: a longer result is cut in its middle, and
/// half of the claimed rows would go unseen. A single requirement that is too long is shown with shortened texts.
fn fitting(
    mut rows: Vec<RowShown>,
    waiting: u64,
    max_tokens: u32,
    cancellation: &Cancellation,
) -> (String, Vec<GivenRow>) {
    let claimed = rows.len();
    let mut longest = LONGEST;
    loop {
        let (text, gives) = written(&rows, longest, claimed - rows.len(), waiting);
        let is_last = longest < 20 || cancellation.is_cancelled();
        // A token has at least one byte, so a text with few bytes need not be counted.
        if is_last || text.len() <= max_tokens as usize || plumbline_tokens::count(&text) <= max_tokens {
            return (text, gives);
        }
        if rows.len() > 1 {
            rows.pop();
        } else {
            longest /= 2;
        }
    }
}

fn written(rows: &[RowShown], longest: usize, held_back: usize, waiting: u64) -> (String, Vec<GivenRow>) {
    let (mut written, mut gives): (Vec<Value>, Vec<GivenRow>) = (Vec::new(), Vec::new());
    for row in rows {
        let (text, whole) = row.written(longest);
        written.push(text);
        gives.push(GivenRow { id: row.id, whole });
    }
    let mut result = json!({"requirements": written, "still_pending": waiting});
    if held_back > 0 {
        result["held_back"] = held_back.into();
    }
    (result.to_string(), gives)
}

/// The tally including this turn's judgements, which are not in the rows yet.
fn with_judged(mut tally: Tally, judged: impl Iterator<Item = Verdict>) -> Tally {
    for verdict in judged {
        match verdict {
            Verdict::Integrated => tally.integrated += 1,
            Verdict::Accepted => tally.accepted += 1,
            Verdict::Rejected => tally.rejected += 1,
            Verdict::Failed => tally.failed += 1,
        }
    }
    tally
}

/// The last answer: the outcome of all of them. Rows that another validator holds do not wait for this job.
fn nothing_left(tally: &Tally) -> String {
    let Tally { integrated, accepted, by_rule, rejected, failed, waiting, reasons } = tally;
    let switched_off = match accepted {
        0 => "",
        _ => " (integration is switched off: no graph is configured, output/insert.cypher has them)",
    };
    let by_rule = if *by_rule > 0 { format!(" ({by_rule} by rule)") } else { String::new() };
    let mut text = format!(
        "{NOTHING_LEFT}. Judged by this job: {integrated} integrated, {accepted} accepted{by_rule}{switched_off}, \
         {rejected} rejected, {failed} failed."
    );
    for (reason, count) in reasons.iter().take(MAX_REASONS) {
        text.push_str(&format!("\n- {count} × {reason}"));
    }
    if reasons.len() > MAX_REASONS {
        text.push_str(&format!("\n- and {} more reasons", reasons.len() - MAX_REASONS));
    }
    if *waiting > 0 {
        text.push_str(&format!("\n{waiting} more are pending, and somebody else holds them at this moment."));
    }
    text
}
