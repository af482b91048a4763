//! One item: its sentences, its text and quotes, and the resulting requirement or additional quotes.

use super::numbers::Sentences;
use super::priority::by_modal_word;
use crate::documents::citation_check::{Pointer, quoted};
use crate::documents::found_quote::apart;
use crate::error::ToolError;
use crate::requirements::add_requirement::same_words::{Same, further_quotes, same_words};
use crate::requirements::add_requirement::{AddRequirement, build, evidence, key, name_from};
use crate::requirements::checks::name_cache::GraphNames;
use crate::tool::ToolEnv;
use crate::workspace::{PassagePlace, WorkspaceError};
use plumbline_documents::{entries::Numbered, surroundings::Layout};
use plumbline_engine::{Citation, Product, RecordedRequirement, Requirement};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One duty.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    /// # Its sentences: "3", "5-6", "3:41" (lead and entry)
    #[schemars(extend("type" = ["string", "integer"]))]
    s: Value,
    /// # Default: the beginning of the text
    name: Option<String>,
    /// # Default: the sentences, with their leads
    #[schemars(length(max = 10_000))]
    text: Option<String>,
    #[schemars(extend("enum" = ["functional", "non_functional", "compliance", "constraint"]))]
    r#type: Option<String>,
    /// # Default: by the modal word
    #[schemars(extend("enum" = ["high", "medium", "low"]))]
    priority: Option<String>,
    /// # Why it is one, where that is not evident
    #[schemars(length(max = 10_000))]
    note: Option<String>,
    #[schemars(length(max = 100), inner(length(max = 200)))]
    objects: Option<Vec<String>>,
    #[schemars(length(max = 100), inner(length(max = 200)))]
    messages: Option<Vec<String>>,
    gobd: Option<bool>,
    gdpr: Option<bool>,
    #[schemars(range(min = 0, max = 1))]
    confidence: Option<f64>,
}

/// The results of a call's items so far.
pub(super) struct Batch<'e> {
    place: &'e PassagePlace,
    sentences: Arc<Layout>,
    /// The number of each item's requirement.
    pub(super) numbers: Vec<Option<i32>>,
    pub(super) products: Vec<Product>,
    /// The rows of this call, each with its normalized text.
    recorded: Vec<(String, Requirement)>,
    /// Earlier rows that got further quotes.
    again: BTreeSet<String>,
    cited: Vec<Citation>,
    /// The sentences that items name, each with the item's position.
    named: BTreeMap<Vec<u32>, usize>,
}

impl<'e> Batch<'e> {
    pub(super) fn of(place: &'e PassagePlace, sentences: Arc<Layout>) -> Self {
        Self {
            place,
            sentences,
            numbers: Vec::new(),
            products: Vec::new(),
            recorded: Vec::new(),
            again: BTreeSet::new(),
            cited: Vec::new(),
            named: BTreeMap::new(),
        }
    }

    /// The number of sentences in the passage.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.sentences.count()).unwrap_or(u32::MAX)
    }

    fn sentence(&self, number: u32) -> Option<&Numbered> {
        self.sentences.get(i32::try_from(number).ok()?).map(|sentence| &sentence.entry)
    }

    /// The text of an item: its leads, from the list's structure and as named by the item, and its sentences.
    fn words(&self, named: &Sentences) -> Words {
        let first = self.sentence(named.first());
        let found = first.map_or(&[][..], |first| &first.leads);
        let mut leads: Vec<String> =
            found.iter().filter(|lead| lead.number.is_none()).map(|lead| lead.text.clone()).collect();
        let own: BTreeSet<u32> = named.own.iter().flat_map(|(from, to)| *from..=*to).collect();
        let above = found.iter().filter_map(|lead| lead.number).chain(named.leads.iter().copied());
        let above: BTreeSet<u32> = above.filter(|lead| !own.contains(lead)).collect();
        let text = |number: &u32| self.sentence(*number).map(|sentence| sentence.text.clone());
        leads.extend(above.iter().filter_map(text));
        Words { leads, own: own.iter().filter_map(text).collect::<Vec<_>>().join(" ") }
    }
}

struct Words {
    leads: Vec<String>,
    own: String,
}

impl Words {
    fn joined(&self) -> String {
        self.leads.iter().map(String::as_str).chain([self.own.as_str()]).collect::<Vec<_>>().join(" ")
    }
}

