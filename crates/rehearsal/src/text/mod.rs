//! Finds the duties of a passage: which of its sentences has a word that obliges, or is an entry under a lead that has one.
//!
//! [`shown`] reads a passage as a tool shows it, [`sentences`] splits running text, [`normative`] knows the words.

mod normative;
mod sentences;
mod shown;

pub(crate) use normative::{Modal, modal};
use plumbline_bounds::pattern;
use regex::Regex;
pub(crate) use sentences::{collapse, split};
pub(crate) use shown::{Kind, Sentence, Shown};
use std::sync::LazyLock;

/// Fewer words are no sentence; an entry of a list may be one word.
const MIN_WORDS: usize = 3;

/// A longer one, in bytes, is a table or a listing that was taken for a sentence.
const LONGEST: usize = 4_000;

/// A line of a table of contents.
static CONTENTS: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?:\.\s?){4,}\s*\d*$|…\s*\d+$"));
/// Words that are spoken of, not used.
static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern::own("[\"“”„»«][^\"“”„»«]{1,24}[\"“”»«]"));

/// A duty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding<'s> {
    /// The sentence that states it.
    pub(crate) sentence: &'s Sentence,
    /// The words before it that it goes on from, where it is an entry of a list.
    pub(crate) lead: Option<&'s str>,
    /// What makes it one.
    pub(crate) modal: Modal,
}

impl Finding<'_> {
    /// The sentence with its lead.
    pub(crate) fn text(&self) -> String {
        match self.lead {
            Some(lead) => format!("{lead} {}", self.sentence.text),
            None => self.sentence.text.clone(),
        }
    }
}

/// The duties of a passage, in reading order.
pub(crate) fn findings(shown: &Shown) -> Vec<Finding<'_>> {
    let mut all: Vec<Finding<'_>> = Vec::new();
    // The lead of the list at hand, and how many duties are entries of it.
    let mut list: Option<(Finding<'_>, usize)> = None;
    let mut before = "";
    for sentence in shown.sentences.iter().filter(|sentence| !CONTENTS.is_match(&sentence.text)) {
        let is_entry = sentence.kind == Kind::Entry || ends_an_entry(before);
        if !is_entry && sentence.kind != Kind::Further {
            all.extend(without_entries(list.take()));
        }
        before = &sentence.text;
        let own = duty(sentence);
        match (&mut list, own) {
            (Some((lead, entries)), own) if is_entry && !is_lead(sentence) => {
                *entries += 1;
                let modal = own.map_or_else(|| lead.modal.clone(), |own| own.modal);
                all.push(Finding { sentence, lead: Some(lead.sentence.text.trim_end_matches(':')), modal });
            }
            (None, Some(own)) if is_lead(sentence) => list = Some((own, 0)),
            (_, Some(own)) if !is_lead(sentence) => all.push(own),
            _ => {}
        }
    }
    all.extend(without_entries(list));
    all
}

/// A lead that nothing follows is a duty itself.
fn without_entries<'s>(list: Option<(Finding<'s>, usize)>) -> Option<Finding<'s>> {
    list.filter(|(_, entries)| *entries == 0).map(|(lead, _)| lead)
}

/// The duty that a sentence states by itself.
fn duty(sentence: &Sentence) -> Option<Finding<'_>> {
    let text = &sentence.text;
    let is_text = sentence.kind != Kind::Heading && text.len() <= LONGEST && !text.ends_with('?');
    let modal =
        modal(&NAMED.replace_all(text, " ")).filter(|_| is_text && text.split_whitespace().count() >= MIN_WORDS)?;
    Some(Finding { sentence, lead: None, modal })
}

/// Whether a sentence introduces a list.
fn is_lead(sentence: &Sentence) -> bool {
    sentence.text.ends_with(':')
}

/// Whether what follows a text in the same list is another entry of it.
fn ends_an_entry(text: &str) -> bool {
    [":", ";", "; and", "; or", "; und", "; oder"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests;
