//! `next_requirement`: claims pending requirements and says everything that rules can say about them.

use crate::error::{Output, ToolError, ToolResult};
use crate::requirements::checks::claimed_rows::{Checked, check};
use crate::requirements::checks::evidence::CitedTexts;
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::{of_call::validation_queue, relevance};
use crate::requirements::validation_queue::Tally;
use crate::tool::{Declared, ToolEnv};
use plumbline_bounds::Cancellation;
use plumbline_engine::{Handler, Phases, Replay, Verdict};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// Most requirements at once; fewer where the conversation has no room for all that is said of them.
const MAX_AT_ONCE: u32 = 40;
/// Longest text that is shown whole, in characters.
const MAX_TEXT_CHARS: usize = 1_500;
/// Most reasons in the last answer.
const MAX_REASONS: usize = 20;

/// What the answer begins with when nothing is left.
const NOTHING_LEFT: &str = "no pending requirement";

/// Claims the oldest pending requirements for this job, so that no other validator takes them, and gives each with what
/// rules can say of it: its quotes with page and the sentences around them (`before`, `after`), faults (a requirement with one
/// has to be rejected), remarks, similar requirements, which objects and messages of the graph its mentioned names are, and whether it seems relevant to what the graph is about. Requirements that this job holds and has not judged
/// come first: asking again gives the same ones, and nothing is lost when a worker dies. What a job has not judged when it
/// ends becomes pending again. Where one result has no room for all, `held_back` says how many more are claimed already: the
/// next call gives them; `still_pending` is how many are not claimed yet. What is left out is empty, false, or, as `text`, the same as the quote.
///
/// Judge each with `integrate_requirement` or `reject_requirement`; that may be done in the same answer as the next call of
/// this tool. The result begins with `no pending requirement` when nothing is left, followed by what this job has judged
/// and by how many rows somebody else holds locked.
///
/// {arguments}
///
/// Example: `{"count": 5}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextRequirement {
    /// # How many at most
    /// how many at most, 1 to 40 (default 1)
    #[schemars(range(min = 1, max = MAX_AT_ONCE))]
    count: Option<u32>,
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
        let Self { count } = self;
        let validation_queue = validation_queue(env)?;
        // The graph is asked first: while it cannot be reached, nothing is claimed.
        let graph = match env.ctx.graph.client()? {
            Some(client) => Some(GraphNames::load(env.names, client).await?),
            None => None,
        };
        let judged: Vec<Uuid> = env.overlay.judged().keys().copied().collect();
        let claim = || validation_queue.claim(count.unwrap_or(1), graph.is_some(), &judged);
        let mut rows = claim().await?;
        if rows.is_empty() {
            let tally =
                with_judged(validation_queue.tally(graph.is_some()).await?, env.overlay.judged().values().copied());
            // A row that somebody was just changing is passed over, and there at the next look.
            rows = if tally.waiting > 0 { claim().await? } else { rows };
            if rows.is_empty() {
                return Ok(Output::text(nothing_left(&tally)));
            }
        }
        let mut requirements = Vec::with_capacity(rows.len());
        let mut texts = CitedTexts::new(validation_queue);
        for checked in check(validation_queue, rows).await? {
            let quotes = texts.quotes_of(&checked.row).await?;
            requirements.push(describe(graph.as_ref(), &checked, quotes).await?);
        }
        let waiting = validation_queue.tally(graph.is_some()).await?.waiting;
        let max_tokens = env.ctx.max_result_tokens;
        let text =
            crate::run_blocking(move |cancellation| fitting(requirements, waiting, max_tokens, cancellation)).await;
        Ok(Output::text(text))
    }
}

/// As many of the requirements as a result may have tokens, and one at least: a result that is too long is cut in its
/// middle, and half of what was claimed would go unseen.
fn fitting(mut requirements: Vec<Value>, waiting: u64, max_tokens: u32, cancellation: &Cancellation) -> String {
    let claimed = requirements.len();
    loop {
        let text = written(&requirements, claimed - requirements.len(), waiting);
        let is_last = requirements.len() == 1 || cancellation.is_cancelled();
        // A token has at least one byte, so what is small in bytes need not be counted.
        if is_last || text.len() <= max_tokens as usize || plumbline_tokens::count(&text) <= max_tokens {
            return text;
        }
        requirements.pop();
    }
}

fn written(requirements: &[Value], held_back: usize, waiting: u64) -> String {
    let mut result = json!({"requirements": requirements, "still_pending": waiting});
    if held_back > 0 {
        result["held_back"] = held_back.into();
    }
    result.to_string()
}

async fn describe(graph: Option<&GraphNames<'_>>, checked: &Checked, quotes: Value) -> Result<Value, ToolError> {
    let Checked { row, findings } = checked;
    let verdict = match findings.faults.is_empty() {
        true => "may be integrated",
        false => "has to be rejected",
    };
    let mut described = json!({
        "id": row.id,
        "requirement": row.candidate_id,
        "name": row.name,
        "text": shown(&row.text),
        "type": row.r#type,
        "priority": row.priority,
        "source": row.source_document,
        "location": row.source_location,
        "gobd_relevant": row.gobd_relevant,
        "gdpr_relevant": row.gdpr_relevant,
        "reasoning": row.reasoning,
        "confidence": row.confidence,
        "quotes": quotes,
        "checks": findings.report(row),
        "verdict": verdict,
    });
    let mut known = None;
    match graph {
        Some(graph) => {
            let mentions = graph.of(row).await?;
            described["objects"] = mentions.objects;
            described["messages"] = mentions.messages;
            known = Some(mentions.known);
        }
        None => {
            described["objects"] = row.mentioned_objects.clone();
            described["messages"] = row.mentioned_messages.clone();
        }
    }
    described["relevance"] = relevance::report(row, known);
    if let [quote] = described["quotes"].as_array().map_or(&[][..], Vec::as_slice)
        && quote["quote"] == described["text"]
    {
        described["text"] = Value::Null;
    }
    drop_empty(&mut described);
    Ok(described)
}

/// What is left out says nothing: no, none, and a text that is the quote's. Names that the graph does not have stay.
fn drop_empty(value: &mut Value) {
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    };
    if let Value::Object(fields) = value {
        fields
            .iter_mut()
            .filter(|(name, _)| !matches!(name.as_str(), "objects" | "messages"))
            .for_each(|(_, field)| drop_empty(field));
        fields.retain(|_, field| !says_nothing(field));
    }
}

/// The tally with what this turn has judged: the rows do not know it yet.
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

/// The last answer: what came of all of them. Rows that another validator holds are not waiting for this job.
fn nothing_left(tally: &Tally) -> String {
    let Tally { integrated, accepted, rejected, failed, waiting, reasons } = tally;
    let switched_off = match accepted {
        0 => "",
        _ => " (integration is switched off: no graph is configured, output/insert.cypher has them)",
    };
    let mut text = format!(
        "{NOTHING_LEFT}. Judged by this job: {integrated} integrated, {accepted} accepted{switched_off}, \
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

fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}… ({} characters in all)", &text[..end], text.chars().count()),
        None => text.to_string(),
    }
}
