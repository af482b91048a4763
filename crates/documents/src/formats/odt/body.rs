//! The text itself: `content.xml`, element by element, without recursion.

use super::lists::{Lists, Styles};
use super::tables::Tables;
use crate::child::protocol::Failure;
use crate::formats::blocks::Block;
use crate::formats::xml;
use quick_xml::events::{BytesStart, Event};

/// Elements that are not the document's text, with everything in them: deletions and comments, generated lists,
/// drawings' descriptions, pronunciations, forms.
const NOT_TEXT: [&str; 14] = [
    "text:tracked-changes",
    "text:table-of-content",
    "text:alphabetical-index",
    "text:illustration-index",
    "text:table-index",
    "text:object-index",
    "text:user-index",
    "text:sequence-decls",
    "text:ruby-text",
    "office:annotation",
    "office:forms",
    "svg:title",
    "svg:desc",
    "draw:object",
];
/// Spaces that one element may stand for.
const MAX_SPACES: usize = 100;

/// A place that text goes to.
enum Place {
    /// A heading with its level, or a paragraph.
    Paragraph(Option<u8>, String),
    /// The sign of a note in the text.
    Label(String),
    /// A note: its sign and its text.
    Note(String, String),
}

/// The document's blocks so far and where in it we are.
pub(crate) struct Body<'a> {
    styles: &'a Styles,
    blocks: Vec<Block>,
    places: Vec<Place>,
    lists: Lists,
    tables: Tables,
    /// Notes of paragraphs that are still open.
    notes: Vec<Block>,
}

impl<'a> Body<'a> {
    /// Nothing read yet.
    pub(crate) fn new(styles: &'a Styles) -> Self {
        let (lists, tables) = (Lists::default(), Tables::default());
        Self { styles, blocks: Vec::new(), places: Vec::new(), lists, tables, notes: Vec::new() }
    }

    /// The blocks of the whole text.
    pub(crate) fn read(mut self, content: &str) -> Result<Vec<Block>, Failure> {
        let mut reader = xml::reader(content);
        let broken = |error: quick_xml::Error| xml::broken("content.xml", &error);
        loop {
            match reader.read_event().map_err(broken)? {
                Event::Start(start) if NOT_TEXT.contains(&start.name().as_ref()) => {
                    reader.read_to_end(start.name()).map_err(broken)?;
                }
                Event::Start(start) => self.begin(&start),
                Event::End(end) => self.end(end.name().as_ref()),
                Event::Text(text) => self.text(&text.xml10_content()),
                Event::CData(text) => self.text(&text.xml10_content()),
                Event::GeneralRef(name) => self.text(&xml::reference(&name)),
                Event::Eof => break,
                _ => {}
            }
        }
        self.blocks.append(&mut self.notes);
        Ok(self.blocks)
    }

    fn begin(&mut self, start: &BytesStart<'_>) {
        let number = |name| xml::attribute(start, name).and_then(|value| value.parse::<u32>().ok());
        match start.name().as_ref() {
            "text:h" => {
                let level = number("outline-level").map_or(1, |level| level.clamp(1, 6) as u8);
                self.places.push(Place::Paragraph(Some(level), String::new()));
            }
            "text:p" => self.places.push(Place::Paragraph(None, String::new())),
            "text:note" => self.places.push(Place::Note(String::new(), String::new())),
            "text:note-citation" => self.places.push(Place::Label(String::new())),
            "text:list" => self.lists.begin(xml::attribute(start, "style-name")),
            "text:list-item" => self.lists.entry(number("start-value")),
            "table:table" => self.tables.begin(),
            "table:table-cell" | "table:covered-table-cell" => {
                self.tables.begin_cell(number("number-columns-repeated").map(|count| count as usize));
            }
            "text:s" => {
                let count = number("c").map_or(1, |count| count as usize).min(MAX_SPACES);
                self.verbatim(&" ".repeat(count));
            }
            "text:tab" => self.verbatim(" "),
            "text:line-break" => self.verbatim("\n"),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "text:h" | "text:p" | "text:note" | "text:note-citation" => {
                if let Some(place) = self.places.pop() {
                    self.close(place);
                }
            }
            "text:list" => self.lists.end(),
            "table:table-cell" | "table:covered-table-cell" => self.tables.end_cell(),
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
            Place::Paragraph(level, text) => self.close_paragraph(level, text.trim().to_owned()),
        }
    }

    fn close_paragraph(&mut self, level: Option<u8>, text: String) {
        if let Some(Place::Note(_, note)) = self.places.iter_mut().rfind(|place| matches!(place, Place::Note(..))) {
            if !note.is_empty() {
                note.push(' ');
            }
            note.push_str(&text);
            return;
        }
        if self.tables.in_cell() {
            self.tables.take(&text);
            return;
        }
        let block = match (level, self.lists.take_marker(self.styles)) {
            (Some(level), _) => Block::Heading(level, text),
            (None, Some((depth, marker))) => Block::Item { depth, marker, text },
            (None, None) => Block::Paragraph(text),
        };
        self.blocks.push(block);
        if self.places.is_empty() {
            self.blocks.append(&mut self.notes);
        }
    }

    /// Text of the document: any stretch of white space is one space in it.
    fn text(&mut self, text: &str) {
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

    /// White space that is meant, and signs of notes.
    fn verbatim(&mut self, text: &str) {
        if let Some(target) = self.target() {
            target.push_str(text);
        }
    }

    /// Where text goes; nowhere between the paragraphs.
    fn target(&mut self) -> Option<&mut String> {
        match self.places.last_mut()? {
            Place::Paragraph(_, text) | Place::Label(text) => Some(text),
            Place::Note(..) => None,
        }
    }
}
