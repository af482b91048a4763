//! Lists within a running sentence: `The operator shall: (a) keep a log; (b) report each breach.`
//!
//! Each entry becomes its own block, as if it were on its own line: after consecutive marks, after bullets, and, if a
//! sentence has a lead with a colon, after semicolons. `points (a) and (b)` is not a list: there is nothing between the
//! marks.

use super::marks::{self, Mark, Reading};
use super::{Block, Kind, is_left_open};
use crate::candidates::{flat::Flat, markup, sentences};
use crate::page_marks::LINE;
use std::ops::Range;

/// Additional indent, in columns, of entries relative to their lead.
const DEEPER: usize = 4;
/// Longer texts, in bytes, are not searched: the cost grows faster than the length.
const LONGEST: usize = 10_000;
/// Maximum levels of lists within a sentence.
const MOST_LEVELS: usize = 4;
/// Longest mark, in bytes.
const LONGEST_MARK: usize = 7;
/// With fewer words before the colon, they are only a title: `Scope: this rule applies to banks; it does not bind
/// funds.`
const LEAST_OF_A_LEAD: usize = 2;
/// Words that join entries and have no meaning of their own.
const JOINERS: [&str; 8] = ["and", "or", "to", "und", "oder", "sowie", "bis", "bzw."];
/// Bullets that may also be a dash within the sentence.
const DASHES: [char; 5] = ['-', '–', '—', '*', '+'];

/// A list within a text: its start, each entry without its mark, and its end.
pub(in crate::candidates) struct List {
    pub(in crate::candidates) begin: usize,
    pub(in crate::candidates) entries: Vec<(Mark, Range<usize>)>,
    pub(in crate::candidates) end: usize,
}

/// Splits a block at the entries of its lists.
pub(super) fn parted(marked: &str, block: Block) -> Vec<Block> {
    let mut parts = Vec::new();
    part(marked, block, MOST_LEVELS, &mut parts);
    parts
}

/// Adds the parts of a block, with at most this many levels of lists.
fn part(marked: &str, block: Block, levels: usize, parts: &mut Vec<Block>) {
    match siblings(marked, &block) {
        Some(entries) => entries.into_iter().for_each(|entry| part_lists(marked, entry, levels, parts)),
        None => part_lists(marked, block, levels, parts),
    }
}

fn part_lists(marked: &str, block: Block, levels: usize, parts: &mut Vec<Block>) {
    let mut rest = block;
    while levels > 0
        && let Some(Parted { before, entries, behind }) = parted_once(marked, &rest)
    {
        parts.push(before);
        entries.into_iter().for_each(|entry| part(marked, entry, levels - 1, parts));
        match behind {
            Some(behind) => rest = behind,
            None => return,
        }
    }
    parts.push(rest);
}

/// Splits a block at the entries of its first list.
struct Parted {
    before: Block,
    entries: Vec<Block>,
    behind: Option<Block>,
}

/// The text of a block that may contain a list.
fn flat_of(marked: &str, block: &Block) -> Option<Flat> {
    let may_hold_one = |(range, _): &(Range<usize>, Option<u32>)| {
        let has = |sign| marked[range.clone()].contains(sign);
        has(';') || has(':') || has('(')
    };
    let length: usize = block.parts.iter().map(|(range, _)| range.len()).sum();
    if length > LONGEST || !block.parts.iter().any(may_hold_one) {
        return None;
    }
    let flat = Flat::of(marked, block);
    matches!(&markup::values(&flat.text)[..], [all] if *all == (0..flat.text.len())).then_some(flat)
}

/// The entries of a list whose next entries are on the line of this one: `(a) the fee; (b) the costs`.
fn siblings(marked: &str, block: &Block) -> Option<Vec<Block>> {
    let Kind::Item { indent, mark } = block.kind else { return None };
    let flat = flat_of(marked, block)?;
    let found: Vec<Found> = words(&flat.text).filter_map(|at| found(&flat.text, at)).collect();
    let next = mark.readings().map(|own| next_entries(&flat.text, &found, own)).find(|next| !next.is_empty())?;
    let starts = next.iter().map(|next| (next.mark, next.behind));
    let ends = next.iter().map(|next| next.at).chain([flat.text.len()]);
    let entries = std::iter::once((mark, 0)).chain(starts).zip(ends);
    let of = |((mark, start), end): ((Mark, usize), usize)| Block {
        kind: Kind::Item { indent, mark },
        parts: flat.parts(block, trimmed(&flat.text, start..end)),
        opens_page: block.opens_page && start == 0,
        indent: block.indent,
        goes_on: block.goes_on && start == 0,
    };
    Some(entries.map(of).collect())
}

