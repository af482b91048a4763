//! Which sentences of the documents are touched by quotes in the delivered files, for a job that records no
//! requirements.

use super::{Found, names_of_documents, quotes::forms, quotes_in};
use crate::documents::found_quote::places_of;
use crate::error::ToolError;
use crate::tool::ToolEnv;
use crate::workspace::path;
use plumbline_engine::{Touched, tools::gives_up};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Folders that contain the documents themselves.
const DOCUMENTS: [&str; 2] = ["input/", "chunks/"];

/// The sentences, one range per passage, each once. `found` has the citations of files that were looked into: their
/// quotes are looked up in the other documents alone.
pub(super) async fn touched(
    env: &ToolEnv<'_>,
    call: &Map<String, Value>,
    mut found: Found,
) -> Result<Vec<Touched>, ToolError> {
    let mut touched: Vec<Touched> = Vec::new();
    for path in delivered(env, call) {
        if let Some(citations) = found.remove(&path) {
            for citation in citations {
                touched.extend(places_of(env, &citation.quote, Some(&citation.source)).await?);
                touched.extend(citation.place.into_iter().chain(citation.continues).chain(citation.again));
            }
            continue;
        }
        for quote in quotes_in(env, &path).await?.unwrap_or_default() {
            touched.extend(places_of_forms(env, &quote.text).await?);
        }
    }
    touched.sort_unstable_by_key(|place| (place.passage, place.from, place.to));
    touched.dedup();
    Ok(touched)
}

/// The files that the call names, and those that the job owes or must quote in, except those that the call gives up.
fn delivered(env: &ToolEnv<'_>, call: &Map<String, Value>) -> BTreeSet<String> {
    let named = call.get("deliverables").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let owed = env.ctx.inspection.into_iter().flat_map(|inspection| {
        inspection.files.iter().map(|file| &file.path).chain(&inspection.quoting).map(String::as_str)
    });
    let paths = named.chain(owed).filter_map(|name| path::file(name).ok());
    paths.filter(|path| !DOCUMENTS.iter().any(|folder| path.starts_with(folder)) && !gives_up(call, path)).collect()
}

async fn places_of_forms(env: &ToolEnv<'_>, quote: &str) -> Result<Vec<Touched>, ToolError> {
    for form in forms(quote, &names_of_documents(env)) {
        let places = places_of(env, form.text, None).await?;
        if !places.is_empty() {
            return Ok(places);
        }
    }
    Ok(Vec::new())
}
