//! The check of every citation: its quote occurs in its source, on its page.
//!
//! The source is always a document of the job, and its text is the extracted one, which no tool can write. Otherwise a
//! model could write a sentence into a file and then cite it.

use super::quote_cache::TextKey;
use crate::documents::text_parts::{is_part_of, joint, parts_of};
use crate::error::ToolError;
use crate::requirements::texts::Texts;
use crate::tool::ToolEnv;
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::overlay::file_name;
use crate::workspace::path;
use crate::workspace::{PassagePlace, WorkspaceError};
use plumbline_documents::passages::{self, Occurrence};
use plumbline_documents::quotes::{Found, HyphenMatch, Match, Passage, SHORTEST, SourceText};
use plumbline_documents::surroundings::Quote;
use plumbline_documents::{Kind, kind_of, push_page};
use plumbline_engine::{Citation, LONGEST_QUOTE, Source, Touched};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Maximum characters of a passage that a refusal repeats.
const MAX_PASSAGE_CHARS: usize = 600;
/// Maximum length of a quote, in bytes with some slack: how much of two adjacent parts of a text is searched at their
/// joint.
const MAX_QUOTE: usize = 48 << 10;
/// Maximum documents named in a refusal.
const MAX_NAMED: usize = 10;

/// A quote as claimed by the model.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// The document: its path, its file name, the path of its text or of one of its chunks.
    pub(crate) source: &'a str,
    pub(crate) page: Option<u32>,
    pub(crate) quote: &'a str,
}

/// The text of a quote, and the model's claim about its place: the document, or a passage of it, and the page.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) source: Option<&'a str>,
    pub(crate) passage: Option<i32>,
    pub(crate) page: Option<u32>,
    pub(crate) quote: &'a str,
}

/// Verifies a quote with a place in either form; if the quote occurs more than once, the passage decides.
pub(crate) async fn verify_words(env: &ToolEnv<'_>, words: Words<'_>) -> Result<Verified, ToolError> {
    let Words { source, passage, page, quote } = words;
    let Some(number) = passage else {
        let source = source.ok_or_else(|| ToolError::refused("give `source` or `passage` beside `quote`"))?;
        return verify(env, Claim { source, page, quote }).await;
    };
    let known = env.overlay.passages().iter().find(|known| known.number == number);
    match known.map(|known| known.chunk_path.as_deref()) {
        Some(Some(path)) => verify(env, Claim { source: path, page, quote }).await,
        Some(None) => {
            Err(ToolError::refused(format!("passage {number} has no text, so nothing can be quoted from it")))
        }
        None => Err(ToolError::refused(format!("there is no passage {number}; `coverage` shows them"))),
    }
}

/// A citation, and which claims of the model were corrected.
pub(crate) struct Verified {
    pub(crate) citation: Citation,
    pub(crate) put_right: Option<String>,
}

/// Finds the quote in its source and makes the citation, or refuses with the nearest passage. If the quote occurs more
/// than once, a given page or chunk path decides. A wrong page is corrected to that of the quote.
pub(crate) async fn verify(env: &ToolEnv<'_>, claim: Claim<'_>) -> Result<Verified, ToolError> {
    let source = source_of(env, claim.source).await?;
    let passage = passages::number_of(claim.source);
    if let Some(number) = passage
        && let Some(citation) = in_passage(env, source, number, claim).await?
    {
        let put_right = too_long(&citation);
        return Ok(Verified { citation, put_right });
    }
    match look_up(env, source, claim).await? {
        Match::Found(found) => {
            let citation = placed(env, citation(source, found)).await?;
            let chosen = (passage.is_some() || claim.page.is_none()).then(|| first_of_several(&citation, passage));
            let put_right =
                [chosen.flatten(), too_long(&citation)].into_iter().flatten().collect::<Vec<_>>().join("; ");
            Ok(Verified { citation, put_right: Some(put_right).filter(|said| !said.is_empty()) })
        }
        Match::TooShort => Err(ToolError::refused(format!(
            "the quote is shorter than {SHORTEST} characters; quote the whole sentence"
        ))),
        Match::OnOtherPage(found) => {
            let citation = placed(env, citation(source, found)).await?;
            let (asked, page) = (claim.page.unwrap_or_default(), citation.page.unwrap_or_default());
            let put_right = format!("the quote is on page {page}, not {asked}; page {page} was recorded");
            let put_right = [Some(put_right), too_long(&citation)].into_iter().flatten().collect::<Vec<_>>().join("; ");
            Ok(Verified { citation, put_right: Some(put_right) })
        }
        Match::NotFound { nearest } => Err(not_there(source, nearest)),
    }
}

