//! Regular expressions. Their run time is linear in the text for any pattern; the memory of foreign patterns is
//! bounded.

#![allow(clippy::disallowed_methods, reason = "this is the module that makes them")]

use regex::{Error, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Maximum memory of an expression that a model searches with.
const MOST_OF_SEARCH: usize = 256 << 10;
/// Maximum memory of all patterns that a configuration adds: the time for each character of a text grows with it.
const MOST_OF_CONFIGURATION: usize = 1 << 20;

/// A built-in pattern: a constant, or assembled from constants.
///
/// # Panics
/// If it is invalid. A test of its owner compiles all of them.
pub fn own(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| panic!("a pattern of the program's own is none: {error}"))
}

/// A foreign expression, for one search.
///
/// # Errors
/// Why it is invalid, or that it needs too much memory.
pub fn of_search(text: &str, any_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .case_insensitive(any_case)
        .size_limit(MOST_OF_SEARCH)
        .build()
        .map_err(|error| reason(&error))
}

/// The patterns of a configuration together, case-insensitive.
///
/// # Errors
/// Why one is invalid, or that they need too much memory.
pub fn of_configuration(patterns: &[String]) -> Result<RegexSet, String> {
    RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .size_limit(MOST_OF_CONFIGURATION)
        .dfa_size_limit(MOST_OF_CONFIGURATION)
        .build()
        .map_err(|error| match error {
            Error::CompiledTooBig(most) => format!("they take more than {} KiB once they are made", most >> 10),
            error => reason(&error),
        })
}

/// Why an expression is invalid, without compiling it; none if it is not, or too large.
pub fn syntax_error(text: &str) -> Option<String> {
    match RegexBuilder::new(text).size_limit(0).build() {
        Ok(_) | Err(Error::CompiledTooBig(_)) => None,
        Err(error) => Some(reason(&error)),
    }
}

/// The library marks the position of an error over several lines; the last line is the message.
fn reason(error: &Error) -> String {
    error.to_string().lines().last().unwrap_or("it does not parse").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{of_configuration, of_search, syntax_error};

    #[test]
    fn what_takes_more_memory_than_its_owner_may_use_is_refused() {
        let dear = r"\pL{100}".to_owned();
        assert!(of_search(&dear, false).is_err_and(|reason| reason.contains("size limit")));
        assert!(of_search("a+b", true).is_ok_and(|pattern| pattern.is_match("AAB")));
        assert!(of_search("(", false).is_err_and(|reason| reason == "unclosed group"));
        assert_eq!(syntax_error(&dear), None);
        assert!(syntax_error("(").is_some_and(|reason| reason == "unclosed group"));
        assert!(of_configuration(&vec![dear; 100]).is_err_and(|reason| reason.contains("1024 KiB")));
        assert!(of_configuration(&["a+b".to_owned()]).is_ok_and(|set| set.is_match("AAB")));
    }
}
