//! The same manual as PDF, EPUB and text: the requirements found in it may not depend on the format. Needs the manual's
//! files, three of them, in `PLUMBLINE_POLICY_DIR` or beside the repository; runs nothing without them.

use crate::make::parser;
use plumbline_documents::chunking::{ChunkOptions, chunk, render_chunk};
use plumbline_documents::passages::numbered;
use plumbline_documents::{Parser, kind_of};
use plumbline_rehearsal::normative_sentences;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where the manual is, if it is anywhere.
fn folder() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("PLUMBLINE_POLICY_DIR").map_or(beside, PathBuf::from);
    folder.join("policy.pdf").exists().then_some(folder)
}

/// The normalized texts of the requirements in one of the files.
pub(crate) async fn requirements(parser: &Parser, path: &str, bytes: &[u8]) -> BTreeSet<String> {
    let kind = kind_of(path, bytes).expect("a good document");
    let document = parser.extract(kind, bytes, None).await.expect("a good document");
    let chunks = chunk(path, &document.pages, document.paged, ChunkOptions::default());
    let files: Vec<String> = chunks.iter().map(|chunk| numbered(&render_chunk(path, chunk))).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    normative_sentences(&files).iter().map(|text| normalized(text)).collect()
}

/// The text without typography: text files use other characters for emphasis, quotes and dashes, whether a section's
/// number belongs to the text depends on the layout, and so does where the mark of a note is.
fn normalized(text: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() && !"⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
    let words = text.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty());
    let words = words.skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_policy_manual_gives_the_same_requirements_in_every_format() {
    let Some(folder) = folder() else {
        println!("the policy manual is not here: nothing was compared");
        return;
    };
    let mut found = Vec::new();
    for name in ["policy.pdf", "policy.epub", "policy.txt"] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        found.push((name, requirements(&parser(), name, &bytes).await));
    }
    let mut worst = f64::MAX;
    for (one, left) in &found {
        for (other, right) in found.iter().filter(|(other, _)| other != one) {
            let common = left.intersection(right).count() as f64;
            let (precision, recall) = (common / left.len() as f64, common / right.len() as f64);
            println!(
                "{one} ({}) against {other} ({}): precision {precision:.3}, recall {recall:.3}",
                left.len(),
                right.len()
            );
            if std::env::var_os("PLUMBLINE_SHOW_DIFFERENCES").is_some() {
                left.difference(right).take(40).for_each(|text| println!("  only in {one}: {text}"));
            }
            worst = worst.min(precision).min(recall);
        }
    }
    assert!(worst > 0.85, "two of the formats differ: {worst:.3}");
}