/// The citation of a quote that occurs in a passage; none if it does not.
async fn in_passage(
    env: &ToolEnv<'_>,
    source: &Source,
    number: i32,
    claim: Claim<'_>,
) -> Result<Option<Citation>, ToolError> {
    let is_it = |passage: &&PassagePlace| passage.number == number && passage.document == source.path;
    let path = env.overlay.passages().iter().find(is_it).and_then(|passage| passage.chunk_path.as_ref());
    let Some(path) = path else { return Ok(None) };
    let Some(bytes) = env.overlay.read(path).await? else { return Ok(None) };
    let quote = claim.quote.to_owned();
    let place = move |_: &_| {
        let file = String::from_utf8_lossy(&bytes).into_owned();
        passages::locate(&[(number, file)], &quote).first()?.touched.first().copied()
    };
    let Some(place) = crate::run_blocking(place).await else { return Ok(None) };
    let layout = Texts::new(env.overlay, env.ctx).layout(number).await?;
    let from = u32::try_from(place.from).unwrap_or_default();
    let Some(Quote { page, .. }) = layout.and_then(|layout| layout.quote((from, from))) else { return Ok(None) };
    let Match::Found(found) = look_up(env, source, Claim { page, ..claim }).await? else { return Ok(None) };
    let citation = Citation { place: Some(place), ..citation(source, found) };
    let known = env.overlay.citation(&citation.id).await?;
    Ok(Some(apart(citation, known.iter())))
}

/// The note for a quote that occurs more than once, or not in the given passage: the first place was used.
fn first_of_several(citation: &Citation, given: Option<i32>) -> Option<String> {
    let taken = citation.place?.passage;
    match given {
        Some(given) => {
            Some(format!("the words are not in passage {given}; passage {taken}, where they are, was recorded"))
        }
        None if citation.again.is_empty() => None,
        None => Some(format!(
            "the words stand at {} places, of which the first, in passage {taken}, was recorded; give the page or the chunk's path \
             for another one",
            citation.again.len() + 1
        )),
    }
}

/// The document to quote from.
async fn source_of<'d>(env: &'d ToolEnv<'_>, name: &str) -> Result<&'d Source, ToolError> {
    let source = resolve(env.overlay, name).await?;
    if env.ctx.is_source(&source.path) {
        return Ok(source);
    }
    Err(ToolError::refused(format!(
        "{} is no source of this job, and nothing is quoted from it; quote another document",
        source.path
    )))
}

fn not_there(source: &Source, nearest: Option<Passage>) -> ToolError {
    let nearest = match nearest {
        Some(passage) => {
            let page = passage.page.map_or_else(String::new, |page| format!(" on page {page}"));
            format!("the nearest passage{page} is: \"{}\"; quote the source word for word", cut(&passage.text))
        }
        None => "nothing in it is like the quote; check the source".to_string(),
    };
    ToolError::refused(format!("the quote does not occur in {}: {nearest}", source.path))
}

/// The note for over-long quotes, which count for no sentence.
fn too_long(citation: &Citation) -> Option<String> {
    citation.place.filter(Touched::is_too_long).map(|place| {
        format!(
            "the quote spans {} sentences and counts for none of them, at most {LONGEST_QUOTE} do; cite each obligation by itself",
            place.to - place.from + 1
        )
    })
}

/// Resolves the name of a document: its path, the path of its text, of one of its chunks, or its bare file name.
pub(crate) async fn resolve<'d>(overlay: &'d WorkspaceOverlay<'_>, name: &str) -> Result<&'d Source, ToolError> {
    let path = path::file(name)?;
    if let Some(source) = named(overlay, &path)? {
        return Ok(source);
    }
    if let Some(origin) = chunk_origin(overlay, &path).await?
        && let Some(source) = named(overlay, &origin)?
    {
        return Ok(source);
    }
    Err(unknown_document(overlay, &path))
}

