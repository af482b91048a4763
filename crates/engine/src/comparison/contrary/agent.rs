//! Another actor where a sentence is in the passive: *signed by the manager* for *signed by the operator*, and *The log must
//! be kept by the manager* for *The operator must keep the log*.

use super::super::words::Words;
use super::actor::{Clause, MOST_NEW};
use super::{MOST_SHOWN, Pair, beginning, content, has};

/// Words before who acts: in English, and in German, where a verb may be behind it.
const BY: &str = "by";
const VON: [&str; 3] = ["vom", "von", "durch"];
const ARTICLES: [&str; 14] =
    ["the", "a", "an", "each", "every", "any", "der", "dem", "den", "die", "das", "einem", "einer", "einen"];
/// Endings and names of who acts: *by the deadline* names a time.
const ENDINGS: [&str; 4] = ["er", "or", "ee", "ist"];
const ACTORS: [&str; 12] = [
    "board",
    "clerk",
    "committee",
    "staff",
    "team",
    "department",
    "authority",
    "company",
    "bank",
    "head",
    "vorstand",
    "amt",
];

/// Who acts in the text, and who in its quotes.
pub(super) fn other(pair: &Pair) -> Option<String> {
    let (said, quoted) = (Actor::of(&pair.said)?, Actor::of(&pair.quoted)?);
    let is_in = |words: &Words, known: &Words| words.content().any(|word| known.has(word));
    let (in_text, in_quotes) = (content(&pair.said), content(&pair.quoted));
    let (new, all) = (in_text.content().filter(|word| !in_quotes.has(word)).count(), in_text.content().count());
    let is_same_rule = (new.saturating_sub(said.words.content().count())) * MOST_NEW <= all;
    let is_certain =
        [&said, &quoted].iter().any(|actor| actor.is_agent && actor.acts) || (said.is_agent && quoted.is_agent);
    let is_other = is_same_rule && is_certain && !is_in(&said.words, &in_quotes) && !is_in(&quoted.words, &in_text);
    let named = |actor: &Actor| beginning(&actor.words.content().collect::<Vec<_>>().join(" "), MOST_SHOWN);
    is_other.then(|| format!("its text names `{}` where its quotes name `{}`", named(&said), named(&quoted)))
}

/// Who acts: the subject, or the one behind *by*.
struct Actor {
    words: Words,
    /// Whether it is behind *by*.
    is_agent: bool,
    /// Whether it is a word for who acts.
    acts: bool,
}

impl Actor {
    fn of(tokens: &[String]) -> Option<Self> {
        let clause = Clause::of(tokens)?;
        let is_passive = has(clause.rest, &["be", "werden"]);
        let (words, is_agent) = if is_passive { (agent(clause.rest)?, true) } else { (clause.subject, false) };
        let ends = |word: &str| ENDINGS.iter().any(|ending| word.ends_with(ending)) || ACTORS.contains(&word);
        let acts = words.content().any(ends);
        let is_named = words.content().next().is_some();
        is_named.then_some(Self { words, is_agent, acts })
    }
}

/// The content words behind *by the*, or the one behind *vom*.
fn agent(rest: &[String]) -> Option<Words> {
    let is_article = |word: Option<&String>| word.is_some_and(|word| ARTICLES.contains(&word.as_str()));
    let begins = |at: &usize| {
        let is_by = rest[*at] == BY || VON.contains(&rest[*at].as_str());
        is_by && (rest[*at] == VON[0] || is_article(rest.get(at + 1)))
    };
    let at = (0..rest.len()).find(begins)?;
    let behind = &rest[at + 1 + usize::from(rest[at] != VON[0])..];
    let is_content = |word: &&String| content(std::slice::from_ref(*word)).content().next().is_some();
    let words = behind.iter().take_while(is_content).count();
    Some(content(&behind[..if rest[at] == BY { words } else { words.min(1) }]))
}
