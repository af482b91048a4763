//! What a sentence stands under: the lead of its list, the columns of its table, the page before.

use super::blocks::{Block, Kind, Mark};
use super::tables;

/// More words in a lead state something themselves.
const MOST_OF_A_BARE_LEAD: usize = 4;

/// A sentence that entries complete: `The operator shall:`.
struct Lead {
    /// Columns before its mark; none where it is a paragraph.
    indent: Option<usize>,
    mark: Option<Mark>,
    is_normative: bool,
    /// Its words, which an entry may complete to an obligation: `The owner has:`, `to keep a log`.
    words: String,
}

/// What the blocks so far say about the next one.
#[derive(Default)]
pub(super) struct Leads {
    /// The leads that the next entry may stand under, the innermost last.
    open: Vec<Lead>,
    /// Whether the rows of the table at hand state obligations; none outside of tables.
    table: Option<bool>,
    /// The beginning of a sentence that a page ended.
    unended: Option<String>,
    /// Whether the block at hand is an entry of a list, with a mark or without one.
    is_entry: bool,
}

impl Leads {
    /// Takes in where the next block stands.
    pub(super) fn enter(&mut self, block: &Block, text: &str) {
        match &block.kind {
            Kind::Heading => *self = Self::default(),
            Kind::Item { indent, mark } => self.enter_item(*indent, *mark),
            Kind::Row { .. } => {}
            // Entries without a mark begin with a small letter, for they go on with the lead.
            Kind::Paragraph if begins_small(text) => self.is_entry = !self.open.is_empty(),
            Kind::Paragraph if is_note(text) => self.is_entry = false,
            Kind::Paragraph | Kind::Verbatim => {
                self.is_entry = false;
                self.open.clear();
            }
        }
        match block.kind {
            Kind::Row { header: true } => self.table = Some(tables::names_duties(text)),
            Kind::Row { header: false } => _ = self.table.get_or_insert(false),
            _ => self.table = None,
        }
    }

    /// An entry stands under the leads that are further left, or that are entries of a list marked in another way.
    fn enter_item(&mut self, indent: usize, mark: Mark) {
        self.is_entry = true;
        let sibling = self.open.iter().position(|lead| lead.indent == Some(indent) && lead.mark == Some(mark));
        self.open.truncate(sibling.unwrap_or(self.open.len()));
        while self.open.last().is_some_and(|lead| lead.indent.is_some_and(|of_lead| of_lead > indent)) {
            self.open.pop();
        }
    }

    /// Whether the block is an entry that goes on with a lead which binds nobody: `The operator may:`.
    pub(super) fn completes_a_harmless_lead(&self, text: &str) -> bool {
        self.is_entry && begins_small(text) && self.open.last().is_some_and(|lead| !lead.is_normative)
    }

    /// By what the first sentence of a block is known beside its own words; `judge` says it of a whole sentence.
    pub(super) fn reason(
        &self,
        block: &Block,
        text: &str,
        judge: impl Fn(&str) -> Option<&'static str>,
    ) -> Option<&'static str> {
        let under_lead = self.open.last().is_some_and(|lead| lead.is_normative);
        match block.kind {
            Kind::Row { .. } if !tables::says_something(text) => None,
            Kind::Row { .. } => (self.table == Some(true) || under_lead).then_some("table row"),
            _ if self.is_entry && under_lead => Some("list item"),
            _ if self.is_entry => {
                let lead = self.open.last()?;
                judge(&format!("{} {text}", lead.words)).map(|_| "list item")
            }
            _ if block.opens_page && begins_small(text) => {
                self.unended.as_ref().and_then(|before| judge(&format!("{before} {text}"))).map(|_| "continued")
            }
            _ => None,
        }
    }

    /// Takes in the last sentence of a block, and whether it and the one before it in the block are candidates.
    pub(super) fn leave(&mut self, block: &Block, text: &str, is_candidate: bool, was_candidate: bool) {
        let entry = match block.kind {
            Kind::Item { indent, mark } => Some((indent, mark)),
            Kind::Paragraph => None,
            Kind::Heading | Kind::Row { .. } | Kind::Verbatim => return,
        };
        if text.ends_with(':') {
            let bare = text.split_whitespace().count() <= MOST_OF_A_BARE_LEAD;
            let is_normative = is_candidate || (bare && was_candidate);
            let words = text.trim_end_matches(':').to_owned();
            let (indent, mark) = (entry.map(|(indent, _)| indent), entry.map(|(_, mark)| mark));
            self.open.push(Lead { indent, mark, is_normative, words });
        }
        if !is_note(text) {
            self.unended = (!text.ends_with(['.', '!', '?', ':', ';'])).then(|| text.to_owned());
        }
    }
}

fn begins_small(text: &str) -> bool {
    text.starts_with(|first: char| first.is_lowercase())
}

/// Whether a paragraph reads like a footnote: it begins with its number or sign.
fn is_note(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit() || "[]^*†‡¹²³⁴⁵⁶⁷⁸⁹⁰".contains(sign));
    rest.len() < text.len()
        && rest.starts_with(|sign: char| sign.is_whitespace() || sign.is_alphabetic() || sign == ':')
}
