//! Caches token counts of texts that jobs share. Every phase of every job opens with the same prompts, and counting
//! them each time would take longer than the rest of a worker's work for a request; so their lines are counted once.
//!
//! This is exact. A token's pre-tokenized piece continues after a line break only with white space, more breaks or a
//! slash: if a line begins with anything else, the count of the whole is the sum of the counts of its parts.

use plumbline_engine::Prompts;
use plumbline_tokens::Encoder;
use std::{collections::HashMap, iter};

/// The lines of some texts with their token counts.
pub(crate) struct TokenCache {
    encoder: Encoder,
    tokens: HashMap<Box<str>, u32>,
}

impl TokenCache {
    /// The cache for a configuration's prompts and other texts that all its jobs share.
    pub(crate) fn of(encoder: Encoder, prompts: &Prompts, others: &[&str]) -> Self {
        let Prompts { strategic, tactical, summarization, instructions, todos: _ } = prompts;
        let texts = [strategic, tactical, summarization, instructions].map(String::as_str);
        // A prompt is followed by an empty line.
        let texts = texts.iter().chain(others).map(|text| format!("{}\n\n", text.trim()));
        let mut tokens = HashMap::new();
        for text in texts {
            tokens.extend(lines(&text).map(|line| (line.into(), encoder.count(line))));
        }
        Self { encoder, tokens }
    }

    /// Tokens of a text; saturates at `u32::MAX`.
    pub(crate) fn count(&self, text: &str) -> u32 {
        // Unknown lines are counted together.
        let (mut known, mut at, mut unknown) = (0u32, 0, 0);
        for line in lines(text) {
            let end = at + line.len();
            if let Some(tokens) = self.tokens.get(line) {
                known = known.saturating_add(self.encoder.count(&text[unknown..at])).saturating_add(*tokens);
                unknown = end;
            }
            at = end;
        }
        known.saturating_add(self.encoder.count(&text[unknown..]))
    }
}

/// A text split before each line that no piece can continue into.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let begins = |at: &usize| rest[*at..].starts_with(|next: char| !next.is_whitespace() && next != '/');
        let end = rest.match_indices('\n').map(|(at, _)| at + 1).find(begins).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::{TokenCache, lines};
    use plumbline_engine::Prompts;
    use plumbline_tokens::encoder_for;

    const PROMPT: &str =
        "# Role\n\nYou extract requirements.\n- one;\n- two.\n  more\n\n\n/path\n**Always**:\r\n\r\n1. cite\n";

    fn known(model: &str) -> TokenCache {
        let prompts = Prompts { strategic: PROMPT.into(), instructions: "Read.\nWrite!".into(), ..Prompts::default() };
        TokenCache::of(encoder_for(model), &prompts, &["═══\n TITLE\n═══"])
    }

    #[test]
    fn the_lines_of_a_text_are_the_text() {
        for text in ["", "\n", "a", "\n\na\n b\n/c\nd", PROMPT] {
            assert_eq!(lines(text).collect::<String>(), text);
        }
        assert_eq!(lines("a\n\nb\n c\n/d\ne\n").collect::<Vec<_>>(), ["a\n\n", "b\n c\n/d\n", "e\n"]);
    }

    /// All orders of some difficult parts, with known lines between them.
    #[test]
    fn a_count_is_what_it_would_be_without_knowing_any_line() {
        let parts = [
            "Write!",
            "\n",
            " ",
            "/",
            "'s",
            "1234",
            "═══",
            "\r\n",
            ".",
            "You extract requirements.\n",
            "ж",
            "\u{a0}\n",
        ];
        for model in ["gpt-4o", "gpt-4"] {
            let known = known(model);
            assert!(known.tokens.len() > 8);
            for at in 0..parts.len().pow(4) {
                let picked = (0..4u32).map(|place| parts[at / parts.len().pow(place) % parts.len()]);
                let text: String = picked.collect();
                assert_eq!(known.count(&text), encoder_for(model).count(&text), "{text:?}");
            }
            let text = format!("{}\n\n## The job\n\nfoo\n\nRead.\nWrite!\n\nToday.", PROMPT.trim());
            assert_eq!(known.count(&text), encoder_for(model).count(&text));
        }
    }
}
