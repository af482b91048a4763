//! Names of calls in a form that every provider accepts in a request.
//!
//! A model may call an unknown tool, and the call stays in the history under that name. Providers validate the names in
//! a request against a pattern, including those of earlier calls, and refuse the whole request for one violation.

use std::borrow::Cow;

/// Maximum length that all accept: OpenAI's and Mistral's is 64 characters, Anthropic's 200 in a call.
const LONGEST: usize = 64;

/// Replaces an empty name.
const NONE: &str = "unnamed";

/// The name within `^[a-zA-Z0-9_-]{1,64}$`, which all providers accept; a tool's name is unchanged.
pub(crate) fn fitted(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() {
        return Cow::Borrowed(NONE);
    }
    match name.len() <= LONGEST && name.chars().all(fits) {
        true => Cow::Borrowed(name),
        false => name.chars().take(LONGEST).map(|c| if fits(c) { c } else { '_' }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_or_is_made_to() {
        for (name, expected) in [
            ("read_file", "read_file"),
            ("multi_tool_use.parallel", "multi_tool_use_parallel"),
            ("read file", "read_file"),
            ("lire_fichié", "lire_fichi_"),
            ("读", "_"),
            ("", "unnamed"),
        ] {
            assert_eq!(fitted(name), expected, "{name}");
        }
        assert_eq!(fitted(&"é".repeat(80)), "_".repeat(64));
        assert_eq!(fitted(&"n".repeat(64)), "n".repeat(64));
    }
}
