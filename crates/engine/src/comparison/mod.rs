//! Compares a requirement's text with its quotes, by rules.
//!
//! A text is compared with its quotes, the leads of their lists, the neighbouring sentences and the headings above.
//! That detects a text with a different meaning: other words, another number, a missing or additional `not`, a
//! permission instead of a duty. If all of these agree, it proves nothing. A difference is tagged `needs_look`, not
//! refused: a paraphrase may be right.
//!
//! | question | module |
//! |---|---|
//! | which words of a text say something, and when are two the same | `words` |
//! | which numbers does a text have, by value | `numbers`, `digits`, `spelled`, with the words of `number_words` |
//! | what do they measure, in whatever words | `measures`, `counts`, `spans`, `shares`, `ordinals` |
//! | does it negate, permit, oblige | `modals` |
//! | which letters does a reader see | `letters` |
//! | does it bind with the force of its quotes | `force` |
//! | does it say something else than its quotes, with their words | `contrary` |

mod contrary;
mod counts;
mod digits;
mod force;
mod letters;
mod measures;
mod modals;
mod number_words;
mod numbers;
mod ordinals;
mod shares;
mod spans;
mod spelled;
mod words;

pub use contrary::{are_other_words, remarks};
use letters::read;
use numbers::{Number, Numbers, numbers};
use std::borrow::Cow;
use std::fmt;
use words::Words;

/// The tag of a requirement that a person should look at.
pub const NEEDS_LOOK: &str = "needs_look";
/// The tag of a requirement whose text is in another language than its quotes, so that its words are not compared.
pub const TRANSLATED: &str = "translated";

/// At least one in this many content words of a text must occur in its sources.
const LEAST_SHARE: usize = 2;
/// Between the cells of a table's row.
const CELLS: &str = " | ";
/// For a text with fewer content words, one must occur.
const FEW_WORDS: usize = 4;

/// A requirement with its evidence. All texts are composed (NFC).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Its text.
    pub text: String,
    /// Its verified quotes.
    pub quotes: Vec<String>,
    /// The leads of the lists that contain the quoted sentences.
    pub leads: Vec<String>,
    /// The headings above them.
    pub headings: Vec<String>,
    /// The sentences before and after them.
    pub near: Vec<String>,
    /// The texts of the other active requirements that quote the same first sentence.
    pub beside: Vec<String>,
    /// Whether it is in another language than its quotes.
    pub translated: bool,
    /// Whether its quotes are in a language without rules: number words, negations and permissions of that language are
    /// unknown.
    pub without_rules: bool,
    /// Whether its job has documents to quote from.
    pub has_sources: bool,
}

/// Why a requirement needs a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has no quote.
    NoQuote,
    /// Too few of its content words occur in its quotes and their surroundings.
    Words {
        /// How many occur.
        found: usize,
        /// How many it has.
        of: usize,
    },
    /// It has a number that its quotes do not have.
    Number(String),
    /// Its quotes have a number that no requirement with these quotes has.
    NumberLeftOut(String),
    /// It has a negation, its quotes have none.
    Negation,
    /// Its quotes have a negation, and no requirement with these quotes has one.
    NegationLeftOut,
    /// It permits something that its quotes do not permit.
    Permission,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQuote => f.write_str("it has no quote"),
            Self::Words { found, of } => write!(f, "{found} of its {of} content words occur where it quotes"),
            Self::Number(number) => write!(f, "{number} is in no quote of it"),
            Self::NumberLeftOut(number) => write!(f, "its quotes say {number}, and it does not"),
            Self::Negation => f.write_str("it negates, and its quotes do not"),
            Self::NegationLeftOut => f.write_str("its quotes negate, and it does not"),
            Self::Permission => f.write_str("it permits, and no quote of it does"),
        }
    }
}

impl Compared {
    /// Why it needs a look; empty if there is no reason.
    pub fn reasons(&self) -> Vec<Reason> {
        // Neither a hidden character nor one that looks like another hides a word.
        self.read().reasons_of_read()
    }

    fn read(&self) -> Self {
        let all = |texts: &[String]| texts.iter().map(|text| read(text).into_owned()).collect();
        Self {
            text: read(&self.text).into_owned(),
            quotes: all(&self.quotes),
            leads: all(&self.leads),
            headings: all(&self.headings),
            near: all(&self.near),
            beside: all(&self.beside),
            ..*self
        }
    }

    fn reasons_of_read(&self) -> Vec<Reason> {
        if self.quotes.is_empty() {
            return if self.has_sources { vec![Reason::NoQuote] } else { Vec::new() };
        }
        if self.repeats_its_quotes() {
            return Vec::new();
        }
        let mut reasons = Vec::new();
        if !self.translated {
            reasons.extend(self.by_words());
        }
        reasons.extend(self.by_numbers());
        if !self.without_rules {
            reasons.extend(self.by_negation());
            reasons.extend(self.by_permission());
        }
        reasons
    }

