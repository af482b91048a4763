//! Another actor: *The manager must log it* for *The operator must log it*, and *A must inform B* for *B must inform A*.

use super::super::modals::COMMA;
use super::super::words::Words;
use super::limits::CONDITIONS;
use super::{MOST_SHOWN, Pair, beginning, content, has};

pub(super) const MODALS: [&str; 12] =
    ["must", "shall", "should", "may", "muss", "müssen", "soll", "sollen", "sollte", "sollten", "darf", "dürfen"];
/// Modals of a language in which the subject is before them.
const ENGLISH: [&str; 4] = ["must", "shall", "should", "may"];

/// At most one in this many words of the rest may be new: it is the same rule for another actor.
pub(super) const MOST_NEW: usize = 3;

/// A sentence before and after its first modal verb.
pub(super) struct Clause<'t> {
    pub(super) subject: Words,
    pub(super) rest: &'t [String],
    is_active: bool,
    is_english: bool,
}

impl<'t> Clause<'t> {
    pub(super) fn of(tokens: &'t [String]) -> Option<Self> {
        let begin_of = |verb: usize| tokens[..verb].iter().rposition(|word| word == COMMA).map_or(0, |comma| comma + 1);
        // The verb of a condition has another subject: *Where the log may be read, the clerk must …*.
        let is_main = |verb: &usize| {
            MODALS.contains(&tokens[*verb].as_str()) && !CONDITIONS.contains(&tokens[begin_of(*verb)].as_str())
        };
        let verb = (0..tokens.len()).find(is_main)?;
        let (begin, after) = (begin_of(verb), &tokens[verb + 1..]);
        let before = &tokens[..verb];
        Some(Self {
            subject: content(&before[begin..]),
            rest: after,
            is_active: !has(&after[..after.len().min(3)], &["be"]),
            is_english: ENGLISH.contains(&tokens[verb].as_str()),
        })
    }

    fn has_subject(&self) -> bool {
        self.subject.content().next().is_some()
    }
}

/// Who is bound by the text, and not by its quotes.
pub(super) fn other(pair: &Pair) -> Option<String> {
    let (said, quoted) = (Clause::of(&pair.said)?, Clause::of(&pair.quoted)?);
    if !(said.has_subject() && quoted.has_subject()) {
        return None;
    }
    let is_other = is_replaced(pair, &said, &quoted) || is_swapped(&said, &quoted);
    let named = |clause: &Clause<'_>| beginning(&clause.subject.content().collect::<Vec<_>>().join(" "), MOST_SHOWN);
    is_other.then(|| format!("its text binds `{}` where its quotes bind `{}`", named(&said), named(&quoted)))
}

/// Whether the text has the rest of its quotes, but nothing of their subject, and they nothing of its subject.
fn is_replaced(pair: &Pair, said: &Clause<'_>, quoted: &Clause<'_>) -> bool {
    let (in_text, in_quotes) = (content(&pair.said), content(&pair.quoted));
    let is_in = |words: &Words, known: &Words| words.content().any(|word| known.has(word));
    let rest = content(said.rest);
    let (new, all) = (rest.content().filter(|word| !in_quotes.has(word)).count(), rest.content().count());
    let is_same_rule = all > 0 && new * MOST_NEW <= all;
    is_same_rule && !is_in(&said.subject, &in_quotes) && !is_in(&quoted.subject, &in_text)
}

/// Whether each one's subject is in the other's rest, in sentences of the same voice.
fn is_swapped(said: &Clause<'_>, quoted: &Clause<'_>) -> bool {
    let lies_in = |subject: &Words, rest: &[String]| {
        let rest = content(rest);
        subject.content().all(|word| rest.has(word))
    };
    let is_alike = said.is_english && quoted.is_english && said.is_active && quoted.is_active;
    let shares = said.subject.content().any(|word| quoted.subject.has(word));
    is_alike && !shares && lies_in(&said.subject, quoted.rest) && lies_in(&quoted.subject, said.rest)
}
