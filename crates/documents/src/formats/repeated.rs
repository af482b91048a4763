//! Whether a line that repeats on many pages may state an obligation.

use crate::candidates::Scan;

/// Substrings of normative words; without one, only a whole sentence can state an obligation.
const DUTY: [&str; 24] = [
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
];

/// By the scan, whose rules need more memory than most documents: lines that are neither whole sentences nor contain a
/// normative word are skipped.
pub(crate) fn obliges(line: &str) -> bool {
    let line = line.trim();
    let lower = line.to_lowercase();
    let may_oblige = line.ends_with(['.', ';', '!']) || DUTY.iter().any(|word| lower.contains(word));
    may_oblige && Scan::default().judge(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::obliges;

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
        for line in ["Policy 4.1", "This copy is not controlled.", "ACME 2024. All rights reserved."] {
            assert!(!obliges(line), "{line}");
        }
    }
}
