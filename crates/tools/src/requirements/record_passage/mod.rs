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
use item::{Batch, Item};
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
        let (mut lines, mut wrong) = (Vec::new(), Vec::new());
        for (at, item) in items.into_iter().enumerate() {
            match item::record(env, &mut batch, item).await {
                Ok(line) => lines.push(line),
                Err(ToolError::Refused(why)) => {
                    batch.numbers.push(None);
                    wrong.push(format!("#{}: {why}", at + 1));
                }
                Err(other) => return Err(other),
            }
        }
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
