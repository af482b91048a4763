//! What of fields, rows and cells belongs to the text: not the code of a field, not a table of contents, not rows that
//! are hidden, nor rows and cells that a tracked change deletes. Cells that begin further right, and paragraphs of a
//! note, are set apart.

use super::copied::Copied;
use super::fields::Fields;
use super::markup::words;
use super::properties::is_on;
use crate::formats::warnings::first_words;
use crate::formats::xml;
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// Markers of parts that need it.
const MARKS: [&str; 7] =
    ["<w:fldChar", "<w:fldSimple", "<w:hidden", "<w:trPr", "<w:cellDel", "<w:footnotes", "<w:endnotes"];
/// Elements that are notes.
const NOTES: [&str; 2] = ["w:footnote", "w:endnote"];
/// A table has at most this many columns.
const MOST_COLUMNS: usize = 63;

/// A part with what is shown of it, and the removed content, one sentence each.
pub(super) fn shown(xml: &str) -> Result<(Cow<'_, str>, Vec<String>), quick_xml::Error> {
    if !MARKS.iter().any(|mark| memmem::find(xml.as_bytes(), mark.as_bytes()).is_some()) {
        return Ok((Cow::Borrowed(xml), Vec::new()));
    }
    let fields = Fields::of(xml);
    let mut walk = Walk { copied: Copied::new(xml), told: Vec::new(), fields, note: None };
    walk.run(xml)?;
    Ok((Cow::Owned(walk.copied.end()), walk.told))
}

struct Walk<'a> {
    copied: Copied<'a>,
    told: Vec<String>,
    fields: Fields,
    /// Within a note, the number of its paragraphs so far.
    note: Option<usize>,
}

impl<'a> Walk<'a> {
    fn run(&mut self, xml: &'a str) -> Result<(), quick_xml::Error> {
        let mut reader = Reader::from_str(xml);
        loop {
            let from = reader.buffer_position() as usize;
            match reader.read_event()? {
                Event::Start(start) => self.start(&mut reader, from, &start)?,
                Event::Empty(empty) => {
                    self.fields.empty(&empty);
                    self.write_field(&reader, empty.name().as_ref());
                }
                Event::Text(text) => self.characters(&reader, from, &text.xml10_content()),
                Event::GeneralRef(name) => self.characters(&reader, from, &xml::reference(&name)),
                Event::End(end) => self.end(&reader, end.name().as_ref()),
                Event::Eof => break,
                _ => {}
            }
        }
        self.told.append(&mut self.fields.told);
        Ok(())
    }

    fn start(
        &mut self,
        reader: &mut Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'a>,
    ) -> Result<(), quick_xml::Error> {
        self.fields.element(start);
        match start.name().as_ref() {
            "w:tr" | "w:tc" => {
                let own = Properties::of(reader.clone());
                if let Some(why) = own.unshown {
                    let words = words(self.copied.leave_out(reader, from, start)?);
                    self.tell(why, &words);
                } else if let Some((before, end)) = own.columns_before {
                    let width = format!("<w:tcPr><w:gridSpan w:val=\"{before}\"/></w:tcPr>");
                    self.copied.write(end, &format!("<w:tc>{width}<w:p/></w:tc>"));
                }
            }
            name if NOTES.contains(&name) => self.note = Some(0),
            "w:p" => self.paragraph(reader),
            _ => {}
        }
        Ok(())
    }

    fn characters(&mut self, reader: &Reader<&'a [u8]>, from: usize, text: &str) {
        if self.fields.is_unshown(text) {
            self.copied.omit(reader, from);
        }
    }

    /// The parser joins the paragraphs of a note.
    fn paragraph(&mut self, reader: &Reader<&'a [u8]>) {
        let Some(before) = self.note else { return };
        self.note = Some(before + 1);
        if before > 0 {
            let here = reader.buffer_position() as usize;
            self.copied.write(here, "<w:r><w:t xml:space=\"preserve\"> </w:t></w:r>");
        }
    }

    fn end(&mut self, reader: &Reader<&'a [u8]>, name: &str) {
        self.fields.end(name);
        if NOTES.contains(&name) {
            self.note = None;
        }
        self.write_field(reader, name);
    }

    /// Writes what a field shows behind the run that ends it.
    fn write_field(&mut self, reader: &Reader<&'a [u8]>, name: &str) {
        let value = if matches!(name, "w:r" | "w:fldSimple") { self.fields.take() } else { None };
        if let Some(value) = value {
            self.copied.write(reader.buffer_position() as usize, &value);
        }
    }

    fn tell(&mut self, why: &str, words: &str) {
        if words.contains(char::is_alphanumeric) {
            self.told.push(format!("Left out as {why}: {}.", first_words(words)));
        }
    }
}

/// The properties of a row or cell that decide what is shown of it.
#[derive(Default)]
struct Properties {
    unshown: Option<&'static str>,
    /// How many columns are left free before its first cell, and where its properties end.
    columns_before: Option<(usize, usize)>,
}

