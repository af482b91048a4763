//! ODT, the word processing format of OpenDocument. Runs in the parser child only.

mod body;
mod lists;
mod tables;

use super::archive::Archive;
use super::blocks::to_markdown;
use super::xml;
use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use body::Body;
use lists::Styles;
use memchr::memmem;
use quick_xml::events::Event;

/// The text of the document as one page; tracked deletions, comments, tables of contents and headers are left out.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let mut archive = Archive::open(bytes)?;
    let manifest = archive.read("META-INF/manifest.xml")?.unwrap_or_default();
    if memmem::find(&manifest, b"encryption-data").is_some() {
        return Err(Failure::Encrypted);
    }
    let content = archive.text("content.xml")?.ok_or_else(|| Failure::damaged("its part content.xml is missing"))?;
    let mut styles = Styles::default();
    for part in [archive.text("styles.xml")?.as_deref().unwrap_or_default(), &content] {
        styles.learn(part)?;
    }
    let text = to_markdown(&Body::new(&styles).read(&content)?);
    if text.is_empty() {
        return Err(Failure::NoText { pages: 0, first: 1 });
    }
    let title = archive.text("meta.xml")?.and_then(|meta| title(&meta));
    Ok((vec![Page { number: 1, text }], Trailer { title, ..Trailer::default() }))
}

/// The title among the document's properties. One that cannot be read is none: the text counts.
fn title(meta: &str) -> Option<String> {
    let mut reader = xml::reader(meta);
    let mut title: Option<String> = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) if start.name().as_ref() == "dc:title" => title = Some(String::new()),
            Event::Text(text) => title.iter_mut().for_each(|title| title.push_str(&text.xml10_content())),
            Event::GeneralRef(name) => title.iter_mut().for_each(|title| title.push_str(&xml::reference(&name))),
            Event::End(end) if end.name().as_ref() == "dc:title" => {
                return title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}