/// An item whose sentences are read, and not yet compared with what is recorded.
pub(super) struct Prepared {
    item: Item,
    /// The numbers of its own sentences.
    own: Vec<u32>,
    words: Words,
    text: String,
    /// The quotes of its own sentences first, then of the leads that it names.
    citations: Vec<Citation>,
}

impl Prepared {
    /// Reads an item's sentences and verifies its quotes.
    ///
    /// # Errors
    /// One sentence for the model.
    pub(super) async fn of(env: &ToolEnv<'_>, batch: &Batch<'_>, item: Item) -> Result<Self, ToolError> {
        let named = Sentences::read(&item.s, batch.count()).map_err(ToolError::refused)?;
        let leads = named.leads.iter().map(|lead| (*lead, *lead));
        let mut citations = Vec::new();
        for (from, to) in named.own.iter().copied().chain(leads) {
            citations.push(quoted(env, Pointer { passage: batch.place.number, from, to }).await?);
        }
        let words = batch.words(&named);
        let text = item.text.clone().unwrap_or_else(|| words.joined());
        let own = named.own.iter().flat_map(|(from, to)| *from..=*to).collect();
        Ok(Self { item, own, words, text, citations })
    }
}

/// Reads what is recorded of these items, all at once.
pub(super) async fn look_up(env: &ToolEnv<'_>, items: &[Result<Prepared, String>]) -> Result<(), WorkspaceError> {
    let items = || items.iter().flatten();
    let ids = items().flat_map(|item| &item.citations).map(|citation| citation.id.clone());
    let keys = items().map(|item| key::of(&item.text));
    env.overlay.look_up(ids.collect(), keys.collect()).await
}

/// Records one item, or adds its quotes to the requirement that it repeats; returns the line for the model.
///
/// # Errors
/// One sentence for the model; nothing of the item is in the batch.
pub(super) async fn record(env: &ToolEnv<'_>, batch: &mut Batch<'_>, prepared: Prepared) -> Result<String, ToolError> {
    let Prepared { item, own, words, text, citations } = prepared;
    if let (Some(known), None) = (batch.named.get(&own), &item.text) {
        let place = known + 1;
        return Err(ToolError::refused(format!("names the same sentences as #{place}; another duty needs a `text`")));
    }
    let citations = batch.apart(env, citations).await?;
    let said = item.s.as_str().map_or_else(|| item.s.to_string(), str::to_owned);
    let remark = match batch.same(env, &text, &citations).await? {
        Same::None => batch.add(env, item, text, &words, None, &citations).await?,
        Same::Elsewhere { key, id } => {
            batch.add(env, item, text, &words, Some(key), &citations).await?;
            format!(" (same words as {id})")
        }
        Same::Requirement(known) => batch.add_quotes(*known, &citations)?,
    };
    batch.named.entry(own).or_insert(batch.numbers.len() - 1);
    batch.cited.extend(citations);
    let number = batch.numbers.last().copied().flatten();
    let id = number.map_or_else(|| "recorded".to_owned(), |number| format!("r{number}"));
    Ok(format!("{id} = {said}{remark}"))
}

