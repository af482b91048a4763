//! Passages: the chunks of a document as the coverage ledger knows them.
//!
//! The candidate scan numbers the sentences of a passage from 1, consistently: when the document is chunked, when a
//! passage is shown, and when a quote is located.

use crate::candidates::{Edges, Scan, Sentence, cut};
pub use crate::chunk_file::body;
use crate::chunking::Chunk;
use crate::entries::behind;
use crate::{composed, page_mark};
use plumbline_engine::{Candidate, Passage, Touched, blocks};
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, ops::Range};

/// The data that the ledger needs about a passage's text.
#[derive(Clone, Debug)]
pub struct Facts {
    sha256: [u8; 32],
    blocks: Vec<plumbline_engine::Block>,
    candidates: Vec<Candidate>,
    judged: bool,
    n_sentences: i32,
    n_not_judged: i32,
    edges: Edges,
}

/// The previous passage in a document, whose last list may continue.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its facts, if they are known: most passages leave nothing open, and the next is then read alone.
    pub facts: Option<&'a Facts>,
}

impl Facts {
    /// Reads a passage's text in the context of the previous passage.
    pub fn of(before: Option<Before<'_>>, text: &str, scan: &Scan) -> Self {
        let words: Vec<&str> = text.lines().filter(|line| page_mark(line).is_none()).collect();
        let sha256 = Sha256::digest(words.join("\n").trim()).into();
        let (sentences, edges) = scan.sentences_and_edges(text);
        let n_not_judged = count(sentences.iter().filter(|sentence| !sentence.judged).count());
        let n_sentences = count(sentences.len());
        let before = before.filter(|before| before.facts.is_none_or(|facts| facts.edges.reach(edges)));
        let candidates = match before.and_then(|before| behind(before.text, text, |text| scan.sentences(text))) {
            Some((together, skipped)) => candidates(together, skipped),
            None => candidates(sentences, 0),
        };
        Self { sha256, blocks: blocks(text), candidates, judged: n_not_judged == 0, n_sentences, n_not_judged, edges }
    }

    /// If the passage begins with sentences at the end of the previous one, they count where they first begin.
    pub fn without_those_of(&mut self, before: &Self) {
        let known = before.candidates.iter().map(|candidate| &candidate.text);
        let own = self.candidates.iter().map(|candidate| &candidate.text);
        let begins_here = |at: &usize| own.clone().zip(known.clone().skip(*at)).all(|(own, known)| own == known);
        // The first matching end is the longest.
        let from = known.len().saturating_sub(own.len());
        let repeated = (from..known.len()).find(begins_here).map_or(0, |at| known.len() - at);
        self.candidates.drain(..repeated);
    }

    /// The same for a document that is not a source: it cannot be quoted, so it only needs to be read.
    pub fn without_candidates(&mut self) {
        self.candidates.clear();
        (self.judged, self.n_not_judged) = (true, 0);
    }

    /// The passage, unread.
    pub fn into_passage(self, document: &str, ordinal: i32, file: &str, chunk: &Chunk) -> Option<Passage> {
        let page = |page: Option<u32>| page.and_then(|page| i32::try_from(page).ok());
        Some(Passage {
            pages: page(chunk.first_page).zip(page(chunk.last_page)),
            sha256: self.sha256,
            chunk_path: Some(file.to_string()),
            unseen: self.blocks.clone(),
            blocks: self.blocks,
            candidates: self.candidates,
            judged: self.judged,
            n_sentences: self.n_sentences,
            n_not_judged: self.n_not_judged,
            ..Passage::unread(number_of(file)?, document, ordinal)
        })
    }
}

/// The candidates among sentences, each with its leads. The first `skipped` sentences belong to the previous passage.
fn candidates(sentences: Vec<Sentence>, skipped: usize) -> Vec<Candidate> {
    let skipped = count(skipped);
    let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let known: BTreeSet<i32> =
        sentences.iter().filter(|one| one.reason.is_some()).map(|one| number(one.number)).collect();
    let candidate = |sentence: Sentence| {
        let leads = sentence.leads.into_iter().map(number).filter(|lead| known.contains(lead));
        let (own, of_before): (Vec<i32>, Vec<i32>) = leads.partition(|lead| *lead > skipped);
        Candidate {
            sentence: number(sentence.number) - skipped,
            text: sentence.text,
            leads: own.into_iter().map(|lead| lead - skipped).collect(),
            leads_before: of_before,
            ..Candidate::default()
        }
    };
    let own = sentences.into_iter().filter(|sentence| number(sentence.number) > skipped);
    let mut candidates: Vec<Candidate> = own.filter(|sentence| sentence.reason.is_some()).map(candidate).collect();
    // The ledger of a running job keeps them.
    candidates.shrink_to_fit();
    candidates
}

