//! `plumbline candidates`: which sentences of a document probably state an obligation.

use crate::{
    arguments::CandidatesArguments,
    environment,
    error::Failure,
    output::{self, thousands},
};
use plumbline_documents::{
    Extracted, Parser,
    candidates::{Scan, Sentence},
    kind_of, to_text_file,
};
use serde::{Deserialize, Serialize};
use serde_json::json as object;
use std::path::Path;

pub(crate) async fn run(arguments: CandidatesArguments) -> Result<u8, Failure> {
    let scan = match &arguments.job_type {
        None => Scan::default(),
        Some(job_type) => {
            let resolved = environment::configs()?.show(job_type, &object!({}), &environment::model_env()?)?;
            plumbline_job_setup::scan(&resolved.config).map_err(|rule| Failure::new(rule.message))?
        }
    };
    if let Some(file) = &arguments.sentences {
        output::print(&judged(&scan, file)?)?;
        return Ok(0);
    }
    let Some(file) = &arguments.file else { return Err(Failure::usage("no file is named; name a document")) };
    let document = extract(file).await?;
    let sentences = scan.sentences(&text_of(&document));
    let lines: Vec<String> = match arguments.json {
        true => sentences.iter().map(json).collect::<Result<_, _>>()?,
        false => sentences.iter().filter_map(line).chain([summary(&sentences)]).collect(),
    };
    output::print(&lines.join("\n"))?;
    document.warnings.iter().cloned().chain(not_judged(&sentences)).for_each(|note| output::note(&note));
    Ok(0)
}

async fn extract(file: &Path) -> Result<Extracted, Failure> {
    let name = file.display().to_string();
    let bytes = read(file)?;
    let unreadable = |error: plumbline_documents::DocumentError| Failure::new(error.with_name(&name).to_string());
    let kind = kind_of(&name, &bytes).map_err(unreadable)?;
    let parser = Parser::new(environment::program()?);
    parser.extract(kind, &bytes, None).await.map_err(unreadable)
}

/// The document's text with page marks. A text with existing marks, such as a chunk, keeps its pages.
fn text_of(document: &Extracted) -> String {
    match document.pages.as_slice() {
        [whole] if !document.paged => whole.text.clone(),
        _ => to_text_file(document),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        Failure::new(format!("the file {} could not be read ({error}); check its path", file.display()))
    })
}

/// A sentence as `--json` shows it.
#[derive(Serialize)]
struct Line<'a> {
    page: Option<u32>,
    sentence: u32,
    text: &'a str,
    candidate: bool,
    reason: Option<&'a str>,
}

fn json(sentence: &Sentence) -> Result<String, Failure> {
    let Sentence { number, page, text, reason, .. } = sentence;
    to_json(&Line { page: *page, sentence: *number, text, candidate: reason.is_some(), reason: *reason })
}

fn to_json(line: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(line)
        .map_err(|error| Failure::new(format!("the output could not be written as JSON: {error}")))
}

/// A candidate for people: `page 3, 12 (must): The controller …`.
fn line(sentence: &Sentence) -> Option<String> {
    let page = sentence.page.map(|page| format!("page {page}, ")).unwrap_or_default();
    sentence.reason.map(|reason| format!("{page}{} ({reason}): {}", sentence.number, sentence.text))
}

fn summary(sentences: &[Sentence]) -> String {
    let candidates = sentences.iter().filter(|sentence| sentence.reason.is_some()).count();
    format!("{} of {} sentences are candidates", thousands(candidates), thousands(sentences.len()))
}

fn not_judged(sentences: &[Sentence]) -> Option<String> {
    let number = sentences.iter().filter(|sentence| !sentence.judged).count();
    (number > 0).then(|| {
        format!(
            "{number} of {} sentences are not judged: the scan has rules for text in English and German; read them",
            sentences.len()
        )
    })
}

/// A line of `--sentences`.
#[derive(Deserialize)]
struct Given {
    text: String,
}

#[derive(Serialize)]
struct Judged {
    line: usize,
    candidate: bool,
    reason: Option<&'static str>,
}

/// One line for each of the file's sentences, without blank lines.
fn judged(scan: &Scan, file: &Path) -> Result<String, Failure> {
    let text = String::from_utf8(read(file)?)
        .map_err(|_| Failure::usage(format!("{} is not UTF-8; save it as UTF-8", file.display())))?;
    let mut out = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let given: Given = serde_json::from_str(line).map_err(|error| {
            let file = file.display();
            Failure::usage(format!(
                "{file}:{} is not a JSON object with `text` ({error}); write {{\"text\": \"…\"}}",
                at + 1
            ))
        })?;
        let reason = scan.judge(&given.text);
        out.push(to_json(&Judged { line: at + 1, candidate: reason.is_some(), reason })?);
    }
    Ok(out.join("\n"))
}
