//! `record_passage`: records the requirements of one passage in one compact call. The system sets every field that it
//! can derive.
//!
//! ```text
//! item ──numbers──▶ sentences ──entries──▶ text with its leads, quotes ──same words?──▶ a requirement, or further quotes of one
//! rest ──────────▶ a decision on the passage, which the ledger takes or answers with what is open
//! ```

mod item;
mod numbers;
mod priority;
mod rest;

use crate::error::{Output, ToolError, ToolResult};
use crate::requirements::texts::Texts;
use crate::tool::{Declared, ToolEnv};
use crate::workspace::PassagePlace;
use item::{Batch, Item, Prepared};
use plumbline_documents::surroundings::Layout;
use plumbline_engine::{PassageDecision, Phases, Product};
use rest::Rest;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Records the requirements of one passage. An item is one duty; `s` names its sentences by the numbers they are shown with: `"3"`,
/// `"5-6"`, `"3:41"` for a lead and its entry, six at most. Only what differs from the defaults has to be given: the text is that of the sentences,
/// an entry joined with its leads; the name is its beginning; the priority goes by the modal word; page, quotes, type and
/// confidence are set. Several duties in one sentence are several items with the same `s`, each but the first with a `text` of its own.
/// An item that is wrong is named, and the others are recorded.
///
/// `rest` decides the passage: `[]` when nothing of it is left; for sentences that are no requirement their numbers with `why`; for
/// those that a requirement has already `in`; or `[{"why": "…"}]`, 15 characters or more, for all that is left. Without `rest`
/// the answer says what is open.
///
/// {arguments}
///
/// Example: `{"passage": 7, "items": [{"s": "3"}, {"s": "5:8", "name": "Log of accesses"}, {"s": "9", "text": "The auditor must sign the
/// log.", "priority": "high"}], "rest": [{"s": "4", "why": "a definition"}, {"s": "10", "in": "#3"}]}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordPassage {
    /// # Its number: 7 for chunks/chunk_007.md
    /// its number: 7 for `chunks/chunk_007.md`
    #[schemars(range(min = 1))]
    passage: i32,
    /// # One a duty; only what differs from the defaults
    /// the requirements, one a duty
    #[schemars(length(max = 100))]
    #[serde(default)]
    items: Vec<Item>,
    /// # What becomes of the other candidates; [] when nothing is left
    /// what becomes of the other candidate sentences
    #[schemars(length(max = 200))]
    rest: Option<Vec<Rest>>,
}

impl Declared for RecordPassage {
    const NAME: &str = "record_passage";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Record the requirements of one passage by sentence numbers, and decide what is left of it. Quotes, text, name, \
        priority and place are set from the sentences.";

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { passage: number, items, rest } = self;
        let (place, sentences) = passage(env, number).await?;
        let mut batch = Batch::of(place, sentences);
        let (lines, mut wrong) = recorded(env, &mut batch, items).await?;
        let mut decision = PassageDecision { passage: number, decides: rest.is_some(), ..PassageDecision::default() };
        for (at, rest) in rest.iter().flatten().enumerate() {
            if let Err(why) = rest.add_to(&mut decision, batch.count(), &batch.numbers) {
                wrong.push(format!("rest[{at}]: {why}"));
            }
        }
        // A call with an error decides nothing: the answer says what is open.
        decision.decides &= wrong.is_empty();
        let mut products = std::mem::take(&mut batch.products);
        products.push(Product::DecidePassage(Box::new(decision)));
        let recorded = if lines.is_empty() { "nothing recorded".to_owned() } else { lines.join(", ") };
        let content = match wrong.is_empty() {
            true => format!("passage {number}: {recorded}."),
            false => format!("{}. Of passage {number}: {recorded}.", wrong.join("; ")),
        };
        Ok(Output { is_failed: !wrong.is_empty(), ..Output::of(content, products) })
    }
}

/// Records items; returns a line for each, and what is wrong with the others.
async fn recorded(
    env: &ToolEnv<'_>,
    batch: &mut Batch<'_>,
    items: Vec<Item>,
) -> Result<(Vec<String>, Vec<String>), ToolError> {
    let mut prepared = Vec::with_capacity(items.len());
    for item in items {
        prepared.push(refusal_apart(Prepared::of(env, batch, item).await)?);
    }
    item::look_up(env, &prepared).await?;
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (at, prepared) in (1..).zip(prepared) {
        let done = match prepared {
            Ok(prepared) => refusal_apart(item::record(env, batch, prepared).await)?,
            Err(why) => Err(why),
        };
        match done {
            Ok(line) => lines.push(line),
            Err(why) => {
                batch.numbers.push(None);
                wrong.push(format!("#{at}: {why}"));
            }
        }
    }
    Ok((lines, wrong))
}

/// What is refused concerns one item; any other error ends the call.
fn refusal_apart<T>(done: Result<T, ToolError>) -> Result<Result<T, String>, ToolError> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(ToolError::Refused(why)) => Ok(Err(why)),
        Err(other) => Err(other),
    }
}

/// A passage and its sentences.
async fn passage<'e>(env: &'e ToolEnv<'_>, number: i32) -> Result<(&'e PassagePlace, Arc<Layout>), ToolError> {
    let place = env.overlay.passages().iter().find(|known| known.number == number).ok_or_else(|| {
        ToolError::refused(format!(
            "nothing was recorded; there is no passage {number}: chunks/chunk_007.md is passage 7"
        ))
    })?;
    let layout = Texts::new(env.overlay, env.ctx).layout(number).await?.ok_or_else(|| {
        ToolError::refused(format!("nothing was recorded; passage {number} has no text that could be quoted"))
    })?;
    Ok((place, layout))
}
