//! Whether a requirement is plain: its text is that of whole sentences of its document, of which one was found to bind
//! somebody. A rule can accept such a row; whether other words mean the same, a part of a sentence means what all of it
//! says, or a sentence binds although the scan does not find that, is for a model.

use crate::requirements::validation_queue::ValidationQueue;
use crate::workspace::WorkspaceError;
use plumbline_documents::candidates::Scan;
use plumbline_documents::chunking::chunk_path;
use plumbline_documents::composed;
use plumbline_documents::passages::{Before, Facts, body};
use plumbline_documents::surroundings::Layout;
use plumbline_engine::{DocumentStyle, HeldRequirement};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// The passages that rows quote, each read once.
pub(super) struct Quoted<'a> {
    validation_queue: &'a dyn ValidationQueue,
    passages: HashMap<(Uuid, i32), Option<Arc<Sentences>>>,
}

/// A passage, sentence by sentence, and which of them bind.
struct Sentences {
    layout: Layout,
    facts: Facts,
}

/// The place of a citation.
#[derive(Clone, Copy)]
struct Place {
    passage: i32,
    from: i32,
    to: i32,
}

/// The sentences of a citation.
struct Cited {
    text: String,
    /// The leads of the first one, the outermost first.
    leads: Vec<String>,
    binds: bool,
}

impl<'a> Quoted<'a> {
    pub(super) fn new(validation_queue: &'a dyn ValidationQueue) -> Self {
        Self { validation_queue, passages: HashMap::new() }
    }

    /// Whether a row is plain; it is not if a citation has no place in a passage.
    ///
    /// # Errors
    /// A passage could not be read.
    pub(super) async fn is_plain(&mut self, row: &HeldRequirement) -> Result<bool, WorkspaceError> {
        let mut cited = Vec::new();
        for citation in row.citations.as_array().into_iter().flatten() {
            let Some(place) = Place::of(citation) else { return Ok(false) };
            let Some(sentences) = self.passage(row.job_id, place.passage).await? else { return Ok(false) };
            let Some(sentences) = sentences.cited(place) else { return Ok(false) };
            cited.push(sentences);
        }
        Ok((1..=cited.len()).any(|count| repeats(&row.text, &cited[..count], &cited[count..])))
    }

    async fn passage(&mut self, job_id: Uuid, number: i32) -> Result<Option<Arc<Sentences>>, WorkspaceError> {
        if let Some(known) = self.passages.get(&(job_id, number)) {
            return Ok(known.clone());
        }
        let read = match self.file(job_id, number).await? {
            Some(file) => {
                let before = self.file(job_id, number - 1).await?.filter(|before| source(before) == source(&file));
                Some(Arc::new(crate::run_blocking(move |_| Sentences::of(before.as_deref(), &file)).await))
            }
            None => None,
        };
        self.passages.insert((job_id, number), read.clone());
        Ok(read)
    }

    async fn file(&self, job_id: Uuid, number: i32) -> Result<Option<String>, WorkspaceError> {
        let Some(number) = u32::try_from(number).ok().filter(|number| *number > 0) else { return Ok(None) };
        let bytes = self.validation_queue.read(job_id, &chunk_path(number)).await?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Place {
    fn of(citation: &Value) -> Option<Self> {
        let number = |key: &str| i32::try_from(citation.get(key)?.as_i64()?).ok();
        Some(Self { passage: number("passage")?, from: number("from")?, to: number("to")? })
    }
}

impl Sentences {
    /// Reads a passage after the previous one of its document. The style of policies finds what the other finds, too.
    fn of(before: Option<&str>, file: &str) -> Self {
        let scan = Scan::new(&[], DocumentStyle::Policy).unwrap_or_default();
        let previous = before.map(|before| Before { text: body(before), facts: None });
        Self { layout: Layout::of(before, file, None, &scan), facts: Facts::of(previous, body(file), &scan) }
    }

    fn cited(&self, place: Place) -> Option<Cited> {
        let sentences: Option<Vec<_>> = (place.from..=place.to).map(|number| self.layout.get(number)).collect();
        let sentences = sentences?;
        let texts: Vec<&str> = sentences.iter().map(|sentence| sentence.entry.text.as_str()).collect();
        Some(Cited {
            text: solid(&texts.join(" ")),
            leads: sentences.first()?.entry.leads.iter().map(|lead| solid(&lead.text)).collect(),
            binds: (place.from..=place.to).any(|number| self.facts.is_candidate(number)),
        })
    }
}

/// Whether a text is these sentences, behind their leads or without; `named` may be leads as well.
fn repeats(text: &str, own: &[Cited], named: &[Cited]) -> bool {
    let (text, said) = (solid(text), own.iter().map(|cited| cited.text.as_str()).collect::<String>());
    let Some(mut before) = text.trim_end_matches(is_sign).strip_suffix(said.trim_end_matches(is_sign)) else {
        return false;
    };
    let leads = own.iter().take(1).flat_map(|cited| &cited.leads).chain(named.iter().map(|cited| &cited.text));
    for lead in leads {
        before = before.strip_prefix(lead.as_str()).unwrap_or(before);
    }
    before.is_empty() && own.iter().any(|cited| cited.binds)
}

/// A text without white space: lines are broken anywhere.
fn solid(text: &str) -> String {
    composed(text).split_whitespace().collect()
}

/// A sign that ends a sentence, or joins an entry to the next one.
fn is_sign(sign: char) -> bool {
    matches!(sign, '.' | ',' | ';')
}

/// The document that the first line of a chunk's file names.
fn source(file: &str) -> Option<&str> {
    let line = file.strip_prefix("<!-- source: ")?.lines().next()?;
    line.split(" | ").next().map(|source| source.trim_end_matches("-->").trim_end())
}
