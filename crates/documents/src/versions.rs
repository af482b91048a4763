//! Compares two versions of documents passage by passage: which are the same, and which replace which.
//!
//! A passage is the same if it has the same text, at any position. A different passage replaces an earlier one if both
//! are at the same distance after the same passage (or after the beginning of their documents). Documents are compared
//! by path, others in their order.

use plumbline_engine::{Passage, Versions};
use std::collections::{BTreeMap, HashMap, HashSet};

type Hash = [u8; 32];

/// What [`compare`] found.
#[derive(Debug, Default)]
pub struct Comparison<'a> {
    /// Pairs of a new passage and an earlier one with the same text: the earlier one first.
    pub same: Vec<(&'a Passage, &'a Passage)>,
    /// How many there are of each kind.
    pub versions: Versions,
}

/// Compares the passages of documents with those of their earlier versions. `is_read_otherwise` names documents with
/// the same bytes and different passages, because an older extraction read them: differences in them are not changes.
pub fn compare<'a>(
    then: &'a [Passage],
    now: &[&'a Passage],
    is_read_otherwise: impl Fn(&str) -> bool,
) -> Comparison<'a> {
    let then: Vec<&Passage> = then.iter().collect();
    let known: HashMap<Hash, &Passage> =
        then.iter().rev().filter_map(|passage| Some((hash(passage)?, *passage))).collect();
    let still: HashSet<Hash> = now.iter().filter_map(|passage| hash(passage)).collect();
    let is_known = |passage: &Passage| hash(passage).is_some_and(|hash| known.contains_key(&hash));
    let is_still = |passage: &Passage| hash(passage).is_some_and(|hash| still.contains(&hash));
    let same: Vec<_> = now.iter().filter_map(|passage| Some((*known.get(&hash(passage)?)?, *passage))).collect();
    let mut versions = Versions { same: same.len(), ..Versions::default() };
    for (old, new) in paired(by_document(&then), by_document(now)) {
        if new.first().is_some_and(|passage| is_read_otherwise(&passage.document)) {
            versions.reread += new.iter().filter(|passage| !is_known(passage)).count();
            continue;
        }
        let (mut old, new) = (gaps(&old, is_still), gaps(&new, is_known));
        for (behind, passages) in new {
            let replaced = old.remove(&behind).unwrap_or(0);
            versions.changed += passages.min(replaced);
            versions.new += passages.saturating_sub(replaced);
            versions.gone += replaced.saturating_sub(passages);
        }
        versions.gone += old.into_values().sum::<usize>();
    }
    Comparison { same, versions }
}

/// The identity of a text; a passage without a text equals no other.
fn hash(passage: &Passage) -> Option<Hash> {
    passage.chunk_path.is_some().then_some(passage.sha256)
}

fn by_document<'a>(passages: &[&'a Passage]) -> BTreeMap<&'a str, Vec<&'a Passage>> {
    let mut documents: BTreeMap<&str, Vec<&Passage>> = BTreeMap::new();
    for passage in passages {
        documents.entry(&passage.document).or_default().push(passage);
    }
    documents.values_mut().for_each(|passages| passages.sort_by_key(|passage| passage.ordinal));
    documents
}

type Pair<'a> = (Vec<&'a Passage>, Vec<&'a Passage>);

fn paired<'a>(mut then: BTreeMap<&str, Vec<&'a Passage>>, now: BTreeMap<&str, Vec<&'a Passage>>) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let mut others = Vec::new();
    for (document, passages) in now {
        match then.remove(document) {
            Some(before) => pairs.push((before, passages)),
            None => others.push(passages),
        }
    }
    let mut then = then.into_values();
    pairs.extend(others.into_iter().map(|passages| (then.next().unwrap_or_default(), passages)));
    pairs.extend(then.map(|passages| (passages, Vec::new())));
    pairs
}

/// How many passages differ after each identical one, and before the first.
fn gaps(passages: &[&Passage], is_same: impl Fn(&Passage) -> bool) -> BTreeMap<Option<Hash>, usize> {
    let mut gaps = BTreeMap::new();
    let mut behind = None;
    for passage in passages {
        match is_same(passage) {
            true => behind = Some(passage.sha256),
            false => *gaps.entry(behind).or_insert(0) += 1,
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passages of a document, one letter each; a digit has no text.
    fn passages(document: &str, texts: &str) -> Vec<Passage> {
        let passage = |(ordinal, letter): (i32, char)| Passage {
            sha256: [letter as u8; 32],
            chunk_path: (!letter.is_ascii_digit()).then(String::new),
            ..Passage::unread(ordinal, document, ordinal)
        };
        (1..).zip(texts.chars()).map(passage).collect()
    }

    /// Same, changed, new, gone.
    fn counts(then: &[(&str, &str)], now: &[(&str, &str)]) -> [usize; 4] {
        let all = |documents: &[(&str, &str)]| -> Vec<Passage> {
            documents.iter().flat_map(|(document, texts)| passages(document, texts)).collect()
        };
        let (then, now) = (all(then), all(now));
        let Versions { same, changed, new, gone, .. } =
            compare(&then, &now.iter().collect::<Vec<_>>(), |_| false).versions;
        assert_eq!(same + changed + new, now.len(), "each of now is one of three");
        [same, changed, new, gone]
    }

    #[test]
    fn a_requirement_in_the_same_place_has_changed() {
        for (then, now, expected) in [
            ("abcde", "abcde", [5, 0, 0, 0]),
            ("abcde", "abXde", [4, 1, 0, 0]),
            ("abcde", "XYcdZ", [2, 3, 0, 0]),
            ("abcde", "abcXYde", [5, 0, 2, 0]),
            ("abcde", "ade", [3, 0, 0, 2]),
            ("abcde", "aXYZe", [2, 3, 0, 0]),
            ("abcde", "aXe", [2, 1, 0, 2]),
            ("abcde", "VWXYZV", [0, 5, 1, 0]),
            ("abc", "cab", [3, 0, 0, 0]),
            ("", "ab", [0, 0, 2, 0]),
            ("ab", "", [0, 0, 0, 2]),
            ("a1", "a1", [1, 1, 0, 0]),
        ] {
            assert_eq!(counts(&[("input/a.pdf", then)], &[("input/a.pdf", now)]), expected, "{then} {now}");
        }
    }

    #[test]
    fn what_was_read_otherwise_is_no_change() {
        let (then, now) = (passages("input/a.pdf", "abcd"), passages("input/a.pdf", "abXYZ"));
        let now: Vec<&Passage> = now.iter().collect();
        let versions = compare(&then, &now, |document| document == "input/a.pdf").versions;
        assert_eq!(versions, Versions { same: 2, reread: 3, ..Versions::default() });
    }

    #[test]
    fn documents_of_other_names_are_held_against_each_other_in_their_order() {
        let then = [("input/a.pdf", "abc"), ("input/policy-1.pdf", "def")];
        assert_eq!(counts(&then, &[("input/a.pdf", "abc"), ("input/policy-2.pdf", "dXf")]), [5, 1, 0, 0]);
        assert_eq!(counts(&then, &[("input/a.pdf", "abc")]), [3, 0, 0, 3]);
        assert_eq!(
            counts(&then, &[("input/policy-1.pdf", "abc")]),
            [3, 0, 0, 3],
            "a text may move to another document"
        );
    }
}
