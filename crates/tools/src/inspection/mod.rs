//! Checks of a job's files before completion: whether its deliverables are valid JSON, and whether their quotes occur
//! in its documents. The engine reports missing files.

mod at_once;
mod delivered;
mod looked_up;
pub(crate) mod owed;
mod quotes;

use super::error::{Output, ToolError, ToolResult};
use super::requirements::{comparison, recorded::named};
use crate::documents::word_search;
use crate::tool::ToolEnv;
use crate::workspace::overlay::file_name;
use looked_up::{LookedUp, look_up};
pub use owed::{Inspection, OwedContent};
use owed::{MAX_NAMED, and_more, cut};
use plumbline_bounds::{run_blocking, run_costly};
use plumbline_engine::{Citation, Inspected, InspectionCounts, Product, Source, tools::gives_up};
use quotes::{Quoted, how_to_quote, in_headings, quotes};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// What to check besides the files' required contents.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// The ids of requirements in the deliverables.
    pub(crate) requirements: bool,
    /// The sentences of the documents touched by quotes in the deliverables.
    pub(crate) sentences: bool,
    /// The tags of all requirements.
    pub(crate) compares: bool,
}

/// Checks a job's files before it completes: returns the counts, or an error for the model if a file is not as
/// required.
pub(crate) async fn before_the_end(env: &ToolEnv<'_>, arguments: &str, wanted: Wanted) -> ToolResult {
    let call: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let (mut counted, found) = match env.ctx.inspection.filter(|inspection| !inspection.is_empty()) {
        Some(inspection) => inspection.inspect(env, &call).await?,
        None => (Output::text(String::new()), Found::new()),
    };
    if wanted.requirements {
        named::check(env, &call).await?;
    }
    if wanted.sentences {
        counted.products.push(Product::DeliverQuotes(delivered::touched(env, &call, found).await?));
    }
    if wanted.compares {
        counted.products.extend(comparison::of_all(env.overlay, env.ctx).await?);
    }
    Ok(counted)
}

/// The citations of the quotes of each file that was looked into, in the file's order.
type Found = BTreeMap<String, Vec<Citation>>;

impl Inspection {
    /// Checks everything: returns the counts and what was found, or an error for the model if something is not as
    /// required. Files that the call declares as not delivered are exempt.
    async fn inspect(&self, env: &ToolEnv<'_>, call: &Map<String, Value>) -> Result<(Output, Found), ToolError> {
        let mut wrong = self.wrong_contents(env, call).await?;
        let texts = Texts::of(env);
        let (mut misplaced, mut unfound, mut found) = (Vec::new(), Vec::new(), Found::new());
        let mut inspected = Inspected { counts: texts.counts, ..Inspected::default() };
        for path in self.quoting.iter().filter(|path| !gives_up(call, path)) {
            let Some(quotes) = quotes_in(env, path).await? else { continue };
            inspected.counts.quotes_checked += quotes.len() as u64;
            if quotes.is_empty() {
                wrong.push(format!("{path} holds no quote that could be looked up: {}", how_to_quote(path)));
            }
            let citations = found.entry(path.clone()).or_default();
            for quote in quotes {
                match look_up(env, path, &quote).await? {
                    LookedUp::Found(citation) => citations.extend(citation),
                    LookedUp::Elsewhere(wrong) => misplaced.push(wrong),
                    LookedUp::Nowhere => unfound.push(self::unfound(env, path, &quote.text, &texts).await?),
                }
            }
        }
        let remedy = match &texts.remedy {
            Some(remedy) if !unfound.is_empty() => remedy,
            Some(_) | None => "Correct these files.",
        };
        wrong.extend(misplaced);
        wrong.extend(unfound);
        if wrong.is_empty() {
            inspected.rests_on = rests_on(&found);
            let products = unknown_yet(env, &self.quoting, &found).await?;
            return Ok((Output { products, ..Output::text(inspected.to_json()) }, found));
        }
        let more = and_more(wrong.len().saturating_sub(MAX_NAMED));
        wrong.truncate(MAX_NAMED);
        wrong.extend(more);
        Err(ToolError::refused(format!("the job is not complete: {}. {remedy}", wrong.join("; "))))
    }

