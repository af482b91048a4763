//! Candidates: which sentences of a text probably state an obligation.
//!
//! The scan splits a page-marked text into sentences, numbers them, and decides for each whether it is a candidate and
//! by which rule: normative language in English and German, items and table rows under a normative lead, instructions.
//! It assists the reader and is not a filter, so it prefers false positives over misses. It uses only fixed rules: the
//! same text gives the same answer.
//!
//! ```text
//! text ──blocks──▶ paragraphs, items, rows, headings ──sentences──▶ sentences ──leads, rules──▶ candidates
//! ```
//!
//! Permissions (`may`), negated obligations (`is not required to`), definitions, questions, examples, titles in
//! quotation marks, past obligations, and `must` as a guess (`it must have been`) are not candidates. Recommendations
//! (`should`, `soll`) are candidates, because regulators and specifications use them for obligations.

mod blocks;
mod english;
mod flat;
mod german;
mod headings;
mod instructions;
mod known;
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
use known::{By, Known};
use language::Words;
use leads::Leads;
use plumbline_engine::{DocumentStyle, one_line};
use std::ops::Range;
use tables::{PartKind, Row, Table};
use wording::Wording;

/// The rule by which a row is a candidate because of its table, not its own words.
const BY_TABLE: &str = "table row";

/// A sentence of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its place in the text, from 1 without gaps.
    pub number: u32,
    /// The page on which it begins, if the text has page marks.
    pub page: Option<u32>,
    /// Its byte range in the text; it may contain a page mark.
    pub range: Range<usize>,
    /// Its words on one line, without page marks and without the mark of its list.
    pub text: String,
    /// The sentences whose lists contain it as an entry, nearest first.
    pub leads: Vec<u32>,
    /// The name of the rule by which it is a candidate, a stable word or two; none if it is not a candidate.
    pub reason: Option<&'static str>,
    /// Whether the scan has rules for it. It has none for languages other than English and German, for verbatim text,
    /// and for text that could not be decoded: that such a sentence is not a candidate means nothing.
    pub judged: bool,
}

/// The byte ranges of the sentences of a page-marked text, in order: the first is number 1. The same ranges as in
/// [`Scan::sentences`], at a fraction of the cost, because the wording is not examined.
pub fn cut(marked: &str) -> Vec<Range<usize>> {
    let places = |block: &Block| {
        let flat = Flat::of(marked, block);
        let ranges = match block.kind {
            Kind::Row { .. } => tables::parts(&flat.text).into_iter().map(|part| part.range).collect(),
            _ => sentences_of(block, &flat.text),
        };
        ranges.into_iter().map(|range| flat.place(range).0).collect::<Vec<_>>()
    };
    blocks::of(marked).iter().flat_map(places).collect()
}

/// Whether two texts are in different languages.
pub fn is_translated(text: &str, other: &str) -> bool {
    Words::of(text).is_of_another_language(&Words::of(other))
}

/// Whether a label is the mark of an entry: `(a)`, `4.2`.
pub(crate) fn is_mark(label: &str) -> bool {
    blocks::without_marker(&format!("{label} a")) == "a"
}

/// Whether there are no rules for the language of a text: it is neither English nor German.
pub fn is_foreign(text: &str) -> bool {
    Words::of(text).is_foreign()
}

/// The scan, with the additions of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    patterns: Patterns,
    style: DocumentStyle,
    known: Known,
}

impl Scan {
    /// A scan for documents of a style, which also treats each sentence that matches one of these regular expressions
    /// as a candidate.
    ///
    /// # Errors
    /// If one is not a regular expression or too costly, or there are too many.
    pub fn new(patterns: &[String], style: DocumentStyle) -> Result<Self, PatternError> {
        Ok(Self { patterns: Patterns::new(patterns)?, style, known: Known::default() })
    }

    /// Whether its time is up to the patterns of a configuration.
    pub fn is_costly(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// The sentences of a page-marked text (see [`crate::to_text_file`]), in its order.
    pub fn sentences(&self, marked: &str) -> Vec<Sentence> {
        self.sentences_and_edges(marked).0
    }

    /// The same, with what the text means for its neighbours.
    pub(crate) fn sentences_and_edges(&self, marked: &str) -> (Vec<Sentence>, Edges) {
        let (mut walk, blocks) = (Walk::of(self, marked, Judges::All), blocks::of(marked));
        walk.blocks(&blocks);
        walk.judge_as_a_whole();
        let edges = Edges::of(&blocks, &walk.leads);
        (walk.found, edges)
    }

    /// The sentences with their leads only, none judged: most sentences need not be examined for that, which is nearly
    /// all of the cost of [`Scan::sentences`].
    pub(crate) fn with_leads(&self, marked: &str) -> Vec<Sentence> {
        let mut walk = Walk::of(self, marked, Judges::Leads);
        walk.blocks(&blocks::of(marked));
        walk.found
    }

    /// The rule by which a sentence without context is a candidate.
    pub fn judge(&self, sentence: &str) -> Option<&'static str> {
        let text = headings::without_number(blocks::without_marker(sentence));
        let numbered = text.len() < sentence.trim().len();
        let ranges = sentences::cut(text).into_iter().enumerate();
        ranges.into_iter().find_map(|(at, range)| self.reason(&text[range], numbered && at == 0))
    }

