//! Generated text: as compressible as English and never repeated.
//!
//! Postgres compresses large values and the store deduplicates equal contents, so a benchmark with repeated bytes would
//! measure neither.

/// Words of a made-up policy.
const WORDS: [&str; 48] = [
    "the",
    "records",
    "shall",
    "be",
    "kept",
    "for",
    "ten",
    "years",
    "after",
    "end",
    "of",
    "fiscal",
    "year",
    "each",
    "invoice",
    "must",
    "carry",
    "a",
    "unique",
    "number",
    "and",
    "date",
    "controller",
    "documents",
    "every",
    "access",
    "to",
    "personal",
    "data",
    "without",
    "undue",
    "delay",
    "auditors",
    "verify",
    "that",
    "system",
    "prevents",
    "changes",
    "archived",
    "entries",
    "are",
    "retained",
    "in",
    "original",
    "form",
    "unless",
    "law",
    "requires",
];

/// Words in a sentence.
const SENTENCE: usize = 14;

/// About `bytes` bytes of sentences; equal seeds give equal text.
pub fn prose(seed: u64, bytes: usize) -> String {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut text = String::with_capacity(bytes + 16);
    let mut words = 0;
    while text.len() + 12 < bytes {
        if words > 0 {
            text.push(' ');
        }
        text.push_str(WORDS[random.below(WORDS.len() as u64) as usize]);
        words += 1;
        if words % SENTENCE == 0 {
            // A number in each sentence: real documents have them, and no two texts are the same.
            text.push_str(&format!(" {}.\n", random.below(100_000)));
        }
    }
    text.push_str(".\n");
    text
}

/// xorshift64*: enough for choosing words, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn text_has_the_size_asked_for_and_differs_by_seed() {
        let text = prose(1, 2048);
        assert!((2030..=2060).contains(&text.len()), "{}", text.len());
        assert_eq!(text, prose(1, 2048));
        assert_ne!(text, prose(2, 2048));
    }
}