impl Batch<'_> {
    /// The citations, each with an id of its own, without repetitions.
    async fn apart(&self, env: &ToolEnv<'_>, cited: Vec<Citation>) -> Result<Vec<Citation>, ToolError> {
        let mut citations: Vec<Citation> = Vec::new();
        for citation in cited {
            let known = env.overlay.citation(&citation.id).await?;
            let citation = apart(apart(citation, known.iter()), self.cited.iter().chain(&citations));
            if !citations.contains(&citation) {
                citations.push(citation);
            }
        }
        Ok(citations)
    }

    /// The record with the same text, by this call or an earlier one.
    async fn same(&self, env: &ToolEnv<'_>, text: &str, citations: &[Citation]) -> Result<Same, ToolError> {
        let place = place_of(citations);
        let words = key::normalized(text);
        let here = self.recorded.iter().filter(|(known, _)| *known == words);
        let mut first = None;
        for (_, known) in here {
            let number = known.number.unwrap_or_default();
            if key::place(&known.citations) == place {
                return Err(ToolError::refused(format!("says the same as r{number} of this call")));
            }
            first.get_or_insert(number);
        }
        match (same_words(env, text, citations).await?, first, place) {
            (Same::None, Some(first), Some(place)) => {
                Ok(Same::Elsewhere { key: key::at(text, &place), id: format!("r{first}") })
            }
            (Same::Requirement(known), _, _) if self.again.contains(&known.requirement.candidate_id) => {
                let id = known.requirement.candidate_id;
                Err(ToolError::refused(format!("says the same as {id}, as an item before it does")))
            }
            (same, _, _) => Ok(same),
        }
    }

    /// Records a requirement; `key` is set if another one has its text at another place.
    async fn add(
        &mut self,
        env: &ToolEnv<'_>,
        item: Item,
        text: String,
        words: &Words,
        key: Option<Vec<u8>>,
        citations: &[Citation],
    ) -> Result<String, ToolError> {
        let (joined, defaults) = (words.joined(), env.ctx.record_defaults);
        let (objects, messages) = mentioned(env, &joined).await?;
        let arguments = AddRequirement {
            name: item
                .name
                .map(|name| name_from(&name))
                .filter(|name| !name.is_empty())
                .or_else(|| Some(default_name(item.text.as_deref(), &words.own))),
            r#type: item.r#type,
            priority: item.priority.or_else(|| Some(by_modal_word(&joined).to_owned())),
            gobd_relevant: item.gobd.unwrap_or_else(|| defaults.bears_on_book_keeping(&joined)),
            gdpr_relevant: item.gdpr.unwrap_or_else(|| defaults.bears_on_data_protection(&joined)),
            mentioned_objects: item.objects.unwrap_or(objects),
            mentioned_messages: item.messages.unwrap_or(messages),
            reasoning: item.note,
            confidence: item.confidence,
            ..AddRequirement::default()
        };
        let key = key.unwrap_or_else(|| key::of(&text));
        let mut requirement = build(env, arguments, text, key, citations).await?;
        let n = i32::try_from(self.recorded.len()).unwrap_or(i32::MAX);
        requirement.number = Some(env.overlay.next_number().saturating_add(n));
        self.numbers.push(requirement.number);
        self.products.extend(citations.iter().cloned().map(Product::AddCitation));
        self.products.push(Product::AddRequirement(Box::new(requirement.clone())));
        self.recorded.push((key::normalized(&requirement.text), requirement));
        Ok(String::new())
    }

    /// Adds quotes to a requirement with this text at this place.
    fn add_quotes(&mut self, known: RecordedRequirement, citations: &[Citation]) -> Result<String, ToolError> {
        let (number, id) = (known.requirement.number, known.requirement.candidate_id.clone());
        let (added, products) = further_quotes(known, citations.to_vec())?;
        self.numbers.push(number);
        self.products.extend(products);
        let remark = if added > 0 { " (recorded before, quotes added)" } else { " (recorded before)" };
        self.again.insert(id);
        Ok(remark.to_owned())
    }
}

/// The beginning of a text that is given; otherwise that of the sentences, without what joins them to the next entry.
fn default_name(text: Option<&str>, own: &str) -> String {
    let own = own.trim_end();
    let joiners = ["; and/or", "; and", "; or", "; und", "; oder", ", and", ", or", ", und", ", oder", ";", ","];
    let ended = joiners.iter().find_map(|joiner| own.strip_suffix(joiner)).filter(|ended| !ended.is_empty());
    name_from(text.unwrap_or(ended.unwrap_or(own)))
}

fn place_of(citations: &[Citation]) -> Option<String> {
    key::place(&citations.iter().map(evidence).collect::<Value>())
}

/// Names of the graph's objects and messages in a text; empty if there is no graph or it is unreachable.
async fn mentioned(env: &ToolEnv<'_>, text: &str) -> Result<(Vec<String>, Vec<String>), ToolError> {
    let Ok(Some(client)) = env.ctx.graph.client() else { return Ok(Default::default()) };
    match GraphNames::load(env.names, client).await {
        Ok(names) => Ok(names.occurring_in(text)),
        Err(ToolError::Workspace(error)) => Err(error.into()),
        Err(error) => {
            tracing::debug!(%error, "could not look up the graph's names for a record");
            Ok(Default::default())
        }
    }
}