    /// Whether a sentence of a text is a candidate by its normative language: instructions are none. Their rules, which
    /// need more memory than most documents, are not compiled.
    pub(crate) fn binds(&self, text: &str) -> bool {
        let text = headings::without_number(blocks::without_marker(text));
        sentences::cut(text).into_iter().any(|range| self.by_language(&text[range]).is_some())
    }

    /// The rule by which a sentence is a candidate; `numbered`: it has its own number before it.
    fn reason(&self, sentence: &str, numbered: bool) -> Option<&'static str> {
        let by = if numbered { By::NumberedInstruction } else { By::Instruction };
        let examined = || instructions::reason(&Wording::of(sentence)?, numbered);
        self.by_language(sentence).or_else(|| self.known.or_insert(by, sentence, examined))
    }

    /// Whether a text is a command that the entries of a list complete: `Provide:`.
    fn commands(&self, text: &str) -> bool {
        let verb = text.strip_suffix(':').filter(|word| word.chars().all(char::is_alphabetic));
        verb.is_some_and(|verb| self.reason(&format!("{verb} things"), false).is_some())
    }

    /// Only by its normative language: titles and continuations of a lead without an obligation look like instructions.
    fn by_language(&self, sentence: &str) -> Option<&'static str> {
        self.known.or_insert(By::Language, sentence, || self.examined(sentence))
    }

    fn examined(&self, sentence: &str) -> Option<&'static str> {
        if self.patterns.matches(sentence) {
            return Some("pattern");
        }
        let (wording, words) = (Wording::of(sentence)?, Words::of(sentence));
        let in_english = words.may_be_english().then(|| english::reason(&wording)).flatten();
        let in_german = || words.may_be_german().then(|| german::reason(&wording)).flatten();
        let in_policies = || (self.style == DocumentStyle::Policy).then(|| policy::reason(&wording, &words)).flatten();
        in_english.or_else(in_german).or_else(in_policies)
    }
}

/// What the beginning and the end of a text mean for its neighbours in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges {
    begins_with_heading: bool,
    /// Whether a list, a table, or a sentence at its end may continue in the next text.
    is_open: bool,
    /// Whether even a heading does not end its last list.
    is_unfinished: bool,
}

impl Edges {
    fn of(blocks: &[Block], leads: &Leads) -> Self {
        let (is_open, is_unfinished) = leads.is_open();
        // The rows of a table need its header, and a fence makes what follows verbatim.
        let in_part = |block: &Block| matches!(block.kind, Kind::Row { .. } | Kind::Verbatim);
        Self {
            begins_with_heading: blocks.first().is_some_and(|block| block.kind == Kind::Heading),
            is_open: is_open || blocks.last().is_some_and(in_part),
            is_unfinished,
        }
    }

    /// Whether the candidates of the text behind this one can depend on it.
    pub(crate) fn reach(self, behind: Self) -> bool {
        self.is_unfinished || (self.is_open && !behind.begins_with_heading)
    }
}

/// Which sentences a walk examines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judges {
    All,
    /// Those at the end of a block whose judgement changes the leads of what comes next.
    Leads,
}

/// Traverses a text block by block.
struct Walk<'a> {
    scan: &'a Scan,
    marked: &'a str,
    judges: Judges,
    leads: Leads,
    found: Vec<Sentence>,
    /// The stop words of all sentences.
    words: Words,
}

impl<'a> Walk<'a> {
    fn of(scan: &'a Scan, marked: &'a str, judges: Judges) -> Self {
        Self { scan, marked, judges, leads: Leads::default(), found: Vec::new(), words: Words::default() }
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
        let ranges = sentences_of(block, &flat.text);
        let examined_from = self.examined_from(&flat.text, &ranges);
        let (mut last, mut before) = (None, false);
        for (at, range) in ranges.into_iter().enumerate() {
            let text = one_line(&flat.text[range.clone()]);
            let place = at + usize::from(block.goes_on);
            let reason = (at >= examined_from).then(|| self.reason(block, place, &text)).flatten();
            before = last.replace((text.clone(), reason.is_some())).is_some_and(|(_, candidate)| candidate);
            let verbatim = block.kind == Kind::Verbatim && markup::says_something(&text);
            let leads = self.leads.above();
            self.push(&flat, range, (text, leads), reason, verbatim);
        }
        if let Some((text, candidate)) = last {
            let sentence = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
            let binds = candidate || self.scan.commands(&text);
            self.leads.leave(block, (&text, sentence), binds, before);
        }
        1
    }

    /// The first sentence of a block that is examined. What comes next depends on the last two at most.
    fn examined_from(&self, text: &str, ranges: &[Range<usize>]) -> usize {
        match (self.judges, ranges.last()) {
            (Judges::Leads, Some(last)) if leads::is_final(&one_line(&text[last.clone()])) => ranges.len(),
            (Judges::Leads, _) => ranges.len().saturating_sub(2),
            (Judges::All, _) => 0,
        }
    }

