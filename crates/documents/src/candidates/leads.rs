//! The context of a sentence: the lead of its list or table, the previous page.

use super::blocks::{Block, Kind, Mark, Reading, is_left_open};
use super::wording::Wording;
use plumbline_bounds::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A lead with more words makes a statement of its own.
const MOST_OF_A_BARE_LEAD: usize = 4;
/// A text with more words is not a list's title.
const MOST_OF_A_TITLE: usize = 8;

/// How many paragraphs may come between a lead and its list: a hint, a condition.
const MOST_BETWEEN: usize = 2;
/// How sentences end that announce a list.
const ENDS_BEFORE_LISTS: [&str; 6] =
    ["the following", "as follows", "listed below", "folgendes", "wie folgt", "nachfolgend aufgeführt"];

/// A sentence that entries complete, `The operator shall:`, and the state of its list.
#[derive(Clone, Debug)]
struct Lead {
    /// Its own place in a list; none if it is a paragraph.
    own: Option<Entry>,
    is_normative: bool,
    /// Its number.
    sentence: u32,
    /// Its words, which an entry may complete to an obligation: `The owner has:`, `to keep a log`.
    words: String,
    /// Whether it ends with a colon, or says that entries follow.
    announces: bool,
    /// How many paragraphs have come between it and its list.
    between: usize,
    /// Its latest entry.
    latest: Option<Entry>,
    /// Whether the latest entry announces one more, the last: `keep a log; and`.
    one_more: bool,
    /// Whether that one has come.
    is_complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    indent: usize,
    reading: Reading,
}

impl Lead {
    /// How an entry can begin the list under this lead, if no entry has begun it: in another style, or with a larger
    /// indent.
    fn begins_with(&self, indent: usize, mark: Mark) -> Option<Reading> {
        let below = |reading: &Reading| {
            self.own.is_none_or(|own| {
                let restarts = self.announces && reading.restarts(own.reading);
                let deeper = indent > own.indent || reading.style != own.reading.style || restarts;
                indent >= own.indent && deeper && !reading.ends_section(own.reading)
            })
        };
        self.latest.is_none().then(|| mark.readings().find(|reading| reading.begins() && below(reading))).flatten()
    }

    /// Whether an entry is a sibling of the lead, not a child.
    fn is_beside(&self, indent: usize, mark: Mark) -> bool {
        self.own.is_some_and(|own| {
            mark.readings().any(|reading| {
                let alike = reading.style == own.reading.style && indent == own.indent;
                alike || reading.follows(own.reading) || reading.ends_section(own.reading)
            })
        })
    }
}

/// What the previous blocks imply for the next one.
#[derive(Default)]
pub(super) struct Leads {
    /// The leads that the next entry may belong to, innermost last.
    open: Vec<Lead>,
    /// Leads of an interrupted list, which its next number continues.
    interrupted: Vec<Lead>,
    /// Whether the latest entry announces more entries.
    unfinished: bool,
    /// An unfinished block, which an entry may complete.
    loose: Option<Lead>,
    /// Whether a table that comes next states obligations: `the information in the following table`.
    above_table: bool,
    /// The sentence that says so.
    table_lead: Option<u32>,
    /// The beginning of a sentence that a page ended.
    unended: Option<String>,
    /// Whether the current block is a list entry, with or without a mark.
    is_entry: bool,
}

impl Leads {
    /// Whether a next block can depend on the blocks so far, and whether even a heading can.
    pub(super) fn is_open(&self) -> (bool, bool) {
        let list = self.unfinished || !self.open.is_empty() || !self.interrupted.is_empty() || self.loose.is_some();
        let table = self.above_table || self.table_lead.is_some();
        (list || table || self.unended.is_some(), self.unfinished)
    }

    /// Processes the position of the next block.
    pub(super) fn enter(&mut self, block: &Block, text: &str) {
        let loose = self.loose.take();
        match &block.kind {
            Kind::Heading => self.enter_heading(),
            Kind::Item { indent, mark } => self.enter_item(*indent, *mark, loose),
            Kind::Row { .. } => {}
            // Entries without a mark begin with a lower-case letter, because they continue the lead.
            Kind::Paragraph if begins_small(text) => self.is_entry = !self.open.is_empty(),
            Kind::Paragraph if is_note(text) || self.is_in_an_entry(block) => self.is_entry = false,
            Kind::Paragraph | Kind::Verbatim | Kind::Contents => self.interrupt(),
        }
    }