fn count(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The number of a chunk's file: `chunks/chunk_012.md` is 12.
pub fn number_of(file: &str) -> Option<i32> {
    file.strip_prefix("chunks/chunk_")?.strip_suffix(".md")?.parse().ok()
}

/// A chunk's file with `[n] ` before each sentence, as shown to a model.
pub fn numbered(file: &str) -> String {
    let body = body(file);
    let head = &file[..file.len() - body.len()];
    let mut out = String::with_capacity(file.len() + file.len() / 8);
    out.push_str(head);
    let mut done = 0;
    for (number, range) in (1u32..).zip(cut(body)) {
        out.push_str(&body[done..range.start]);
        out.push_str(&format!("[{number}] "));
        done = range.start;
    }
    out.push_str(&body[done..]);
    out
}

/// Finds each occurrence of a quote in consecutive passages, each given by its number and its chunk's file. An
/// occurrence has one range of sentences for each passage that it touches, in order. Empty if the quote does not occur.
pub fn locate(passages: &[(i32, String)], quote: &str) -> Vec<Occurrence> {
    let mut text = Letters::default();
    for (number, file) in passages {
        text.push(*number, body(file));
    }
    let quote: String = letters(&composed(quote)).map(|(_, letter)| letter).collect();
    if quote.is_empty() {
        return Vec::new();
    }
    let places = text.letters.match_indices(&quote).map(|(at, _)| at..at + quote.len());
    places.map(|range| Occurrence { touched: text.touched(&range), is_whole: text.is_whole(&range) }).collect()
}

/// An occurrence of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The sentences that it touches, one range per passage; at least one.
    pub touched: Vec<Touched>,
    /// Whether it covers these sentences completely: a part of a sentence may occur anywhere, so other occurrences
    /// prove nothing.
    pub is_whole: bool,
}

/// The letters of some passages, each with its sentence.
#[derive(Default)]
struct Letters {
    letters: String,
    /// The sentences, in order.
    sentences: Vec<LettersOf>,
}

/// A sentence's range among the letters. The mark of a list item before it belongs to it but is not part of its words.
struct LettersOf {
    begin: usize,
    end: usize,
    passage: i32,
    number: i32,
}

impl Letters {
    fn push(&mut self, passage: i32, body: &str) {
        let mut sentences = (1u32..).zip(cut(body)).peekable();
        let (mut current, mut begin) = (1, None);
        for (at, letter) in letters(body) {
            while let Some((passed, _)) = sentences.next_if(|(_, range)| range.end <= at) {
                self.ended(begin.take(), passage, passed);
                current = passed + 1;
            }
            if sentences.peek().is_none_or(|(_, range)| range.start <= at) {
                begin.get_or_insert(self.letters.len());
            }
            self.letters.push(letter);
        }
        self.ended(begin, passage, current);
    }

    fn ended(&mut self, begin: Option<usize>, passage: i32, number: u32) {
        let (end, number) = (self.letters.len(), i32::try_from(number).unwrap_or(i32::MAX));
        self.sentences.push(LettersOf { begin: begin.unwrap_or(end), end, passage, number });
    }

    /// The sentences of these letters.
    fn sentences_of(&self, range: &Range<usize>) -> &[LettersOf] {
        let first = self.sentences.partition_point(|sentence| sentence.end <= range.start);
        let last = self.sentences.partition_point(|sentence| sentence.end < range.end);
        &self.sentences[first.min(last)..self.sentences.len().min(last + 1)]
    }

    /// Whether these letters cover their sentences completely.
    fn is_whole(&self, range: &Range<usize>) -> bool {
        let sentences = self.sentences_of(range);
        let ends = sentences.first().zip(sentences.last());
        ends.is_some_and(|(first, last)| range.start <= first.begin && range.end == last.end)
    }

    fn touched(&self, range: &Range<usize>) -> Vec<Touched> {
        let mut touched: Vec<Touched> = Vec::new();
        for LettersOf { passage, number, .. } in self.sentences_of(range) {
            match touched.last_mut() {
                Some(range) if range.passage == *passage => range.to = *number,
                _ => touched.push(Touched { passage: *passage, from: *number, to: *number }),
            }
        }
        touched
    }
}

