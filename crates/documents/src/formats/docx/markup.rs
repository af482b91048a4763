//! Preprocesses the markup of a DOCX part: visible content that the parser does not support becomes runs of text
//! (formulas, chosen entries of forms), and invisible content is removed and reported (hidden, struck, deleted, moved).

use super::copied::Copied;
use super::labels::Labels;
use super::numbering::{Numbering, asked};
use super::outline;
use super::properties::{Unshown, UnshownStyles, chosen, is_merged, why_unshown};
use super::symbols::Symbols;
use crate::child::protocol::Failure;
use crate::formats::formula::Formula;
use crate::formats::raised::raised;
use crate::formats::warnings::first_words;
use crate::formats::xml;
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

/// Markers of parts that need preprocessing: most parts have none.
const MARKS: [&str; 19] = [
    ":vanish",
    ":strike",
    ":dstrike",
    ":del ",
    ":moveFrom ",
    ":oMath",
    ":altChunk",
    ":object",
    ":ffData",
    ":rStyle",
    ":vMerge",
    ":rt>",
    ":sym ",
    "\"Symbol\"",
    "\"Wingdings\"",
    ":vertAlign",
    ":outlineLvl",
    ":AlternateContent",
    "<![CDATA[",
];
/// Parts of a table that are not its text.
const LAYOUT: [&str; 5] = ["w:tblPr", "w:tblGrid", "w:trPr", "w:tblPrEx", "w:tcPr"];
/// A part as it is to be parsed.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Its markup.
    pub(super) xml: String,
    /// The removed content, one sentence each.
    pub(super) told: Vec<String>,
    /// The relations that pieces of other documents have, in the order of their places: see [`chunk_mark`].
    pub(super) chunks: Vec<String>,
}

/// The placeholder in the text for a piece of another document.
pub(super) fn chunk_mark(number: usize) -> String {
    format!("\u{f8ff}chunk {number}\u{f8ff}")
}

/// Whether a part needs preprocessing.
pub(super) fn is_to_settle(xml: &str) -> bool {
    MARKS.iter().any(|mark| memmem::find(xml.as_bytes(), mark.as_bytes()).is_some()) || has_nested_table(xml)
}

fn has_nested_table(xml: &str) -> bool {
    let mut open = 0_usize;
    memmem::find_iter(xml.as_bytes(), b"w:tbl>").any(|at| {
        open = if xml[..at].ends_with('/') { open.saturating_sub(1) } else { open + 1 };
        open > 1
    })
}

/// Settles a part.
pub(super) fn settle(part: &str, xml: &str, styles: &UnshownStyles, numbering: &Numbering) -> Result<Settled, Failure> {
    let mut walk = Walk::new(xml, styles, Labels::new(numbering));
    walk.run().map_err(|error| xml::broken(part, &error))?;
    Ok(Settled { xml: walk.copied.end(), ..walk.settled })
}

/// The words of a part, a paragraph a line.
pub(super) fn words(xml: &str) -> String {
    let mut reader = xml::reader(xml);
    let (mut out, mut is_text) = (String::new(), false);
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => {
                is_text = matches!(start.local_name().as_ref(), "t" | "delText");
                out.push_str(if matches!(start.local_name().as_ref(), "tab" | "br") { " " } else { "" });
            }
            Event::End(end) => {
                is_text = false;
                out.push_str(if matches!(end.local_name().as_ref(), "p" | "pt") { "\n" } else { "" });
            }
            Event::Text(text) if is_text => out.push_str(&text.xml10_content()),
            Event::GeneralRef(name) if is_text => out.push_str(&xml::reference(&name)),
            Event::Eof => break,
            _ => {}
        }
    }
    out
}

/// The look of the present run, as far as it changes what its characters are.
#[derive(Default)]
struct Look {
    font: Option<Symbols>,
    raised: bool,
}

/// Traverses a part; unchanged markup is copied verbatim.
struct Walk<'a> {
    xml: &'a str,
    copied: Copied<'a>,
    styles: &'a UnshownStyles,
    /// Invisible words, concatenated.
    unshown: Option<(Unshown, String)>,
    /// The displayed value of a form field, until the field ends.
    chosen: Option<String>,
    /// How many paragraphs and tables are open.
    paragraphs: usize,
    tables: usize,
    /// Of each open choice between two forms of the same content, whether the fallback is read.
    fallbacks: Vec<bool>,
    look: Look,
    labels: Labels<'a>,
    /// The level and label of the present paragraph, and the end of the properties that it follows.
    label: Option<(String, usize)>,
    settled: Settled,
}

