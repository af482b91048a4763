//! Token counts, without a network and without anything to load: the tables of the encodings are laid out when the
//! program is built (`build.rs`) and read where they lie in it, so the first count of a process is as fast as any.
//!
//! ```text
//! text ──split──▶ pieces ──table──▶ a token each, or ──merge──▶ several
//! ```
//!
//! Counts are estimates for every model whose tokenizer is not published; the engine corrects them with the usage the
//! provider reports. Text is counted as ordinary text, so that a document which happens to contain `<|endoftext|>`
//! costs what its characters cost.

mod ascii;
mod hash;
mod merge;
mod split;
mod table;
#[cfg(test)]
mod tests;

use split::{Pattern, Pieces};
use table::Table;
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

/// Number of o200k_base tokens of `text`; saturates at `u32::MAX`.
pub fn count(text: &str) -> u32 {
    O200K.count(text)
}

/// Compiles the pattern behind [`count`], which takes some milliseconds, where a first use must not.
pub fn warm() {
    count("warm");
}

/// The encoder of a model: a vendor prefix (`openai/gpt-4o`) is stripped, a model that is not known is counted as
/// o200k_base and one older than cl100k_base as that, which is close enough for budgeting.
pub fn encoder_for(model: &str) -> Encoder {
    let name = model.rsplit('/').next().unwrap_or(model);
    match get_tokenizer(name) {
        // The encodings before it belong to models without tool calls; their tables would only make the binary larger.
        Some(
            Tokenizer::Cl100kBase | Tokenizer::P50kBase | Tokenizer::P50kEdit | Tokenizer::R50kBase | Tokenizer::Gpt2,
        ) => CL100K,
        // Harmony differs from o200k_base in special tokens only, and text has none.
        Some(Tokenizer::O200kBase | Tokenizer::O200kHarmony) | None => O200K,
    }
}

/// Counts tokens in one encoding; free to copy.
#[derive(Clone, Copy)]
pub struct Encoder {
    table: &'static Table,
    pattern: &'static Pattern,
}

const CL100K: Encoder = Encoder { table: &table::CL100K, pattern: &split::CL100K };
const O200K: Encoder = Encoder { table: &table::O200K, pattern: &split::O200K };

impl Encoder {
    /// Number of tokens of `text`; saturates at `u32::MAX`.
    pub fn count(&self, text: &str) -> u32 {
        let tokens = |piece: &str| match self.table.rank(piece.as_bytes()) {
            Some(_) => 1,
            None => merge::count(self.table, piece.as_bytes()),
        };
        u32::try_from(Pieces::of(text, self.pattern).map(tokens).sum::<usize>()).unwrap_or(u32::MAX)
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Encoder")
    }
}