    /// Each row of a table is a sentence.
    fn table(&mut self, blocks: &[Block]) -> usize {
        let length = tables::length(blocks);
        let flat: Vec<Flat> = blocks[..length].iter().map(|block| Flat::of(self.marked, block)).collect();
        let texts: Vec<String> = flat.iter().map(|flat| one_line(&flat.text)).collect();
        let reasons = self.reasons_of_rows(&texts, &blocks[..length]);
        let leads = self.leads.above_rows();
        for (flat, reason) in flat.iter().zip(reasons) {
            self.row(flat, reason, &leads);
        }
        self.leads.leave_table();
        length
    }

    fn reasons_of_rows(&self, texts: &[String], blocks: &[Block]) -> Vec<Option<&'static str>> {
        if self.judges == Judges::Leads {
            return vec![None; texts.len()];
        }
        let is_header = |block: &Block| matches!(block.kind, Kind::Row { header: true, .. });
        let rows: Vec<Row<'_>> =
            texts.iter().zip(blocks).map(|(text, block)| Row { text, header: is_header(block) }).collect();
        let table = Table::of(&rows, |cell| self.scan.by_language(cell).is_some());
        let under_duty = self.leads.table_states_duties();
        texts.iter().map(|row| self.reason_of_row(&table, row, under_duty)).collect()
    }

    /// A row, split at the entries and lines in its cells. The entries of a list have the row's kind; lines and the text
    /// after a list are judged by their own words, unless each row of the table states an obligation.
    fn row(&mut self, flat: &Flat, of_row: Option<&'static str>, above: &[u32]) {
        let parts = tables::parts(&flat.text);
        let has_lines = parts.iter().any(|part| matches!(part.kind, PartKind::Line { .. }));
        let by_table = of_row.filter(|reason| *reason == BY_TABLE);
        let mut lead = None;
        for tables::Part { range, kind } in parts {
            let text = one_line(&flat.text[range.clone()]);
            let by_words = || match self.judges {
                Judges::All => tables::cells(&text).find_map(|cell| self.scan.judge(cell)),
                Judges::Leads => None,
            };
            let reason = match kind {
                PartKind::Row if has_lines => by_table.or_else(by_words),
                PartKind::Row => of_row,
                PartKind::Entry => of_row.map(|_| "list item").or_else(by_words),
                PartKind::Line { led: true } => of_row.map(|_| "list item"),
                PartKind::Line { led: false } => by_table.or_else(by_words),
                PartKind::Rest => by_words(),
            };
            let is_led = matches!(kind, PartKind::Entry | PartKind::Line { led: true });
            let under = if is_led { lead } else { None };
            let leads = under.into_iter().chain(above.iter().copied()).collect();
            self.push(flat, range, (text, leads), reason, false);
            if matches!(kind, PartKind::Row | PartKind::Rest) {
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
        let (reason, judged) = match self.judges {
            Judges::All => (reason, self.has_rules(&text, verbatim) || reason.is_some()),
            Judges::Leads => (None, false),
        };
        self.found.push(Sentence { number, page, range, text, leads, reason, judged });
    }

    fn has_rules(&mut self, text: &str, verbatim: bool) -> bool {
        let words = Words::of(text);
        self.words.add(&words);
        !(verbatim || words.is_foreign() || words.is_undecoded() || words.is_disguised())
    }

    /// Lines that are too short for detection have the language of the others.
    fn judge_as_a_whole(&mut self) {
        if self.words.is_foreign_text() {
            self.found
                .iter_mut()
                .filter(|sentence| sentence.reason.is_none())
                .for_each(|sentence| sentence.judged = false);
        }
    }

    /// A row is a candidate by the words of a cell, by the names of the columns, or by the lead of the table.
    fn reason_of_row(&self, table: &Table, row: &str, under_duty: bool) -> Option<&'static str> {
        if table.is_header(row) || table.is_optional(row) {
            return None;
        }
        let by_words = || tables::cells(row).find_map(|cell| self.scan.judge(cell));
        let says_it = || markup::says_something(row) && (under_duty || table.states_duty(row));
        by_words().or_else(|| says_it().then_some(BY_TABLE))
    }

    /// A sentence is a candidate by its own words or by its lead.
    fn reason(&self, block: &Block, place: usize, text: &str) -> Option<&'static str> {
        match block.kind {
            Kind::Verbatim | Kind::Contents => None,
            Kind::Heading => headings::reason(text, self.scan),
            _ if place > 0 => self.scan.reason(text, false),
            _ => {
                // The continuation of a lead without an obligation, `The operator may:`, only looks like an
                // instruction.
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
fn sentences_of(block: &Block, text: &str) -> Vec<Range<usize>> {
    if block.kind == Kind::Contents {
        return std::iter::once(0..text.len()).collect();
    }
    let of_value = |value: Range<usize>| {
        let sentences = sentences::cut(&text[value.clone()]);
        sentences.into_iter().map(move |range| value.start + range.start..value.start + range.end)
    };
    markup::values(text).into_iter().flat_map(of_value).collect()
}

#[cfg(test)]
mod tests;
