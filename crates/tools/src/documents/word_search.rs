//! Looks words up in the texts of documents.

use super::document_names::not_extracted;
use super::quote_cache::TextKey;
use super::text_parts::{joint, parts_of};
use crate::error::ToolError;
use crate::tool::ToolEnv;
use crate::workspace::WorkspaceError;
use plumbline_documents::quotes::{HyphenMatch, Match, Passage, SourceText};
use plumbline_documents::{Kind, kind_of, push_page};
use plumbline_engine::Source;
use std::sync::Arc;

/// Maximum length of a quote, in bytes with some slack: how much of two adjacent parts of a text is searched at their
/// joint.
const MAX_QUOTE: usize = 48 << 10;

/// Words to look up, first on the given page.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    pub(super) quote: &'a str,
    pub(super) page: Option<u32>,
}

impl<'a> Sought<'a> {
    pub(super) fn anywhere(quote: &'a str) -> Self {
        Self { quote, page: None }
    }
}

/// Looks a quote up in the document's text, part by part and then at the joints of adjacent parts.
pub(super) async fn look_up(env: &ToolEnv<'_>, source: &Source, sought: Sought<'_>) -> Result<Match, ToolError> {
    let text_path = source.text_path.as_deref().ok_or_else(|| not_extracted(source))?;
    let parts = parts_of(env.overlay, text_path);
    let mut best = None;
    for path in &parts {
        let text = prepared(env, path).await?.ok_or_else(|| not_extracted(source))?;
        match ask(text, sought, SourceText::find).await {
            answer @ (Match::Found(_) | Match::TooShort) => return Ok(answer),
            answer => best = Some(better(best, answer)),
        }
    }
    for pair in parts.windows(2) {
        if let (Some(before), Some(after)) = (env.overlay.read(&pair[0]).await?, env.overlay.read(&pair[1]).await?)
            && let answer @ Match::Found(_) = find_at_joint(before, after, sought).await
        {
            return Ok(answer);
        }
    }
    if let Some(Match::NotFound { .. }) = best
        && let Some(answer) = look_up_parted(env, source, &parts, sought).await?
    {
        return Ok(answer);
    }
    best.ok_or_else(|| not_extracted(source))
}

/// Looks for the quote ignoring hyphens in words that the document splits at a line end. Its text has them in one form,
/// a quote may have them in the other; the document's own lines show which words they are.
async fn look_up_parted(
    env: &ToolEnv<'_>,
    source: &Source,
    parts: &[String],
    sought: Sought<'_>,
) -> Result<Option<Match>, ToolError> {
    let mut places = Vec::new();
    for path in parts {
        let Some(text) = prepared(env, path).await? else { continue };
        places.extend(ask(text, sought, SourceText::find_but_for_hyphens).await);
    }
    let pages = || places.iter().filter_map(|place| place.pages);
    let Some((first, last)) = pages().map(|(first, _)| first).min().zip(pages().map(|(_, last)| last).max()) else {
        return Ok(None);
    };
    let permit = env.parser.permit().await;
    let Some(bytes) = env.overlay.read(&source.path).await? else { return Ok(None) };
    if kind_of(&source.path, &bytes) != Ok(Kind::Pdf) {
        return Ok(None);
    }
    let Ok(pages) = permit.lines(bytes, Some(first..=last)).await else { return Ok(None) };
    let found = crate::run_blocking(move |_| {
        let mut lines = String::new();
        pages.iter().for_each(|page| push_page(&mut lines, page, true));
        let lines = SourceText::new(&lines);
        let parted = |place: &HyphenMatch| place.words.iter().all(|word| lines.parts(word));
        places.into_iter().find(parted).map(|place| place.answer)
    });
    Ok(found.await)
}

/// Texts and quotes are untrusted, and the search time grows with their length: never on the event loop.
async fn ask<T: Send + 'static>(
    text: Arc<SourceText>,
    sought: Sought<'_>,
    question: fn(&SourceText, &str, Option<u32>) -> T,
) -> T {
    let (quote, page) = (sought.quote.to_owned(), sought.page);
    crate::run_blocking(move |_| question(&text, &quote, page)).await
}

/// As [`ask`] for [`SourceText::find`], at the joint of two parts of a text.
async fn find_at_joint(before: Vec<u8>, after: Vec<u8>, sought: Sought<'_>) -> Match {
    let (quote, page) = (sought.quote.to_owned(), sought.page);
    crate::run_blocking(move |_| {
        let text = joint(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(&after), MAX_QUOTE);
        SourceText::new(&text).find(&quote, page)
    })
    .await
}

