//! Documents broken at random, the same way in every run. Whatever they have become, each gives text or an error in one
//! sentence, none takes longer than its limit, and this process stays small.
//!
//! `PLUMBLINE_CORPUS=10000` asks for more of them than the ordinary run's.

use crate::make::{Dice, epub, fixture, odt, parser, sample};
use futures_util::StreamExt as _;
use plumbline_effects::documents::{DocumentError, Ending, Limits, Parser, kind_of};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Documents of an ordinary run.
const ORDINARY: usize = 500;
/// What one document may take.
const LIMITS: Limits =
    Limits { memory: 1 << 30, cpu: Duration::from_secs(10), wall: Duration::from_secs(30), output: 16 << 20 };
/// What this process may take in all, in KiB, the other tests' documents included.
const MAX_RESIDENT_KIB: u64 = 512 << 10;

/// Good documents with the names they go by.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let body = "<text:h text:outline-level=\"1\">Duties</text:h><text:p>Records shall be kept.</text:p>\
                <table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>\
                </table:table>";
    let page = "<html><head><title>Rules</title></head><body><h1>Rules</h1><p>Records shall be kept.</p><table><tr>\
                <td>a</td></tr></table></body></html>";
    vec![
        ("small.pdf", fixture("small.pdf")),
        ("partly_scanned.pdf", fixture("partly_scanned.pdf")),
        ("encrypted.pdf", fixture("encrypted.pdf")),
        ("owner_password.pdf", fixture("owner_password.pdf")),
        ("small.docx", fixture("small.docx")),
        ("policy.docx", sample("record-keeping-policy.docx")),
        ("policy.md", sample("record-keeping-policy.md")),
        ("policy.pdf", sample("record-keeping-policy.pdf")),
        ("letter.odt", odt("", body)),
        ("book.epub", epub(&[page, page], &[])),
        ("page.html", page.as_bytes().to_vec()),
    ]
}

/// Breaks a document in one to four places.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        let end = (at + 1 + dice.below(200)).min(bytes.len());
        match dice.below(7) {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (at % 8)),
            1 => bytes.truncate(at),
            2 => bytes[at..end].fill(0),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy.repeat(1 + at % 50));
            }
            5 => bytes.iter_mut().skip(at).filter(|byte| byte.is_ascii_digit()).take(3).for_each(|byte| *byte = b'9'),
            _ => bytes.iter_mut().skip(at).step_by(97).for_each(|byte| *byte = byte.wrapping_add(1)),
        }
        if bytes.is_empty() {
            return;
        }
    }
}

/// What became of a document, in a word.
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

#[tokio::test]
async fn broken_documents_end_in_text_or_a_sentence() {
    let count = std::env::var("PLUMBLINE_CORPUS").ok().and_then(|count| count.parse().ok()).unwrap_or(ORDINARY);
    let (seeds, parser) = (seeds(), parser().with_limits(LIMITS));
    let extensions = ["pdf", "docx", "odt", "epub", "html", "md", "txt", "bin"];
    let runs = futures_util::stream::iter(0..count).map(|number| {
        let (seeds, parser) = (&seeds, &parser);
        async move {
            let mut dice = Dice::new(number as u64 + 1);
            let (name, seed) = &seeds[dice.below(seeds.len())];
            let mut bytes = seed.clone();
            mutate(&mut bytes, &mut dice);
            // One in eight goes by another name than its own.
            let mislabelled = format!("{name}.{}", extensions[dice.below(extensions.len())]);
            let name = if dice.below(8) == 0 { mislabelled.as_str() } else { name };
            let began = Instant::now();
            let outcome = outcome(parser, name, &bytes).await;
            (outcome, began.elapsed())
        }
    });
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut slowest = Duration::ZERO;
    let mut runs = runs.buffer_unordered(4);
    while let Some((outcome, time)) = runs.next().await {
        *outcomes.entry(outcome).or_default() += 1;
        slowest = slowest.max(time);
    }
    println!("{count} documents: {outcomes:?}; the slowest took {slowest:.1?}; {} KiB at most", peak_resident_kib());
    // Four are under way at once and wait for a free processor: each may see another one's whole limit.
    assert!(slowest < LIMITS.wall * 3, "{slowest:?}");
    assert!(peak_resident_kib() < MAX_RESIDENT_KIB, "{} KiB", peak_resident_kib());
    assert!(outcomes["text"] > count / 10 && outcomes["damaged"] > count / 20, "{outcomes:?}");
}
