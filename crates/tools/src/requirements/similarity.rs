//! The similarity of two requirements, from 0 to 1.
//!
//! Case and punctuation are ignored. Two measures are averaged: the share of common words, which ignores order, and the
//! word-wise edit distance, which does not. One word barely changes a long sentence and may still be decisive: the
//! similarity of texts with different numbers or negations is at most 0.94.

/// Minimum similarity that is reported.
pub(super) const SIMILAR: f64 = 0.7;

/// Maximum similarity of texts that differ in a decisive word.
const MOST_WHEN_DECIDED: f64 = 0.94;

/// Words that change a requirement's meaning, besides all that contain a digit.
const DECISIVE: [&str; 46] = [
    "not", "no", "never", "none", "nor", "without", "except", "nicht", "kein", "keine", "keinen", "keiner", "keinem",
    "nie", "niemals", "ohne", "ausser", "außer", "one", "two", "three", "four", "five", "six", "seven", "eight",
    "nine", "ten", "eleven", "twelve", "twenty", "thirty", "hundred", "ein", "zwei", "drei", "vier", "fünf", "sechs",
    "sieben", "acht", "neun", "zehn", "elf", "zwölf", "hundert",
];

/// The similarity of two texts if it is at least [`SIMILAR`]. Most texts share too few words, which is detected without
/// comparing their order: that is by far the slowest part.
pub(super) fn similar(a: &str, b: &str) -> Option<f64> {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let (a, b) = (words(&a), words(&b));
    let shared = share(&a, &b);
    // The number of edits is at least the difference in word counts.
    let best_order = a.len().min(b.len()) as f64 / a.len().max(b.len()).max(1) as f64;
    if f64::midpoint(shared, best_order) < SIMILAR {
        return None;
    }
    Some(of_words(&a, &b, shared)).filter(|likeness| *likeness >= SIMILAR)
}

/// The similarity of two texts; 1 for texts of the same words in the same order.
pub(super) fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let (a, b) = (words(&a), words(&b));
    of_words(&a, &b, share(&a, &b))
}

fn of_words(a: &[&str], b: &[&str], shared: f64) -> f64 {
    let longest = a.len().max(b.len());
    if longest == 0 {
        return 0.0;
    }
    // The library takes collections, not slices.
    let edits = strsim::generic_levenshtein(&a.to_vec(), &b.to_vec());
    let order = 1.0 - edits as f64 / longest as f64;
    let likeness = f64::midpoint(shared, order);
    if decisive(a) == decisive(b) { likeness } else { likeness.min(MOST_WHEN_DECIDED) }
}

/// The share of distinct words that both have.
fn share(a: &[&str], b: &[&str]) -> f64 {
    let (a, b) = (distinct(a), distinct(b));
    let shared = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    shared as f64 / (a.len() + b.len() - shared).max(1) as f64
}

fn distinct<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.dedup();
    words
}

fn words(text: &str) -> Vec<&str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// The decisive words, sorted, with repetitions.
fn decisive<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let decides = |word: &&&str| DECISIVE.contains(*word) || word.chars().any(|character| character.is_ascii_digit());
    let mut found: Vec<&str> = words.iter().filter(decides).copied().collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_wholly_alike_however_they_are_set() {
        for (a, b) in [
            ("Invoices must be kept for ten years.", "invoices  must be kept,\nfor ten years"),
            ("Die Löschung ist zu protokollieren.", "die LÖSCHUNG ist zu protokollieren"),
        ] {
            assert_eq!(similarity(a, b), 1.0, "{a} / {b}");
        }
    }

    #[test]
    fn like_requirements_are_reported_and_others_are_not() {
        let invoices = "Incoming invoices must be kept for ten years in the archive of the accounting department.";
        let receipts = "Incoming receipts must be kept for ten years in the archive of the accounting department.";
        let likeness = similarity(invoices, receipts);
        assert!((SIMILAR..0.95).contains(&likeness), "{likeness}");
        let visitors = "Visitors may not enter the server room alone.";
        assert!(similarity(invoices, visitors) < 0.3);
        assert_eq!(similarity("…", "?"), 0.0);
    }

    #[test]
    fn a_number_or_a_negation_makes_another_requirement() {
        let long = "of the accounting department and of every branch office in which original vouchers are received, \
                    scanned, checked, booked, corrected, reconciled, approved, archived, exported, compared, retained, \
                    inspected, disclosed, translated, certified, destroyed, replaced and reported to the head office"
            .repeat(2);
        for (a, b) in [
            ("must be kept for ten years", "must be kept for six years"),
            ("must be kept", "must not be kept"),
            ("within 30 days", "within 31 days"),
        ] {
            let likeness = similarity(&format!("Vouchers {a} {long}"), &format!("Vouchers {b} {long}"));
            assert!((SIMILAR..0.95).contains(&likeness), "{a} / {b}: {likeness}");
        }
    }

    #[test]
    fn what_is_left_out_early_is_what_is_not_similar() {
        let alphabet: Vec<String> = (0..20).map(|n| format!("w{}", char::from(b'a' + n))).collect();
        let all = alphabet.join(" ");
        for shared in 0..=20 {
            for moved in [0, 3] {
                let mut part = alphabet[..shared].to_vec();
                part.rotate_left(moved.min(shared));
                let part = part.join(" ");
                let exact = similarity(&all, &part);
                assert_eq!(similar(&all, &part), (exact >= SIMILAR).then_some(exact), "{shared} words, {moved} moved");
            }
        }
    }

    #[test]
    fn it_does_not_matter_which_text_comes_first() {
        let (a, b) = ("The archive must be closed at night.", "At night, the archive must be closed.");
        assert_eq!(similarity(a, b), similarity(b, a));
    }
}
