//! The texts that quotes are from, as sentences with their surroundings.

use crate::tool::ToolContext;
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::{PassagePlace, WorkspaceError};
use plumbline_documents::passages;
use plumbline_documents::surroundings::Layout;
use plumbline_engine::{PlacedQuote, Touched};
use std::sync::Arc;

/// The passages of quotes, each read once by the calls of an answer.
pub(crate) struct Texts<'a> {
    pub(super) overlay: &'a WorkspaceOverlay<'a>,
    pub(super) ctx: &'a ToolContext<'a>,
}

impl<'a> Texts<'a> {
    pub(crate) fn new(overlay: &'a WorkspaceOverlay<'a>, ctx: &'a ToolContext<'a>) -> Self {
        Self { overlay, ctx }
    }

    /// The sentences that a quote touches: its recorded place if its text is still there, otherwise its current place.
    pub(crate) async fn places(&self, quote: &PlacedQuote) -> Result<Vec<Touched>, WorkspaceError> {
        if let Some(place) = quote.places.first()
            && self.is_there(place, quote).await?
        {
            return Ok(quote.places.to_vec());
        }
        let overlay = self.overlay;
        let mut files = Vec::new();
        for passage in overlay.passages().iter().filter(|passage| passage.document == quote.source) {
            files.extend(self.file(passage).await?.map(|file| (passage.number, file)));
        }
        let words = Arc::clone(&quote.words);
        let found = crate::run_blocking(move |_| passages::locate(&files, &words)).await;
        Ok(found.into_iter().next().map(|occurrence| occurrence.touched).unwrap_or_default())
    }

    /// Whether a quote begins at a place.
    async fn is_there(&self, place: &Touched, quote: &PlacedQuote) -> Result<bool, WorkspaceError> {
        let passages = self.overlay.passages();
        let is_of = passages.iter().any(|known| known.number == place.passage && known.document == quote.source);
        let layout = if is_of { self.layout(place.passage).await? } else { None };
        let sentence = layout.and_then(|layout| Some(letters(&layout.get(place.from)?.entry.text)));
        let words = letters(&quote.words);
        let is_alike =
            |sentence: String| sentence.contains(&words) || words.contains(&sentence) || ends_so(&sentence, &words);
        Ok(sentence.is_some_and(is_alike))
    }

    pub(crate) async fn layout(&self, number: i32) -> Result<Option<Arc<Layout>>, WorkspaceError> {
        if let Some(known) = self.overlay.layout(number) {
            return Ok(known);
        }
        let passages = self.overlay.passages();
        let layout = match passages.iter().find(|passage| passage.number == number) {
            Some(passage) => self.read(passages, passage).await?,
            None => None,
        };
        self.overlay.keep_layout(number, layout.clone());
        Ok(layout)
    }

    async fn read(
        &self,
        passages: &[PassagePlace],
        passage: &PassagePlace,
    ) -> Result<Option<Arc<Layout>>, WorkspaceError> {
        let Some(file) = self.file(passage).await? else { return Ok(None) };
        let of_document = || passages.iter().filter(|one| one.document == passage.document);
        let before = of_document().filter(|one| one.number < passage.number).max_by_key(|one| one.number);
        let behind = of_document().filter(|one| one.number > passage.number).min_by_key(|one| one.number);
        let before = self.file_of(before).await?;
        let behind = self.file_of(behind).await?;
        let scan = self.ctx.scan.clone();
        let read = move |_: &_| Layout::of(before.as_deref(), &file, behind.as_deref(), &scan);
        Ok(Some(Arc::new(crate::run_scan(self.ctx.scan, read).await)))
    }

    async fn file_of(&self, passage: Option<&PassagePlace>) -> Result<Option<String>, WorkspaceError> {
        match passage {
            Some(passage) => self.file(passage).await,
            None => Ok(None),
        }
    }

    async fn file(&self, passage: &PassagePlace) -> Result<Option<String>, WorkspaceError> {
        let Some(path) = &passage.chunk_path else { return Ok(None) };
        let bytes = self.overlay.read(path).await?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// Letters and digits in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a sentence ends with the beginning of a quote that spans several sentences.
fn ends_so(sentence: &str, words: &str) -> bool {
    const LEAST: usize = 12;
    let beginning: String = words.chars().take(LEAST).collect();
    sentence.rfind(&beginning).is_some_and(|at| words.starts_with(&sentence[at..]))
}