/// The more helpful of two answers without a match.
fn better(best: Option<Match>, other: Match) -> Match {
    let rank = |answer: &Match| match answer {
        Match::OnOtherPage(_) => 2.0,
        Match::NotFound { nearest: Some(passage) } => passage.similarity,
        _ => -1.0,
    };
    match best {
        Some(best) if rank(&best) >= rank(&other) => best,
        _ => other,
    }
}

/// A part of a document's text, prepared for searches; prepared once and cached.
pub(crate) async fn prepared(env: &ToolEnv<'_>, path: &str) -> Result<Option<Arc<SourceText>>, WorkspaceError> {
    let Some(size) = env.overlay.size(path) else { return Ok(None) };
    let key = TextKey { job_id: env.ctx.job_id, path: path.to_string(), size };
    if let Some(text) = env.quotes.get(&key) {
        return Ok(Some(text));
    }
    let Some(bytes) = env.overlay.read(path).await? else { return Ok(None) };
    let text = crate::run_blocking(move |_| Arc::new(SourceText::new(&String::from_utf8_lossy(&bytes)))).await;
    env.quotes.put(key, Arc::clone(&text));
    Ok(Some(text))
}

/// Whether a document's text contains a quote, however short.
pub(super) async fn contains(env: &ToolEnv<'_>, source: &Source, sought: Sought<'_>) -> Result<bool, WorkspaceError> {
    let Some(text_path) = source.text_path.as_deref() else { return Ok(false) };
    let parts = parts_of(env.overlay, text_path);
    for path in &parts {
        let contains = |text: &SourceText, quote: &str, _: Option<u32>| text.contains(quote);
        let text = prepared(env, path).await?;
        if let Some(text) = text
            && ask(text, sought, contains).await
        {
            return Ok(true);
        }
    }
    for pair in parts.windows(2) {
        if let (Some(before), Some(after)) = (env.overlay.read(&pair[0]).await?, env.overlay.read(&pair[1]).await?)
            && matches!(find_at_joint(before, after, sought).await, Match::Found(_))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether any document of the job contains a quote.
pub(crate) async fn stands(env: &ToolEnv<'_>, quote: &str) -> Result<bool, WorkspaceError> {
    for source in env.overlay.sources() {
        if contains(env, source, Sought::anywhere(quote)).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The passages of all documents most similar to a quote; none if it occurs in one of them, or is too short to prove
/// anything.
pub(crate) async fn not_in_any(env: &ToolEnv<'_>, quote: &str) -> Result<Option<Option<Passage>>, ToolError> {
    let mut nearest: Option<Passage> = None;
    let sources = env.overlay.sources().iter().filter(|source| env.ctx.is_source(&source.path));
    for source in sources.filter(|source| source.text_path.is_some()) {
        match look_up(env, source, Sought::anywhere(quote)).await? {
            Match::Found(_) | Match::OnOtherPage(_) | Match::TooShort => return Ok(None),
            Match::NotFound { nearest: found } => {
                let is_nearer =
                    |found: &Passage| nearest.as_ref().is_none_or(|near| found.similarity > near.similarity);
                nearest = found.filter(is_nearer).or(nearest);
            }
        }
    }
    Ok(Some(nearest))
}

/// The document that contains a quote and is not a source. It need not have a text: then the file itself is read.
pub(crate) async fn in_no_source(env: &ToolEnv<'_>, quote: &str) -> Result<Option<String>, ToolError> {
    for source in env.overlay.sources().iter().filter(|source| !env.ctx.is_source(&source.path)) {
        let stands = match source.text_path {
            Some(_) => {
                let sought = Sought::anywhere(quote);
                matches!(look_up(env, source, sought).await?, Match::Found(_) | Match::OnOtherPage(_))
            }
            None => match env.overlay.read(&source.path).await?.map(String::from_utf8) {
                Some(Ok(text)) => stands_as_it_is(text, quote).await,
                Some(Err(_)) | None => false,
            },
        };
        if stands {
            return Ok(Some(source.path.clone()));
        }
    }
    Ok(None)
}

/// Whether a document that was not extracted contains a quote. In JSON a quotation mark has a backslash.
async fn stands_as_it_is(text: String, quote: &str) -> bool {
    let quote = quote.to_owned();
    crate::run_blocking(move |_| SourceText::new(&text.replace("\\\"", "\"")).contains(&quote)).await
}
