//! The check of every citation: its quote occurs in its source, on its page.
//!
//! The source is always a document of the job, and its text is the extracted one, which no tool can write. Otherwise a
//! model could write a sentence into a file and then cite it.

use super::document_names::resolve;
use super::found_quote::{apart, citation, placed};
use super::word_search::{Sought, look_up};
use crate::error::ToolError;
use crate::requirements::texts::Texts;
use crate::tool::ToolEnv;
use crate::workspace::PassagePlace;
use plumbline_documents::passages;
use plumbline_documents::quotes::{Found, Match, Passage, SHORTEST};
use plumbline_documents::surroundings::{Layout, Quote};
use plumbline_engine::{Citation, LONGEST_QUOTE, Source, Touched, beginning};
use std::sync::Arc;

/// Maximum characters of a passage that a refusal repeats.
const MAX_PASSAGE_CHARS: usize = 600;

/// Maximum bytes of a text that is read to look a passage up in it. A longer one would be read for each passage; its
/// prepared form is cached.
const MOST_READ: u64 = 256 << 10;

/// A quote as claimed by the model.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// The document: its path, its file name, the path of its text or of one of its chunks.
    pub(crate) source: &'a str,
    pub(crate) page: Option<u32>,
    pub(crate) quote: &'a str,
}

impl<'a> Claim<'a> {
    fn sought(self) -> Sought<'a> {
        Sought { quote: self.quote, page: self.page }
    }
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
    match look_up(env, source, claim.sought()).await? {
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
    let Match::Found(found) = look_up(env, source, Sought { page, ..claim.sought() }).await? else { return Ok(None) };
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
            format!(
                "the nearest passage{page} is: \"{}\"; quote the source word for word",
                beginning(&passage.text, MAX_PASSAGE_CHARS)
            )
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
    let (source, layout, quote) = pointed_at(env, pointer).await?;
    let source = source_of(env, &source).await?;
    let as_it_is =
        |Quote { text, page, page_to, .. }| Found { page, page_to, text, before: String::new(), after: String::new() };
    let found = if quote.is_plain && is_of_text(env, source, &layout, &quote).await? {
        as_it_is(quote)
    } else {
        match look_up(env, source, Sought { quote: &quote.text, page: quote.page }).await? {
            Match::Found(found) | Match::OnOtherPage(found) => found,
            // Regardless of length: it is a whole sentence, such as an item of a list.
            Match::TooShort => as_it_is(Quote { page_to: None, ..quote }),
            Match::NotFound { nearest } => return Err(not_there(source, nearest)),
        }
    };
    Ok(Citation { place: Some(place), ..citation(source, found) })
}

/// Whether the document's text has the whole passage, so that its sentences need no search. It may have changed since
/// the passage was cut. Not for a long text, which would be read for each passage.
async fn is_of_text(
    env: &ToolEnv<'_>,
    source: &Source,
    layout: &Arc<Layout>,
    quote: &Quote,
) -> Result<bool, ToolError> {
    let size = source.text_path.as_deref().and_then(|path| Some((path, env.overlay.size(path)?)));
    let Some((path, ..=MOST_READ)) = size else { return Ok(false) };
    if quote.page.is_some() != source.pages.is_some() {
        return Ok(false);
    }
    if let Some(known) = layout.is_of_text() {
        return Ok(known);
    }
    let Some(bytes) = env.overlay.read(path).await? else { return Ok(false) };
    let layout = Arc::clone(layout);
    Ok(crate::run_blocking(move |_| layout.look_up(&String::from_utf8_lossy(&bytes))).await)
}

/// Verifies a pointer and makes its citation.
pub(crate) async fn verify_pointer(env: &ToolEnv<'_>, pointer: Pointer) -> Result<Verified, ToolError> {
    let citation = quoted(env, pointer).await?;
    // The same text may also occur elsewhere, and may have been quoted there.
    let known = env.overlay.citation(&citation.id).await?;
    Ok(Verified { citation: apart(citation, known.iter()), put_right: None })
}

async fn pointed_at(
    env: &ToolEnv<'_>,
    Pointer { passage, from, to }: Pointer,
) -> Result<(String, Arc<Layout>, Quote), ToolError> {
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
    Ok((known.document.clone(), layout, quote))
}
