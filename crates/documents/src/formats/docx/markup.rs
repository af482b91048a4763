//! Preprocesses the markup of a DOCX part: visible content that the parser does not support becomes runs of text
//! (formulas, chosen entries of forms), and invisible content is removed and reported (hidden, struck, deleted, moved).

use crate::child::protocol::Failure;
use crate::formats::formula::Formula;
use crate::formats::warnings::first_words;
use crate::formats::xml;
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Markers of parts that need preprocessing: most parts have none.
const MARKS: [&str; 13] = [
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
    "<![CDATA[",
];
/// The namespaces of word processing, the usual and the strict one.
const NAMESPACES: [&str; 2] = [
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
];

/// Why a run is invisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unshown {
    Hidden,
    Struck,
}

/// Styles of invisible text.
pub(super) type UnshownStyles = HashMap<String, Unshown>;

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
    MARKS.iter().any(|mark| memmem::find(xml.as_bytes(), mark.as_bytes()).is_some()) || !other_prefixes(xml).is_empty()
}

/// Settles a part.
pub(super) fn settle(part: &str, xml: &str, styles: &UnshownStyles) -> Result<Settled, Failure> {
    let renamed = other_prefixes(xml);
    let xml = renamed.iter().fold(xml.to_owned(), |xml, prefix| with_usual_prefix(&xml, prefix));
    let mut walk = Walk { xml: &xml, copied: 0, styles, unshown: None, chosen: None, settled: Settled::default() };
    walk.run().map_err(|error| xml::broken(part, &error))?;
    Ok(walk.settled)
}

/// The styles of hidden or struck text, by their own properties or those of their base style.
pub(super) fn unshown_styles(xml: &str) -> UnshownStyles {
    let (mut own, mut built_on): (UnshownStyles, HashMap<String, String>) = Default::default();
    let mut style = String::new();
    // The parser rejects a part that is not well-formed XML.
    let _ = xml::each_start("styles.xml", xml, |start| {
        match start.local_name().as_ref() {
            "style" => style = xml::attribute(start, "styleId").unwrap_or_default(),
            "basedOn" => built_on.extend(xml::attribute(start, "val").map(|base| (style.clone(), base))),
            name => own.extend(unshown(name).filter(|_| is_on(start)).map(|why| (style.clone(), why))),
        }
        ControlFlow::Continue(())
    });
    let found = |style: &String| {
        let bases = std::iter::successors(Some(style), |style| built_on.get(*style)).take(16);
        bases.filter_map(|style| own.get(style)).next().copied()
    };
    let all = built_on.keys().chain(own.keys());
    all.filter_map(|style| Some((style.clone(), found(style)?))).collect()
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

/// The effect of a property on the visibility of text.
fn unshown(property: &str) -> Option<Unshown> {
    match property {
        "vanish" => Some(Unshown::Hidden),
        "strike" | "dstrike" => Some(Unshown::Struck),
        _ => None,
    }
}

/// Whether a toggle property is on.
fn is_on(property: &BytesStart<'_>) -> bool {
    !xml::attribute(property, "val").is_some_and(|value| matches!(value.as_str(), "0" | "false" | "off"))
}

/// The namespace prefixes of word processing in a part, usually `w`; empty for a default namespace.
fn other_prefixes(xml: &str) -> Vec<String> {
    let head = &xml[..xml.floor_char_boundary(16 << 10)];
    let found = NAMESPACES.iter().flat_map(|namespace| head.match_indices(namespace));
    let prefix = |(at, _): (usize, &str)| {
        let name = head[..at].trim_end_matches(['"', '\'', '=', ' ']).rsplit([' ', '\n', '\t', '\r']).next()?;
        let prefix = name.strip_prefix("xmlns")?.trim_start_matches(':');
        (prefix != "w").then(|| prefix.to_owned())
    };
    let mut prefixes: Vec<String> = found.filter_map(prefix).collect();
    prefixes.dedup();
    prefixes
}

/// The parser knows names by the usual prefix only.
fn with_usual_prefix(xml: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(xml.len() + xml.len() / 8);
    for (number, piece) in xml.split('<').enumerate() {
        if number == 0 {
            out.push_str(piece);
            continue;
        }
        out.push('<');
        let (tag, text) = piece.split_once('>').map_or((piece, None), |(tag, text)| (tag, Some(text)));
        let (slash, name) = tag.strip_prefix('/').map_or(("", tag), |name| ("/", name));
        out.push_str(slash);
        let own = name.split([' ', '/', '\n', '\t', '\r']).next().unwrap_or(name);
        match own.split_once(':') {
            _ if name.starts_with(['?', '!']) => out.push_str(name),
            Some((own, _)) if own == prefix => {
                out.push('w');
                out.push_str(&name[prefix.len()..].replace(&format!(" {prefix}:"), " w:"));
            }
            None if prefix.is_empty() => {
                out.push_str("w:");
                out.push_str(name);
            }
            _ => out.push_str(name),
        }
        if let Some(text) = text {
            out.push('>');
            out.push_str(text);
        }
    }
    out
}

/// Traverses a part; unchanged markup is copied verbatim.
struct Walk<'a> {
    xml: &'a str,
    /// The position up to which it was copied or omitted.
    copied: usize,
    styles: &'a UnshownStyles,
    /// Invisible words, concatenated.
    unshown: Option<(Unshown, String)>,
    /// The displayed value of a form field, until the field ends.
    chosen: Option<String>,
    settled: Settled,
}

