//! The quotes of a row as whoever judges it reads them: with their pages, and with the sentences around them.

use crate::documents::text_parts::part_path;
use crate::error::ToolError;
use crate::requirements::validation_queue::{HeldRequirement, ValidationQueue};
use plumbline_documents::quotes::{Match, SourceText};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Most quotes of a row that are shown.
const MAX_QUOTES: usize = 3;
/// What of a citation is shown.
const SHOWN: [&str; 5] = ["source", "page", "page_to", "quote", "verified"];

/// The texts that the rows of one answer cite, each read once.
pub(crate) struct CitedTexts<'a> {
    validation_queue: &'a dyn ValidationQueue,
    texts: HashMap<(Uuid, String), Vec<Arc<SourceText>>>,
}

impl<'a> CitedTexts<'a> {
    pub(crate) fn new(validation_queue: &'a dyn ValidationQueue) -> Self {
        Self { validation_queue, texts: HashMap::new() }
    }

    /// The first quotes of a row, and how many there are besides.
    pub(crate) async fn quotes_of(&mut self, row: &HeldRequirement) -> Result<Value, ToolError> {
        let cited: Vec<&Map<String, Value>> =
            row.citations.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        let mut quotes = Vec::new();
        for citation in cited.iter().take(MAX_QUOTES) {
            quotes.push(self.quote(row.job_id, citation).await?);
        }
        if cited.len() > MAX_QUOTES {
            quotes.push(json!(format!("{} more", cited.len() - MAX_QUOTES)));
        }
        Ok(quotes.into())
    }

    async fn quote(&mut self, job_id: Uuid, citation: &Map<String, Value>) -> Result<Value, ToolError> {
        let text = |key: &str| citation.get(key).and_then(Value::as_str);
        let given = |key: &&str| citation.get(*key).is_some_and(|value| !value.is_null());
        let mut shown: Map<String, Value> =
            SHOWN.into_iter().filter(given).map(|key| (key.to_owned(), citation[key].clone())).collect();
        if let (Some(source), Some(quote)) = (text("source"), text("quote"))
            && let Some((before, after)) = self.around(job_id, source, quote, citation.get("page")).await?
        {
            shown.extend([("before".to_owned(), before.into()), ("after".to_owned(), after.into())]);
        }
        Ok(Value::Object(shown))
    }

    /// What stands before and behind a quote; none where it cannot be looked up.
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