impl<'a> Walk<'a> {
    fn new(xml: &'a str, styles: &'a UnshownStyles, labels: Labels<'a>) -> Self {
        Self {
            xml,
            copied: Copied::new(xml),
            styles,
            unshown: None,
            chosen: None,
            paragraphs: 0,
            tables: 0,
            fallbacks: Vec::new(),
            look: Look::default(),
            labels,
            label: None,
            settled: Settled::default(),
        }
    }

    fn run(&mut self) -> Result<(), quick_xml::Error> {
        let mut reader = Reader::from_str(self.xml);
        loop {
            let from = reader.buffer_position() as usize;
            match reader.read_event()? {
                Event::Start(start) => self.start(&mut reader, from, &start)?,
                Event::Empty(empty) => self.empty(&mut reader, from, &empty),
                Event::CData(text) => {
                    self.copied.replace(&reader, from, &escape(&*text.xml10_content()));
                }
                Event::Text(text) => self.text(&reader, from, &text.xml10_content()),
                Event::End(end) => self.end(&reader, from, end.name().as_ref()),
                Event::Eof => break,
                _ => {}
            }
        }
        self.report_hidden();
        Ok(())
    }

    fn start(
        &mut self,
        reader: &mut Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'a>,
    ) -> Result<(), quick_xml::Error> {
        let is_nested = self.tables > 1;
        match start.name().as_ref() {
            // How the characters before it are pronounced.
            "w:moveFrom" | "w:rt" => drop(self.copied.leave_out(reader, from, start)?),
            "w:tbl" => self.begin_table(reader, from),
            "w:tr" if is_nested => self.copied.omit(reader, from),
            name if is_nested && LAYOUT.contains(&name) => drop(self.copied.leave_out(reader, from, start)?),
            "mc:AlternateContent" => self.begin_alternatives(reader, from, start)?,
            "mc:Choice" if self.reads_fallback() => drop(self.copied.leave_out(reader, from, start)?),
            "mc:Fallback" if self.reads_fallback() => self.copied.omit(reader, from),
            "mc:Fallback" if !self.fallbacks.is_empty() => drop(self.copied.leave_out(reader, from, start)?),
            "w:del" => {
                let words = words(self.copied.leave_out(reader, from, start)?);
                self.tell("deleted by a tracked change", &words);
            }
            "w:p" | "w:r" => match why_unshown(reader.clone(), self.styles) {
                Some(why) => {
                    let words = words(self.copied.leave_out(reader, from, start)?);
                    self.gather(why, &words);
                }
                None if start.name().as_ref() == "w:r" => {
                    self.look = Look::default();
                    self.report_hidden();
                }
                None => {
                    self.paragraphs += 1;
                    self.label = self.label_of(reader);
                }
            },
            "w:tc" => {
                if is_merged(reader.clone()) {
                    let name = start.name();
                    let words = words(reader.clone().read_text(name)?.as_ref());
                    self.tell("hidden behind the cell above it", &words);
                }
                if is_nested {
                    self.copied.omit(reader, from);
                }
            }
            "m:oMath" => {
                let text = formula(self.copied.leave_out(reader, from, start)?);
                self.write_run(&format!(" {} ", text.trim()));
            }
            "w:altChunk" => {
                let relation = xml::attribute(start, "id").unwrap_or_default();
                self.copied.leave_out(reader, from, start)?;
                self.write_chunk(relation);
            }
            "w:object" => self.embedded(reader, start)?,
            "w:ffData" => {
                let name = start.name();
                let field = reader.read_text(name)?;
                self.chosen = chosen(&field);
            }
            _ => {}
        }
        Ok(())
    }

    fn empty(&mut self, reader: &mut Reader<&'a [u8]>, from: usize, empty: &BytesStart<'_>) {
        let value = |name: &str| xml::attribute(empty, name).unwrap_or_default();
        match empty.name().as_ref() {
            "w:altChunk" => {
                self.copied.omit(reader, from);
                self.write_chunk(value("id"));
            }
            "w:sym" => {
                self.copied.omit(reader, from);
                self.symbol(&value("font"), &value("char"));
            }
            "w:rFonts" => self.look.font = Symbols::of(&value("ascii")),
            "w:vertAlign" => self.look.raised = value("val") == "superscript",
            name if self.tables > 1 && LAYOUT.contains(&name) => self.copied.omit(reader, from),
            _ => {}
        }
    }

