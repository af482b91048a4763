//! Randomly broken documents, the same in every run. Each gives text or an error in one sentence, none takes longer
//! than its limit, and this process stays small.
//!
//! `PLUMBLINE_CORPUS=10000` increases their number, as in `make corpus`.

use crate::make::{Dice, parser, seeds};
use crate::outcomes::{LIMITS, outcomes};

/// Documents of an ordinary run.
const ORDINARY: usize = 500;

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

/// Document `number`: one of the good ones, broken; one in eight goes by another name than its own.
fn mutated(number: usize, seeds: &[(&'static str, Vec<u8>)]) -> (String, Vec<u8>) {
    let extensions = ["pdf", "docx", "odt", "epub", "html", "md", "txt", "bin"];
    let mut dice = Dice::new(number as u64 + 1);
    let (name, seed) = &seeds[dice.below(seeds.len())];
    let mut bytes = seed.clone();
    mutate(&mut bytes, &mut dice);
    let mislabelled = format!("{name}.{}", extensions[dice.below(extensions.len())]);
    (if dice.below(8) == 0 { mislabelled } else { (*name).to_owned() }, bytes)
}

#[tokio::test]
async fn broken_documents_end_in_text_or_a_sentence() {
    let count = std::env::var("PLUMBLINE_CORPUS").ok().and_then(|count| count.parse().ok()).unwrap_or(ORDINARY);
    let (seeds, parser) = (seeds(), parser().with_limits(LIMITS));
    let found = outcomes("mutated", &parser, (0..count).map(|number| mutated(number, &seeds))).await;
    assert!(found["text"] > count / 10 && found["damaged"] > count / 20, "{found:?}");
}
