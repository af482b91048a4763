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
mod headings;
mod instructions;
mod language;
mod leads;
mod markup;
mod patterns;
mod policy;
mod rules;
mod sentences;
mod tables;
mod wording;

pub use patterns::{MOST_PATTERNS, PatternError, Patterns};

use blocks::{Block, Kind};
use flat::Flat;
use language::Words;
use leads::Leads;
use std::ops::Range;
use tables::{Row, Table};
use wording::Wording;

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
    /// The sentences that it stands under as an entry of their lists, the nearest first.
    pub leads: Vec<u32>,
    /// By what it is known as a candidate, a word or two that never change; none if it is no candidate.
    pub reason: Option<&'static str>,
    /// Whether the scan has rules for it. It has none for other languages than English and German, for verbatim text, and
    /// for text that could not be decoded: that such a sentence is no candidate says nothing.
    pub judged: bool,
}

/// Where the sentences of a page-marked text stand, in bytes, in their order: the first is number 1. It is where
/// [`Scan::sentences`] finds them, for a small part of the cost, since nothing is asked about what they say.
pub fn cut(marked: &str) -> Vec<Range<usize>> {
    let places = |block: &Block| {
        let flat = Flat::of(marked, block);
        let ranges = match block.kind {
            Kind::Row { .. } => tables::parts(&flat.text).into_iter().map(|part| part.range).collect(),
            _ => sentences_of(&flat.text),
        };
        ranges.into_iter().map(|range| flat.place(range).0).collect::<Vec<_>>()
    };
    blocks::of(marked).iter().flat_map(places).collect()
}

/// Whether a text is in another language than another one.
pub fn is_translated(text: &str, other: &str) -> bool {
    Words::of(text).is_of_another_language(&Words::of(other))
}

/// Whether there are no rules for the language of a text: it is neither English nor German.
pub fn is_foreign(text: &str) -> bool {
    Words::of(text).is_foreign()
}

/// How documents say that something has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// By words of obligation: regulation, contracts, specifications.
    #[default]
    Normative,
    /// By the present passive as well, as policies do: `Access rights are reviewed every quarter.`
    Policy,
}

/// The scan, with what a configuration adds.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    patterns: Patterns,
    style: Style,
}

impl Scan {
    /// A scan of documents in a style that takes for candidates, besides what it knows itself, all sentences that one of
    /// these regular expressions matches.
    ///
    /// # Errors
    /// When one is no regular expression or too costly, or there are too many.
    pub fn new(patterns: &[String], style: Style) -> Result<Self, PatternError> {
        Ok(Self { patterns: Patterns::new(patterns)?, style })
    }

    /// The sentences of a page-marked text (see [`crate::to_text_file`]), in its order.
    pub fn sentences(&self, marked: &str) -> Vec<Sentence> {
        let mut walk = Walk::of(self, marked);
        walk.blocks(&blocks::of(marked));
        walk.judge_as_a_whole();
        walk.found
    }

    /// By what a sentence that stands alone is known as a candidate.
    pub fn judge(&self, sentence: &str) -> Option<&'static str> {
        let text = headings::without_number(blocks::without_marker(sentence));
        let numbered = text.len() < sentence.trim().len();
        let ranges = sentences::cut(text).into_iter().enumerate();
        ranges.into_iter().find_map(|(at, range)| self.reason(&text[range], numbered && at == 0))
    }

    /// By what a sentence is known; `numbered` is one with a number of its own before it.
    fn reason(&self, sentence: &str, numbered: bool) -> Option<&'static str> {
        let by_instruction = || instructions::reason(&Wording::of(sentence)?, numbered);
        self.by_language(sentence).or_else(by_instruction)
    }

    /// By its normative language alone: titles and what goes on with a harmless lead look like instructions.
    fn by_language(&self, sentence: &str) -> Option<&'static str> {
        if self.patterns.matches(sentence) {
            return Some("pattern");
        }
        let (wording, words) = (Wording::of(sentence)?, Words::of(sentence));
        let in_english = words.may_be_english().then(|| english::reason(&wording)).flatten();
        let in_german = || words.may_be_german().then(|| german::reason(&wording)).flatten();
        let in_policies = || (self.style == Style::Policy).then(|| policy::reason(&wording, &words)).flatten();
        in_english.or_else(in_german).or_else(in_policies)
    }
}

/// The way through a text, block by block.
struct Walk<'a> {
    scan: &'a Scan,
    marked: &'a str,
    leads: Leads,
    found: Vec<Sentence>,
    /// The small words of all sentences.
    words: Words,
}

impl<'a> Walk<'a> {
    fn of(scan: &'a Scan, marked: &'a str) -> Self {
        Self { scan, marked, leads: Leads::default(), found: Vec::new(), words: Words::default() }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        let mut rest = blocks;
        while let Some(first) = rest.first() {
            let length = match first.kind {
                Kind::Row { .. } => self.table(rest),
                _ => self.block(first),
            };
            rest = &rest[length..];
        }
    }