impl Properties {
    fn of(mut ahead: Reader<&[u8]>) -> Self {
        ahead.config_mut().expand_empty_elements = true;
        let (mut found, mut before) = (Self::default(), 0);
        loop {
            match ahead.read_event() {
                Ok(Event::Start(start)) => match start.name().as_ref() {
                    "w:tc" | "w:p" | "w:tbl" | "w:sdt" => return found,
                    "w:hidden" if is_on(&start) => found.unshown = Some("hidden"),
                    "w:del" | "w:cellDel" => found.unshown = Some("deleted by a tracked change"),
                    "w:gridBefore" => {
                        before = xml::attribute(&start, "val").and_then(|count| count.parse().ok()).unwrap_or(0);
                    }
                    _ => {}
                },
                Ok(Event::End(end)) if end.name().as_ref() == "w:trPr" && before > 0 => {
                    found.columns_before = Some((before.min(MOST_COLUMNS), ahead.buffer_position() as usize));
                }
                Ok(Event::Eof) | Err(_) => return found,
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    fn told(body: &str) -> (String, String) {
        let xml = format!("<b>{body}</b>");
        let (shown, told) = shown(&xml).expect("XML");
        (super::words(&shown).split_whitespace().collect::<Vec<_>>().join(" "), told.concat())
    }

    fn run(content: &str) -> String {
        format!("<w:r>{content}</w:r>")
    }

    fn field(code: &str, result: Option<&str>) -> String {
        let sign = |kind: &str| run(&format!("<w:fldChar w:fldCharType=\"{kind}\"/>"));
        let result = result.map(|result| sign("separate") + &text(result)).unwrap_or_default();
        sign("begin") + code + &result + &sign("end")
    }

    fn text(text: &str) -> String {
        run(&format!("<w:t>{text}</w:t>"))
    }

    fn code(text: &str) -> String {
        run(&format!("<w:instrText>{text}</w:instrText>"))
    }

    #[test]
    fn the_code_of_a_field_is_not_text() {
        let nested = code(" IF ") + &field(&code(" MERGEFIELD X "), Some("1")) + &code(" = 1 \"shall\" \"may\" ");
        let typed = code(" IF 1 = 1 \"") + &text("may not") + &code("\" \"\" ");
        let unended = run("<w:fldChar w:fldCharType=\"begin\"/>") + &text("It shall stay.");
        for (body, expected) in [
            (field(&nested, Some("shall")), ("shall", "")),
            (field(&typed, Some("shall")), ("shall", "Left out as the code of a field: \u{ab}may not\u{bb}.")),
            (unended, ("It shall stay.", "")),
            (field(&code(" MACROBUTTON NoMacro [Enter the name] "), None), ("[Enter the name]", "")),
            (
                field(&code(" LISTNUM \\l 3 "), None),
                ("", "Not in the text: what a field shows, \u{ab}LISTNUM \\l 3\u{bb}."),
            ),
            (field(&code(" EQ \\f(1;2) "), Some("")), ("", "")),
            (field(&code(" PAGE "), None), ("", "")),
        ] {
            let (words, told) = told(&format!("<w:p>{body}</w:p>"));
            assert_eq!((words.as_str(), told.as_str()), expected, "{body}");
        }
        let symbol = format!("<b>{}</b>", field(&code(" SYMBOL 163 \\f \"Symbol\" \\s 11 "), None));
        assert!(shown(&symbol).expect("XML").0.contains("<w:sym w:font=\"Symbol\" w:char=\"A3\"/>"));
    }

    #[test]
    fn rows_and_cells_that_are_not_shown_are_named() {
        let cell = |text: &str, own: &str| format!("<w:tc>{own}<w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
        let row = |own: &str, cells: &str| format!("<w:tr><w:trPr>{own}</w:trPr>{cells}</w:tr>");
        for (body, expected) in [
            (row("<w:hidden/>", &cell("a", "")), ("", "Left out as hidden: \u{ab}a\u{bb}.")),
            (row("<w:hidden w:val=\"0\"/>", &cell("a", "")), ("a", "")),
            (
                row("<w:del w:id=\"1\"/>", &(cell("a", "") + &cell("b", ""))),
                ("", "Left out as deleted by a tracked change: \u{ab}a b\u{bb}."),
            ),
            (
                row("", &(cell("a", "") + &cell("b", "<w:tcPr><w:cellDel/></w:tcPr>"))),
                ("a", "Left out as deleted by a tracked change: \u{ab}b\u{bb}."),
            ),
        ] {
            let (words, told) = told(&format!("<w:tbl>{body}</w:tbl>"));
            assert_eq!((words.as_str(), told.as_str()), expected, "{body}");
        }
        let later = row("<w:gridBefore w:val=\"2\"/>", &cell("a", ""));
        assert!(shown(&later).expect("XML").0.contains("<w:gridSpan w:val=\"2\"/></w:tcPr><w:p/></w:tc><w:tc>"));
    }

    #[test]
    fn paragraphs_of_a_note_are_apart() {
        let note =
            "<w:footnote><w:p><w:r><w:t>one.</w:t></w:r></w:p><w:p><w:r><w:t>two.</w:t></w:r></w:p></w:footnote>";
        let note = format!("<w:footnotes>{note}</w:footnotes>");
        assert!(
            shown(&note).expect("XML").0.contains("<w:p><w:r><w:t xml:space=\"preserve\"> </w:t></w:r><w:r><w:t>two.")
        );
    }
}
