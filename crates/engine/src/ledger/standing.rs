//! The active requirements of a job for the ledger: which sentences their quotes touch.

use super::{Passage, Touched};
use crate::Requirement;
use serde_json::Value;
use std::{
    cell::LazyCell,
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A sentence by its passage and its number.
pub(crate) type Place = (i32, i32);

/// A requirement that was not withdrawn: the parts of its row that the ledger uses. A job has hundreds in memory, so each
/// takes only the room that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingRequirement {
    /// The job's own number: `r12`.
    pub number: i32,
    /// Its `req_` id.
    pub candidate_id: String,
    /// Its text; the same string as its quote if it has the quote's words.
    pub text: Arc<str>,
    /// Its tags.
    pub tags: Box<[String]>,
    /// Its verified quotes, in order.
    pub quotes: Box<[PlacedQuote]>,
    /// The step that wrote the quotes: their places refer to the documents as cut at that step.
    pub placed_step: i64,
}

/// A verified quote.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedQuote {
    /// Workspace path of the document.
    pub source: String,
    /// Its text.
    pub words: Arc<str>,
    /// The sentences that it touches, one range per passage; empty if the document was not cut.
    pub places: Box<[Touched]>,
}

impl StandingRequirement {
    /// A requirement as a step records it.
    pub fn of(requirement: &Requirement, number: i32, placed_step: i64) -> Self {
        let Requirement { candidate_id, text, tags, citations, .. } = requirement;
        Self::new((number, candidate_id.clone()), text, tags.clone(), citations, placed_step)
    }

    /// From the columns of its row: its number and `req_` id, text, tags, citations, and the step of its places.
    pub fn new(
        (number, candidate_id): (i32, String),
        text: &str,
        tags: Vec<String>,
        citations: &Value,
        placed_step: i64,
    ) -> Self {
        let quotes = quotes_of(citations);
        let quoted = quotes.iter().find(|quote| *quote.words == *text);
        let text = quoted.map_or_else(|| text.into(), |quote| Arc::clone(&quote.words));
        Self { number, candidate_id, text, tags: tags.into(), quotes: quotes.into(), placed_step }
    }

    /// Whether it has a tag.
    pub fn is_tagged(&self, tag: &str) -> bool {
        self.tags.iter().any(|known| known == tag)
    }
}

/// The verified quotes of `requirement_cache.citations`.
pub fn quotes_of(citations: &Value) -> Vec<PlacedQuote> {
    let cited = citations.as_array().into_iter().flatten();
    cited.filter(|cited| cited["verified"] == true).map(PlacedQuote::of).collect()
}

impl PlacedQuote {
    fn of(cited: &Value) -> Self {
        let text = |key: &str| cited[key].as_str().unwrap_or_default();
        let continues = cited["continues"].as_array().into_iter().flatten();
        let places = std::iter::once(cited).chain(continues).filter_map(place).collect();
        Self { source: text("source").to_owned(), words: text("quote").into(), places }
    }
}

fn place(cited: &Value) -> Option<Touched> {
    let number = |key: &str| cited[key].as_i64().and_then(|number| i32::try_from(number).ok());
    Some(Touched { passage: number("passage")?, from: number("from")?, to: number("to")? })
}

/// Active requirements by number. Boxed: the nodes of a map that grows at its end stay half empty.
pub(super) type Rows = BTreeMap<i32, Box<Row>>;

/// An active requirement and the candidates that its quotes touch, in the order of the quotes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) standing: StandingRequirement,
    pub(super) touched: Box<[Place]>,
    /// The first sentence quoted, if its place is known.
    pub(super) first: Option<Place>,
    /// The passages in which its quotes begin, each once.
    pub(super) begun: Box<[i32]>,
}

impl Row {
    pub(super) fn of(standing: StandingRequirement, passages: &BTreeMap<i32, Passage>) -> Self {
        let mut touched: Vec<Place> = Vec::new();
        for quote in &standing.quotes {
            for place in touched_by(quote, standing.placed_step, passages) {
                if !touched.contains(&place) {
                    touched.push(place);
                }
            }
        }
        let first = |quote: &PlacedQuote| first_of(quote, standing.placed_step, passages);
        let begun: BTreeSet<i32> =
            standing.quotes.iter().filter_map(|quote| first(quote).map(|(passage, _)| passage)).collect();
        let first = standing.quotes.first().and_then(first);
        Self { standing, touched: touched.into(), first, begun: begun.into_iter().collect() }
    }
}

/// The start of a quote: from its places, or, if its document was cut again since, the first candidate with its words.
fn first_of(quote: &PlacedQuote, placed_step: i64, passages: &BTreeMap<i32, Passage>) -> Option<Place> {
    let is_as_it_was = |place: &Touched| {
        let passage = passages.get(&place.passage);
        passage.is_some_and(|passage| passage.cut_step <= placed_step && passage.document == quote.source)
    };
    match quote.places.first() {
        Some(place) if is_as_it_was(place) => Some((place.passage, place.from)),
        _ => touched_by(quote, placed_step, passages).first().copied(),
    }
}

/// The ids of active requirements whose first quote begins at a sentence.
pub(crate) fn beginning_at(
    standing: Vec<StandingRequirement>,
    passages: &BTreeMap<i32, Passage>,
    place: Place,
) -> Vec<StandingRequirement> {
    let begins = |one: &StandingRequirement| {
        one.quotes.first().and_then(|quote| first_of(quote, one.placed_step, passages)) == Some(place)
    };
    standing.into_iter().filter(begins).collect()
}

/// The candidates that a quote touches: by its places, or by its words if its document was cut again since. If quote
/// and cut are of the same step, the words tell which came first.
fn touched_by(quote: &PlacedQuote, placed_step: i64, passages: &BTreeMap<i32, Passage>) -> Vec<Place> {
    let words = LazyCell::new(|| letters(&quote.words));
    let shares =
        |text: &str| !text.is_empty() && !words.is_empty() && (words.contains(text) || text.contains(words.as_str()));
    let is_as_it_was = |place: &Touched| {
        let Some(passage) = passages.get(&place.passage).filter(|passage| passage.document == quote.source) else {
            return false;
        };
        match passage.cut_step.cmp(&placed_step) {
            Ordering::Less => true,
            Ordering::Equal => in_range(place, passages).iter().any(|(_, sentence)| {
                passage.candidate(*sentence).is_some_and(|candidate| shares(&letters(&candidate.text)))
            }),
            Ordering::Greater => false,
        }
    };
    if !quote.places.is_empty() && quote.places.iter().all(is_as_it_was) {
        return quote.places.iter().flat_map(|place| in_range(place, passages)).collect();
    }
    let of_document = passages.values().filter(|passage| passage.document == quote.source);
    let candidates = of_document.flat_map(|passage| {
        passage.candidates.iter().map(|candidate| ((passage.number, candidate.sentence), letters(&candidate.text)))
    });
    candidates.filter(|(_, text)| shares(text)).map(|(place, _)| place).collect()
}

fn in_range(place: &Touched, passages: &BTreeMap<i32, Passage>) -> Vec<Place> {
    let candidates = passages.get(&place.passage).map_or(&[][..], |passage| &passage.candidates);
    let first = candidates.partition_point(|candidate| candidate.sentence < place.from);
    let touched = candidates[first..].iter().take_while(|candidate| candidate.sentence <= place.to);
    touched.map(|candidate| (place.passage, candidate.sentence)).collect()
}

/// Letters and digits in lower case: independent of line breaks.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