    fn end(&mut self, reader: &Reader<&'a [u8]>, from: usize, name: &str) {
        match name {
            "w:p" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.report_hidden();
            }
            "w:pPr" => self.write_label(reader),
            "w:r" => self.run_ends(reader),
            "w:tbl" | "w:tr" | "w:tc" if self.tables > 1 => self.copied.omit(reader, from),
            "mc:Fallback" | "mc:AlternateContent" if self.reads_fallback() => self.copied.omit(reader, from),
            _ => {}
        }
        self.tables -= usize::from(name == "w:tbl" && self.tables > 0);
        if name == "mc:AlternateContent" {
            self.fallbacks.pop();
        }
    }

    fn label_of(&mut self, reader: &Reader<&'a [u8]>) -> Option<(String, usize)> {
        let (asked, end) = asked(reader.clone())?;
        let label = self.labels.place(&asked).and_then(|place| self.labels.next(&place));
        let level = self.labels.outline(&asked).map(outline::marked);
        let marked = level.into_iter().chain(label.map(|label| label.marked())).collect::<String>();
        (!marked.is_empty()).then_some((marked, end))
    }

    /// A paragraph's label is its first run.
    fn write_label(&mut self, reader: &Reader<&'a [u8]>) {
        let here = reader.buffer_position() as usize;
        if let Some((label, _)) = self.label.take_if(|(_, end)| *end == here) {
            self.copied.to(here);
            self.write_run(&label);
        }
    }

    /// Characters of a run.
    fn text(&mut self, reader: &Reader<&'a [u8]>, from: usize, text: &str) {
        let shown = match &self.look {
            Look { font: Some(font), .. } => font.text(text),
            Look { raised: true, .. } => raised(text).unwrap_or_else(|| text.to_owned()),
            Look { .. } => return,
        };
        if shown != text {
            self.copied.replace(reader, from, &escape(&shown));
        }
    }

    /// A character by its code in a font.
    fn symbol(&mut self, font: &str, code: &str) {
        let known = u32::from_str_radix(code, 16).ok().and_then(|code| match Symbols::of(font) {
            Some(symbols) => symbols.character(code),
            None => char::from_u32(code).filter(|_| !(0xe000..0xf900).contains(&code)),
        });
        if known.is_none() {
            let which = first_words(&format!("{code} of {font}"));
            self.settled.told.push(format!("Not in the text, where U+FFFD is in its place: the character {which}."));
        }
        let shown = known.unwrap_or(char::REPLACEMENT_CHARACTER).to_string();
        self.copied.push(&format!("<w:t xml:space=\"preserve\">{}</w:t>", escape(&*shown)));
    }

    /// A table within a cell becomes paragraphs of the cell, in their place.
    fn begin_table(&mut self, reader: &Reader<&'a [u8]>, from: usize) {
        self.tables += 1;
        if self.tables > 1 {
            self.copied.omit(reader, from);
        }
    }

    /// Two forms of the same content: the first for newer programs. One is read, the first unless only the fallback has
    /// words.
    fn begin_alternatives(
        &mut self,
        reader: &Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'_>,
    ) -> Result<(), quick_xml::Error> {
        let content = reader.clone().read_text(start.name())?;
        let (first, fallback) = content.split_once("<mc:Fallback").unwrap_or((&content, ""));
        let says = |xml: &str| !words(xml).trim().is_empty();
        self.fallbacks.push(!says(first) && says(fallback));
        if self.reads_fallback() {
            self.copied.omit(reader, from);
        }
        Ok(())
    }

    fn reads_fallback(&self) -> bool {
        self.fallbacks.last() == Some(&true)
    }

    fn write_run(&mut self, text: &str) {
        // A formula may be between the paragraphs.
        let (begin, end) = if self.paragraphs == 0 { ("<w:p>", "</w:p>") } else { ("", "") };
        let text = escape(text);
        self.copied.push(&format!("{begin}<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>{end}"));
    }

    fn write_chunk(&mut self, relation: String) {
        let mark = chunk_mark(self.settled.chunks.len());
        self.settled.chunks.push(relation);
        self.copied.push(&format!("<w:p><w:r><w:t>{mark}</w:t></w:r></w:p>"));
    }

    fn gather(&mut self, why: Unshown, words: &str) {
        match &mut self.unshown {
            Some((before, gathered)) if *before == why => gathered.push_str(words),
            _ => {
                self.report_hidden();
                self.unshown = Some((why, words.to_owned()));
            }
        }
    }

    fn report_hidden(&mut self) {
        match self.unshown.take() {
            Some((Unshown::Hidden, words)) => self.tell("hidden", &words),
            Some((Unshown::Struck, words)) => self.tell("struck out", &words),
            None => {}
        }
    }

    fn tell(&mut self, why: &str, words: &str) {
        if words.chars().any(char::is_alphanumeric) {
            self.settled.told.push(format!("Left out as {why}: {}.", first_words(words)));
        }
    }

    /// A table or drawing of another program, shown as a picture.
    fn embedded(&mut self, reader: &Reader<&'a [u8]>, start: &BytesStart<'_>) -> Result<(), quick_xml::Error> {
        let object = reader.clone().read_text(start.name())?;
        if let Some((_, rest)) = object.split_once("ProgID=") {
            let program = rest.trim_start_matches(['"', '\'']).split(['"', '\'']).next().unwrap_or_default();
            self.settled.told.push(format!("Not in the text: an embedded object, {}.", first_words(program)));
        }
        Ok(())
    }

    /// The displayed value of a form field follows the run that ends it.
    fn run_ends(&mut self, reader: &Reader<&'a [u8]>) {
        let end = reader.buffer_position() as usize;
        let run = &self.xml[self.xml[..end].rfind("<w:r").unwrap_or(0)..end];
        if run.contains("fldCharType=\"end\"")
            && let Some(chosen) = self.chosen.take()
        {
            self.copied.to(end);
            self.write_run(&chosen);
        }
    }
}

