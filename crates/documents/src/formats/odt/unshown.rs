//! Content of an OpenDocument text that is invisible, or visible but not text.

use crate::child::protocol::Failure;
use crate::formats::formula::Formula;
use crate::formats::warnings::first_words;
use crate::formats::xml;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// The reason for omitting a picture's description.
pub(crate) const DESCRIPTION: &str = "a description";

/// Styles whose text is hidden, struck or raised, by name.
#[derive(Debug, Default)]
pub(crate) struct Unshown {
    why: HashMap<String, &'static str>,
    raised: HashSet<String>,
}

impl Unshown {
    /// Reads the styles of one part of the document.
    pub(crate) fn learn(&mut self, part: &str) -> Result<(), Failure> {
        let mut style = String::new();
        xml::each_start("styles.xml", part, |start| {
            match start.name().as_ref() {
                "style:style" => {
                    style = xml::attribute(start, "name").unwrap_or_default();
                    let base = xml::attribute(start, "parent-style-name").and_then(|base| self.why.get(&base).copied());
                    self.why.extend(base.map(|why| (style.clone(), why)));
                }
                "style:text-properties" => {
                    self.why.extend(of_properties(start).map(|why| (style.clone(), why)));
                    self.raised.extend(is_raised(start).then(|| style.clone()));
                }
                "office:body" => return ControlFlow::Break(()),
                _ => {}
            }
            ControlFlow::Continue(())
        })
    }

    /// Whether the text of an element is raised.
    pub(crate) fn is_raised(&self, start: &BytesStart<'_>) -> bool {
        xml::attribute(start, "style-name").is_some_and(|style| self.raised.contains(&style))
    }

    /// Why an element and its content are invisible.
    pub(crate) fn why(&self, start: &BytesStart<'_>, ahead: &Reader<&[u8]>) -> Option<&'static str> {
        let says = |name: &str, value: &str| xml::attribute(start, name).is_some_and(|own| own == value);
        match start.name().as_ref() {
            "text:p" | "text:h" if is_hidden_paragraph(ahead.clone()) => Some("hidden"),
            "text:span" | "text:p" | "text:h" => self.why.get(&xml::attribute(start, "style-name")?).copied(),
            "text:section" if says("display", "none") => Some("hidden"),
            "text:section" if says("display", "condition") && says("is-hidden", "true") => Some("hidden"),
            "table:covered-table-cell" => Some("hidden behind the cell before it"),
            "text:hidden-text" if !says("is-hidden", "false") => Some("hidden"),
            "text:tracked-changes" => Some("deleted by a tracked change"),
            "office:annotation" => Some("a comment"),
            "svg:title" | "svg:desc" => Some(DESCRIPTION),
            "table:table-row" if says("visibility", "collapse") || says("visibility", "filter") => Some("hidden"),
            name if name.ends_with("-index") && name.starts_with("text:") || name == "text:table-of-content" => {
                Some("a table of contents or an index")
            }
            _ => None,
        }
    }
}

/// Whether a paragraph has the field that hides it, and its condition holds.
fn is_hidden_paragraph(mut ahead: Reader<&[u8]>) -> bool {
    loop {
        match ahead.read_event() {
            Ok(Event::Start(start) | Event::Empty(start)) => match start.name().as_ref() {
                "text:hidden-paragraph" => return xml::attribute(&start, "is-hidden").is_some_and(|is| is == "true"),
                // Paragraphs of a note or a frame are others.
                "text:p" | "text:h" => return false,
                _ => {}
            },
            Ok(Event::End(end)) if matches!(end.name().as_ref(), "text:p" | "text:h") => return false,
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// Whether a position is above the line: `super`, or a positive share of the line's height.
fn is_raised(start: &BytesStart<'_>) -> bool {
    let position = xml::attribute(start, "text-position").unwrap_or_default();
    let height = position.split(' ').next().unwrap_or_default();
    height == "super"
        || height.strip_suffix('%').and_then(|share| share.parse().ok()).is_some_and(|share: f32| share > 0.0)
}

fn of_properties(start: &BytesStart<'_>) -> Option<&'static str> {
    let says = |name: &str| xml::attribute(start, name);
    let is_struck = |name: &str| says(name).is_some_and(|value| value != "none");
    match () {
        () if says("display").is_some_and(|value| value == "none") => Some("hidden"),
        () if is_struck("text-line-through-style") || is_struck("text-line-through-type") => Some("struck out"),
        () => None,
    }
}

/// A sentence about each omitted paragraph; none if it has no words.
pub(crate) fn told(why: &str, start: &BytesStart<'_>, content: &str) -> Vec<String> {
    let words = xml::attribute(start, "string-value").unwrap_or_else(|| words(content));
    let lines = words.lines().filter(|line| line.contains(char::is_alphanumeric));
    lines.map(|line| format!("Left out as {why}: {}.", first_words(line))).collect()
}

/// The words of a range of markup, without author and date of changes.
pub(crate) fn words(content: &str) -> String {
    let mut reader = Reader::from_str(content);
    let (mut out, mut beside) = (String::new(), 0_usize);
    let is_beside =
        |name: &str| matches!(name, "dc:creator" | "dc:date" | "office:change-info" | "meta:creator-initials");
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => beside += usize::from(is_beside(start.name().as_ref())),
            Event::End(end) if is_beside(end.name().as_ref()) => beside = beside.saturating_sub(1),
            Event::End(end) if matches!(end.name().as_ref(), "text:p" | "text:h") => out.push('\n'),
            Event::Text(text) if beside == 0 => out.push_str(&text.xml10_content()),
            Event::GeneralRef(name) if beside == 0 => out.push_str(&xml::reference(&name)),
            Event::Empty(empty) if matches!(empty.name().as_ref(), "text:s" | "text:tab") => out.push(' '),
            Event::Eof => break,
            _ => {}
        }
    }
    out
}

/// Headers and footers of the pages, by their styles.
pub(crate) fn headers_and_footers(styles: &str) -> Vec<String> {
    let mut reader = Reader::from_str(styles);
    let mut found = Vec::new();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start)
                if start.name().as_ref().starts_with("style:header")
                    || start.name().as_ref().starts_with("style:footer") =>
            {
                if start.name().as_ref().ends_with("-style") {
                    continue;
                }
                let Ok(content) = reader.read_text(start.name()) else { break };
                let words = words(&content);
                let lines = words.lines().filter(|line| line.contains(char::is_alphabetic));
                found.extend(
                    lines.map(|line| format!("Left out as a running header or footer: {}.", first_words(line))),
                );
            }
            Event::Eof => break,
            _ => {}
        }
    }
    found
}

/// The text of a formula; none if the part is another kind of document.
pub(crate) fn formula(content: &str) -> Option<String> {
    let mut reader = xml::reader(content);
    let mut formula: Option<Formula> = None;
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => {
                let name = start.local_name();
                match &mut formula {
                    Some(formula) => formula.begin(name.as_ref(), None),
                    None if name.as_ref() == "math" => formula.get_or_insert_default().begin("math", None),
                    None => return None,
                }
            }
            Event::Text(text) => formula.iter_mut().for_each(|formula| formula.text(&text.xml10_content())),
            Event::GeneralRef(name) => formula.iter_mut().for_each(|formula| formula.text(&xml::reference(&name))),
            Event::End(_) => {
                if let Some(text) = formula.as_mut()?.end() {
                    return Some(text);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    None
}