/// The marks that follow an entry's own one, each after a semicolon.
fn next_entries<'f>(text: &str, found: &'f [Found], own: Reading) -> Vec<&'f Found> {
    let (mut next, mut latest, mut from) = (Vec::new(), own, 0);
    for mark in found {
        let (bare, _) = without_joiner(text[..mark.at].trim_end());
        let is_next = |reading: &Reading| match mark.mark.is_bullet() {
            true => reading.style == own.style,
            false => reading.follows(latest),
        };
        let Some(reading) = mark.mark.readings().find(is_next).filter(|_| bare.ends_with(';')) else { continue };
        if says_something(&text[from..mark.at]) && says_something(&text[mark.behind..]) {
            (latest, from) = (reading, mark.behind);
            next.push(mark);
        }
    }
    next
}

fn parted_once(marked: &str, block: &Block) -> Option<Parted> {
    let indent = match block.kind {
        Kind::Item { indent, .. } => indent,
        Kind::Paragraph => 0,
        Kind::Heading | Kind::Row { .. } | Kind::Verbatim | Kind::Contents => return None,
    };
    let flat = flat_of(marked, block)?;
    let List { begin, entries, end } = list(&flat.text)?;
    let of = |kind: Kind, range: Range<usize>| Block {
        kind,
        parts: flat.parts(block, trimmed(&flat.text, range)),
        ..block.clone()
    };
    let inner = |part: Block, goes_on: bool| Block { opens_page: false, goes_on, ..part };
    let entry = |(mark, range)| inner(of(Kind::Item { indent: indent + DEEPER, mark }, range), false);
    let is_more = !flat.text[end..].trim().is_empty();
    Some(Parted {
        before: of(block.kind.clone(), 0..begin),
        entries: entries.into_iter().map(entry).collect(),
        behind: is_more.then(|| inner(of(block.kind.clone(), end..flat.text.len()), true)),
    })
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = text[range.clone()].trim_end();
    let start = range.start + inner.len() - inner.trim_start().len();
    start..range.start + inner.len()
}

/// The first list of a text.
pub(in crate::candidates) fn list(text: &str) -> Option<List> {
    let is_short = text.len() <= LONGEST;
    is_short.then(|| marked_list(text).or_else(|| list_by_semicolons(text))).flatten()
}

/// The lines of a cell after its first one; none if it has a single line, or lines that only wrap.
pub(in crate::candidates) fn lines(cell: &str) -> Option<Vec<Range<usize>>> {
    let mut at = 0;
    let lines: Vec<Range<usize>> = cell
        .split_inclusive(LINE)
        .map(|line| {
            at += line.len();
            trimmed(cell, at - line.len()..at)
        })
        .collect();
    let wraps = |pair: &[Range<usize>]| {
        let is_ended = cell[pair[0].clone()].ends_with(['.', ';', ':', ',', '!', '?']);
        !is_ended && cell[pair[1].clone()].starts_with(char::is_lowercase)
    };
    let are_entries = lines.len() > 1
        && lines.iter().all(|line| markup::says_something(&cell[line.clone()]))
        && !lines.windows(2).any(wraps);
    let without_mark = |line: Range<usize>| {
        let mark = marks::mark(&cell[line.clone()]).map_or(0, |(_, length)| length);
        line.start + mark..line.end
    };
    are_entries.then(|| lines.into_iter().skip(1).map(without_mark).collect())
}

/// A mark within a text, and the start of the entry after it.
struct Found {
    at: usize,
    behind: usize,
    mark: Mark,
}