fn formula(xml: &str) -> String {
    let mut reader = xml::reader(xml);
    let mut formula = Formula::default();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => formula.begin(start.local_name().as_ref(), xml::attribute(&start, "val")),
            Event::Text(text) => formula.text(&text.xml10_content()),
            Event::GeneralRef(name) => formula.text(&xml::reference(&name)),
            Event::End(_) => {
                if let Some(text) = formula.end() {
                    return text;
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

    fn settled(body: &str) -> Settled {
        let styles = UnshownStyles::from([("Draft".to_owned(), Unshown::Hidden)]);
        settle("word/document.xml", &format!("<w:document {W}>{body}</w:document>"), &styles, &Numbering::default())
            .expect("it is XML")
    }

    #[test]
    fn what_readers_do_not_see_is_taken_out_and_named() {
        let run = |properties: &str, text: &str| format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>");
        for (taken, told) in [
            (
                run("<w:vanish/>", "Draft: ") + &run("<w:b/><w:vanish/>", "six years"),
                "Left out as hidden: \u{ab}Draft: six years\u{bb}.",
            ),
            (run("<w:rStyle w:val=\"Draft\"/>", "A note"), "Left out as hidden: \u{ab}A note\u{bb}."),
            (run("<w:dstrike w:val=\"true\"/>", "Old"), "Left out as struck out: \u{ab}Old\u{bb}."),
            (
                "<w:del w:id=\"1\"><w:r><w:delText>Gone</w:delText></w:r></w:del>".to_owned(),
                "Left out as deleted by a tracked change: \u{ab}Gone\u{bb}.",
            ),
            (format!("<w:moveFrom w:id=\"1\">{}</w:moveFrom>", run("", "Elsewhere")), ""),
        ] {
            let kept = run("<w:vanish w:val=\"0\"/>", "Logs shall be kept.");
            let found = settled(&format!("<w:p>{taken}{kept}</w:p>"));
            assert!(words(&found.xml).trim() == "Logs shall be kept.", "{}", found.xml);
            assert_eq!(found.told.concat(), told);
        }
    }

    #[test]
    fn formulas_and_choices_become_text() {
        let found =
            settled("<w:p><w:r><w:t>at most</w:t></w:r><m:oMath><m:r><m:t>t&lt;200</m:t></m:r></m:oMath></w:p>");
        assert_eq!(words(&found.xml), "at most t<200 \n");
        let field = "<w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData><w:ddList><w:result w:val=\"1\"/><w:listEntry \
                     w:val=\"IT\"/><w:listEntry w:val=\"Legal\"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:fldChar \
                     w:fldCharType=\"end\"/></w:r>";
        assert_eq!(words(&settled(&format!("<w:p>{field}</w:p>")).xml).trim(), "Legal");
        let chunk = settled("<w:altChunk r:id=\"rId7\"/><w:p/>");
        assert_eq!((words(&chunk.xml).trim().to_owned(), chunk.chunks), (chunk_mark(0), vec!["rId7".to_owned()]));
    }
}
