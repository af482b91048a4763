//! Compares the candidate scan on labelled sets with another build of it:
//!
//! ```sh
//! cargo run -p plumbline-documents --example scan_sets -- [--against PROGRAM] [FILE.jsonl …] [--documents FILE.tsv]
//! ```
//!
//! The sets of `tests/fixtures/scan_sets.tsv`, written for this, and your own files, one line `{"text": "…", "obligation":
//! true}` per sentence. `FILE.tsv` has whole documents, line by line as `scan_sets.tsv` has sets: a sentence of a set is
//! judged by itself, one of a document in its document. `PROGRAM` is a `plumbline` of another build: its figures come
//! before this one's, but not for documents.

use plumbline_documents::candidates::Scan;
use plumbline_engine::DocumentStyle;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::process::Command;

const SETS: &str = include_str!("../tests/fixtures/scan_sets.tsv");

#[derive(Deserialize, Serialize)]
struct Labelled {
    text: String,
    obligation: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut program, mut sets, mut documents) = (None, sets_of(SETS)?, BTreeMap::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--documents" => {
                let file = arguments.next().ok_or("--documents names no file")?;
                documents.extend(sets_of(&std::fs::read_to_string(file)?)?);
            }
            "--against" => program = Some(arguments.next().ok_or("--against names no program")?),
            file => _ = sets.insert(file.to_owned(), read(file)?),
        }
    }
    println!("| set | n | obligations | found before | found | plain | marked before | marked |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, set) in &sets {
        let style = if name == "policy" { DocumentStyle::Policy } else { DocumentStyle::Normative };
        let scan = Scan::new(&[], style)?;
        let now: Vec<bool> = set.iter().map(|one| scan.judge(&one.text).is_some()).collect();
        let before = program.as_deref().map(|program| judged_by(program, set)).transpose()?;
        println!("{}", line(name, set, &now, before.as_deref()));
    }
    for (name, document) in &documents {
        println!("{}", line(name, document, &in_context(document), None));
    }
    Ok(())
}

/// Which lines of a document have a candidate.
fn in_context(document: &[Labelled]) -> Vec<bool> {
    let (mut text, mut ends) = (String::new(), Vec::new());
    for line in document {
        text.push_str(&line.text);
        text.push_str("\n\n");
        ends.push(text.len());
    }
    let mut found = vec![false; document.len()];
    for sentence in Scan::default().sentences(&text).iter().filter(|sentence| sentence.reason.is_some()) {
        found[ends.partition_point(|end| *end <= sentence.range.start)] = true;
    }
    found
}

fn sets_of(lines: &str) -> Result<BTreeMap<String, Vec<Labelled>>, Box<dyn Error>> {
    let mut sets: BTreeMap<String, Vec<Labelled>> = BTreeMap::new();
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split('\t');
        let (Some(set), Some(label), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(format!("no set, label and sentence: {line}").into());
        };
        let one = Labelled { text: text.to_owned(), obligation: label == "obligation" };
        sets.entry(set.to_owned()).or_default().push(one);
    }
    Ok(sets)
}

fn read(file: &str) -> Result<Vec<Labelled>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Which sentences another build takes for candidates.
fn judged_by(program: &str, set: &[Labelled]) -> Result<Vec<bool>, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Judged {
        candidate: bool,
    }
    let mut file = tempfile::NamedTempFile::new()?;
    for one in set {
        writeln!(file, "{}", serde_json::to_string(one)?)?;
    }
    let said = Command::new(program).args(["candidates", "--sentences"]).arg(file.path()).output()?;
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let lines = String::from_utf8(said.stdout)?;
    let judged = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Judged>, _>>()?;
    Ok(judged.into_iter().map(|one| one.candidate).collect())
}

fn line(name: &str, set: &[Labelled], now: &[bool], before: Option<&[bool]>) -> String {
    let of = |obligation: bool| set.iter().filter(move |one| one.obligation == obligation).count();
    let share = |judged: &[bool], obligation: bool| {
        let marked = set.iter().zip(judged).filter(|(one, candidate)| one.obligation == obligation && **candidate);
        format!("{:.3}", marked.count() as f64 / of(obligation).max(1) as f64)
    };
    let earlier = |obligation| before.map_or_else(|| "–".to_owned(), |judged| share(judged, obligation));
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} |",
        set.len(),
        of(true),
        earlier(true),
        share(now, true),
        of(false),
        earlier(false),
        share(now, false)
    )
}
