//! The marks in the texts: quotes, and candidate sentences without a quote.

use plumbline_documents::marked::Words;
use plumbline_engine::{Citation, Passage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of marked quotes and candidate sentences: a job has hundreds.
const MOST_QUOTES: usize = 20_000;
const MOST_OPEN: usize = 5_000;

/// One of them.
pub(crate) struct Mark {
    /// The id of a citation; a candidate sentence has none.
    pub(crate) citation: Option<String>,
    pub(crate) document: String,
    page: Option<u32>,
    pub(crate) text: String,
    /// Whether it was found in the text.
    pub(crate) is_placed: bool,
}

impl Mark {
    pub(crate) fn words(&self) -> Words<'_> {
        Words { text: &self.text, page: self.page }
    }

    /// The HTML element of the mark.
    pub(crate) fn tag(&self) -> &'static str {
        if self.citation.is_some() { "mark" } else { "u" }
    }

    /// Its form in a list.
    pub(crate) fn as_listed(&self) -> Value {
        json!({"id": self.id(), "document": self.document, "page": self.page, "text": self.text})
    }

    /// The element's id.
    pub(crate) fn id(&self) -> Option<String> {
        self.citation.as_ref().map(|citation| format!("c-{citation}"))
    }
}

/// All of them.
pub(crate) struct Marks {
    pub(crate) all: Vec<Mark>,
    /// The number of quotes beyond the limit.
    pub(crate) unmarked: usize,
}

impl Marks {
    pub(crate) fn of(citations: Vec<Citation>, passages: &[&Passage]) -> Self {
        let verified = citations.into_iter().filter(|citation| citation.verified);
        // Equal citations are merged.
        let quotes: BTreeMap<String, Citation> = verified.map(|citation| (citation.id.clone(), citation)).collect();
        let unmarked = quotes.len().saturating_sub(MOST_QUOTES);
        let quotes = quotes.into_values().take(MOST_QUOTES).map(|citation| Mark {
            citation: Some(citation.id),
            document: citation.source,
            page: citation.page.and_then(|page| u32::try_from(page).ok()),
            text: citation.quote,
            is_placed: false,
        });
        let open = passages.iter().flat_map(|passage| {
            let document = &passage.document;
            passage.open_candidates().map(move |candidate| (document, candidate))
        });
        // A candidate is located by its words, on any page of its passage.
        let open = open.take(MOST_OPEN).map(|(document, candidate)| Mark {
            citation: None,
            document: document.clone(),
            page: None,
            text: candidate.text.clone(),
            is_placed: false,
        });
        Self { all: quotes.chain(open).collect(), unmarked }
    }

    /// The marks of a document that were not found yet, by their keys.
    pub(crate) fn open_of<'a>(&'a self, document: &'a str) -> impl Iterator<Item = (usize, &'a Mark)> {
        let open = move |(_, mark): &(usize, &Mark)| !mark.is_placed && mark.document == document;
        self.all.iter().enumerate().filter(open)
    }
}
