//! Helpers for the XML reader. Entities declared by a document are never expanded: they are how a kilobyte becomes a
//! gigabyte, and no word processor writes them.

use crate::child::protocol::Failure;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::ops::ControlFlow;

/// A reader that reports `<a/>` as a start and an end.
pub(crate) fn reader(xml: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    reader
}

/// Reads the beginnings of elements until `take` needs no more.
pub(crate) fn each_start(
    part: &str,
    xml: &str,
    mut take: impl FnMut(&BytesStart<'_>) -> ControlFlow<()>,
) -> Result<(), Failure> {
    let mut reader = reader(xml);
    loop {
        match reader.read_event().map_err(|error| broken(part, &error))? {
            Event::Start(start) if take(&start).is_break() => return Ok(()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// What the elements of a name, without prefix, say, in order.
pub(crate) fn elements<T>(
    part: &str,
    xml: &str,
    name: &str,
    read: impl Fn(&BytesStart<'_>) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let mut found = Vec::new();
    each_start(part, xml, |start| {
        found.extend((start.local_name().as_ref() == name).then(|| read(start)).flatten());
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// An attribute by its name without prefix.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found =
        element.attributes().with_checks(false).flatten().find(|known| known.key.local_name().as_ref() == name)?;
    Some(unescape(&found.value))
}

/// The text of `&name;` or `&#10;`; an unknown name is kept.
pub(crate) fn reference(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    match resolve_predefined_entity(reference) {
        Some(text) => text.to_owned(),
        None => format!("&{};", &**reference),
    }
}

/// Converts an error of the reader.
pub(crate) fn broken(part: &str, error: &quick_xml::Error) -> Failure {
    Failure::damaged(format!("its part {part} is no proper XML: {error}"))
}

fn unescape(raw: &str) -> String {
    quick_xml::escape::unescape(raw).map_or_else(|_| raw.to_owned(), |text| text.into_owned())
}
