//! Counts in words and digits: `two and a half`, `anderthalb`, `1,5`, `three times`.

use super::spelled;

/// Behind a number: `two and a half`.
const AND_A_HALF: [&str; 3] = ["and", "a", "half"];

/// How often words say that something happens, and how many words they are: `twice`, `three times`, `zweimal`, `2-mal`.
pub(super) fn times(words: &[&str]) -> Option<(u64, usize)> {
    let first = words.first()?;
    let adverb = match *first {
        "once" => Some(1),
        "twice" => Some(2),
        "thrice" => Some(3),
        word => word.strip_suffix("mal").and_then(whole),
    };
    if let Some(count) = adverb {
        return Some((count, 1));
    }
    let (thousandths, _, used) = count(words)?;
    (words.get(used).is_some_and(|word| ["times", "mal"].contains(word)) && thousandths % 1000 == 0)
        .then_some((thousandths / 1000, used + 1))
}

fn one_word(word: &str) -> Option<u64> {
    if let [value] = spelled::in_word(word)[..] { Some(value) } else { None }
}

/// The number with which words begin: in thousandths, as it is written in digits, and how many words it has.
pub(super) fn count(words: &[&str]) -> Option<(u64, String, usize)> {
    let first = words.first()?;
    if first.starts_with(|sign: char| sign.is_ascii_digit()) {
        return Some((thousandths(first)?, first.replace(',', "."), 1));
    }
    let half = first.strip_suffix("einhalb").map_or_else(|| (*first == "anderthalb").then_some(1), whole);
    if let Some(value) = half {
        return Some((value * 1000 + 500, String::new(), 1));
    }
    let of_one = || Some((whole(first).filter(|_| words[1..].starts_with(&AND_A_HALF))?, 1));
    let (value, used) = spelled::in_words(words).or_else(|| Some((one_word(first)?, 1))).or_else(of_one)?;
    let has_half = words[used..].starts_with(&AND_A_HALF);
    let (half, more) = if has_half { (500, AND_A_HALF.len()) } else { (0, 0) };
    Some((value.checked_mul(1000)?.checked_add(half)?, value.to_string(), used + more))
}

/// A number, or the word for one.
fn whole(word: &str) -> Option<u64> {
    if ["one", "ein"].contains(&word) { Some(1) } else { one_word(word) }
}

/// `1.5` and `1,5` as 1500.
fn thousandths(digits: &str) -> Option<u64> {
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|sign| sign.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 2 || whole.len() > 6 {
        return None;
    }
    format!("{whole}{fraction:0<3}").parse().ok()
}
