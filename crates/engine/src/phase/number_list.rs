//! Lists of numbers after a word: "phases 2-4", "chunks 7, 8 and 12", `chunks/chunk_007.md`.

use std::collections::BTreeSet;

/// Maximum numbers in a range: a text such as 1-999999 is not a list.
const LONGEST_RANGE: i32 = 1_000;

/// The numbers listed after any of these words; plurals are included.
pub(crate) fn numbers_after(text: &str, words: &[&str]) -> BTreeSet<i32> {
    let text = text.to_lowercase();
    let places = words.iter().flat_map(|word| text.match_indices(word));
    places.flat_map(|(at, word)| numbers(&text[at + word.len()..])).collect()
}

/// Numbers as a list: "7-9, 12" for 7, 8, 9 and 12.
pub(crate) fn as_list(numbers: &BTreeSet<i32>) -> String {
    let mut ranges: Vec<(i32, i32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) | None => ranges.push((number, number)),
        }
    }
    let written = |(first, last): &(i32, i32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(written).collect::<Vec<_>>().join(", ")
}

/// The numbers of a list such as "7-9, 12"; none if a part of it is neither a number nor a range.
pub(crate) fn read_list(text: &str) -> Option<BTreeSet<i32>> {
    let range = |part: &str| {
        let mut ends = part.split(['-', '–']).map(|end| end.trim().parse::<i32>().ok());
        let from = ends.next()??;
        let to = ends.next().unwrap_or(Some(from))?;
        let is_range = ends.next().is_none() && from <= to && to.saturating_sub(from) <= LONGEST_RANGE;
        is_range.then_some(from..=to)
    };
    let parts = text.split([',', '&']).filter(|part| !part.trim().is_empty());
    let ranges: Vec<_> = parts.map(range).collect::<Option<_>>()?;
    (!ranges.is_empty()).then(|| ranges.into_iter().flatten().collect())
}

/// "s 2, 3 and 5-7 …" gives 2, 3, 5, 6, 7.
fn numbers(text: &str) -> Vec<i32> {
    let text = text.strip_prefix('s').unwrap_or(text);
    let text =
        text.trim_start_matches(['_', '#', ':']).replace(" and ", ",").replace(" und ", ",").replace(" to ", "-");
    let listed = |c: char| c.is_ascii_digit() || matches!(c, ' ' | ',' | '-' | '–' | '&');
    let end = text.find(|c: char| !listed(c)).unwrap_or(text.len());
    let range = |part: &str| {
        let mut ends = part.split(['-', '–']).map(|end| end.trim().parse::<i32>().ok());
        let from = ends.next().flatten()?;
        let to = ends.next().flatten().unwrap_or(from);
        Some(from..=to.min(from.saturating_add(LONGEST_RANGE)))
    };
    text[..end].split([',', '&']).filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::{as_list, numbers_after, read_list};

    #[test]
    fn a_list_is_read_as_it_was_written() {
        for text in ["7", "7-9, 12", "1, 3, 5-6"] {
            assert_eq!(read_list(text).map(|numbers| as_list(&numbers)).as_deref(), Some(text));
        }
        for no_list in ["", "all", "seven", "7 of them", "-", "1-", "-3", "9-7", "1-2-3", "7, x", "1-9999"] {
            assert_eq!(read_list(no_list), None, "{no_list}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_listed() {
        for (text, expected) in [
            ("Process chunks 1-3 of input/policy.pdf", vec![1, 2, 3]),
            ("Read chunks/chunk_007.md and chunks/chunk_012.md", vec![7, 12]),
            ("Passages 2, 4 and 6–7: every duty", vec![2, 4, 6, 7]),
            ("chunks 3 to 5", vec![3, 4, 5]),
            ("Cut the document into chunks of 1200 tokens", vec![]),
            ("Check chunks/manifest.json against the 3 documents", vec![]),
            ("chunk 9", vec![9]),
        ] {
            let found: Vec<i32> = numbers_after(text, &["chunk", "passage"]).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
