//! The quotes of a row for the judging model: with their pages, and with the surrounding sentences.

use crate::documents::text_parts::part_path;
use crate::error::ToolError;
use crate::requirements::validation_queue::ValidationQueue;
use plumbline_documents::candidates::Scan;
use plumbline_documents::chunking::chunk_path;
use plumbline_documents::quotes::{Match, SourceText};
use plumbline_documents::surroundings::Layout;
use plumbline_engine::HeldRequirement;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Maximum quotes of a row that are shown.
const MAX_QUOTES: usize = 8;
/// Characters shown of the text on each side of a quote.
const NEAR: usize = 160;

/// A quote of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quote {
    pub(crate) source: String,
    pub(crate) page: Option<u64>,
    pub(crate) words: String,
    /// The text before and after a list entry, which means little by itself; empty otherwise.
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The first quotes of a row, and the number of further ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quotes {
    pub(crate) shown: Vec<Quote>,
    pub(crate) more: usize,
}

/// The texts cited by the rows of one answer, each read once.
pub(crate) struct CitedTexts<'a> {
    validation_queue: &'a dyn ValidationQueue,
    texts: HashMap<(Uuid, String), Vec<Arc<SourceText>>>,
    passages: HashMap<(Uuid, u32), Option<Arc<Layout>>>,
}

/// The sentences beside a quote.
struct Beside {
    before: String,
    after: String,
    is_entry: bool,
}

impl Beside {
    fn of(layout: &Layout, (from, to): (u32, u32), words: &str) -> Option<Self> {
        layout.quote((from, to)).filter(|quote| quote.text == words)?;
        let sentence = |number: u32| layout.get(i32::try_from(number).ok()?).map(|sentence| &sentence.entry);
        let text = |number: u32| sentence(number).map(|entry| entry.text.clone()).unwrap_or_default();
        let (before, after) = (text(from.saturating_sub(1)), text(to.saturating_add(1)));
        let has_leads = sentence(from).is_some_and(|entry| !entry.leads.is_empty());
        let is_entry = has_leads || is_entry(words, &before);
        Some(Self { before, after, is_entry })
    }
}

impl<'a> CitedTexts<'a> {
    pub(crate) fn new(validation_queue: &'a dyn ValidationQueue) -> Self {
        Self { validation_queue, texts: HashMap::new(), passages: HashMap::new() }
    }

    /// The quotes of a row.
    pub(crate) async fn quotes_of(&mut self, row: &HeldRequirement) -> Result<Quotes, ToolError> {
        let cited: Vec<&Map<String, Value>> =
            row.citations.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        let mut shown: Vec<Quote> = Vec::new();
        for citation in cited.iter().take(MAX_QUOTES) {
            let is_under_lead = shown.last().is_some_and(|lead| lead.words.trim_end().ends_with(':'));
            shown.push(self.quote(row.job_id, citation, is_under_lead).await?);
        }
        Ok(Quotes { shown, more: cited.len().saturating_sub(MAX_QUOTES) })
    }

    async fn quote(
        &mut self,
        job_id: Uuid,
        citation: &Map<String, Value>,
        is_under_lead: bool,
    ) -> Result<Quote, ToolError> {
        let text = |key: &str| citation.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let page = citation.get("page").and_then(Value::as_u64);
        let mut quote = Quote { source: text("source"), page, words: text("quote"), ..Quote::default() };
        if let Some(beside) = self.beside(job_id, citation, &quote.words).await? {
            if is_under_lead || beside.is_entry {
                (quote.before, quote.after) = (end_of(&beside.before), beginning_of(&beside.after));
            }
        } else if !quote.words.is_empty()
            && let Some((before, after)) =
                self.around(job_id, &quote.source, &quote.words, citation.get("page")).await?
            && (is_under_lead || is_entry(&quote.words, &before))
        {
            (quote.before, quote.after) = (end_of(&before), beginning_of(&after));
        }
        Ok(quote)
    }

    /// The sentences beside a quote that is cited by its place: its words alone may occur at several. None if it is not,
    /// or if the passage does not have these words there.
    async fn beside(
        &mut self,
        job_id: Uuid,
        citation: &Map<String, Value>,
        words: &str,
    ) -> Result<Option<Beside>, ToolError> {
        let number = |key: &str| u32::try_from(citation.get(key)?.as_u64()?).ok();
        let (Some(passage), Some(from), Some(to)) = (number("passage"), number("from"), number("to")) else {
            return Ok(None);
        };
        let layout = self.passage(job_id, passage).await?;
        Ok(layout.as_deref().and_then(|layout| Beside::of(layout, (from, to), words)))
    }

