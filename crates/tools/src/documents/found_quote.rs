//! What words that a document has are as a citation: its id, and the sentences that they touch.

use super::word_search::{Sought, contains, look_up};
use crate::error::ToolError;
use crate::tool::ToolEnv;
use crate::workspace::PassagePlace;
use plumbline_documents::passages::{self, Occurrence};
use plumbline_documents::quotes::{Found, Match};
use plumbline_engine::{Citation, Source, Touched};
use sha2::{Digest, Sha256};

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
    let sought = Sought { quote: words, page };
    Ok(match look_up(env, source, sought).await? {
        Match::Found(found) | Match::OnOtherPage(found) => Some(Sight::Quote(Box::new(citation(source, found)))),
        Match::TooShort => contains(env, source, sought).await?.then_some(Sight::Words),
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

/// The sentences that a quote touches at each occurrence in the documents but one; empty if it occurs in none.
pub(crate) async fn places_of(env: &ToolEnv<'_>, quote: &str, but: Option<&str>) -> Result<Vec<Touched>, ToolError> {
    let mut places = Vec::new();
    let is_asked = |source: &&Source| env.ctx.is_source(&source.path) && but != Some(source.path.as_str());
    let sources = env.overlay.sources().iter().filter(is_asked);
    for source in sources.filter(|source| source.text_path.is_some()) {
        if let Match::Found(found) | Match::OnOtherPage(found) = look_up(env, source, Sought::anywhere(quote)).await? {
            let Citation { place, continues, again, .. } = placed(env, citation(source, found)).await?;
            places.extend(place.into_iter().chain(continues).chain(again));
        }
    }
    Ok(places)
}

/// The citation of words that were found.
pub(super) fn citation(source: &Source, found: Found) -> Citation {
    let number = |page: Option<u32>| page.and_then(|page| i32::try_from(page).ok());
    let (page, page_to, quote) = (number(found.page), number(found.page_to), found.text);
    let id = citation_id(&source.path, page, &quote);
    let page_to = page_to.filter(|_| page_to != page);
    let source = source.path.clone();
    let (place, continues, again) = (None, Vec::new(), Vec::new());
    Citation { id, source, page, page_to, quote, verified: true, place, continues, again }
}

/// The citation with the passages and sentences that its quote touches, if the document was cut.
pub(super) async fn placed(env: &ToolEnv<'_>, mut citation: Citation) -> Result<Citation, ToolError> {
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

/// A citation with an id different from these: the same text may be quoted at two places.
pub(crate) fn apart<'c>(mut citation: Citation, mut known: impl Iterator<Item = &'c Citation>) -> Citation {
    if known.any(|known| known.id == citation.id && known.place != citation.place)
        && let Some(Touched { passage, from, .. }) = citation.place
    {
        citation.id = short_id(&format!("{}\0{passage}\0{from}", citation.id));
    }
    citation
}

/// The same citation always has the same id.
pub(crate) fn citation_id(source: &str, page: Option<i32>, quote: &str) -> String {
    let page = page.map_or_else(String::new, |page| page.to_string());
    short_id(&format!("{source}\0{page}\0{quote}"))
}

fn short_id(what: &str) -> String {
    format!("cit_{}", hex::encode(&Sha256::digest(what)[..4]))
}