    /// Whether the text is its quotes, behind their leads or without: then nothing is added or left out. Most texts are,
    /// because the system sets them from the sentences.
    fn repeats_its_quotes(&self) -> bool {
        let before = self.text.strip_suffix(self.quotes.join(" ").as_str());
        before.is_some_and(|before| before.is_empty() || before.strip_suffix(' ') == Some(&self.leads.join(" ")))
    }

    /// The quotes, and the other parts of the document from which the text may have taken words.
    fn sources(&self) -> impl Iterator<Item = &String> {
        self.quotes.iter().chain(&self.leads).chain(&self.headings)
    }

    fn by_words(&self) -> Option<Reason> {
        let known = Words::of(self.sources().chain(&self.near).map(String::as_str));
        let own = Words::of([self.text.as_str()]);
        let (found, of) = (own.content().filter(|word| known.has(word)).count(), own.content().count());
        let is_enough = match of {
            0 => own.all().next().is_some() && own.all().all(|word| known.has(word)),
            _ if of < FEW_WORDS => found > 0,
            _ => found * LEAST_SHARE >= of,
        };
        (!is_enough).then_some(Reason::Words { found, of })
    }

    fn by_numbers(&self) -> Option<Reason> {
        let with_words = !self.without_rules;
        let in_sources = Numbers::of(self.sources().map(String::as_str));
        let too_many = numbers(&self.text)
            .into_iter()
            .find(|number| (with_words || number.is_in_digits) && !in_sources.have(number, &self.text));
        if let Some(number) = too_many {
            return Some(Reason::Number(number.said));
        }
        let in_texts = Numbers::of(self.texts());
        let (first, others) = self.quotes.split_first()?;
        let others: Vec<Numbers<'_>> = others.iter().map(|quote| Numbers::of([quote.as_str()])).collect();
        let taken = self.taken_from(first);
        let is_in = |number: &Number, known: &Numbers<'_>| known.have(number, &taken);
        let left_out = numbers(&taken).into_iter().find(|number| {
            number.is_in_digits && others.iter().all(|other| is_in(number, other)) && !is_in(number, &in_texts)
        });
        left_out.map(|number| Reason::NumberLeftOut(number.said))
    }

    fn by_negation(&self) -> Option<Reason> {
        if modals::negates(&self.text) {
            let is_known = self.sources().any(|source| modals::negates(source) || modals::forbids(source));
            return (!is_known).then_some(Reason::Negation);
        }
        let is_told = || self.texts().any(|text| modals::negates(text) || modals::forbids(text));
        let is_restricted = self.texts().any(modals::restricts);
        let is_turned = |quote: &str| modals::negates(quote) || (modals::bans(quote) && !is_restricted);
        let is_left_out = self.quotes.iter().all(|quote| is_turned(&self.taken_from(quote))) && !is_told();
        is_left_out.then_some(Reason::NegationLeftOut)
    }

    fn by_permission(&self) -> Option<Reason> {
        let restricts = modals::restricts(&self.text);
        let permits = |quote: &String| modals::permits(quote) || (restricts && modals::permits_only(quote));
        let is_told = || self.quotes.iter().chain(&self.leads).any(permits);
        let permits = modals::permits(&self.text) && !modals::obliges(&self.text);
        (permits && !is_told()).then_some(Reason::Permission)
    }

    /// The part of a quote that a text is compared with: of a table row, only the cells that share words with a text.
    fn taken_from<'q>(&self, quote: &'q str) -> Cow<'q, str> {
        if !quote.contains(CELLS) {
            return quote.into();
        }
        let said = Words::of(self.texts());
        let is_taken = |cell: &&str| Words::of([*cell]).content().any(|word| said.has(word));
        quote.split(CELLS).filter(is_taken).collect::<Vec<_>>().join(CELLS).into()
    }

    /// Its text, and the texts of the requirements that quote the same first sentence.
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.beside.iter().map(String::as_str))
    }
}

/// The tags of a requirement: those that the model set, and those that only the system sets.
pub fn tags_with(given: &[String], needs_look: bool, translated: bool) -> Vec<String> {
    let given = given.iter().filter(|tag| ![NEEDS_LOOK, TRANSLATED].contains(&tag.to_lowercase().as_str())).cloned();
    let own = [(needs_look, NEEDS_LOOK), (translated, TRANSLATED)];
    given.chain(own.into_iter().filter(|(is, _)| *is).map(|(_, tag)| tag.to_owned())).collect()
}

#[cfg(test)]
mod tests;
