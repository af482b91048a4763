//! Token counts without a network: the library contains the encodings, which are loaded when the first text is counted.
//!
//! Counts are estimates for models without a published tokenizer; the engine corrects them with the provider's usage.
//! Text is counted as ordinary text, so that `<|endoftext|>` in a document counts by its characters.

use std::iter;
use tiktoken_rs::{
    cl100k_base_singleton, o200k_base_singleton,
    tokenizer::{Tokenizer, get_tokenizer},
};

/// Maximum bytes passed to the library at once. Its pattern panics on white space of a million characters
/// (fancy-regex's `backtrack_limit`). A split adds at most a token or two.
const PART: usize = 256 << 10;

/// Number of o200k_base tokens of `text`; saturates at `u32::MAX`.
pub fn count(text: &str) -> u32 {
    Encoder::O200k.count(text)
}

/// Loads the tables of [`count`] in advance: loading takes a tenth of a second and some 40 MiB.
pub fn load() {
    count("load");
}

/// The encoder of a model: a vendor prefix (`openai/gpt-4o`) is stripped, an unknown model is counted with o200k_base
/// and one older than cl100k_base with that, which is close enough for budgeting.
pub fn encoder_for(model: &str) -> Encoder {
    let name = model.rsplit('/').next().unwrap_or(model);
    match get_tokenizer(name) {
        // The encodings before it belong to models without tool calls.
        Some(
            Tokenizer::Cl100kBase | Tokenizer::P50kBase | Tokenizer::P50kEdit | Tokenizer::R50kBase | Tokenizer::Gpt2,
        ) => Encoder::Cl100k,
        // Harmony differs from o200k_base only in special tokens, and text has none.
        Some(Tokenizer::O200kBase | Tokenizer::O200kHarmony) | None => Encoder::O200k,
    }
}

/// Counts tokens in one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoder {
    /// Of GPT-3.5 and GPT-4.
    Cl100k,
    /// Of everything since.
    O200k,
}

impl Encoder {
    /// Number of tokens of `text`; saturates at `u32::MAX`.
    pub fn count(self, text: &str) -> u32 {
        let encoding = match self {
            Self::Cl100k => cl100k_base_singleton(),
            Self::O200k => o200k_base_singleton(),
        };
        u32::try_from(parts(text).map(|part| encoding.count_ordinary(part)).sum::<usize>()).unwrap_or(u32::MAX)
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PART));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::{Encoder, PART, count, encoder_for, parts};

    #[test]
    fn counts_ordinary_text() {
        assert_eq!(count(""), 0);
        assert_eq!(count("Records shall be kept for ten years."), 8);
        assert!(count("<|endoftext|>") > 1, "special tokens in a document are plain text");
    }

    #[test]
    fn a_model_is_found_after_its_vendor_prefix_and_an_unknown_one_falls_back() {
        for (model, encoder) in [
            ("openai/gpt-4", Encoder::Cl100k),
            ("gpt-4", Encoder::Cl100k),
            ("text-davinci-003", Encoder::Cl100k),
            ("openai/gpt-4o", Encoder::O200k),
            ("gpt-oss-120b", Encoder::O200k),
            ("someone/never-heard-of-7b", Encoder::O200k),
        ] {
            assert_eq!(encoder_for(model), encoder, "{model}");
        }
        let text = "Aufbewahrungspflichten für Handelsbücher";
        assert_ne!(Encoder::Cl100k.count(text), Encoder::O200k.count(text));
    }

    /// Input on which the library would panic or take quadratic time.
    #[test]
    fn hostile_texts_are_counted() {
        for hostile in [" ", "\t", "\u{a0}", "a", "é", "=", "\n"] {
            let text = hostile.repeat(2_000_000) + "b";
            assert!(count(&text) > 1, "{hostile:?}");
        }
    }

    #[test]
    fn a_long_text_is_counted_in_parts_that_are_the_text() {
        let text = "Größe: 1.234,56 €; Bücher sind aufzubewahren. ".repeat(PART / 16);
        let cut: Vec<&str> = parts(&text).collect();
        assert!(cut.len() > 2 && cut.iter().all(|part| part.len() <= PART));
        assert_eq!(cut.concat(), text);
        let once = count("Größe: 1.234,56 €; Bücher sind aufzubewahren. ".repeat(16).as_str());
        let of_all = count(&text).abs_diff(once * u32::try_from(PART / 256).unwrap());
        assert!(of_all <= 2 * u32::try_from(PART / 256 + cut.len()).unwrap(), "{of_all}");
    }
}