impl<'a> Walk<'a> {
    fn run(&mut self) -> Result<(), quick_xml::Error> {
        let mut reader = Reader::from_str(self.xml);
        loop {
            let from = reader.buffer_position() as usize;
            match reader.read_event()? {
                Event::Start(start) => self.start(&mut reader, from, &start)?,
                Event::Empty(empty) => self.empty(&mut reader, from, &empty),
                Event::CData(text) => {
                    self.copy_to(from);
                    self.copied = reader.buffer_position() as usize;
                    self.settled.xml.push_str(&escape(&*text.xml10_content()));
                }
                Event::End(end) if end.name().as_ref() == "w:p" => self.report_hidden(),
                Event::End(end) if end.name().as_ref() == "w:r" => self.run_ends(&reader),
                Event::Eof => break,
                _ => {}
            }
        }
        self.report_hidden();
        self.settled.xml.push_str(&self.xml[self.copied..]);
        Ok(())
    }

    fn start(
        &mut self,
        reader: &mut Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'a>,
    ) -> Result<(), quick_xml::Error> {
        match start.name().as_ref() {
            // How the characters before it are pronounced.
            "w:moveFrom" | "w:rt" => drop(self.leave_out(reader, from, start)?),
            "w:del" => {
                let words = words(self.leave_out(reader, from, start)?);
                self.tell("deleted by a tracked change", &words);
            }
            "w:p" | "w:r" => match self.why_unshown(reader.clone()) {
                Some(why) => {
                    let words = words(self.leave_out(reader, from, start)?);
                    self.gather(why, &words);
                }
                None if start.name().as_ref() == "w:r" => self.report_hidden(),
                None => {}
            },
            "w:tc" if is_merged(reader.clone()) => {
                let name = start.name();
                let words = words(reader.clone().read_text(name)?.as_ref());
                self.tell("hidden behind the cell above it", &words);
            }
            "m:oMath" => {
                let text = formula(self.leave_out(reader, from, start)?);
                self.write_run(&format!(" {} ", text.trim()));
            }
            "w:altChunk" => {
                let relation = xml::attribute(start, "id").unwrap_or_default();
                self.leave_out(reader, from, start)?;
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
        if empty.name().as_ref() == "w:altChunk" {
            self.copy_to(from);
            self.copied = reader.buffer_position() as usize;
            self.write_chunk(xml::attribute(empty, "id").unwrap_or_default());
        }
    }

    /// Omits an element and returns its markup.
    fn leave_out(
        &mut self,
        reader: &mut Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'a>,
    ) -> Result<&'a str, quick_xml::Error> {
        self.copy_to(from);
        reader.read_to_end(start.name())?;
        self.copied = reader.buffer_position() as usize;
        Ok(&self.xml[from..self.copied])
    }

    fn copy_to(&mut self, end: usize) {
        self.settled.xml.push_str(&self.xml[self.copied..end]);
        self.copied = end;
    }

    fn write_run(&mut self, text: &str) {
        let text = escape(text);
        self.settled.xml.push_str(&format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>"));
    }

    fn write_chunk(&mut self, relation: String) {
        let mark = chunk_mark(self.settled.chunks.len());
        self.settled.chunks.push(relation);
        self.settled.xml.push_str(&format!("<w:p><w:r><w:t>{mark}</w:t></w:r></w:p>"));
    }

    /// Whether the properties that a run or paragraph begins with hide its text.
    fn why_unshown(&self, mut ahead: Reader<&[u8]>) -> Option<Unshown> {
        ahead.config_mut().expand_empty_elements = true;
        let mut by_style = None;
        let (mut hidden, mut struck) = (None, None);
        let mut depth = 0;
        loop {
            match ahead.read_event().ok()? {
                Event::Start(start) => {
                    match start.name().as_ref() {
                        "w:rPr" | "w:pPr" if depth == 0 => {}
                        _ if depth == 0 => break,
                        "w:rStyle" | "w:pStyle" if depth == 1 => {
                            by_style = xml::attribute(&start, "val").and_then(|style| self.styles.get(&style)).copied();
                        }
                        "w:vanish" if depth == 1 => hidden = Some(is_on(&start)),
                        "w:strike" | "w:dstrike" if depth == 1 => struck = Some(struck == Some(true) || is_on(&start)),
                        _ => {}
                    }
                    depth += 1;
                }
                Event::End(_) if depth <= 1 => break,
                Event::End(_) => depth -= 1,
                Event::Text(text) if text.trim().is_empty() => {}
                _ if depth == 0 => break,
                _ => {}
            }
        }
        let is = |own: Option<bool>, why| own.unwrap_or(by_style == Some(why)).then_some(why);
        is(hidden, Unshown::Hidden).or_else(|| is(struck, Unshown::Struck))
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
            self.copy_to(end);
            self.write_run(&chosen);
        }
    }
}

/// Whether a cell of a table belongs to the cell above it, whose text alone is shown.
fn is_merged(mut ahead: Reader<&[u8]>) -> bool {
    loop {
        match ahead.read_event() {
            Ok(Event::Start(start) | Event::Empty(start)) => match start.name().as_ref() {
                "w:vMerge" => return xml::attribute(&start, "val").is_none_or(|value| value == "continue"),
                "w:p" => return false,
                _ => {}
            },
            Ok(Event::End(end)) if end.name().as_ref() == "w:tcPr" => return false,
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// The value of a form field that is not in its text: a ticked box, the chosen entry.
fn chosen(field: &str) -> Option<String> {
    let (mut is_box, mut ticked, mut entries, mut at) = (false, false, Vec::new(), 0);
    // What is read before an error counts.
    let _ = xml::each_start("a form field", field, |start| {
        match start.local_name().as_ref() {
            "checkBox" => is_box = true,
            "default" | "checked" if is_box => ticked = is_on(start),
            "listEntry" => entries.extend(xml::attribute(start, "val")),
            "result" => at = xml::attribute(start, "val").and_then(|at| at.parse().ok()).unwrap_or(0),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    match is_box {
        true => Some(if ticked { "[x] " } else { "[ ] " }.to_owned()),
        false => entries.into_iter().nth(at),
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
        settle("word/document.xml", &format!("<w:document {W}>{body}</w:document>"), &styles).expect("it is XML")
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

    #[test]
    fn another_prefix_is_made_the_usual_one() {
        let namespace = NAMESPACES[0];
        for (xml, prefix) in [
            (
                format!(
                    "<ns0:p xmlns:ns0=\"{namespace}\"><ns0:r ns0:rsid=\"1\"><ns0:t>It shall</ns0:t></ns0:r></ns0:p>"
                ),
                "ns0",
            ),
            (format!("<p xmlns='{namespace}'><r><t>It shall</t></r><br/></p>"), ""),
        ] {
            assert_eq!(other_prefixes(&xml), [prefix]);
            let found = settle("x", &xml, &UnshownStyles::new()).expect("it is XML").xml;
            assert!(found.contains("<w:r") && found.contains("<w:t>It shall</w:t>"), "{found}");
        }
        assert!(!is_to_settle(&format!("<w:document {W}><w:p/></w:document>")));
    }

    #[test]
    fn a_style_hides_what_is_built_on_it() {
        let styles = unshown_styles(
            "<w:styles><w:style w:styleId=\"A\"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId=\"B\"><w:basedOn \
             w:val=\"A\"/></w:style><w:style w:styleId=\"C\"><w:rPr><w:strike w:val=\"0\"/></w:rPr></w:style></w:styles>",
        );
        assert_eq!(
            (styles.get("A"), styles.get("B"), styles.get("C")),
            (Some(&Unshown::Hidden), Some(&Unshown::Hidden), None)
        );
    }
}