    async fn passage(&mut self, job_id: Uuid, number: u32) -> Result<Option<Arc<Layout>>, ToolError> {
        if let Some(known) = self.passages.get(&(job_id, number)) {
            return Ok(known.clone());
        }
        let file = self.validation_queue.read(job_id, &chunk_path(number)).await?;
        let laid = |bytes: Vec<u8>| Layout::of(None, &String::from_utf8_lossy(&bytes), None, &Scan::default());
        let layout = match file {
            Some(bytes) => Some(Arc::new(crate::run_blocking(move |_| laid(bytes)).await)),
            None => None,
        };
        self.passages.insert((job_id, number), layout.clone());
        Ok(layout)
    }

    /// The text before and after a quote; none if it cannot be looked up.
    async fn around(
        &mut self,
        job_id: Uuid,
        document: &str,
        quote: &str,
        page: Option<&Value>,
    ) -> Result<Option<(String, String)>, ToolError> {
        let page = page.and_then(Value::as_u64).and_then(|page| u32::try_from(page).ok());
        let (parts, quote) = (self.parts(job_id, document).await?.to_vec(), quote.to_owned());
        let look_up = move || {
            parts.iter().find_map(|part| match part.find(&quote, page) {
                Match::Found(found) | Match::OnOtherPage(found) => Some((found.before, found.after)),
                Match::NotFound { .. } | Match::TooShort => None,
            })
        };
        Ok(crate::run_blocking(move |_| look_up()).await)
    }

    async fn parts(&mut self, job_id: Uuid, document: &str) -> Result<&[Arc<SourceText>], ToolError> {
        let key = (job_id, document.to_owned());
        if !self.texts.contains_key(&key) {
            let parts = self.read(job_id, document).await?;
            self.texts.insert(key.clone(), parts);
        }
        Ok(self.texts.get(&key).map_or(&[], Vec::as_slice))
    }

    async fn read(&self, job_id: Uuid, document: &str) -> Result<Vec<Arc<SourceText>>, ToolError> {
        let Some(text_path) = self.validation_queue.text_path(job_id, document).await? else { return Ok(Vec::new()) };
        let mut parts = Vec::new();
        for number in 1.. {
            let Some(bytes) = self.validation_queue.read(job_id, &part_path(&text_path, number)).await? else { break };
            let prepared = move || Arc::new(SourceText::new(&String::from_utf8_lossy(&bytes)));
            parts.push(crate::run_blocking(move |_| prepared()).await);
        }
        Ok(parts)
    }
}

/// Whether a quote is a list entry, judged by its beginning and the text before it.
fn is_entry(quote: &str, before: &str) -> bool {
    let before = before.trim_end();
    let is_mark = |mark: &str| {
        let inner = mark.trim_start_matches('(').trim_end_matches(')');
        let is_short = inner.len() <= 4 && inner.chars().all(|c| c.is_ascii_alphanumeric());
        matches!(mark, "-" | "*" | "\u{2022}" | "\u{2013}") || (mark.ends_with(')') && is_short)
    };
    let continues = quote.chars().next().is_some_and(char::is_lowercase);
    continues || before.ends_with([':', ';']) || before.split_whitespace().next_back().is_some_and(is_mark)
}

fn end_of(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(NEAR);
    let end: String = text.chars().skip(skipped).collect();
    if skipped > 0 { format!("…{end}") } else { end }
}

fn beginning_of(text: &str) -> String {
    let beginning: String = text.chars().take(NEAR).collect();
    if beginning.len() < text.len() { format!("{beginning}…") } else { beginning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_beside_words_that_occur_twice_are_those_of_the_place() {
        let file = "<!-- source: input/a.md -->\n\nThe process must cover:\n\n1. staff;\n2. keys.\n\nIt must be approved for:\n\n\
                    1. staff;\n2. keys.\n";
        let layout = Layout::of(None, file, None, &Scan::default());
        let beside = |place, words| Beside::of(&layout, place, words).map(|beside| (beside.before, beside.after));
        let said = |before: &str, after: &str| Some((before.to_owned(), after.to_owned()));
        assert_eq!(beside((2, 2), "staff;"), said("The process must cover:", "keys."));
        assert_eq!(beside((5, 5), "staff;"), said("It must be approved for:", "keys."));
        assert_eq!(beside((4, 4), "staff;"), None);
    }

    #[test]
    fn an_entry_is_recognized_by_its_beginning_and_the_text_before_it() {
        for (quote, before, expected) in [
            ("Invoices must be kept.", "This is about paper.", false),
            ("keep a log;", "The operator shall:", true),
            ("Keep a log.", "The operator shall:", true),
            ("Keep a log.", "The operator shall: (a) report each breach; (b)", true),
            ("Keep a log.", "\u{2022}", true),
            ("Keep a log.", "3.2.1 Duties (of operators)", false),
        ] {
            assert_eq!(is_entry(quote, before), expected, "{before} / {quote}");
        }
    }
}
