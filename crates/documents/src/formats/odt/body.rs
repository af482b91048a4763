//! The text itself: `content.xml`, element by element, without recursion.

use super::list_styles::Styles;
use super::lists::{Label, Lists};
use super::tables::Tables;
use super::unshown::{DESCRIPTION, Unshown, told};
use crate::child::protocol::Failure;
use crate::formats::blocks::Block;
use crate::formats::raised::raised;
use crate::formats::warnings::{self, first_words};
use crate::formats::xml;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

/// Elements outside the document's text, with their content: numbering, pronunciations, programs.
const NOT_TEXT: [&str; 3] = ["text:sequence-decls", "text:ruby-text", "text:script"];
/// Maximum spaces of one element.
const MAX_SPACES: usize = 100;

/// A target of text.
enum Place {
    /// A heading with its level, or a paragraph, and its label.
    Paragraph(Option<u8>, Option<Label>, String),
    /// The mark of a note in the text.
    Label(String),
    /// A note: its mark and its text.
    Note(String, String),
}

/// An embedded document.
pub(crate) enum Object {
    /// A formula, as text.
    Formula(String),
    /// Any other embedded document, such as a chart, and its words.
    Other(String),
}

/// Embedded documents, by their folders.
pub(crate) type Objects = HashMap<String, Object>;

/// The document's blocks so far, and the current position.
pub(crate) struct Body<'a> {
    unshown: &'a Unshown,
    objects: &'a Objects,
    /// The values of its form fields, by their ids.
    fields: HashMap<String, String>,
    /// The form list that is being read, by its id.
    list: Option<String>,
    /// How many pictures it has, and how many of them are described.
    pictures: (usize, usize),
    /// Content missing from the text, one sentence each.
    told: Vec<String>,
    blocks: Vec<Block>,
    places: Vec<Place>,
    lists: Lists<'a>,
    tables: Tables,
    /// Of each open span, whether it is raised.
    raised: Vec<bool>,
    /// Notes of paragraphs that are still open.
    notes: Vec<Block>,
}

impl<'a> Body<'a> {
    /// Nothing read yet.
    pub(crate) fn new(styles: &'a Styles, unshown: &'a Unshown, objects: &'a Objects) -> Self {
        let (lists, tables) = (Lists::new(styles), Tables::default());
        let (blocks, places, notes, told, fields) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        Self {
            unshown,
            objects,
            fields,
            list: None,
            pictures: (0, 0),
            told,
            blocks,
            places,
            lists,
            tables,
            raised: Vec::new(),
            notes,
        }
    }

    /// The blocks of the whole text, and the content missing from it.
    pub(crate) fn read(mut self, content: &str) -> Result<(Vec<Block>, Vec<String>), Failure> {
        let mut reader = xml::reader(content);
        let broken = |error: quick_xml::Error| xml::broken("content.xml", &error);
        loop {
            match reader.read_event().map_err(broken)? {
                Event::Start(start) if self.is_no_text(start.name().as_ref()) => {
                    reader.read_to_end(start.name()).map_err(broken)?;
                }
                Event::Start(start) => match self.unshown.why(&start, &reader) {
                    Some(why) => {
                        if start.name().as_ref() == "table:covered-table-cell" {
                            self.tables.covered_cell(count(&start, "number-columns-repeated"));
                        }
                        let content = reader.read_text(start.name()).map_err(broken)?;
                        self.pictures.1 += usize::from(why == DESCRIPTION);
                        self.told.extend(told(why, &start, &content));
                    }
                    None => self.begin(&start, &reader),
                },
                Event::End(end) => self.end(end.name().as_ref()),
                Event::Text(text) => self.text(&text.xml10_content()),
                Event::CData(text) => self.text(&text.xml10_content()),
                Event::GeneralRef(name) => self.text(&xml::reference(&name)),
                Event::Eof => break,
                _ => {}
            }
        }
        self.blocks.append(&mut self.notes);
        let (pictures, described) = self.pictures;
        self.told.extend(warnings::pictures(pictures.saturating_sub(described), None));
        Ok((self.blocks, self.told))
    }

