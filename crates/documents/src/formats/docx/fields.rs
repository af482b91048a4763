//! Fields: a code between the signs `begin` and `separate`, its result between `separate` and `end`. Word shows the result
//! alone; of some fields without a result it shows what the code says.

use crate::formats::warnings::first_words;
use crate::formats::xml;
use quick_xml::escape::escape;
use quick_xml::events::BytesStart;
use std::ops::ControlFlow;

/// Fields whose result Word computes for display and does not store.
const COMPUTED: [&str; 6] = ["EQ", "AUTONUM", "AUTONUMLGL", "AUTONUMOUT", "LISTNUM", "BIDIOUTLINE"];
/// Fields that show the last part of their code.
const BUTTONS: [&str; 2] = ["MACROBUTTON", "GOTOBUTTON"];
/// Fields that repeat the headings or words of the document, with their pages.
const INDEXES: [&str; 3] = ["TOC", "INDEX", "TOA"];

/// The fields of a part, in the order of its text.
#[derive(Default)]
pub(super) struct Fields {
    /// Of each field in the order of their beginnings, whether it has an end. Without one, what follows is no code.
    ended: Vec<bool>,
    /// How many have begun.
    begun: usize,
    open: Vec<Field>,
    /// Where characters are: in the code of a field, or in the text.
    within: Within,
    /// Markup of what a field shows, to be written behind the present run.
    shown: Option<String>,
    /// Text of the present paragraph that is an entry of an index.
    entry: String,
    /// Content missing from the text, one sentence each.
    pub(super) told: Vec<String>,
}

#[derive(Default, PartialEq, Eq)]
enum Within {
    #[default]
    Other,
    Code,
    Text,
}

#[derive(Default)]
struct Field {
    has_end: bool,
    has_result: bool,
    code: String,
    /// Text in its code.
    text: String,
}

impl Fields {
    pub(super) fn of(xml: &str) -> Self {
        let (mut ended, mut open) = (Vec::new(), Vec::new());
        // The main reading reports an error.
        let _ = xml::each_start("a part with fields", xml, |start| {
            match kind(start).as_deref() {
                Some("begin") => {
                    open.push(ended.len());
                    ended.push(false);
                }
                Some("end") => open.pop().into_iter().for_each(|at| ended[at] = true),
                _ => {}
            }
            ControlFlow::Continue(())
        });
        Self { ended, ..Self::default() }
    }

    /// The beginning of an element.
    pub(super) fn element(&mut self, start: &BytesStart<'_>) {
        match (start.name().as_ref(), kind(start).as_deref()) {
            ("w:instrText", _) => self.within = Within::Code,
            ("w:t", _) => self.within = Within::Text,
            (_, Some("begin")) => {
                let has_end = self.ended.get(self.begun).copied().unwrap_or(false);
                self.begun += 1;
                self.open.push(Field { has_end, ..Field::default() });
            }
            (_, Some("separate")) => self.open.last_mut().into_iter().for_each(|field| field.has_result = true),
            (_, Some("end")) => self.close(),
            _ => {}
        }
    }

    /// An element without content.
    pub(super) fn empty(&mut self, empty: &BytesStart<'_>) {
        match empty.name().as_ref() {
            "w:fldSimple" => self.show(&xml::attribute(empty, "instr").unwrap_or_default()),
            "w:fldChar" => self.element(empty),
            "w:tab" if self.open.iter().any(Field::lists) => self.entry.push(' '),
            _ => {}
        }
    }

    /// The end of an element.
    pub(super) fn end(&mut self, name: &str) {
        match name {
            "w:instrText" | "w:t" => self.within = Within::Other,
            "w:p" if self.entry.contains(char::is_alphanumeric) => {
                let entry = first_words(&std::mem::take(&mut self.entry));
                self.told.push(format!("Left out as a table of contents or an index: {entry}."));
            }
            _ => {}
        }
    }

    /// Whether characters of the text are part of a code or of an index.
    pub(super) fn is_unshown(&mut self, characters: &str) -> bool {
        let in_index = self.within == Within::Text && self.open.iter().any(Field::lists);
        if in_index {
            self.entry.push_str(characters);
        }
        in_index || self.is_code(characters)
    }

    /// Whether characters of the text are part of a code; the characters of codes are kept.
    fn is_code(&mut self, characters: &str) -> bool {
        let in_code = |field: &&Field| field.has_end && !field.has_result;
        match self.within {
            Within::Code => self.open.last_mut().into_iter().for_each(|field| field.code.push_str(characters)),
            Within::Text if self.open.iter().any(|field| in_code(&field)) => {
                // Results within a code are those of other fields.
                if let [field] = self.open.as_mut_slice() {
                    field.text.push_str(characters);
                }
                return true;
            }
            Within::Text | Within::Other => {}
        }
        false
    }

    /// The markup of what the fields that ended in the present run show.
    pub(super) fn take(&mut self) -> Option<String> {
        self.shown.take()
    }

    fn close(&mut self) {
        let Some(field) = self.open.pop() else { return };
        if field.text.contains(char::is_alphabetic) {
            self.told.push(format!("Left out as the code of a field: {}.", first_words(&field.text)));
        }
        let is_shown = self.open.iter().all(|outer| outer.has_result);
        if !field.has_result && is_shown {
            self.show(&field.code);
        }
    }

    /// What a field without a result shows.
    fn show(&mut self, code: &str) {
        let (name, rest) = code.trim().split_once(char::is_whitespace).unwrap_or((code.trim(), ""));
        let name = name.to_uppercase();
        match name.as_str() {
            "SYMBOL" => self.shown = symbol(rest),
            name if BUTTONS.contains(&name) => {
                let text = rest.trim().split_once(char::is_whitespace).map_or("", |(_, text)| text.trim());
                let text = escape(text);
                self.shown = Some(format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>"));
            }
            name if COMPUTED.contains(&name) => {
                self.told.push(format!("Not in the text: what a field shows, {}.", first_words(code)));
            }
            _ => {}
        }
    }
}

impl Field {
    /// Whether its result is an index.
    fn lists(&self) -> bool {
        let name = self.code.split_whitespace().next().unwrap_or_default();
        self.has_end && self.has_result && INDEXES.iter().any(|index| name.eq_ignore_ascii_case(index))
    }
}

/// `begin`, `separate` or `end`.
fn kind(start: &BytesStart<'_>) -> Option<String> {
    (start.name().as_ref() == "w:fldChar").then(|| xml::attribute(start, "fldCharType")).flatten()
}

/// `163 \f "Symbol"`: a character by its code, and its font.
fn symbol(code: &str) -> Option<String> {
    let (number, rest) = code.trim().split_once(char::is_whitespace).unwrap_or((code.trim(), ""));
    let number: u32 = match number.to_ascii_lowercase().strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let font = rest.split_once("\\f").map_or("", |(_, font)| font.trim_start());
    let font = font.strip_prefix('"').map_or_else(|| font.split(' ').next(), |font| font.split('"').next());
    let font = font.unwrap_or_default();
    Some(format!("<w:r><w:sym w:font=\"{}\" w:char=\"{number:X}\"/></w:r>", escape(font)))
}
