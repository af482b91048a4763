//! Finds the duties of a passage: sentences with a normative word, and entries under a lead with one.
//!
//! [`shown`] parses a passage as a tool shows it, [`sentences`] splits running text, [`normative`] has the words.

mod normative;
mod sentences;
mod shown;

pub(crate) use normative::{Modal, modal};
use plumbline_bounds::pattern;
use regex::Regex;
pub(crate) use sentences::{collapse, split};
pub(crate) use shown::{Kind, Sentence, Shown};
use std::sync::LazyLock;

/// Fewer words are not a sentence; an entry of a list may be one word.
const MIN_WORDS: usize = 3;

/// A longer one, in bytes, is a table or a listing, not a sentence.
const LONGEST: usize = 4_000;

/// A line of a table of contents.
static CONTENTS: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?:\.\s?){4,}\s*\d*$|…\s*\d+$"));
/// Words that are mentioned, not used.
static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern::own("[\"“”„»«][^\"“”„»«]{1,24}[\"“”»«]"));

/// A duty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding<'s> {
    /// The sentence that states it.
    pub(crate) sentence: &'s Sentence,
    /// The lead that it completes, if it is an entry of a list.
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

/// The current list.
struct List<'s> {
    /// The lead of its entries.
    lead: &'s Sentence,
    /// What makes the lead normative by itself.
    modal: Option<Modal>,
    /// How many of its entries are duties.
    duties: usize,
}

impl<'s> List<'s> {
    /// The entry as a duty: by itself, or with the lead, as `hat …:` and `… zu prüfen` are one together.
    fn entry(&mut self, sentence: &'s Sentence) -> Option<Finding<'s>> {
        let lead = self.lead.text.trim_end_matches(':');
        let own = duty(sentence).map(|own| own.modal);
        let with_lead = || self.modal.clone().or_else(|| modal(&format!("{lead} {}", sentence.text)));
        let (lead, modal) = match own {
            Some(own) => (self.modal.as_ref().map(|_| lead), own),
            None => (Some(lead), with_lead()?),
        };
        self.duties += 1;
        Some(Finding { sentence, lead, modal })
    }

    /// A normative lead without duties among its entries is a duty itself.
    fn alone(self) -> Option<Finding<'s>> {
        let modal = self.modal.filter(|_| self.duties == 0)?;
        Some(Finding { sentence: self.lead, lead: None, modal })
    }
}

/// The duties of a passage, in reading order.
pub(crate) fn findings(shown: &Shown) -> Vec<Finding<'_>> {
    findings_after(&[], shown)
}

/// The same if its first entries may belong to a list of the passages `before`.
pub(crate) fn findings_after<'s>(before: &'s [Shown], shown: &'s Shown) -> Vec<Finding<'s>> {
    let open = before.iter().fold(None, |open, earlier| follow(earlier, open, &mut Vec::new()));
    // A duty of its own, a lead is one of the passage that contains it.
    let open = open.map(|list| List { duties: list.duties + 1, ..list });
    let mut all = Vec::new();
    let last = follow(shown, open, &mut all);
    all.extend(last.and_then(List::alone));
    all
}

/// Adds the duties of a passage, the first of which may be entries of `list`; returns the list that is open at its end.
fn follow<'s>(shown: &'s Shown, mut list: Option<List<'s>>, all: &mut Vec<Finding<'s>>) -> Option<List<'s>> {
    let mut before = "";
    for sentence in shown.sentences.iter().filter(|sentence| !CONTENTS.is_match(&sentence.text)) {
        let is_entry = match sentence.kind {
            Kind::Entry => true,
            Kind::Paragraph | Kind::Further => ends_an_entry(before),
            Kind::Heading | Kind::Row => false,
        };
        if !is_entry && sentence.kind != Kind::Further {
            all.extend(list.take().and_then(List::alone));
        }
        before = &sentence.text;
        match &mut list {
            Some(list) if is_entry && !is_lead(sentence) => all.extend(list.entry(sentence)),
            None if is_lead(sentence) => {
                let modal = duty(sentence).map(|own| own.modal);
                list = Some(List { lead: sentence, modal, duties: 0 });
            }
            _ if !is_lead(sentence) => all.extend(duty(sentence)),
            _ => {}
        }
    }
    list
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

/// Whether another entry of the same list follows a text.
fn ends_an_entry(text: &str) -> bool {
    [":", ";", "; and", "; or", "; und", "; oder"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests;