    /// Whether an element's content is none of the text. The number of a paragraph with a label is written again as text
    /// for programs that do not count.
    fn is_no_text(&self, name: &str) -> bool {
        let has_label = || matches!(self.places.last(), Some(Place::Paragraph(_, Some(_), _)));
        NOT_TEXT.contains(&name) || name == "text:number" && has_label()
    }

    fn begin(&mut self, start: &BytesStart<'_>, reader: &Reader<&[u8]>) {
        match start.name().as_ref() {
            "text:h" => {
                let level = count(start, "outline-level").map_or(1, |level| level.clamp(1, 6) as u8);
                self.places.push(Place::Paragraph(Some(level), self.lists.label(start), String::new()));
            }
            "text:p" => self.places.push(Place::Paragraph(None, self.lists.label(start), String::new())),
            "text:span" => self.raised.push(self.unshown.is_raised(start)),
            "text:note" => self.places.push(Place::Note(String::new(), String::new())),
            "text:note-citation" => self.places.push(Place::Label(String::new())),
            "text:list" => self.lists.begin(start),
            "text:numbered-paragraph" => self.lists.begin_paragraph(start),
            "text:list-item" => self.lists.entry(start),
            "text:list-header" => self.lists.header(),
            "table:table" => self.tables.begin(),
            "table:table-cell" => {
                self.tables.begin_cell(count(start, "number-columns-repeated"), count(start, "number-rows-spanned"));
            }
            "text:s" => {
                self.verbatim(&" ".repeat(count(start, "c").unwrap_or(1).min(MAX_SPACES)));
            }
            "text:tab" => self.verbatim(" "),
            "text:line-break" => self.verbatim("\n"),
            "draw:object" | "draw:object-ole" => self.object(start, reader),
            "draw:image" => {
                let file = xml::attribute(start, "href").unwrap_or_default();
                self.pictures.0 += usize::from(!file.contains("ObjectReplacements"));
            }
            "text:section-source" => {
                let file = xml::attribute(start, "href").filter(|file| !file.is_empty());
                let said = |file: String| format!("Not in the text: a part in another file, {}.", first_words(&file));
                self.told.extend(file.map(said));
            }
            "draw:control" => {
                let field = xml::attribute(start, "control").and_then(|id| self.fields.get(&id).cloned());
                self.verbatim(&field.unwrap_or_default());
            }
            name if name.starts_with("form:") => self.field(start),
            _ => {}
        }
    }

    /// An embedded document: a formula is read, anything else is reported.
    fn object(&mut self, start: &BytesStart<'_>, reader: &Reader<&[u8]>) {
        let address = xml::attribute(start, "href").unwrap_or_default();
        let folder = address.trim_start_matches("./").trim_end_matches('/');
        let within = reader.clone().read_text(start.name()).ok().and_then(|content| super::unshown::formula(&content));
        let name = match (&within, self.objects.get(folder)) {
            (Some(formula), _) | (None, Some(Object::Formula(formula))) => {
                return self.verbatim(&format!(" {formula} "));
            }
            (None, Some(Object::Other(words))) if words.contains(char::is_alphabetic) => words,
            (None, _) => folder,
        };
        if !name.is_empty() {
            self.told.push(format!("Not in the text: an embedded object, {}.", first_words(name)));
        }
    }

    /// A form field in the text: its entered or chosen value.
    fn field(&mut self, start: &BytesStart<'_>) {
        let of = |name: &str| xml::attribute(start, name).filter(|value| !value.is_empty());
        let value = match start.local_name().as_ref() {
            "text" | "textarea" | "formatted-text" | "date" | "time" | "number" | "combobox" | "listbox" => {
                of("current-value").or_else(|| of("value"))
            }
            "checkbox" | "radio" => {
                let is_on = of("current-state").or_else(|| of("state")).is_some_and(|state| state == "checked");
                let is_on = is_on || of("current-selected").is_some_and(|selected| selected == "true");
                let mark = if is_on { "[x] " } else { "[ ] " };
                Some(format!("{mark}{}", of("label").unwrap_or_default()))
            }
            "fixed-text" | "button" => of("label"),
            "option" => return self.option(start),
            _ => None,
        };
        self.list = of("id");
        self.fields.extend(of("id").zip(value));
    }

