//! Requirements, shown beside their quotes.

use plumbline_engine::{Requirement, beginning};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

/// Maximum number of requirements shown; `output/requirements.json` has all.
const MOST: usize = 5_000;
/// Maximum characters shown of a requirement's text.
const MOST_CHARS: usize = 600;
/// Maximum number of listed quotes per requirement.
const MOST_QUOTES: usize = 20;

/// The view of a requirement.
#[derive(Serialize)]
pub(crate) struct Card {
    id: String,
    name: String,
    text: String,
    r#type: String,
    priority: String,
    carried: bool,
    /// The ids of its citations.
    quotes: Vec<String>,
    /// Whether it was already shown in full.
    #[serde(skip)]
    pub(crate) is_shown: bool,
}

/// All of them.
pub(crate) struct Cards {
    pub(crate) all: Vec<Card>,
    /// The number of requirements beyond the limit.
    pub(crate) left_out: usize,
    /// Requirements by citation.
    resting: HashMap<String, Vec<usize>>,
}

impl Cards {
    /// `citation_of`: the id of the citation with that source and that quote.
    pub(crate) fn of<'a>(
        standing: impl Iterator<Item = &'a Requirement>,
        citation_of: &HashMap<(&str, &str), &str>,
    ) -> Self {
        let mut standing: Vec<&Requirement> = standing.collect();
        let left_out = standing.len().saturating_sub(MOST);
        standing.truncate(MOST);
        let all: Vec<Card> = standing.into_iter().map(|requirement| card(requirement, citation_of)).collect();
        let mut resting: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, card) in all.iter().enumerate() {
            for quote in &card.quotes {
                resting.entry(quote.clone()).or_default().push(at);
            }
        }
        Self { all, left_out, resting }
    }

    /// The requirements of these citations, each once, in the order of the citations.
    pub(crate) fn resting_on<'a>(&self, citations: impl Iterator<Item = &'a String>) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for at in citations.filter_map(|citation| self.resting.get(citation)).flatten() {
            if !found.contains(at) {
                found.push(*at);
            }
        }
        found
    }
}

fn card(requirement: &Requirement, citation_of: &HashMap<(&str, &str), &str>) -> Card {
    let cited = requirement.citations.as_array().into_iter().flatten();
    let mut quotes: Vec<String> = Vec::new();
    for cited in cited.take(MOST_QUOTES) {
        let text = |key: &str| cited.get(key).and_then(Value::as_str);
        let known = text("source").zip(text("quote")).and_then(|key| citation_of.get(&key));
        quotes.extend(known.filter(|id| !quotes.iter().any(|quote| quote == **id)).map(|id| (*id).to_owned()));
    }
    Card {
        id: requirement.candidate_id.clone(),
        name: requirement.name.clone(),
        text: beginning(&requirement.text, MOST_CHARS),
        r#type: requirement.r#type.clone(),
        priority: requirement.priority.clone(),
        carried: requirement.tags.iter().any(|tag| tag == "carried"),
        quotes,
        is_shown: false,
    }
}
