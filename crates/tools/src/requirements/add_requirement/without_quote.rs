//! A record without any quote, in a job with sources: refused once with the most similar sentences.

use crate::error::ToolError;
use crate::tool::ToolEnv;
use plumbline_bounds::Cancellation;
use plumbline_documents::{candidates::cut, passages};
use plumbline_engine::{beginning, one_line};
use std::collections::HashSet;

/// Maximum sentences in the refusal.
const MAX_NAMED: usize = 3;
/// Maximum characters of a sentence that are repeated.
const MAX_SHOWN: usize = 160;
/// Maximum confidence of such a record.
pub(super) const MOST_CONFIDENCE: f64 = 0.5;

/// Refuses a record without a quote, unless the job has no sources or the same call was refused before.
pub(super) async fn check(env: &ToolEnv<'_>, text: &str) -> Result<(), ToolError> {
    let can_be_quoted =
        env.overlay.sources().iter().any(|source| source.text_path.is_some() && env.ctx.is_source(&source.path));
    if !can_be_quoted || env.again {
        return Ok(());
    }
    let nearest = nearest(env, text).await?;
    let nearest = match nearest.is_empty() {
        true => String::new(),
        false => format!(" The nearest sentences that were shown: {}.", nearest.join("; ")),
    };
    Err(ToolError::RefusedOnce(format!(
        "nothing was recorded; a requirement needs a quote of its source in `citations`.{nearest} The same call again records \
         it without one, with a confidence of at most {MOST_CONFIDENCE}"
    )))
}

/// The sentences of read passages that share the most words with a text.
async fn nearest(env: &ToolEnv<'_>, text: &str) -> Result<Vec<String>, ToolError> {
    let mut files = Vec::new();
    for passage in
        env.overlay.passages().iter().filter(|passage| passage.is_read && env.ctx.is_source(&passage.document))
    {
        let Some(path) = &passage.chunk_path else { continue };
        if let Some(bytes) = env.overlay.read(path).await? {
            files.push((passage.number, bytes));
        }
    }
    let wanted = words(text);
    Ok(crate::run_blocking(move |cancellation| most_alike(&files, &wanted, cancellation)).await)
}

fn most_alike(files: &[(i32, Vec<u8>)], wanted: &HashSet<String>, cancellation: &Cancellation) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (passage, bytes) in files {
        if cancellation.is_cancelled() {
            break;
        }
        let file = String::from_utf8_lossy(bytes);
        let body = passages::body(&file);
        for (at, range) in cut(body).into_iter().enumerate() {
            let sentence = &body[range];
            let shared = words(sentence).intersection(wanted).count();
            if shared > 0 {
                found.push((shared, named(*passage, at + 1, sentence)));
            }
        }
        found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        found.truncate(MAX_NAMED);
    }
    found.into_iter().map(|(_, named)| named).collect()
}

fn named(passage: i32, sentence: usize, text: &str) -> String {
    format!("{{\"passage\": {passage}, \"from\": {sentence}}} \"{}\"", beginning(&one_line(text), MAX_SHOWN))
}

/// Words of at least four letters, in lower case.
fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
    words.map(str::to_lowercase).collect()
}