fn named<'d>(overlay: &'d WorkspaceOverlay<'_>, path: &str) -> Result<Option<&'d Source>, ToolError> {
    let sources = overlay.sources();
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

/// The document named in the first line of a chunk file.
async fn chunk_origin(overlay: &WorkspaceOverlay<'_>, path: &str) -> Result<Option<String>, ToolError> {
    if !path.starts_with("chunks/") {
        return Ok(None);
    }
    let Some(bytes) = overlay.read(path).await? else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let origin = head.strip_prefix("<!-- source: ").and_then(|rest| rest.split(" | ").next());
    Ok(origin.map(|origin| origin.trim_end_matches("-->").trim().to_string()))
}

/// The refusal for a name that matches no document.
pub(crate) fn unknown_document(overlay: &WorkspaceOverlay<'_>, path: &str) -> ToolError {
    let known: Vec<&str> = overlay.sources().iter().take(MAX_NAMED).map(|source| source.path.as_str()).collect();
    match known.is_empty() {
        true => ToolError::refused(format!("`{path}` is no document of this job, which has none")),
        false => {
            ToolError::refused(format!("`{path}` is no document of this job; its documents are {}", known.join(", ")))
        }
    }
}

/// The refusal for a document whose text is not extracted yet.
pub(crate) fn not_extracted(source: &Source) -> ToolError {
    let path = &source.path;
    ToolError::refused(format!("{path} has no text yet; call extract_document_text with file_path {path} first"))
}

/// The passages of all documents most similar to a quote; none if it occurs in one of them, or is too short to prove
/// anything.
pub(crate) async fn not_in_any(env: &ToolEnv<'_>, quote: &str) -> Result<Option<Option<Passage>>, ToolError> {
    let mut nearest: Option<Passage> = None;
    let sources = env.overlay.sources().iter().filter(|source| env.ctx.is_source(&source.path));
    for source in sources.filter(|source| source.text_path.is_some()) {
        match look_up(env, source, Claim { source: &source.path, page: None, quote }).await? {
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

/// Words seen in a document.
pub(crate) enum Sight {
    /// A quote.
    Quote(Box<Citation>),
    /// Words too few to be a citation of their own.
    Words,
}

impl Sight {
    /// The first and last page that the words are on; none in a document without pages, and of too few words.
    pub(crate) fn pages(&self) -> Option<(u32, u32)> {
        let Self::Quote(citation) = self else { return None };
        let page = |page: i32| u32::try_from(page).ok();
        let first = page(citation.page?)?;
        Some((first, citation.page_to.and_then(page).unwrap_or(first)))
    }

    /// Whether there are too few of them for a citation.
    pub(crate) fn is_too_short(&self) -> bool {
        matches!(self, Self::Words)
    }
}

/// Looks words up in a document, first on the given page; none if they do not occur.
pub(crate) async fn sight(
    env: &ToolEnv<'_>,
    source: &Source,
    words: &str,
    page: Option<u32>,
) -> Result<Option<Sight>, ToolError> {
    let claim = Claim { source: &source.path, page, quote: words };
    Ok(match look_up(env, source, claim).await? {
        Match::Found(found) | Match::OnOtherPage(found) => Some(Sight::Quote(Box::new(citation(source, found)))),
        Match::TooShort => contains(env, source, claim).await?.then_some(Sight::Words),
        Match::NotFound { .. } => None,
    })
}

/// The citation of a quote that was seen, with the sentences that it touches.
pub(crate) async fn placed_sight(env: &ToolEnv<'_>, sight: Sight) -> Result<Option<Citation>, ToolError> {
    match sight {
        Sight::Quote(citation) => placed(env, *citation).await.map(Some),
        Sight::Words => Ok(None),
    }
}

/// The sentences that a quote touches at each occurrence in the documents; empty if it occurs in none.
pub(crate) async fn places_of(env: &ToolEnv<'_>, quote: &str) -> Result<Vec<Touched>, ToolError> {
    let mut places = Vec::new();
    let sources = env.overlay.sources().iter().filter(|source| env.ctx.is_source(&source.path));
    for source in sources.filter(|source| source.text_path.is_some()) {
        let claim = Claim { source: &source.path, page: None, quote };
        if let Match::Found(found) | Match::OnOtherPage(found) = look_up(env, source, claim).await? {
            let Citation { place, continues, again, .. } = placed(env, citation(source, found)).await?;
            places.extend(place.into_iter().chain(continues).chain(again));
        }
    }
    Ok(places)
}

/// The document that contains a quote and is not a source. It need not have a text: then the file itself is read.
pub(crate) async fn in_no_source(env: &ToolEnv<'_>, quote: &str) -> Result<Option<String>, ToolError> {
    for source in env.overlay.sources().iter().filter(|source| !env.ctx.is_source(&source.path)) {
        let stands = match source.text_path {
            Some(_) => {
                let claim = Claim { source: &source.path, page: None, quote };
                matches!(look_up(env, source, claim).await?, Match::Found(_) | Match::OnOtherPage(_))
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

/// Whether any document of the job contains a quote.
pub(crate) async fn stands(env: &ToolEnv<'_>, quote: &str) -> Result<bool, WorkspaceError> {
    for source in env.overlay.sources() {
        if contains(env, source, Claim { source: &source.path, page: None, quote }).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a document's text contains a quote, however short.
async fn contains(env: &ToolEnv<'_>, source: &Source, claim: Claim<'_>) -> Result<bool, WorkspaceError> {
    let Some(text_path) = source.text_path.as_deref() else { return Ok(false) };
    let parts = parts_of(env.overlay, text_path);
    for path in &parts {
        let contains = |text: &SourceText, quote: &str, _: Option<u32>| text.contains(quote);
        let text = prepared(env, path).await?;
        if let Some(text) = text
            && ask(text, claim, contains).await
        {
            return Ok(true);
        }
    }
    for pair in parts.windows(2) {
        if let (Some(before), Some(after)) = (env.overlay.read(&pair[0]).await?, env.overlay.read(&pair[1]).await?)
            && matches!(find_at_joint(before, after, claim).await, Match::Found(_))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks a quote up in the document's text, part by part and then at the joints of adjacent parts.
async fn look_up(env: &ToolEnv<'_>, source: &Source, claim: Claim<'_>) -> Result<Match, ToolError> {
    let text_path = source.text_path.as_deref().ok_or_else(|| not_extracted(source))?;
    let parts = parts_of(env.overlay, text_path);
    let mut best = None;
    for path in &parts {
        let text = prepared(env, path).await?.ok_or_else(|| not_extracted(source))?;
        match ask(text, claim, SourceText::find).await {
            answer @ (Match::Found(_) | Match::TooShort) => return Ok(answer),
            answer => best = Some(better(best, answer)),
        }
    }
    for pair in parts.windows(2) {
        if let (Some(before), Some(after)) = (env.overlay.read(&pair[0]).await?, env.overlay.read(&pair[1]).await?)
            && let answer @ Match::Found(_) = find_at_joint(before, after, claim).await
        {
            return Ok(answer);
        }
    }
    if let Some(Match::NotFound { .. }) = best
        && let Some(answer) = look_up_parted(env, source, &parts, claim).await?
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
    claim: Claim<'_>,
) -> Result<Option<Match>, ToolError> {
    let mut places = Vec::new();
    for path in parts {
        let Some(text) = prepared(env, path).await? else { continue };
        places.extend(ask(text, claim, SourceText::find_but_for_hyphens).await);
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
    claim: Claim<'_>,
    question: fn(&SourceText, &str, Option<u32>) -> T,
) -> T {
    let (quote, page) = (claim.quote.to_owned(), claim.page);
    crate::run_blocking(move |_| question(&text, &quote, page)).await
}

/// As [`ask`] for [`SourceText::find`], at the joint of two parts of a text.
async fn find_at_joint(before: Vec<u8>, after: Vec<u8>, claim: Claim<'_>) -> Match {
    let (quote, page) = (claim.quote.to_owned(), claim.page);
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

fn citation(source: &Source, found: Found) -> Citation {
    let number = |page: Option<u32>| page.and_then(|page| i32::try_from(page).ok());
    let (page, page_to, quote) = (number(found.page), number(found.page_to), found.text);
    let id = citation_id(&source.path, page, &quote);
    let page_to = page_to.filter(|_| page_to != page);
    let source = source.path.clone();
    let (place, continues, again) = (None, Vec::new(), Vec::new());
    Citation { id, source, page, page_to, quote, verified: true, place, continues, again }
}

/// The citation with the passages and sentences that its quote touches, if the document was cut.
async fn placed(env: &ToolEnv<'_>, mut citation: Citation) -> Result<Citation, ToolError> {
    let pages = citation.page.map(|page| (page, citation.page_to.unwrap_or(page)));
    let may_hold = |passage: &&PassagePlace| {
        let on_its_pages = match (pages, passage.pages) {
            (Some((first, last)), Some(held)) => held.0 <= last && first <= held.1,
            _ => true,
        };
        passage.document == citation.source && on_its_pages
    };
    let mut texts = Vec::new();
    for passage in env.overlay.passages().iter().filter(may_hold) {
        let Some(path) = &passage.chunk_path else { continue };
        if let Some(bytes) = env.overlay.read(path).await? {
            texts.push((passage.number, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    if texts.is_empty() {
        return Ok(citation);
    }
    let quote = citation.quote.clone();
    let places = crate::run_blocking(move |_| passages::locate(&texts, &quote)).await;
    let mut places = places.into_iter();
    if let Some(Occurrence { touched, is_whole }) = places.next() {
        let again = places.filter(|place| is_whole && place.is_whole).flat_map(|place| place.touched);
        citation.again = again.collect();
        let mut touched = touched.into_iter();
        citation.place = touched.next();
        citation.continues = touched.collect();
    }
    Ok(citation)
}

/// Sentences of a passage, by their displayed numbers.
#[derive(Clone, Copy)]
pub(crate) struct Pointer {
    pub(crate) passage: i32,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Extracts the quote that a pointer names, and makes the citation; the job may have another one with its id.
pub(crate) async fn quoted(env: &ToolEnv<'_>, pointer: Pointer) -> Result<Citation, ToolError> {
    let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let Pointer { passage, from, to } = pointer;
    let place = Touched { passage, from: number(from), to: number(to) };
    if place.is_too_long() {
        return Err(ToolError::refused(format!(
            "sentences {from} to {to} are too many for one quote: at most {LONGEST_QUOTE}. Quote each obligation by itself, an \
             item of a list with its lead, if need be, in two citations"
        )));
    }
    let (source, Quote { text, page }) = pointed_at(env, pointer).await?;
    let source = source_of(env, &source).await?;
    let found = match look_up(env, source, Claim { source: &source.path, page, quote: &text }).await? {
        Match::Found(found) | Match::OnOtherPage(found) => found,
        // Regardless of length: it is a whole sentence, such as an item of a list.
        Match::TooShort => Found { page, page_to: None, text, before: String::new(), after: String::new() },
        Match::NotFound { nearest } => return Err(not_there(source, nearest)),
    };
    Ok(Citation { place: Some(place), ..citation(source, found) })
}

/// Verifies a pointer and makes its citation.
pub(crate) async fn verify_pointer(env: &ToolEnv<'_>, pointer: Pointer) -> Result<Verified, ToolError> {
    let citation = quoted(env, pointer).await?;
    // The same text may also occur elsewhere, and may have been quoted there.
    let known = env.overlay.citation(&citation.id).await?;
    Ok(Verified { citation: apart(citation, known.iter()), put_right: None })
}

/// A citation with an id different from these: the same text may be quoted at two places.
pub(crate) fn apart<'c>(mut citation: Citation, mut known: impl Iterator<Item = &'c Citation>) -> Citation {
    if known.any(|known| known.id == citation.id && known.place != citation.place)
        && let Some(Touched { passage, from, .. }) = citation.place
    {
        citation.id = short_id(&format!("{}\0{passage}\0{from}", citation.id));
    }
    citation
}

async fn pointed_at(env: &ToolEnv<'_>, Pointer { passage, from, to }: Pointer) -> Result<(String, Quote), ToolError> {
    let known = env.overlay.passages().iter().find(|known| known.number == passage);
    let known = known.ok_or_else(|| {
        ToolError::refused(format!("there is no passage {passage}; chunks/chunk_007.md is passage 7"))
    })?;
    let layout = Texts::new(env.overlay, env.ctx)
        .layout(passage)
        .await?
        .ok_or_else(|| ToolError::refused(format!("passage {passage} has no text that could be quoted")))?;
    let quote = layout.quote((from, to)).ok_or_else(|| {
        let count = layout.count();
        ToolError::refused(format!("passage {passage} has sentences 1 to {count}; `from` is {from} and `to` is {to}"))
    })?;
    Ok((known.document.clone(), quote))
}

/// The same citation always has the same id.
pub(crate) fn citation_id(source: &str, page: Option<i32>, quote: &str) -> String {
    let page = page.map_or_else(String::new, |page| page.to_string());
    short_id(&format!("{source}\0{page}\0{quote}"))
}

fn short_id(what: &str) -> String {
    format!("cit_{}", hex::encode(&Sha256::digest(what)[..4]))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_PASSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