    fn block(&mut self, block: &Block) -> usize {
        let flat = Flat::of(self.marked, block);
        self.leads.enter(block, &flat.text);
        let (mut last, mut before) = (None, false);
        for (place, range) in (usize::from(block.goes_on)..).zip(sentences_of(&flat.text)) {
            let text = one_line(&flat.text[range.clone()]);
            let reason = self.reason(block, place, &text);
            before = last.replace((text.clone(), reason.is_some())).is_some_and(|(_, candidate)| candidate);
            let verbatim = block.kind == Kind::Verbatim && tables::says_something(&text);
            let leads = self.leads.above();
            self.push(&flat, range, (text, leads), reason, verbatim);
        }
        if let Some((text, candidate)) = last {
            let sentence = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
            self.leads.leave(block, (&text, sentence), candidate, before);
        }
        1
    }

    /// The rows of a table are a sentence each.
    fn table(&mut self, blocks: &[Block]) -> usize {
        let length = tables::length(blocks);
        let flat: Vec<Flat> = blocks[..length].iter().map(|block| Flat::of(self.marked, block)).collect();
        let texts: Vec<String> = flat.iter().map(|flat| one_line(&flat.text)).collect();
        let is_header = |block: &Block| matches!(block.kind, Kind::Row { header: true, .. });
        let rows: Vec<Row<'_>> =
            texts.iter().zip(blocks).map(|(text, block)| Row { text, header: is_header(block) }).collect();
        let table = Table::of(&rows, |cell| self.scan.by_language(cell).is_some());
        let stands_under_duty = self.leads.table_states_duties();
        let leads = self.leads.above_rows();
        let reasons: Vec<_> = texts.iter().map(|row| self.reason_of_row(&table, row, stands_under_duty)).collect();
        for (flat, reason) in flat.iter().zip(reasons) {
            self.row(flat, reason, &leads);
        }
        self.leads.leave_table();
        length
    }

    /// A row, parted at the entries of the lists in its cells. The entries are of the row's kind; what follows them is judged by its
    /// own words.
    fn row(&mut self, flat: &Flat, of_row: Option<&'static str>, above: &[u32]) {
        let mut lead = None;
        for tables::Part { range, kind } in tables::parts(&flat.text) {
            let text = one_line(&flat.text[range.clone()]);
            let by_words = || tables::cells(&text).find_map(|cell| self.scan.judge(cell));
            let reason = match kind {
                tables::PartKind::Row => of_row,
                tables::PartKind::Entry => of_row.map(|_| "list item").or_else(by_words),
                tables::PartKind::Rest => by_words(),
            };
            let under = if kind == tables::PartKind::Entry { lead } else { None };
            let leads = under.into_iter().chain(above.iter().copied()).collect();
            self.push(flat, range, (text, leads), reason, false);
            if kind != tables::PartKind::Entry {
                lead = u32::try_from(self.found.len()).ok();
            }
        }
    }

    fn push(
        &mut self,
        flat: &Flat,
        range: Range<usize>,
        (text, leads): (String, Vec<u32>),
        reason: Option<&'static str>,
        verbatim: bool,
    ) {
        let (range, page) = flat.place(range);
        let number = u32::try_from(self.found.len() + 1).unwrap_or(u32::MAX);
        let words = Words::of(&text);
        self.words.add(&words);
        let judged = reason.is_some() || !(verbatim || words.is_foreign() || words.is_undecoded());
        self.found.push(Sentence { number, page, range, text, leads, reason, judged });
    }

    /// Lines that are too short to tell are of the language of the others.
    fn judge_as_a_whole(&mut self) {
        if self.words.is_foreign() {
            self.found
                .iter_mut()
                .filter(|sentence| sentence.reason.is_none())
                .for_each(|sentence| sentence.judged = false);
        }
    }

    /// A row is known by the words of a cell, by the names of the columns, or by what the table stands under.
    fn reason_of_row(&self, table: &Table, row: &str, stands_under_duty: bool) -> Option<&'static str> {
        if table.is_header(row) || table.is_optional(row) {
            return None;
        }
        let by_words = || tables::cells(row).find_map(|cell| self.scan.judge(cell));
        let says_it = || tables::says_something(row) && (stands_under_duty || table.states_duty(row));
        by_words().or_else(|| says_it().then_some("table row"))
    }

    /// A sentence is known by its own words, or by what it stands under.
    fn reason(&self, block: &Block, place: usize, text: &str) -> Option<&'static str> {
        match block.kind {
            Kind::Verbatim => None,
            Kind::Heading => headings::reason(text, self.scan),
            _ if place > 0 => self.scan.reason(text, false),
            _ => {
                // What goes on with a harmless lead, `The operator may:`, only looks like an instruction.
                let own = match self.leads.completes_a_harmless_lead(text) {
                    true => self.scan.by_language(text),
                    false => headings::reason_of_paragraph(block, text, self.scan),
                };
                own.or_else(|| self.leads.reason(block, text, |whole| self.scan.by_language(whole)))
            }
        }
    }
}

/// The sentences of a block's text, without the white space between them.
fn sentences_of(text: &str) -> Vec<Range<usize>> {
    let of_value = |value: Range<usize>| {
        let sentences = sentences::cut(&text[value.clone()]);
        sentences.into_iter().map(move |range| value.start + range.start..value.start + range.end)
    };
    markup::values(text).into_iter().flat_map(of_value).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
