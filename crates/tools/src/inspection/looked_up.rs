//! A quote of a file, looked up where the file says it is, and elsewhere.

use super::quotes::{Form, Quoted, SaidDocument, file_name_in, forms, is_named, is_source, pages};
use super::{cut, names_of_documents};
use crate::documents::found_quote::{Sight, placed_sight, sight};
use crate::error::ToolError;
use crate::tool::ToolEnv;
use crate::workspace::overlay::file_name;
use plumbline_engine::{Citation, Source};

/// What the documents have of a quote.
pub(super) enum LookedUp {
    /// The words, at the place that the file gives, if it gives one. A quote shorter than a citation may be has none.
    Found(Option<Citation>),
    /// The words, but not at that place: the error for the model.
    Elsewhere(String),
    /// No document has them.
    Nowhere,
}

/// The place that a file gives for a quote, as documents of the job.
struct Claimed<'a> {
    /// The documents that it may mean; none if it names none.
    documents: Vec<&'a Source>,
    /// The name of a document that the job does not have.
    unknown: Option<String>,
    /// The quote is on one of these.
    pages: Vec<u32>,
}

impl Claimed<'_> {
    fn names_a_document(&self) -> bool {
        self.unknown.is_some() || !self.documents.is_empty()
    }

    fn may_be_in(&self, source: &Source) -> bool {
        !self.names_a_document() || self.documents.iter().any(|named| named.path == source.path)
    }

    /// The pages to look at, one after the other; `None` is any.
    fn asked(&self) -> Vec<Option<u32>> {
        if self.pages.is_empty() { vec![None] } else { self.pages.iter().copied().map(Some).collect() }
    }
}

/// Looks a quote of the file `path` up.
pub(super) async fn look_up(env: &ToolEnv<'_>, path: &str, quoted: &Quoted) -> Result<LookedUp, ToolError> {
    let names = names_of_documents(env);
    let mut elsewhere = None;
    for form in forms(&quoted.text, &names) {
        let claimed = claimed(env, quoted, form, &names);
        let mut sources: Vec<&Source> =
            env.overlay.sources().iter().filter(|source| env.ctx.is_source(&source.path)).collect();
        sources.sort_by_key(|source| !claimed.may_be_in(source));
        for source in sources.into_iter().filter(|source| source.text_path.is_some()) {
            for page in claimed.asked() {
                let Some(sight) = sight(env, source, form.text, page).await? else { continue };
                if claimed.may_be_in(source) && is_on_page(&sight, page) {
                    return Ok(LookedUp::Found(placed_sight(env, sight).await?));
                }
                elsewhere.get_or_insert_with(|| wrong_place(path, form.text, &claimed, source, &sight));
            }
        }
    }
    Ok(elsewhere.map_or(LookedUp::Nowhere, LookedUp::Elsewhere))
}

/// Whether the words are on the page. A document without pages may be called one page.
fn is_on_page(sight: &Sight, page: Option<u32>) -> bool {
    match (sight.pages(), page) {
        (_, None) => true,
        (None, Some(page)) => page <= 1 || sight.is_too_short(),
        (Some((first, last)), Some(page)) => (first..=last).contains(&page),
    }
}

fn claimed<'a>(env: &'a ToolEnv<'_>, quoted: &Quoted, form: Form<'_>, names: &[&str]) -> Claimed<'a> {
    let mut claimed = Claimed { documents: Vec::new(), unknown: None, pages: quoted.place.pages.clone() };
    match (&quoted.place.document, form.source) {
        (Some(SaidDocument::Name(name)), _) => {
            claimed.documents = documents_named(env, name);
            claimed.unknown = Some(name.clone()).filter(|name| claimed.documents.is_empty() && !is_address(name));
        }
        (Some(SaidDocument::Words(words)), _) => claimed.in_words(env, words, names),
        (None, Some(words)) => claimed.in_words(env, words, names),
        (None, None) => {}
    }
    claimed
}

impl<'a> Claimed<'a> {
    /// Takes the document and the pages that words name, if they are a source.
    fn in_words(&mut self, env: &'a ToolEnv<'_>, words: &str, names: &[&str]) {
        if !is_source(words, names) {
            return;
        }
        self.documents = documents_named(env, words);
        if self.documents.is_empty() {
            self.unknown = file_name_in(words).map(str::to_owned);
        }
        if self.pages.is_empty() {
            self.pages = pages(words);
        }
    }
}

/// A page on the web is no document of the job, and not one that it lacks.
fn is_address(name: &str) -> bool {
    name.contains("://")
}

/// The documents that words may mean: those whose path, text or file name they are, else those with the longest name in
/// the words.
fn documents_named<'a>(env: &'a ToolEnv<'_>, words: &str) -> Vec<&'a Source> {
    let words = words.trim().to_lowercase();
    let is_it = |name: &str| name.to_lowercase() == words;
    let sources = env.overlay.sources();
    let exact = |source: &&Source| {
        is_it(&source.path)
            || is_it(file_name(&source.path))
            || source.text_path.as_deref().is_some_and(is_it)
            || is_it(source.path.strip_prefix("input/").unwrap_or(&source.path))
    };
    let exact: Vec<&Source> = sources.iter().filter(exact).collect();
    if !exact.is_empty() {
        return exact;
    }
    if let Some(document) =
        env.overlay.passages().iter().find(|passage| passage.chunk_path.as_deref().is_some_and(is_it))
    {
        return sources.iter().filter(|source| source.path == document.document).collect();
    }
    longest_named(sources, &words)
}

/// `security-policy.md, section 3` names `security-policy.md`, and not `policy.md`.
fn longest_named<'a>(sources: &'a [Source], words: &str) -> Vec<&'a Source> {
    let spaced = |text: &str| text.replace(['-', '_'], " ");
    let words = spaced(words);
    let length = |source: &Source| {
        let names = super::names(&source.path).into_iter().map(spaced);
        names.filter(|name| is_named(name, &words)).map(|name| name.len()).max()
    };
    let longest = sources.iter().filter_map(length).max();
    sources.iter().filter(|source| longest.is_some() && length(source) == longest).collect()
}

/// The error for words that are elsewhere, with the right place.
fn wrong_place(path: &str, words: &str, claimed: &Claimed<'_>, source: &Source, sight: &Sight) -> String {
    let quote = cut(words);
    let page = sight.pages().map_or_else(String::new, |(first, _)| format!(", page {first}"));
    let place = format!("{}{page}", source.path);
    if let Some(unknown) = &claimed.unknown {
        return format!(
            "{path} gives {} as the document of \"{quote}\", which is no document of the job; the words are in {place}",
            cut(unknown)
        );
    }
    if !claimed.may_be_in(source) {
        let named: Vec<&str> = claimed.documents.iter().map(|named| named.path.as_str()).collect();
        return format!("{path} gives {} for \"{quote}\", but the words are in {place}", named.join(" or "));
    }
    let pages: Vec<String> = claimed.pages.iter().map(u32::to_string).collect();
    let pages = pages.join(", ");
    match sight.pages() {
        Some((first, _)) => {
            format!("{path} gives page {pages} for \"{quote}\", but the words are on page {first} of {}", source.path)
        }
        None => format!("{path} gives page {pages} for \"{quote}\", but {} has no pages", source.path),
    }
}