    /// Whether a paragraph belongs to the latest entry: it is indented under its mark.
    fn is_in_an_entry(&self, block: &Block) -> bool {
        let latest = self.open.last().and_then(|lead| lead.latest);
        !block.goes_on && latest.is_some_and(|entry| block.indent > entry.indent)
    }

    fn enter_heading(&mut self) {
        let unfinished = self.unfinished;
        self.interrupt();
        // A line at the edge of a page that looks like a heading does not end a list.
        let interrupted = if unfinished { std::mem::take(&mut self.interrupted) } else { Vec::new() };
        *self = Self { interrupted, unfinished, ..Self::default() };
    }

    fn interrupt(&mut self) {
        self.is_entry = false;
        let open = std::mem::take(&mut self.open);
        if open.iter().any(|lead| lead.latest.is_some()) {
            self.interrupted = open;
        } else if let Some(lead) =
            open.into_iter().next_back().filter(|lead| lead.announces && lead.between < MOST_BETWEEN)
        {
            self.open.push(Lead { between: lead.between + 1, ..lead });
        }
    }

    /// An entry begins the list under the innermost lead, or continues an open or interrupted list.
    fn enter_item(&mut self, indent: usize, mark: Mark, loose: Option<Lead>) {
        self.is_entry = true;
        if let Some(reading) = self.open.last().and_then(|lead| lead.begins_with(indent, mark)) {
            return self.attach_entry(self.open.len() - 1, Entry { indent, reading });
        }
        if let Some((at, reading)) = self.list_of(indent, mark) {
            return self.attach_entry(at, Entry { indent, reading });
        }
        if let Some((at, reading)) = self.interrupted_list_of(mark) {
            self.open = std::mem::take(&mut self.interrupted);
            return self.attach_entry(at, Entry { indent, reading });
        }
        let beside = self.open.iter().position(|lead| lead.is_beside(indent, mark));
        self.open.truncate(beside.unwrap_or(self.open.len()));
        // A section is not part of a list with other marks.
        if mark.is_section() && self.open.last().is_some_and(|lead| lead.latest.is_some()) {
            self.open.clear();
        }
        while self.open.last().is_some_and(|lead| lead.own.is_some_and(|own| own.indent > indent)) {
            self.open.pop();
        }
        self.open.extend(loose.filter(|lead| lead.begins_with(indent, mark).is_some()));
        if let Some(reading) = self.open.last().and_then(|lead| lead.begins_with(indent, mark)) {
            self.attach_entry(self.open.len() - 1, Entry { indent, reading });
        }
    }

    fn attach_entry(&mut self, at: usize, entry: Entry) {
        self.open.truncate(at + 1);
        let lead = &mut self.open[at];
        lead.latest = Some(entry);
        lead.is_complete = std::mem::take(&mut lead.one_more);
    }

    /// The lead whose list an entry continues; a matching next number takes precedence over the same kind of mark.
    fn list_of(&self, indent: usize, mark: Mark) -> Option<(usize, Reading)> {
        let lists = || self.open.iter().enumerate().rev().filter_map(|(at, lead)| Some((at, lead.latest?)));
        let next = |latest: Entry| mark.readings().find(|reading| reading.follows(latest.reading));
        let alike = |latest: Entry| {
            mark.readings().find(|reading| reading.style == latest.reading.style && indent == latest.indent)
        };
        // The numbers of a list without indents may continue its own or an outer one: its own unless it is complete.
        let unfinished = lists().filter(|(at, _)| !self.open[*at].is_complete);
        let by_number = unfinished.chain(lists()).find_map(|(at, latest)| Some((at, next(latest)?)));
        by_number.or_else(|| lists().find_map(|(at, latest)| Some((at, alike(latest)?))))
    }

