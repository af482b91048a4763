//! The rules of sentences that were examined before: a passage is examined alone, and with the passage behind it.

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum sentences; with more, all are forgotten. Each takes about 40 bytes. Two passages have a few hundred.
const MOST: usize = 1 << 14;

/// The beginning of a sentence's SHA-256.
type Key = [u8; 16];

/// The rules that a sentence is examined by.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    /// Those of its language.
    Language,
    /// Those of instructions.
    Instruction,
    /// The same, for a sentence with its own number.
    NumberedInstruction,
}

type Rule = Option<&'static str>;

/// The rule of each sentence, shared by the clones of a scan.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(Arc<Mutex<HashMap<Key, Rule>>>);

impl Known {
    /// The rule of a sentence, examined if it is not known.
    pub(super) fn or_insert(&self, by: By, sentence: &str, examined: impl FnOnce() -> Rule) -> Rule {
        let mut key = Key::default();
        key.copy_from_slice(&Sha256::digest(sentence)[..16]);
        key[0] ^= by as u8;
        let known = self.0.lock().get(&key).copied();
        known.unwrap_or_else(|| {
            let rule = examined();
            let mut all = self.0.lock();
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(key, rule);
            rule
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{By, Known, MOST};

    #[test]
    fn a_sentence_is_examined_once_until_there_are_too_many() {
        let known = Known::default();
        let rule = |by: By, sentence: &str, rule: Option<&'static str>| known.clone().or_insert(by, sentence, || rule);
        assert_eq!(rule(By::Language, "It must be kept.", Some("must")), Some("must"));
        assert_eq!(rule(By::Language, "It must be kept.", None), Some("must"));
        assert_eq!(rule(By::Instruction, "It must be kept.", None), None);
        (0..MOST).for_each(|n| _ = rule(By::Language, &n.to_string(), None));
        assert_eq!(rule(By::Language, "It must be kept.", None), None);
        assert!(known.0.lock().len() < MOST);
    }
}
