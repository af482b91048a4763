//! Whether a line that repeats on many pages, or is about its document, may state an obligation.

use crate::candidates::Scan;

/// Substrings of normative words; without one, only a whole sentence can state an obligation.
const DUTY: [&str; 28] = [
    "shall",
    "must",
    "should",
    "will",
    "may ",
    "can",
    "requir",
    "oblig",
    "prohibit",
    "forbid",
    "permit",
    "allow",
    "ensur",
    "need",
    "to be ",
    "muss",
    "m\u{fc}ss",
    "soll",
    "darf",
    "d\u{fc}rf",
    "ist ",
    "sind ",
    "pflicht",
    "verbot",
    "only",
    "nur ",
    "mandatory",
    "condition",
];

/// By the scan, whose rules need more memory than most documents: lines that are neither whole sentences nor contain a
/// normative word are skipped.
pub(crate) fn obliges(line: &str) -> bool {
    let line = line.trim();
    (line.ends_with(['.', ';', '!']) || has_a_word_of_duty(line)) && Scan::default().judge(line).is_some()
}

/// The same for labels, of which one that looks like an instruction, `Open the menu`, states none.
pub(crate) fn label_obliges(label: &str) -> bool {
    has_a_word_of_duty(label) && Scan::default().binds(label)
}

fn has_a_word_of_duty(text: &str) -> bool {
    let lower = text.to_lowercase();
    DUTY.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{label_obliges, obliges};

    #[test]
    fn sentences_of_duty_oblige_and_names_do_not() {
        for line in [
            "Copies must be destroyed.",
            "The owner shall sign each page",
            "Das Protokoll muss unterschrieben werden",
            "Destroy all copies after use.",
        ] {
            assert!(obliges(line), "{line}");
        }
        assert!(
            label_obliges("Open the menu. It must be closed after use.") && !label_obliges("Open the menu to go on.")
        );
        for line in ["Policy 4.1", "This copy is not controlled.", "ACME 2024. All rights reserved."] {
            assert!(!obliges(line), "{line}");
        }
    }
}
