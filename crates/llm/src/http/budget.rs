//! Limits on what a server may send and what is kept of it, in any field: a hostile or broken server cannot fill the
//! memory.

/// The bounds of one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Maximum bytes of a stream in total.
    pub(crate) wire: usize,
    /// Maximum events of a stream.
    pub(crate) events: usize,
    /// Maximum bytes kept: of a complete body, of an event, and of the answer assembled from all events.
    pub(crate) kept: usize,
}

impl Budget {
    /// For an answer of this many tokens, far beyond any real one. On the wire a token is an event of a few hundred
    /// bytes; stored, it usually has four bytes, six times as many if each is escaped, plus a small overhead.
    pub(crate) fn of(max_output_tokens: u32) -> Self {
        const WIRE: (usize, usize) = (16 << 20, 2 << 10);
        const EVENTS: (usize, usize) = (1 << 16, 8);
        const KEPT: (usize, usize) = (1 << 20, 64);
        const MOST_KEPT: usize = 32 << 20;
        let of = |(around, a_token): (usize, usize)| around.saturating_add(a_token * max_output_tokens as usize);
        Self { wire: of(WIRE), events: of(EVENTS), kept: of(KEPT).min(MOST_KEPT) }
    }

    /// Whether a JSON text may be parsed: its length alone does not decide, because a value of two bytes may take much
    /// more memory.
    pub(crate) fn takes(&self, json: &[u8]) -> bool {
        json.len() + beyond_length(json) <= self.kept
    }
}

/// Number of values that an event's length accounts for.
const USUAL_VALUES: usize = 256;
/// What a value takes in memory.
const A_VALUE: usize = 64;

/// Memory in bytes of the values of a JSON text beyond its length.
pub(super) fn beyond_length(json: &[u8]) -> usize {
    A_VALUE * values_in(json).saturating_sub(USUAL_VALUES)
}

/// Approximate number of values in a JSON text: its commas and opening brackets outside strings. Checked before
/// parsing, because two bytes on the wire may be a hundred in memory.
pub fn values_in(json: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_by_what_it_holds() {
        let budget = Budget::of(8192);
        assert_eq!((budget.wire, budget.kept), ((16 << 20) + (16 << 20), (1 << 20) + (1 << 19)));
        let text = |words: &str, times: usize| format!("{{\"content\": \"{}\"}}", words.repeat(times));
        assert!(budget.takes(text("{[,\\\"", 200_000).as_bytes()), "what stands in a string is text");
        assert!(!budget.takes(text("a", 2 << 20).as_bytes()));
        assert!(budget.takes(format!("[{}0]", "{\"a\":0},".repeat(5_000)).as_bytes()));
        assert!(!budget.takes(format!("[{}0]", "{\"a\":0},".repeat(20_000)).as_bytes()));
        assert!(!budget.takes("[".repeat(100_000).as_bytes()));
    }
}