/// The letters and digits of a text in lower case, without page marks, each with its position.
fn letters(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut offset = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let start = offset;
        offset += line.len();
        (start, line)
    });
    lines.filter(|(_, line)| page_mark(line).is_none()).flat_map(|(start, line)| {
        let letters = line.char_indices().filter(|(_, c)| c.is_alphanumeric());
        letters.flat_map(move |(at, c)| c.to_lowercase().map(move |c| (start + at, c)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "<!-- source: input/policy.pdf | pages: 3-4 -->\n\n[page 3]\n\nInvoices must be kept. This is a \
                        definition.\n\n- The list shall be\n[page 4]\nsigned by the auditor.\n";
    const NEXT: &str =
        "<!-- source: input/policy.pdf | pages: 4 -->\n\n[page 4]\n\nNobody may change it. It must be shown.\n";

    fn touched(quote: &str) -> Option<Vec<(i32, i32, i32)>> {
        let passages = [(7, FILE.to_string()), (8, NEXT.to_string())];
        let found = locate(&passages, quote);
        let first = found.into_iter().next()?.touched;
        Some(first.into_iter().map(|touched| (touched.passage, touched.from, touched.to)).collect())
    }

    #[test]
    fn sentences_are_numbered_where_they_begin() {
        let shown = numbered(FILE);
        assert!(
            shown.starts_with("<!-- source: input/policy.pdf | pages: 3-4 -->\n\n[page 3]\n\n[1] Invoices must"),
            "{shown}"
        );
        assert!(shown.contains("[2] This is") && shown.contains("[3] The list shall be\n[page 4]\nsigned"), "{shown}");
    }

    #[test]
    fn a_quote_touches_the_sentences_that_contain_it() {
        assert_eq!(touched("Invoices must be kept."), Some(vec![(7, 1, 1)]));
        assert_eq!(touched("be kept. This is a definition"), Some(vec![(7, 1, 2)]));
        assert_eq!(touched("The list shall be signed"), Some(vec![(7, 3, 3)]));
        assert_eq!(touched("signed by the auditor. Nobody may change it."), Some(vec![(7, 3, 3), (8, 1, 1)]));
        assert_eq!(touched("It must be shown."), Some(vec![(8, 2, 2)]));
        assert_eq!(touched("Invoices must be burnt."), None);
    }

    #[test]
    fn each_place_of_a_quote_is_found_and_whether_it_is_whole_sentences() {
        let passages = [(1, "Records must be kept. So it is.".to_owned()), (2, "1. Records must be kept.".to_owned())];
        let places = |quote: &str| {
            let found = locate(&passages, quote).into_iter();
            found.map(|found| (found.touched[0].passage, found.touched[0].from, found.is_whole)).collect::<Vec<_>>()
        };
        assert_eq!(places("must be kept"), [(1, 1, false), (2, 1, false)]);
        assert_eq!(places("Records must be kept."), [(1, 1, true), (2, 1, true)]);
    }

    #[test]
    fn candidates_are_listed_by_number_and_page_marks_do_not_change_a_text() {
        let facts = Facts::of(None, body(FILE), &Scan::default());
        let numbers: Vec<i32> = facts.candidates.iter().map(|candidate| candidate.sentence).collect();
        assert_eq!(numbers, [1, 3]);
        let moved = Facts::of(
            None,
            &body(FILE).replace("[page 3]", "[page 5]").replace("[page 4]", "[page 6]"),
            &Scan::default(),
        );
        assert_eq!(facts.sha256, moved.sha256);
    }

    #[test]
    fn a_list_continued_from_the_previous_passage_has_its_lead_there() {
        let before = "It is so. The operator shall:\n\n(a) keep a log;\n";
        let before = Before { text: before, facts: Some(&Facts::of(None, before, &Scan::default())) };
        let facts = Facts::of(Some(before), "(b) a report of each breach;\n\nThe owner must sign.\n", &Scan::default());
        let candidates: Vec<_> = facts.candidates.iter().map(|one| (one.sentence, &one.leads_before[..])).collect();
        assert_eq!(candidates, [(1, &[2][..]), (2, &[][..])]);
    }

    /// Whether the previous passage is left aside only where it changes nothing, on passages of all kinds of blocks.
    #[test]
    fn a_passage_that_leaves_nothing_open_changes_nothing_behind_it() {
        const BLOCKS: [&str; 16] = [
            "## 4.2 Access",
            "## Duties of the operator",
            "Rights are reviewed by the owner. It must be signed.",
            "The duties of each owner",
            "[page 4]\n\nkeeps the log in the system.",
            "The operator shall:",
            "- keep a log;",
            "- report each breach; and",
            "(a) name an auditor.",
            "(b) sign the list,",
            "2. staff; and",
            "The following table applies to all systems.",
            "| System | Requirement |\n|---|---|\n| A | Logs |",
            "| B | Keys are rotated |",
            "```\nlet it = be;",
            "It is required that the owner, at a minimum,",
        ];
        let scan = Scan::default();
        let text = |at: usize, blocks: u32| {
            let block = |power: u32| BLOCKS[at / 16_usize.pow(power) % 16];
            (0..blocks).map(block).collect::<Vec<_>>().join("\n\n") + "\n"
        };
        let mut alone = 0;
        for at in 0..4_000_usize {
            // Multiples of a large prime reach all parts of the 16^5 passages.
            let at = at * 7_919 % 16_usize.pow(5);
            let (before, own) = (text(at, 3), text(at / 16_usize.pow(3), 2));
            let facts = Facts::of(None, &before, &scan);
            let read = Facts::of(Some(Before { text: &before, facts: Some(&facts) }), &own, &scan);
            let together = Facts::of(Some(Before { text: &before, facts: None }), &own, &scan);
            assert_eq!(read.candidates, together.candidates, "{before}\n~~~\n{own}");
            alone += usize::from(!facts.edges.reach(read.edges));
        }
        assert!(alone > 400, "{alone} of 4000 passages are read alone");
    }
}
