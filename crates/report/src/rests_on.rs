//! What each delivered file rests on: the quotes in it that were found in the documents when the job ended.

use super::marks::{Mark, Marks};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

/// Maximum quotes listed per file.
const MOST_LISTED: usize = 200;

/// A delivered file and its quotes.
#[derive(Serialize)]
pub(crate) struct RestingFile {
    path: String,
    count: usize,
    quotes: Vec<Value>,
    more: usize,
}

/// The files of a result's `rests_on`, by their paths.
pub(crate) fn files(result: Option<&Value>, marks: &Marks) -> Vec<RestingFile> {
    let by_file = result.and_then(|result| result.get("rests_on")?.as_object()).into_iter().flatten();
    let by_id: HashMap<&str, &Mark> =
        marks.all.iter().filter_map(|mark| Some((mark.citation.as_deref()?, mark))).collect();
    let file = |(path, ids): (&String, &Value)| {
        let ids = || ids.as_array().into_iter().flatten().filter_map(Value::as_str);
        let quotes = ids().filter_map(|id| by_id.get(id)).map(|mark| mark.as_listed());
        let quotes: Vec<Value> = quotes.take(MOST_LISTED).collect();
        RestingFile { path: path.clone(), count: ids().count(), more: ids().count() - quotes.len(), quotes }
    };
    by_file.map(file).collect()
}
