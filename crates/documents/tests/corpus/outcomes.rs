//! Outcomes of hundreds of documents, and their cost in this process.

use futures_util::StreamExt as _;
use plumbline_documents::{DocumentError, Ending, Limits, Parser, kind_of};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Limits of one document.
pub(crate) const LIMITS: Limits = Limits {
    memory: 1 << 30,
    cpu: Duration::from_secs(10),
    cpu_per_mib: Duration::ZERO,
    wall: Duration::from_secs(1_200),
    output: 16 << 20,
};
/// Maximum memory of this process in KiB, including the other tests' documents.
const MAX_RESIDENT_KIB: u64 = 512 << 10;
/// Documents under way at once.
const AT_ONCE: usize = 4;

/// Reads all documents; gives how many ended in which way.
///
/// Each must have given text or an error in one sentence, and this process must have stayed small.
pub(crate) async fn outcomes(
    what: &str,
    parser: &Parser,
    documents: impl Iterator<Item = (String, Vec<u8>)>,
) -> BTreeMap<&'static str, usize> {
    let runs = futures_util::stream::iter(documents).map(|(name, bytes)| async move {
        let began = Instant::now();
        let outcome = outcome(parser, &name, &bytes).await;
        (outcome, began.elapsed(), name)
    });
    let mut outcomes = BTreeMap::new();
    let mut slowest = (Duration::ZERO, String::new());
    let mut runs = std::pin::pin!(runs.buffer_unordered(AT_ONCE));
    while let Some((outcome, time, name)) = runs.next().await {
        *outcomes.entry(outcome).or_default() += 1;
        slowest = slowest.max((time, name));
    }
    let count: usize = outcomes.values().sum();
    let (time, name) = slowest;
    println!(
        "{count} {what} documents: {outcomes:?}; the slowest, {name}, took {time:.1?}; {} KiB at most",
        peak_resident_kib()
    );
    assert!(peak_resident_kib() < MAX_RESIDENT_KIB, "{} KiB", peak_resident_kib());
    outcomes
}

/// The outcome of a document in a word.
async fn outcome(parser: &Parser, name: &str, bytes: &[u8]) -> &'static str {
    let error = match kind_of(name, bytes) {
        Err(error) => error,
        Ok(kind) => match parser.extract(kind, bytes, None).await {
            Ok(document) => {
                let has_text = document.pages.iter().any(|page| !page.text.trim().is_empty());
                assert!(has_text, "{name} has no text and no error");
                return "text";
            }
            Err(error) => error.with_name(name),
        },
    };
    let sentence = error.to_string();
    assert!(sentence.contains(name) && !sentence.contains('\n') && sentence.len() < 600, "{sentence}");
    word(&error)
}

fn word(error: &DocumentError) -> &'static str {
    match error {
        DocumentError::Empty { .. } => "empty",
        DocumentError::NotThatKind { .. } => "mislabelled",
        DocumentError::Unsupported { .. } => "unsupported",
        DocumentError::Encrypted { .. } => "encrypted",
        DocumentError::Damaged { .. } => "damaged",
        DocumentError::NoText { .. } => "no text",
        DocumentError::NoSuchPage { .. } => "no such page",
        DocumentError::TooLong { .. } => "too long",
        DocumentError::ParserDied { ending: Ending::OutOfTime, .. } => "out of time",
        DocumentError::ParserDied { ending: Ending::OutOfMemory, .. } => "out of memory",
        DocumentError::ParserDied { ending: Ending::TooMuchOutput, .. } => "too much output",
        DocumentError::ParserDied { ending: Ending::Crashed, .. } => "crashed",
        DocumentError::Spawn { reason, .. } => panic!("the child could not be run: {reason}"),
    }
}

/// The most memory this process ever had, in KiB.
fn peak_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the kernel keeps it");
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
