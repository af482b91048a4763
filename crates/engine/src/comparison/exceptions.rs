//! What is denied but for an exception, and what is permitted with one alone, say the same: *must not leave without a permit*
//! and *may leave only with a permit*.

use super::modals::{COMMA, negates, restricts, tokens};
use super::words::Words;

/// Words of an exception to what is denied.
const EXCEPTIONS: [&str; 13] = [
    "without", "unless", "except", "until", "before", "earlier", "other", "ohne", "außer", "bis", "bevor", "früher",
    "vor",
];
/// Words with which a text needs what a denial excepts: *requires a permit*.
const REQUIRING: [&str; 7] = ["require", "requires", "needs", "erfordert", "erfordern", "bedarf", "bedürfen"];

/// Whether one text denies something but for an exception, and the other restricts it to that exception.
pub(super) fn is_restated(denied: &str, said: &str) -> bool {
    let tokens = tokens(said);
    let restricts = restricts(said) || tokens.iter().any(|word| REQUIRING.contains(&word.as_str()));
    let known = Words::of([said]);
    restricts && negates(denied) && exception(denied).content().any(|word| known.has(word))
}

/// The words of the exception.
fn exception(text: &str) -> Words {
    let tokens = tokens(text);
    let begin = tokens.iter().position(|word| EXCEPTIONS.contains(&word.as_str())).map_or(tokens.len(), |at| at + 1);
    Words::of(tokens[begin..].iter().take_while(|word| *word != COMMA).map(String::as_str))
}

/// Whether a text permits something and bans the rest: *may only*.
pub(super) fn permits_only(text: &str) -> bool {
    restricts(text) && tokens(text).iter().any(|word| ["may", "darf", "dürfen"].contains(&word.as_str()))
}