    fn interrupted_list_of(&self, mark: Mark) -> Option<(usize, Reading)> {
        let goes_on = |latest: Entry| {
            let same = |reading: &Reading| reading.place == 0 && reading.style == latest.reading.style;
            let next = |reading: &Reading| reading.follows(latest.reading) || (self.unfinished && same(reading));
            mark.readings().find(next)
        };
        self.interrupted.iter().enumerate().rev().find_map(|(at, lead)| Some((at, goes_on(lead.latest?)?)))
    }

    /// Whether the block is an entry under a lead without an obligation: `The operator may:`.
    pub(super) fn completes_a_harmless_lead(&self, text: &str) -> bool {
        self.is_entry && begins_small(text) && self.open.last().is_some_and(|lead| !lead.is_normative)
    }

    /// The sentences whose lists contain the current block as an entry, nearest first.
    pub(super) fn above(&self) -> Vec<u32> {
        let open = if self.is_entry { &self.open[..] } else { &[] };
        open.iter().rev().map(|lead| lead.sentence).collect()
    }

    /// Whether the rows of a table that begins here state obligations.
    pub(super) fn table_states_duties(&self) -> bool {
        self.above_table || self.open.last().is_some_and(|lead| lead.is_normative && lead.latest.is_none())
    }

    /// The rule, other than its own wording, by which the first sentence of a block is a candidate; `judge` decides for
    /// a whole sentence.
    pub(super) fn reason(
        &self,
        block: &Block,
        text: &str,
        judge: impl Fn(&str) -> Option<&'static str>,
    ) -> Option<&'static str> {
        if self.is_entry {
            let lead = self.open.last().filter(|_| !is_code(text))?;
            let completed = || judge(&format!("{} {text}", lead.words));
            return (lead.is_normative || completed().is_some()).then_some("list item");
        }
        let before = self.unended.as_ref().filter(|_| block.opens_page && begins_small(text))?;
        judge(&format!("{before} {text}")).map(|_| "continued")
    }

    /// Records the last sentence of a block, and whether it and the previous one in the block are candidates.
    pub(super) fn leave(
        &mut self,
        block: &Block,
        (text, sentence): (&str, u32),
        is_candidate: bool,
        was_candidate: bool,
    ) {
        let own = match block.kind {
            Kind::Item { indent, mark } => Some(Entry { indent, reading: self.reading_of(mark) }),
            Kind::Paragraph | Kind::Heading => None,
            Kind::Row { .. } | Kind::Verbatim | Kind::Contents => return,
        };
        let is_heading = block.kind == Kind::Heading;
        let bare = text.trim_end_matches([':', '.', '—', '–', '-', ' ']);
        let count = bare.split_whitespace().count();
        let names_duties = demands_list(bare) || (count <= MOST_OF_A_TITLE && names_duties(bare));
        let is_normative = is_candidate || names_duties || (count <= MOST_OF_A_BARE_LEAD && was_candidate);
        let lead = Lead {
            own,
            is_normative,
            sentence,
            words: bare.to_owned(),
            announces: text.ends_with(':') || announces_list(text),
            between: 0,
            latest: None,
            one_more: false,
            is_complete: false,
        };
        let is_lead = text.ends_with(':')
            || announces_list(text)
            || text.ends_with(['—', '–'])
            || (!is_heading && is_left_open(text));
        let above_table = names_duties || (is_candidate && announces_table(bare));
        let is_still = self.above_table && is_caption(text);
        self.table_lead = if above_table { Some(sentence) } else { self.table_lead.filter(|_| is_still) };
        self.above_table = above_table || is_still;
        if self.is_entry {
            let joins = [" and", " or", " and/or", " und", " oder"].iter().any(|end| text.ends_with(end));
            self.unfinished = text.ends_with([';', ',']) || joins;
            if let Some(list) = self.open.last_mut() {
                list.one_more = joins;
            }
        }
        // A lead takes the place of one that still waits for its list.
        if is_lead {
            self.open.retain(|lead| lead.between == 0);
        }
        if is_lead || (is_heading && names_duties) {
            self.open.push(lead);
        } else if !is_heading && !text.ends_with(['.', '!', '?', ';', ',']) && count > 1 {
            self.loose = Some(lead);
        }
        if !is_heading && !is_note(text) {
            self.unended = (!text.ends_with(['.', '!', '?', ':', ';'])).then(|| text.to_owned());
        }
    }

    /// The reading of the current entry's mark.
    fn reading_of(&self, mark: Mark) -> Reading {
        let latest = self.open.last().and_then(|lead| lead.latest);
        latest
            .map(|latest| latest.reading)
            .filter(|latest| mark.readings().any(|one| one == *latest))
            .unwrap_or(mark.first)
    }

    /// The same for the rows of a table that begins here.
    pub(super) fn above_rows(&self) -> Vec<u32> {
        let lead = self.open.last().filter(|lead| lead.is_normative && lead.latest.is_none());
        self.table_lead.or(lead.map(|lead| lead.sentence)).into_iter().collect()
    }

    /// Ends a table.
    pub(super) fn leave_table(&mut self) {
        (self.above_table, self.table_lead) = (false, None);
    }
}

