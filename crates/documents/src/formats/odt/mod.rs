//! ODT, the word processing format of OpenDocument. Runs in the parser child only.

mod body;
mod list_styles;
mod lists;
mod tables;
mod unshown;

use super::archive::Archive;
use super::blocks::to_markdown;
use super::xml;
use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use body::{Body, Object, Objects};
use list_styles::Styles;
use memchr::memmem;
use quick_xml::events::Event;
use unshown::Unshown;

/// The text of the document as one page; tracked deletions, comments, tables of contents and headers are omitted.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let mut archive = Archive::open(bytes)?;
    let manifest = archive.read("META-INF/manifest.xml")?.unwrap_or_default();
    if memmem::find(&manifest, b"encryption-data").is_some() {
        return Err(Failure::Encrypted);
    }
    let content = archive.text("content.xml")?.ok_or_else(|| Failure::damaged("its part content.xml is missing"))?;
    let (mut styles, mut unshown) = (Styles::default(), Unshown::default());
    let of_pages = archive.text("styles.xml")?.unwrap_or_default();
    for part in [&of_pages, &content] {
        styles.learn(part)?;
        unshown.learn(part)?;
    }
    let objects = objects(&mut archive)?;
    let (blocks, mut warnings) = Body::new(&styles, &unshown, &objects).read(&content)?;
    let text = to_markdown(&blocks);
    if text.is_empty() {
        return Err(Failure::no_text(warnings));
    }
    warnings.extend(unshown::headers_and_footers(&of_pages));
    let title = archive.text("meta.xml")?.and_then(|meta| title(&meta));
    warnings.append(&mut archive.warnings);
    Ok((vec![Page { number: 1, text }], Trailer { title, warnings, ..Trailer::default() }))
}

/// Embedded documents, by their folders: a formula's text, or none for any other kind.
fn objects(archive: &mut Archive<'_>) -> Result<Objects, Failure> {
    let mut objects = Objects::new();
    let names = archive.names();
    for folder in names.iter().filter_map(|name| name.strip_suffix("/content.xml")) {
        let content = archive.text(&format!("{folder}/content.xml"))?.unwrap_or_default();
        let object = match unshown::formula(&content) {
            Some(formula) => Object::Formula(formula),
            None => Object::Other(unshown::words(&content)),
        };
        objects.insert(folder.to_owned(), object);
    }
    Ok(objects)
}

/// The title in the document's properties; none if it cannot be read.
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
