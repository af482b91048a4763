//! Candidates: which sentences of a text probably state an obligation.
//!
//! The scan cuts a page-marked text into sentences, numbers them, and says for each whether it is a candidate and by what
//! it is known: normative language in English and German, items and table rows under a normative lead, instructions. It is
//! help for whoever reads, not a filter, so it would rather name a sentence too many than one too few. It decides by fixed
//! rules alone: the same text gives the same answer.
//!
//! ```text
//! text ──blocks──▶ paragraphs, items, rows, headings ──sentences──▶ sentences ──leads, rules──▶ candidates
//! ```
//!
//! No candidates are permissions (`may`), negated obligations (`is not required to`), definitions, questions, examples,
//! titles in quotation marks, what once had to be done, and `must` as a guess (`it must have been`). Recommendations
//! (`should`, `soll`) are candidates: regulators and specifications bind by them.

mod blocks;
mod english;
mod flat;
mod german;
mod instructions;
mod leads;
mod patterns;
mod rules;
mod sentences;
mod tables;
mod wording;

pub use patterns::{MOST_PATTERNS, PatternError};

use blocks::{Block, Kind};
use flat::Flat;
use leads::Leads;
use patterns::Patterns;
use std::ops::Range;
use wording::{Wording, is_capitals};

/// A sentence of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its place in the text, from 1 without gaps.
    pub number: u32,
    /// The page that it begins on, where the text has page marks.
    pub page: Option<u32>,
    /// Where it stands in the text, in bytes; a page mark may lie within.
    pub range: Range<usize>,
    /// Its words on one line, without page marks and without the mark of its list.
    pub text: String,
    /// By what it is known as a candidate, a word or two that never change; none if it is no candidate.
    pub reason: Option<&'static str>,
}

/// The scan, with the patterns that a configuration adds.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    patterns: Patterns,
}

impl Scan {
    /// A scan that takes for candidates, besides what it knows itself, all sentences that one of these regular expressions
    /// matches.
    ///
    /// # Errors
    /// When one is no regular expression or too costly, or there are too many.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        Ok(Self { patterns: Patterns::new(patterns)? })
    }

    /// The sentences of a page-marked text (see [`crate::to_text_file`]), in its order.
    pub fn sentences(&self, marked: &str) -> Vec<Sentence> {
        let mut walk = Walk { scan: self, leads: Leads::default(), found: Vec::new() };
        for block in blocks::of(marked) {
            walk.block(marked, &block);
        }
        walk.found
    }

    /// By what a sentence that stands alone is known as a candidate.
    pub fn judge(&self, sentence: &str) -> Option<&'static str> {
        let text = blocks::without_marker(sentence);
        sentences::cut(text).into_iter().find_map(|range| self.reason(&text[range]))
    }

    fn reason(&self, sentence: &str) -> Option<&'static str> {
        let by_instruction = || instructions::reason(&Wording::of(sentence)?);
        self.by_language(sentence).or_else(by_instruction)
    }

    /// By its normative language alone: titles and what goes on with a harmless lead look like instructions.
    fn by_language(&self, sentence: &str) -> Option<&'static str> {
        if self.patterns.matches(sentence) {
            return Some("pattern");
        }
        let wording = Wording::of(sentence)?;
        english::reason(&wording).or_else(|| german::reason(&wording))
    }
}

/// The way through a text, block by block.
struct Walk<'a> {
    scan: &'a Scan,
    leads: Leads,
    found: Vec<Sentence>,
}

impl Walk<'_> {
    fn block(&mut self, marked: &str, block: &Block) {
        let flat = Flat::of(marked, block);
        let ranges = match block.kind {
            Kind::Row { .. } => std::iter::once(0..flat.text.len()).collect(),
            _ => sentences::cut(&flat.text),
        };
        self.leads.enter(block, &flat.text);
        let (mut last, mut before) = (None, false);
        for (place, range) in ranges.into_iter().enumerate() {
            let text = flat.text[range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
            let (range, page) = flat.place(range);
            let reason = self.reason(block, place, &text);
            before = last.replace((text.clone(), reason.is_some())).is_some_and(|(_, candidate)| candidate);
            let number = u32::try_from(self.found.len() + 1).unwrap_or(u32::MAX);
            self.found.push(Sentence { number, page, range, text, reason });
        }
        if let Some((text, candidate)) = last {
            self.leads.leave(block, &text, candidate, before);
        }
    }

    /// A sentence is known by its own words, or by what it stands under.
    fn reason(&self, block: &Block, place: usize, text: &str) -> Option<&'static str> {
        match block.kind {
            Kind::Verbatim | Kind::Row { header: true } => None,
            Kind::Row { .. } if tables::is_optional(text) => None,
            Kind::Heading => is_sentence(text).then(|| self.scan.by_language(text)).flatten(),
            _ if place > 0 => self.scan.reason(text),
            _ => {
                // What goes on with a harmless lead, `The operator may:`, only looks like an instruction.
                let own = match self.leads.completes_a_harmless_lead(text) {
                    true => self.scan.by_language(text),
                    false => self.scan.reason(text),
                };
                own.or_else(|| self.leads.reason(block, text, |whole| self.scan.by_language(whole)))
            }
        }
    }
}

/// With fewer words a heading is no sentence.
const SENTENCE_WORDS: usize = 5;

/// Titles begin so: `What every operator must know`.
const TITLE_WORDS: [&str; 16] = [
    "what",
    "how",
    "why",
    "when",
    "who",
    "where",
    "which",
    "was",
    "wie",
    "warum",
    "wann",
    "wer",
    "wo",
    "welche",
    "things",
    "requirements",
];

/// Whether what is set like a heading reads like a sentence.
fn is_sentence(heading: &str) -> bool {
    let first = heading.split_whitespace().next().unwrap_or_default().to_lowercase();
    let enough = heading.split_whitespace().count() >= SENTENCE_WORDS;
    heading.ends_with('.') || (enough && !is_capitals(heading) && !TITLE_WORDS.contains(&first.as_str()))
}

#[cfg(test)]
mod tests;