/// Whether no lead depends on whether this last sentence of a block, or the one before it, is a candidate: it opens no
/// list and announces no table.
pub(super) fn is_final(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ';', ',']) && !is_left_open(text) && !announces_table(text) && !announces_list(text)
}

/// Whether a sentence announces a list, although it has an end: `The operator shall do the following.`
fn announces_list(text: &str) -> bool {
    let bare = text.strip_suffix('.').map(str::to_lowercase);
    bare.is_some_and(|text| ENDS_BEFORE_LISTS.iter().any(|end| text.ends_with(end)))
}

/// A sentence that requires the items of a list or table below it, with any verb.
fn demands_list(text: &str) -> bool {
    static DEMANDS: LazyLock<Regex> = LazyLock::new(|| {
        pattern::own(
            r"\b(?:at (?:a |the )?(?:very )?minimum|at least|minimum|mandatory|required)\b.*\b(?:following|below|table)\b|\b(?:following|below|table)\b.*\b(?:at (?:a |the )?minimum|at least|are required|is required|are mandatory|apply|applies)\b|\bfollowing (?:[\w-]+ ){0,3}(?:requirements?|obligations?|duties|controls?|rules|conditions|measures|minimum \w+)\b|\b(?:mindestens|zwingend|verpflichtend)\b.*\b(?:folgende[nrms]?|nachstehend\w*|tabelle)\b|\bfolgende[nrms]? (?:\w+ ){0,2}(?:anforderungen|pflichten|vorgaben|auflagen|maßnahmen|mindest\w+)\b",
        )
    });
    Wording::of(text).is_some_and(|wording| DEMANDS.is_match(&wording.text))
}

/// Whether a paragraph is the title of a table.
fn is_caption(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["table", "tabelle", "tab."].contains(&first.as_str())
}

/// Whether a sentence announces a table.
fn announces_table(text: &str) -> bool {
    static TABLE: LazyLock<Regex> = LazyLock::new(|| {
        pattern::own(r"(?i)\b(?:following|below|table|schedule|matrix|folgende\w*|nachstehend\w*|tabelle|übersicht)\b")
    });
    TABLE.is_match(text)
}

/// Whether a title announces obligations.
fn names_duties(title: &str) -> bool {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        pattern::own(
            r"(?i)\b(?:requirements?|obligations|duties|responsibilities|minimum (?:content|contents|information|standards?)|must[- ]haves?|(?:[\wäöüß]*anforderungen|[\wäöüß]*pflichten|auflagen|vorgaben|mindestangaben|mindestinhalte?))$",
        )
    });
    NAMES.is_match(title.trim())
}

/// Whether an entry is a command or a line of a program: one in three of its words is an option, a path or a sign of a
/// programming language.
fn is_code(text: &str) -> bool {
    static SIGN: LazyLock<Regex> = LazyLock::new(|| {
        pattern::own(
            r#"^--?[A-Za-z][\w/=-]*$|^/\w|\w/\w[^/]*/\w|://|[{}\\|=]|&&|\(\);?$|^\[$|\];?$|"?\$[\w{("]|^\w+-\w+\.\w$"#,
        )
    });
    let words = text.split_whitespace().filter(|word| !word.starts_with('('));
    let (signs, all) = words.fold((0, 0), |(signs, all), word| (signs + usize::from(SIGN.is_match(word)), all + 1));
    signs * 3 >= all && signs > 0
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
