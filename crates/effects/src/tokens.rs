//! Token counts, without a network: the tables of the encodings are part of the binary.
//!
//! Counts are estimates for every model whose tokenizer is not published; the engine corrects them with the usage the
//! provider reports. Text is counted as ordinary text, so that a document which happens to contain `<|endoftext|>`
//! costs what its characters cost.

use tiktoken_rs::CoreBPE;
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

/// Number of o200k_base tokens of `text`; saturates at `u32::MAX`.
pub fn count(text: &str) -> u32 {
    Encoder { bpe: tiktoken_rs::o200k_base_singleton() }.count(text)
}

/// Loads the table behind [`count`], which takes a tenth of a second, before the first job needs it.
pub fn warm() {
    count("warm");
}

/// The encoder of a model: a vendor prefix (`openai/gpt-4o`) is stripped, a model that is not known is counted as
/// o200k_base and one older than cl100k_base as that, which is close enough for budgeting.
pub fn encoder_for(model: &str) -> Encoder {
    let name = model.rsplit('/').next().unwrap_or(model);
    let bpe = match get_tokenizer(name) {
        Some(Tokenizer::O200kHarmony) => tiktoken_rs::o200k_harmony_singleton(),
        // The encodings before it belong to models without tool calls; their tables would only make the binary larger.
        Some(
            Tokenizer::Cl100kBase | Tokenizer::P50kBase | Tokenizer::P50kEdit | Tokenizer::R50kBase | Tokenizer::Gpt2,
        ) => tiktoken_rs::cl100k_base_singleton(),
        Some(Tokenizer::O200kBase) | None => tiktoken_rs::o200k_base_singleton(),
    };
    Encoder { bpe }
}

/// Counts tokens in one encoding; free to copy, the table behind it is loaded once for the process.
#[derive(Clone, Copy)]
pub struct Encoder {
    bpe: &'static CoreBPE,
}

impl Encoder {
    /// Number of tokens of `text`; saturates at `u32::MAX`.
    pub fn count(&self, text: &str) -> u32 {
        u32::try_from(self.bpe.count_ordinary(text)).unwrap_or(u32::MAX)
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Encoder")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_ordinary_text() {
        assert_eq!(count(""), 0);
        assert_eq!(count("Records shall be kept for ten years."), 8);
        assert!(count("<|endoftext|>") > 1, "special tokens in a document are plain text");
    }

    #[test]
    fn a_model_is_found_behind_its_vendor_and_an_unknown_one_falls_back() {
        // The sample text has different counts in the two encodings.
        let text = "Aufbewahrungspflichten für Handelsbücher";
        let old = encoder_for("openai/gpt-4").count(text);
        assert_eq!(old, encoder_for("gpt-4").count(text));
        assert_ne!(old, count(text));
        assert_eq!(encoder_for("someone/never-heard-of-7b").count(text), count(text));
    }
}
