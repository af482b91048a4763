//! Finds normative sentences in chunks of a document: which sentence, which word makes it normative, on which page and
//! in which section it stands.
//!
//! Four steps, one module each: [`numbered`] takes off the numbers that a tool shows sentences with; [`passages`] puts
//! lines back together into running text and knows what is a heading, a list item, a table or a code block;
//! [`sentences`] splits running text; [`normative`] knows the words.

mod normative;
mod numbered;
mod passages;
mod sentences;

pub(crate) use normative::{Modal, Strength, modal};
pub(crate) use numbered::Numbered;
use passages::{Kind, Passage};
pub(crate) use sentences::{collapse, split};

/// The shortest and the longest text of a requirement, in characters. Shorter ones say nothing by themselves, longer
/// ones are tables or listings that were taken for a sentence.
const LENGTH: std::ops::RangeInclusive<usize> = 20..=1500;

/// Fewer words are no sentence.
const MIN_WORDS: usize = 4;

/// A normative sentence and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The sentence with its white space collapsed.
    pub(crate) text: String,
    /// The sentence as it stands in the source.
    pub(crate) quote: String,
    /// The document.
    pub(crate) source: String,
    /// Which of the chunks it begins in, from 0.
    pub(crate) chunk: usize,
    /// The page it begins on, in a paged document.
    pub(crate) page: Option<u32>,
    /// Whether it ends on a later page.
    pub(crate) crosses_page: bool,
    /// The heading it stands under.
    pub(crate) section: Option<String>,
    /// The number or letter of its paragraph, where the document gives one.
    pub(crate) paragraph: Option<String>,
    /// What makes it normative.
    pub(crate) modal: Modal,
    /// Whether it is a list item or a table cell, or begins in the middle: less certain to be a whole statement.
    pub(crate) fragment: bool,
}

/// Whether a chunk file ends in mid-sentence, so that the next one is needed to read the sentence to its end.
pub(crate) fn ends_in_mid_sentence(chunk: &str) -> bool {
    let passages = passages::passages(&[chunk]);
    passages.last().is_some_and(|last| last.kind == Kind::Prose && !passages::finished(&last.text))
}

/// All normative sentences of consecutive chunk files, in reading order, the same text once. Chunks behind the first
/// `own` only serve to complete a sentence that begins before them.
pub(crate) fn findings(chunks: &[&str], own: usize) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let passages = passages::passages(chunks);
    let mut lead = None;
    for (index, passage) in passages.iter().filter(|passage| passage.chunk < own).enumerate() {
        lead = lead.filter(|_| passage.kind == Kind::Item);
        for finding in in_passage(passage, index == 0, lead.as_ref()) {
            if !all.iter().any(|known| known.text == finding.text) {
                all.push(finding);
            }
        }
        lead = lead.or_else(|| lead_of(passage));
    }
    all
}

/// What stands before a list and goes on in each of its items: "The operator shall:", "Das Amt hat:".
fn lead_of(passage: &Passage) -> Option<String> {
    let last = split(&passage.text).pop()?;
    collapse(&passage.text[last]).strip_suffix(':').map(str::to_owned)
}

/// `first`: the passage opens the chunk, so that a lower-case beginning means a sentence that the chunk before has cut.
/// `lead`: what stands before the list of which this is an item.
fn in_passage(passage: &Passage, first: bool, lead: Option<&String>) -> Vec<Finding> {
    let ranges = split(&passage.text);
    ranges
        .into_iter()
        .filter_map(|range| {
            let raw = passage.text[range.clone()].trim();
            let text = sentences::without_footnote(&collapse(raw)).replace("**", "");
            let lower = text.starts_with(char::is_lowercase);
            let whole = passage.kind != Kind::Prose || ends_a_sentence(&text);
            let long_enough = LENGTH.contains(&text.chars().count()) && text.split(' ').count() >= MIN_WORDS;
            if !whole || !long_enough || text.ends_with('?') || (first && lower && range.start == 0) {
                return None;
            }
            let (text, modal) = match (modal(&text), lead) {
                (Some(modal), _) => (text, modal),
                (None, lead) => {
                    let whole = format!("{} {}", lead?, text.trim_end_matches([';', ',']));
                    let modal = modal(&whole)?;
                    (whole, modal)
                }
            };
            // What begins with its own verb has lost its subject to a code block or a table.
            if lower && passage.kind == Kind::Prose && text.starts_with(&modal.word) {
                return None;
            }
            let (page, last_page) = (passage.page_at(range.start), passage.page_at(range.end.saturating_sub(1)));
            Some(Finding {
                quote: sentences::quotable(raw),
                source: passage.source.clone(),
                chunk: passage.chunk,
                page,
                crosses_page: page != last_page,
                section: passage.section.clone(),
                paragraph: passage.paragraph.clone(),
                modal,
                fragment: lower || passage.kind != Kind::Prose,
                text,
            })
        })
        .collect()
}

fn ends_a_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '“', '»', '*']).ends_with(['.', '!', ':', ';'])
}

#[cfg(test)]
mod tests;