    /// An entry of a list, which shows only chosen entries.
    fn option(&mut self, start: &BytesStart<'_>) {
        let is_on = |name| xml::attribute(start, name).is_some_and(|value| value == "true");
        let label = xml::attribute(start, "label").or_else(|| xml::attribute(start, "value"));
        let (Some(list), Some(label)) = (&self.list, label.filter(|_| is_on("current-selected") || is_on("selected")))
        else {
            return;
        };
        let shown = self.fields.entry(list.clone()).or_default();
        if !shown.is_empty() {
            shown.push_str("; ");
        }
        shown.push_str(&label);
    }

    fn end(&mut self, name: &str) {
        match name {
            "text:h" | "text:p" | "text:note" | "text:note-citation" => {
                if let Some(place) = self.places.pop() {
                    self.close(place);
                }
            }
            "text:span" => drop(self.raised.pop()),
            "text:list" | "text:numbered-paragraph" => self.lists.end(),
            "table:table-cell" => self.tables.end_cell(),
            "table:table-row" => self.tables.end_row(),
            "table:table" => self.blocks.extend(self.tables.end()),
            _ => {}
        }
    }

    fn close(&mut self, place: Place) {
        match place {
            Place::Label(sign) => {
                if let Some(Place::Note(label, _)) = self.places.last_mut() {
                    *label = sign.trim().to_owned();
                }
            }
            Place::Note(label, text) => {
                self.verbatim(&format!("[^{label}]"));
                self.notes.push(Block::Paragraph(format!("[^{label}]: {text}")));
            }
            Place::Paragraph(level, label, text) => self.close_paragraph(level, label, text.trim().to_owned()),
        }
    }

    fn close_paragraph(&mut self, heading: Option<u8>, label: Option<Label>, text: String) {
        if let Some(Place::Note(_, note)) = self.places.iter_mut().rfind(|place| matches!(place, Place::Note(..))) {
            if !note.is_empty() {
                note.push(' ');
            }
            note.push_str(&text);
            return;
        }
        if self.tables.in_cell() {
            let sign = label.and_then(|label| label.sign).filter(|sign| !sign.is_empty() && !text.is_empty());
            self.tables.take(&sign.map_or_else(|| text.clone(), |sign| format!("{sign} {text}")));
            return;
        }
        let block = match (heading, label) {
            (_, Some(Label { level, sign: Some(sign) })) => Block::labelled(heading, level, &sign, text),
            (Some(heading), _) => Block::Heading(heading, text),
            (None, Some(Label { level, sign: None })) => Block::Item { depth: level, marker: "-".to_owned(), text },
            (None, None) => Block::Paragraph(text),
        };
        self.blocks.push(block);
        if self.places.is_empty() {
            self.blocks.append(&mut self.notes);
        }
    }

    /// Text of the document: each run of white space is one space.
    fn text(&mut self, text: &str) {
        let number = if self.raised.contains(&true) { raised(text) } else { None };
        let text = number.as_deref().unwrap_or(text);
        let Some(target) = self.target() else {
            return;
        };
        for character in text.chars() {
            if !character.is_whitespace() || character == '\u{a0}' {
                target.push(character);
            } else if !target.is_empty() && !target.ends_with([' ', '\n']) {
                target.push(' ');
            }
        }
    }

    /// Explicit white space, and marks of notes.
    fn verbatim(&mut self, text: &str) {
        if let Some(target) = self.target() {
            target.push_str(text);
        }
    }

    /// The current target of text; none between paragraphs.
    fn target(&mut self) -> Option<&mut String> {
        match self.places.last_mut()? {
            Place::Paragraph(.., text) | Place::Label(text) => Some(text),
            Place::Note(..) => None,
        }
    }
}

/// An attribute that is a number.
fn count(start: &BytesStart<'_>, name: &str) -> Option<usize> {
    xml::attribute(start, name).and_then(|value| value.parse().ok())
}
