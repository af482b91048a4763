//! The promise behind every citation: its quote occurs in its source, on its page.
//!
//! The source is always a document that the job was given, and its text the one that was extracted from it, which no
//! tool can write. Otherwise a model could write a sentence into a file and then cite it.

use super::desk::Desk;
use super::error::ToolError;
use super::long_text::{is_part_of, joint, parts_of};
use super::path;
use super::quote_cache::TextKey;
use super::toolbox::Bench;
use crate::quotes::{Found, Match, SHORTEST, SourceText};
use plumbline_engine::{Citation, Source};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;

/// Longest passage repeated in a refusal, in characters.
const MAX_PASSAGE_CHARS: usize = 600;
/// Longest quote, in bytes and a little more: how much of two parts of a text is looked at where they meet.
const MAX_QUOTE: usize = 48 << 10;
/// Texts up to so many bytes are searched at once, and not beside the event loop: that takes a millisecond.
const FOUND_AT_ONCE: usize = 128 << 10;
/// Most documents named in a refusal.
const MAX_NAMED: usize = 10;

/// A quote as the model claims it.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    /// The document: its path, its file name, the path of its text or of one of its chunks.
    pub(super) source: &'a str,
    pub(super) page: Option<u32>,
    pub(super) quote: &'a str,
}

/// A citation, and what was put right in what the model said of it.
pub(super) struct Verified {
    pub(super) citation: Citation,
    pub(super) put_right: Option<String>,
}

/// Finds the quote in its source and makes the citation, or refuses with the nearest passage. A page that is wrong is put
/// right: the quote says where it stands.
pub(super) async fn verify(bench: &Bench<'_>, claim: Claim<'_>) -> Result<Verified, ToolError> {
    let source = resolve(bench.desk, claim.source).await?;
    match look_up(bench, source, claim).await? {
        Match::Found(found) => Ok(Verified { citation: citation(source, found), put_right: None }),
        Match::TooShort => Err(ToolError::refused(format!(
            "the quote is shorter than {SHORTEST} characters; quote the whole sentence"
        ))),
        Match::OnOtherPage(found) => {
            let citation = citation(source, found);
            let (asked, page) = (claim.page.unwrap_or_default(), citation.page.unwrap_or_default());
            let put_right = Some(format!("the quote is on page {page}, not {asked}; page {page} was recorded"));
            Ok(Verified { citation, put_right })
        }
        Match::NotFound { nearest } => {
            let nearest = match nearest {
                Some(passage) => {
                    let page = passage.page.map_or_else(String::new, |page| format!(" on page {page}"));
                    format!("the nearest passage{page} is: \"{}\"; quote the source word for word", cut(&passage.text))
                }
                None => "nothing in it is like the quote; check the source".to_string(),
            };
            Err(ToolError::refused(format!("the quote does not occur in {}: {nearest}", source.path)))
        }
    }
}

/// The document that a name means: its path, the path of its text, of one of its chunks, or its bare file name.
pub(super) async fn resolve<'d>(desk: &'d Desk<'_>, name: &str) -> Result<&'d Source, ToolError> {
    let path = path::file(name)?;
    if let Some(source) = named(desk, &path)? {
        return Ok(source);
    }
    if let Some(origin) = chunk_origin(desk, &path).await?
        && let Some(source) = named(desk, &origin)?
    {
        return Ok(source);
    }
    Err(unknown_document(desk, &path))
}

fn named<'d>(desk: &'d Desk<'_>, path: &str) -> Result<Option<&'d Source>, ToolError> {
    let sources = desk.sources();
    let is_text = |source: &Source| source.text_path.as_deref().is_some_and(|text| is_part_of(path, text));
    let exact = |source: &&Source| source.path == path || is_text(source);
    if let Some(source) = sources.iter().find(exact) {
        return Ok(Some(source));
    }
    let by_name = |source: &&Source| !path.contains('/') && file_name(&source.path).eq_ignore_ascii_case(path);
    let matching: Vec<&Source> = sources.iter().filter(by_name).collect();
    match matching[..] {
        [] => Ok(None),
        [source] => Ok(Some(source)),
        _ => {
            let paths: Vec<&str> = matching.iter().map(|source| source.path.as_str()).collect();
            Err(ToolError::refused(format!("`{path}` may be {}; give the path", paths.join(" or "))))
        }
    }
}