fn marked_list(text: &str) -> Option<List> {
    let found: Vec<Found> = words(text).filter_map(|at| found(text, at)).collect();
    (0..found.len()).find_map(|first| {
        let chain = found[first].mark.readings().find_map(|reading| chain(text, &found[first..], reading))?;
        let last = chain.last().map_or(0, |last| last.behind);
        let end = last + sentences::cut(&text[last..]).first().map_or(text.len() - last, |sentence| sentence.end);
        let ends = chain.iter().skip(1).map(|next| next.at).chain([end]);
        let entries = chain.iter().zip(ends).map(|(entry, end)| (entry.mark, trimmed(text, entry.behind..end)));
        Some(List { begin: chain[0].at, entries: entries.collect(), end })
    })
}

/// The starts of all words except the first.
fn words(text: &str) -> impl Iterator<Item = usize> {
    let begins = |(at, sign): &(usize, char)| !sign.is_whitespace() && text[..*at].ends_with(char::is_whitespace);
    text.char_indices().filter(begins).map(|(at, _)| at)
}

fn found(text: &str, at: usize) -> Option<Found> {
    let word = text[at..].split(char::is_whitespace).next()?;
    if word.len() > LONGEST_MARK {
        return None;
    }
    let (mark, length) = marks::mark(&text[at..]).filter(|(mark, _)| !mark.is_section())?;
    Some(Found { at, behind: at + length, mark })
}

/// The consecutive marks from the first of these on, in this reading; none if they do not form a list.
fn chain<'f>(text: &str, found: &'f [Found], first: Reading) -> Option<Vec<&'f Found>> {
    let (begin, rest) = found.split_first()?;
    let lead = text[..begin.at].trim_end();
    if !first.begins() || !lead.contains(char::is_alphabetic) {
        return None;
    }
    let is_dash = text[begin.at..].starts_with(DASHES);
    let is_announced = lead.ends_with([':', '—', '–']) || is_left_open(lead);
    if begin.mark.is_bullet() && !is_announced {
        return None;
    }
    let (mut chain, mut latest) = (vec![begin], first);
    for next in rest {
        let alike = |reading: &Reading| match begin.mark.is_bullet() {
            true => reading.style == first.style && text[begin.at..next.at].starts_with(sign(text, next.at)),
            false => reading.follows(latest),
        };
        let Some(reading) = next.mark.readings().find(alike) else { continue };
        let (bare, is_joined) = without_joiner(text[..next.at].trim_end());
        let needs_none = begin.mark.is_bullet() && !is_dash;
        if !says_something(&text[chain[chain.len() - 1].behind..next.at])
            || !(needs_none || is_joined || bare.ends_with([';', ',', '.', ':']))
        {
            break;
        }
        // Without such a lead, marks form a list only with semicolons.
        if !is_announced && !bare.ends_with(';') {
            return None;
        }
        latest = reading;
        chain.push(next);
    }
    let is_whole = chain.last().is_some_and(|last| says_something(&text[last.behind..]));
    (chain.len() > 1 && is_whole).then_some(chain)
}

fn sign(text: &str, at: usize) -> char {
    text[at..].chars().next().unwrap_or_default()
}

/// Removes the final word that joins a text to the next entry, and says whether there was one.
fn without_joiner(text: &str) -> (&str, bool) {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    match JOINERS.contains(&last.to_lowercase().as_str()) {
        true => (text[..text.len() - last.len()].trim_end(), true),
        false => (text, false),
    }
}

/// Whether an entry has a word of its own.
fn says_something(entry: &str) -> bool {
    let says = |word: &str| word.contains(char::is_alphabetic) && !JOINERS.contains(&word.to_lowercase().as_str());
    entry.split_whitespace().any(says)
}

/// `The notice must state: the name of the fund; its fees; and the date.`
fn list_by_semicolons(text: &str) -> Option<List> {
    sentences::cut(text).into_iter().find_map(|sentence| {
        let said = &text[sentence.clone()];
        let colon = said.find(": ")?;
        let begin = sentence.start + colon + 1;
        let lead = said[..colon].split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
        let mut entries = Vec::new();
        let mut at = begin;
        for entry in text[begin..sentence.end].split_inclusive("; ") {
            entries.push((Mark::BULLET, trimmed(text, at..at + entry.len())));
            at += entry.len();
        }
        let say_something = entries.iter().all(|(_, range)| says_something(&text[range.clone()]));
        (lead >= LEAST_OF_A_LEAD && entries.len() > 1 && say_something).then_some(List {
            begin,
            entries,
            end: sentence.end,
        })
    })
}