    /// The errors in files that must be JSON. Their length is up to the model, and validation cost up to the schema:
    /// never on the event loop.
    async fn wrong_contents(&self, env: &ToolEnv<'_>, call: &Map<String, Value>) -> Result<Vec<String>, ToolError> {
        let mut wrong = Vec::new();
        for file in self.files.iter().filter(|file| file.is_looked_into() && !gives_up(call, &file.path)) {
            if let Some(content) = env.overlay.read(&file.path).await? {
                let file = file.clone();
                wrong.extend(run_costly(move |_| file.wrong(&content)).await);
            }
        }
        Ok(wrong)
    }
}

/// The quotes in a file, if it exists.
async fn quotes_in(env: &ToolEnv<'_>, path: &str) -> Result<Option<Vec<Quoted>>, ToolError> {
    let Some(content) = env.overlay.read(path).await? else { return Ok(None) };
    quotes_of(env, path, content).await.map(Some)
}

/// The quotes in a file's content. Text that a heading repeats from a document that is not a source, such as a question,
/// does not count.
async fn quotes_of(env: &ToolEnv<'_>, path: &str, content: Vec<u8>) -> Result<Vec<Quoted>, ToolError> {
    let path = path.to_owned();
    let both = move |_: &_| {
        let text = String::from_utf8_lossy(&content);
        (quotes(&path, &text), in_headings(&path, &text))
    };
    let (mut quotes, headings) = run_blocking(both).await;
    for quote in headings {
        if word_search::in_no_source(env, &quote.text).await?.is_none() {
            quotes.push(quote);
        }
    }
    Ok(quotes)
}

/// The documents' texts, in which quotes are looked up, and the message for a quote in none of them.
struct Texts {
    counts: InspectionCounts,
    unfound: &'static str,
    /// If texts are missing: of which documents, and what to do. The message appears when a job completes, in a
    /// strategic phase, but texts are extracted in tactical ones.
    remedy: Option<String>,
}

impl Texts {
    fn of(env: &ToolEnv<'_>) -> Self {
        let sources: Vec<&Source> =
            env.overlay.sources().iter().filter(|source| env.ctx.is_source(&source.path)).collect();
        let without = || sources.iter().filter(|source| source.text_path.is_none());
        let mut named: Vec<String> = without().take(MAX_NAMED).map(|source| source.path.clone()).collect();
        let all = without().count();
        let (documents, documents_extracted) = (sources.len() as u64, (sources.len() - all) as u64);
        let counts = InspectionCounts { quotes_checked: 0, documents, documents_extracted };
        let Some(first) = named.first().cloned() else {
            return Self { counts, unfound: "which occurs in no document of the job", remedy: None };
        };
        let has = if named.len() == 1 { "has" } else { "have" };
        named.extend(and_more(all - named.len()));
        let remedy = format!(
            "{} {has} no text yet, so no quote from there can be found: change no quote for it, but call \
             extract_document_text with file_path {first} in a tactical phase first. Correct what is wrong then.",
            named.join(", ")
        );
        let unfound =
            if all == sources.len() { COULD_NOT_BE_LOOKED_UP } else { "which occurs in no document that has a text" };
        Self { counts, unfound, remedy: Some(remedy) }
    }
}

/// There was no text to look it up in.
const COULD_NOT_BE_LOOKED_UP: &str = "which could not be looked up";

/// The citations of a list, each once.
fn each_once<'a>(citations: impl IntoIterator<Item = &'a Citation>) -> Vec<&'a Citation> {
    let mut seen = HashSet::new();
    citations.into_iter().filter(|citation| seen.insert(citation.id.as_str())).collect()
}

/// The ids of the citations of each file that has some.
fn rests_on(found: &Found) -> BTreeMap<String, Vec<String>> {
    let ids = |citations| each_once(citations).into_iter().map(|citation: &Citation| citation.id.clone()).collect();
    let with_some = found.iter().filter(|(_, citations)| !citations.is_empty());
    with_some.map(|(path, citations)| (path.clone(), ids(citations))).collect()
}

