//! Content of a DOCX file outside its text, one sentence each: running headers, comments, charts and diagrams, attached
//! files, descriptions of pictures and tables, texts of other files.

use super::markup::words;
use super::relations::{relations_in, relations_of};
use crate::child::protocol::Failure;
use crate::formats::archive::{Archive, resolve};
use crate::formats::warnings::{first_words, pictures};
use crate::formats::xml;
use memchr::memmem;
use quick_xml::events::Event;
use std::collections::BTreeMap;

/// Prefixes of attributes that describe non-text content, and its kind.
const DESCRIPTIONS: [(&str, &str); 5] = [
    (" descr=\"", "a picture"),
    (" alt=\"", "a picture"),
    (" string=\"", "drawn words"),
    ("tblCaption w:val=\"", "a table's description"),
    ("tblDescription w:val=\"", "a table's description"),
];
/// Notes that the parser reads, by their part's names.
const NOTES: [&str; 2] = ["footnotes.xml", "endnotes.xml"];

/// The kind of a part outside the text.
#[derive(Clone, Copy)]
enum What {
    /// Its paragraphs are reported, with this prefix.
    Text(&'static str),
    /// Its name is.
    File,
}

/// The parts outside the document's text, by their names and by the relations of the text to them.
pub(super) fn parts(archive: &mut Archive<'_>, main: &str, folder: &str) -> Result<Vec<String>, Failure> {
    let mut found: BTreeMap<String, What> = BTreeMap::new();
    let mut told = Vec::new();
    for name in archive.names() {
        let own = name.strip_prefix(folder).map(|own| own.trim_start_matches('/'));
        found.extend(own.and_then(of_name).map(|what| (name.clone(), what)));
    }
    let list = archive.text(&relations_of(main))?.unwrap_or_default();
    for relation in relations_in(&relations_of(main), &list)? {
        let name = resolve(folder, &relation.target);
        let what = match relation.kind.as_str() {
            "header" | "footer" => What::Text("Left out as a running header or footer"),
            "comments" => What::Text("Left out as a comment"),
            "footnotes" | "endnotes" if !NOTES.iter().any(|known| name.ends_with(known)) => {
                What::Text("Left out as a note")
            }
            "diagramData" => What::Text("Not in the text: a diagram"),
            "package" | "oleObject" => What::File,
            "subDocument" => {
                told.push(format!("Not in the text: a part in another file, {}.", first_words(&relation.target)));
                continue;
            }
            _ => continue,
        };
        found.insert(name, what);
    }
    for (name, what) in found {
        match what {
            What::File => {
                let file = name.rsplit('/').next().unwrap_or_default();
                told.push(format!("Not in the text: an attached file, {}.", first_words(file)));
            }
            What::Text(what) => {
                let words = archive.text(&name)?.map(|xml| words(&xml)).unwrap_or_default();
                let paragraphs = words.lines().filter(|line| line.contains(char::is_alphabetic));
                told.extend(paragraphs.map(|line| format!("{what}: {}.", first_words(line))));
            }
        }
    }
    told.dedup();
    Ok(told)
}

fn of_name(own: &str) -> Option<What> {
    let is_part = |start: &str| own.starts_with(start) && own.ends_with(".xml");
    match () {
        () if is_part("header") || is_part("footer") => Some(What::Text("Left out as a running header or footer")),
        () if is_part("comments") && !own.starts_with("commentsE") && !own.starts_with("commentsI") => {
            Some(What::Text("Left out as a comment"))
        }
        () if is_part("diagrams/data") => Some(What::Text("Not in the text: a diagram")),
        () if own.starts_with("embeddings/") => Some(What::File),
        () => None,
    }
}

/// Content of the text's markup that is not text: descriptions, files to include, pictures.
pub(super) fn of_text(xml: &str) -> Vec<String> {
    let mut told = Vec::new();
    for (mark, what) in DESCRIPTIONS {
        for value in values(xml, mark, '"').filter(|value| value.split_whitespace().count() > 2) {
            told.push(format!("Not in the text: {what}, {}.", first_words(&value)));
        }
    }
    for field in values(xml, "INCLUDETEXT", '<') {
        let file = field.trim().trim_matches('"').split('"').next().unwrap_or_default().to_owned();
        told.push(format!("Not in the text: a part in another file, {}.", first_words(&file)));
    }
    let count = |mark: &str| memmem::find_iter(xml.as_bytes(), mark.as_bytes()).count();
    let described = told.iter().filter(|line| line.starts_with("Not in the text: a picture,")).count();
    told.extend(pictures(count("<a:blip ").saturating_sub(described), None));
    told
}

/// The text between a mark and a character.
fn values(xml: &str, mark: &str, end: char) -> impl Iterator<Item = String> {
    let places = memmem::find_iter(xml.as_bytes(), mark.as_bytes()).map(move |at| at + mark.len());
    let value = |from: usize| xml[from..].split(end).next().unwrap_or_default();
    let plain = |raw: &str| quick_xml::escape::unescape(raw).map_or_else(|_| raw.to_owned(), |text| text.into_owned());
    places.map(|from| plain(value(from))).collect::<Vec<_>>().into_iter()
}

/// The titles and labels of a document's charts. The parser writes the figures as a table, with some of the words.
pub(super) fn charts(archive: &mut Archive<'_>, folder: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let mut names = archive.names();
    names.sort_unstable();
    for name in names {
        let own = name.strip_prefix(folder).map_or("", |own| own.trim_start_matches('/'));
        if own.starts_with("charts/chart") && own.ends_with(".xml") {
            found.extend(archive.text(&name)?.map(|xml| labels(&xml)).into_iter().flatten());
        }
    }
    Ok(found)
}

/// The paragraphs and labels of a chart.
fn labels(chart: &str) -> Vec<String> {
    let mut reader = xml::reader(chart);
    let (mut found, mut label, mut is_text) = (Vec::new(), String::new(), false);
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => is_text = matches!(start.local_name().as_ref(), "t" | "v"),
            Event::Text(text) if is_text => label.push_str(&text.xml10_content()),
            Event::GeneralRef(name) if is_text => label.push_str(&xml::reference(&name)),
            Event::End(end) => {
                is_text = false;
                if matches!(end.local_name().as_ref(), "p" | "v") {
                    found.extend(Some(std::mem::take(&mut label)).filter(|label| label.contains(char::is_alphabetic)));
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    found
}
