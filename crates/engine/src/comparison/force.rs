//! Whether a text binds with the force of its quotes: *should* is less than *must*, and *must avoid* is the contrary of
//! *must*. The rules of `needs_look` do not include this, so it sets no tag: it is a remark for who judges the text.

use super::modals::{forbids, negates, tokens};
use crate::vocabulary::shown;

/// Words of a duty, and of a recommendation.
const STRONG: [&str; 6] = ["must", "shall", "muss", "müssen", "müsste", "müssten"];
const WEAK: [&str; 4] = ["should", "ought", "sollte", "sollten"];

/// Beginnings of words that turn the verb behind or before them into its contrary.
const TURNING: [&str; 10] =
    ["avoid", "refrain", "prevent", "ignor", "omit", "neglect", "desist", "vermeid", "unterlass", "verhinder"];

/// How a text differs from its quotes in force, as a remark; none if it does not, or if no quote binds by a word of its
/// own, as an entry does not whose lead has the word.
pub(super) fn other_force(text: &str, quotes: &[&str]) -> Option<String> {
    let said = tokens(&shown(text));
    let quoted: Vec<String> = quotes.iter().flat_map(|quote| tokens(&shown(quote))).collect();
    let first = |tokens: &[String], words: &[&str]| tokens.iter().find(|word| words.contains(&word.as_str())).cloned();
    let (strong, weak) = (first(&quoted, &STRONG), first(&quoted, &WEAK));
    match (first(&said, &STRONG), first(&said, &WEAK), &strong, &weak) {
        (Some(word), None, None, Some(quote)) | (None, Some(word), Some(quote), None) => {
            return Some(format!("its text says `{word}` where its quotes say `{quote}`"));
        }
        _ => {}
    }
    strong.or(weak)?;
    let turning = |word: &&String| TURNING.iter().any(|beginning| word.starts_with(beginning));
    let is_quoted =
        quoted.iter().any(|word| turning(&word)) || quotes.iter().any(|quote| negates(quote) || forbids(quote));
    let turned = said.iter().find(turning).filter(|_| !is_quoted)?;
    Some(format!("its text says `{turned}`, which no quote does"))
}

#[cfg(test)]
mod tests {
    use super::other_force;

    #[test]
    fn a_text_of_another_force_is_remarked() {
        let quote = ["The operator MUST log each access."];
        for text in [
            "The operator should log each access.",
            "The operator MUST avoid to log each access.",
            "The operator must refrain from logging access.",
        ] {
            assert!(other_force(text, &quote).is_some(), "{text}");
        }
        let weak = ["Der Betreiber sollte den Zugriff protokollieren."];
        let said = other_force("Der Betreiber muss den Zugriff protokollieren.", &weak).unwrap();
        assert_eq!(said, "its text says `muss` where its quotes say `sollte`");
        assert!(other_force("Der Betreiber sollte vermeiden, den Zugriff zu protokollieren.", &weak).is_some());
    }

    #[test]
    fn a_text_of_the_same_force_is_not() {
        for (text, quote) in [
            ("The operator shall log each access.", "Operators must log each access."),
            ("Exports must log each access.", "log each access;"),
            ("The clerk must refrain from editing.", "The clerk must not edit."),
            ("The pump must prevent leaks.", "The pump shall prevent leaks."),
            ("It must be logged and should be signed.", "It must be logged. It should be signed."),
            ("Each access is logged.", "Each access must be logged."),
            ("The pump must avoid noise.", "avoid noise"),
        ] {
            assert_eq!(other_force(text, &[quote]), None, "{text}");
        }
    }
}