/// The document that a chunk file says it is from, in its first line.
async fn chunk_origin(desk: &Desk<'_>, path: &str) -> Result<Option<String>, ToolError> {
    if !path.starts_with("chunks/") {
        return Ok(None);
    }
    let Some(bytes) = desk.read(path).await? else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let origin = head.strip_prefix("<!-- source: ").and_then(|rest| rest.split(" | ").next());
    Ok(origin.map(|origin| origin.trim_end_matches("-->").trim().to_string()))
}

/// The refusal for a name that no document has.
pub(super) fn unknown_document(desk: &Desk<'_>, path: &str) -> ToolError {
    let known: Vec<&str> = desk.sources().iter().take(MAX_NAMED).map(|source| source.path.as_str()).collect();
    match known.is_empty() {
        true => ToolError::refused(format!("`{path}` is no document of this job, which has none")),
        false => {
            ToolError::refused(format!("`{path}` is no document of this job; its documents are {}", known.join(", ")))
        }
    }
}

/// The refusal for a document whose text is not there yet.
pub(super) fn not_extracted(source: &Source) -> ToolError {
    let path = &source.path;
    ToolError::refused(format!("{path} has no text yet; call extract_document_text with file_path {path} first"))
}

/// Looks a quote up in the document's text, part by part and then where two parts meet.
async fn look_up(bench: &Bench<'_>, source: &Source, claim: Claim<'_>) -> Result<Match, ToolError> {
    let text_path = source.text_path.as_deref().ok_or_else(|| not_extracted(source))?;
    let parts = parts_of(bench.desk, text_path);
    let mut best = None;
    for path in &parts {
        let text = prepared(bench, path).await?.ok_or_else(|| not_extracted(source))?;
        match find(text, claim).await {
            answer @ (Match::Found(_) | Match::TooShort) => return Ok(answer),
            answer => best = Some(better(best, answer)),
        }
    }
    for pair in parts.windows(2) {
        if let (Some(before), Some(after)) = (bench.desk.read(&pair[0]).await?, bench.desk.read(&pair[1]).await?) {
            let text = joint(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(&after), MAX_QUOTE);
            if let answer @ Match::Found(_) = SourceText::new(&text).find(claim.quote, claim.page) {
                return Ok(answer);
            }
        }
    }
    best.ok_or_else(|| not_extracted(source))
}

/// Long texts take a while, most of all where the quote is not in them.
async fn find(text: Arc<SourceText>, claim: Claim<'_>) -> Match {
    if text.size() <= FOUND_AT_ONCE {
        return text.find(claim.quote, claim.page);
    }
    let (quote, page) = (claim.quote.to_owned(), claim.page);
    super::run_blocking(move |_| text.find(&quote, page)).await
}

/// Of two answers that are no finding the one that helps more.
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

/// A part of a document's text, ready to be asked; prepared once and kept.
async fn prepared(bench: &Bench<'_>, path: &str) -> Result<Option<Arc<SourceText>>, ToolError> {
    let Some(size) = bench.desk.size(path) else { return Ok(None) };
    let key = TextKey { job_id: bench.ctx.job_id, path: path.to_string(), size };
    if let Some(text) = bench.quotes.get(&key) {
        return Ok(Some(text));
    }
    let Some(bytes) = bench.desk.read(path).await? else { return Ok(None) };
    let text = super::run_blocking(move |_| Arc::new(SourceText::new(&String::from_utf8_lossy(&bytes)))).await;
    bench.quotes.put(key, Arc::clone(&text));
    Ok(Some(text))
}

fn citation(source: &Source, found: Found) -> Citation {
    let number = |page: Option<u32>| page.and_then(|page| i32::try_from(page).ok());
    let (page, page_to, quote) = (number(found.page), number(found.page_to), found.text);
    let id = citation_id(&source.path, page, &quote);
    let page_to = page_to.filter(|_| page_to != page);
    Citation { id, source: source.path.clone(), page, page_to, quote, verified: true }
}

/// The same citation has the same id.
pub(super) fn citation_id(source: &str, page: Option<i32>, quote: &str) -> String {
    let page = page.map_or_else(String::new, |page| page.to_string());
    let hash = Sha256::digest(format!("{source}\0{page}\0{quote}"));
    format!("cit_{}", hex(&hash[..4]))
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The last component of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_PASSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