/// The citations that the job does not have yet.
async fn unknown_yet(env: &ToolEnv<'_>, files: &[String], found: &Found) -> Result<Vec<Product>, ToolError> {
    let citations = each_once(files.iter().filter_map(|path| found.get(path)).flatten());
    env.overlay.look_up(citations.iter().map(|citation| citation.id.clone()).collect(), Vec::new()).await?;
    let mut products = Vec::new();
    for citation in citations {
        if env.overlay.citation(&citation.id).await?.is_none() {
            products.push(Product::AddCitation(citation.clone()));
        }
    }
    Ok(products)
}

/// The message for a quote that is in no document.
async fn unfound(env: &ToolEnv<'_>, path: &str, quote: &str, texts: &Texts) -> Result<String, ToolError> {
    if let Some(document) = word_search::in_no_source(env, quote).await? {
        return Ok(format!("{path} quotes \"{}\", which stands only in {document}, which is no source", cut(quote)));
    }
    let place = texts.unfound;
    let nearest = match word_search::not_in_any(env, quote).await?.flatten() {
        _ if place == COULD_NOT_BE_LOOKED_UP => String::new(),
        Some(passage) => format!(" (the nearest passage is \"{}\")", cut(&passage.text)),
        None => " (nothing in the documents is like it)".to_owned(),
    };
    Ok(format!("{path} quotes \"{}\", {place}{nearest}", cut(quote)))
}

/// The names by which files refer to the job's documents as sources.
fn names_of_documents<'a>(env: &'a ToolEnv<'_>) -> Vec<&'a str> {
    env.overlay.sources().iter().flat_map(|source| names(&source.path)).collect()
}

/// A document's file name, with and without its extension.
fn names(path: &str) -> [&str; 2] {
    let name = file_name(path);
    [name, name.rsplit_once('.').map_or(name, |(stem, _)| stem)]
}

#[cfg(test)]
mod tests {
    use super::OwedContent;
    use crate::schemas::SchemaBudget;
    use serde_json::json;

    #[test]
    fn a_content_is_held_against_json_and_schema() {
        let schema = json!({"type": "object", "required": ["answers"], "properties": {"answers": {"type": "array"}}});
        let owed = |is_json, schema| {
            OwedContent::new("output/a.json".into(), is_json, schema, &mut SchemaBudget::default()).expect("a schema")
        };
        assert_eq!(owed(false, None).wrong(b"no json"), None);
        assert!(owed(true, None).wrong(b"no json").is_some_and(|wrong| wrong.contains("is no JSON")));
        assert_eq!(owed(true, Some(&schema)).wrong(br#"{"answers": []}"#), None);
        let wrong = owed(true, Some(&schema)).wrong(br#"{"answers": 5}"#).unwrap_or_default();
        assert!(wrong.contains("`/answers`") && wrong.contains("JSON Schema"), "{wrong}");
        assert!(OwedContent::new("a".into(), true, Some(&json!({"type": 5})), &mut SchemaBudget::default()).is_err());
        let remote = json!({"$ref": "https://example.com/a.json"});
        assert!(
            OwedContent::new("a".into(), true, Some(&remote), &mut SchemaBudget::default()).is_err(),
            "nothing is fetched"
        );
    }

    #[test]
    fn violations_are_listed_by_place_and_reason_without_the_value() {
        let items = json!({"type": "array", "minItems": 9, "items": {"type": "integer"}});
        let owed = OwedContent::new(
            "output/a.json".into(),
            true,
            Some(&json!({"properties": {"n": items}})),
            &mut SchemaBudget::default(),
        );
        let long = "x".repeat(500);
        let content = json!({"n": [long, long, long, long, long, 6, long]}).to_string();
        let wrong = owed.expect("a schema").wrong(content.as_bytes()).unwrap_or_default();
        assert!(wrong.starts_with("output/a.json does not meet its JSON Schema at `/n"), "{wrong}");
        assert!(wrong.contains("at `/n`: a list of 7 has less than 9 items"), "{wrong}");
        assert!(wrong.contains("at `/n/1`: value is not of type \"integer\", "), "{wrong}");
        assert!(wrong.ends_with(", and 2 more") && wrong.matches(" at ").count() == 5, "{wrong}");
        assert!(!wrong.contains("xxx"), "{wrong}");
    }
}
