//! EPUB: an archive of web pages in a defined order. Runs in the parser child only.
//!
//! ```text
//! META-INF/container.xml ─▶ the package file ─▶ manifest: id ─▶ page     spine: ids in reading order
//! ```

use super::archive::{self, Archive};
use super::warnings::first_words;
use super::xml;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use crate::{Page, formats::html};
use percent_encoding::percent_decode_str;
use plumbline_engine::one_line;
use quick_xml::events::Event;
use std::collections::HashMap;

/// The content of the package file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Package {
    title: Option<String>,
    /// Addresses of the pages in reading order, relative to the package file.
    pages: Vec<String>,
    /// Addresses of pages outside the reading order, including the table of contents.
    beside: Vec<String>,
    /// Entries of the reading order that are not pages, one sentence each.
    told: Vec<String>,
}

/// A part's entry in the manifest.
struct Item {
    id: String,
    href: String,
    is_page: bool,
    is_html: bool,
    is_contents: bool,
}

/// The text of the book, its pages in reading order, as one page.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let mut archive = Archive::open(bytes)?;
    let container = part(&mut archive, "META-INF/container.xml")?;
    let files = package_files(&container)?;
    let (package_path, others) = files.split_first().ok_or_else(|| Failure::damaged("it names no package file"))?;
    let package = package(package_path, &part(&mut archive, package_path)?)?;
    let locked = match archive.text("META-INF/encryption.xml")? {
        Some(list) => encrypted_parts(&list)?,
        None => Vec::new(),
    };
    let folder = package_path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut texts = Vec::new();
    let other_forms =
        others.iter().map(|path| format!("Not in the text: another form of the book, {}.", first_words(path)));
    let mut warnings: Vec<String> = other_forms.chain(package.told).collect();
    for href in &package.pages {
        let path = resolve(folder, href);
        if locked.contains(&path) {
            return Err(Failure::Encrypted);
        }
        match archive.read(&path)?.map(|page| html::markdown(&page)) {
            Some(Ok((text, told))) => {
                texts.push(text);
                warnings.extend(told);
            }
            Some(Err(Failure::NoText { why, .. })) if why.is_empty() => {}
            Some(Err(Failure::NoText { why, .. })) => {
                warnings.push(format!("The page {path} has no text. {}", why.join(" ")));
            }
            Some(Err(failure)) => return Err(failure),
            None => warnings.push(format!("The page {path} is missing.")),
        }
    }
    for href in &package.beside {
        let page = archive.read(&resolve(folder, href))?;
        if let Some(Ok((text, _))) = page.map(|page| html::markdown(&page)) {
            warnings.push(format!("Left out as a page beside the book's order: {}.", first_words(&text)));
        }
    }
    if texts.is_empty() {
        return Err(Failure::no_text(warnings));
    }
    let page = Page { number: 1, text: texts.join("\n\n") };
    Ok((vec![page], Trailer { title: package.title, warnings, ..Trailer::default() }))
}

fn part(archive: &mut Archive<'_>, name: &str) -> Result<String, Failure> {
    archive.text(name)?.ok_or_else(|| Failure::damaged(format!("its part {name} is missing")))
}

/// The package files of a container, one for each form of the book; the first is read.
fn package_files(container: &str) -> Result<Vec<String>, Failure> {
    xml::elements("META-INF/container.xml", container, "rootfile", |start| xml::attribute(start, "full-path"))
}

fn package(path: &str, text: &str) -> Result<Package, Failure> {
    let mut reader = xml::reader(text);
    let mut package = Package::default();
    let (mut items, mut order): (Vec<Item>, Vec<String>) = Default::default();
    let mut title: Option<String> = None;
    loop {
        match reader.read_event().map_err(|error| xml::broken(path, &error))? {
            Event::Start(start) => match start.local_name().as_ref() {
                "title" if package.title.is_none() => title = Some(String::new()),
                "item" => items.extend(item(&start)),
                "itemref" => order.extend(xml::attribute(&start, "idref")),
                _ => {}
            },
            Event::Text(text) => title.iter_mut().for_each(|title| title.push_str(&text.xml10_content())),
            Event::GeneralRef(name) => title.iter_mut().for_each(|title| title.push_str(&xml::reference(&name))),
            Event::End(end) if end.local_name().as_ref() == "title" => {
                if let Some(title) = title.take().map(|title| one_line(&title)) {
                    package.title = (!title.is_empty()).then_some(title);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let known: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    for id in &order {
        match known.get(id.as_str()) {
            Some(item) if item.is_contents => {}
            Some(item) if item.is_page => package.pages.push(item.href.clone()),
            Some(item) => {
                package.told.push(format!("Not in the text: a page in another format, {}.", first_words(&item.href)));
            }
            None => package.told.push(format!("The book's order names a page that is not there: {}.", first_words(id))),
        }
    }
    let is_beside = |item: &&Item| item.is_html && (item.is_contents || !order.contains(&item.id));
    package.beside = items.iter().filter(is_beside).map(|item| item.href.clone()).collect();
    Ok(package)
}

/// The book's table of contents repeats its headings and is omitted, like a web page's navigation.
fn item(item: &quick_xml::events::BytesStart<'_>) -> Option<Item> {
    let kind = xml::attribute(item, "media-type").unwrap_or_default();
    let is_html = kind == "text/html" || kind == "application/xhtml+xml";
    let is_page = is_html || kind.ends_with("/xml") || (kind.ends_with("+xml") && !kind.contains("ncx"));
    let properties = xml::attribute(item, "properties").unwrap_or_default();
    let is_contents = properties.split(' ').any(|word| word == "nav");
    Some(Item { id: xml::attribute(item, "id")?, href: xml::attribute(item, "href")?, is_page, is_html, is_contents })
}

/// The encrypted parts. Fonts often are; pages never are in a readable book.
fn encrypted_parts(list: &str) -> Result<Vec<String>, Failure> {
    xml::elements("META-INF/encryption.xml", list, "CipherReference", |start| {
        xml::attribute(start, "URI").map(|uri| resolve("", &uri))
    })
}

/// An address within the book as the name of an archive entry.
fn resolve(folder: &str, href: &str) -> String {
    let path = href.split(['#', '?']).next().unwrap_or_default();
    archive::resolve(folder, &percent_decode_str(path).decode_utf8_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stay_within_the_book() {
        for (folder, href, expected) in [
            ("", "ch-1.xhtml", "ch-1.xhtml"),
            ("OEBPS", "text/one%20two.xhtml#top", "OEBPS/text/one two.xhtml"),
            ("OEBPS/a", "../b.xhtml", "OEBPS/b.xhtml"),
            ("", "../../etc/passwd", "etc/passwd"),
            ("x", "100%.xhtml", "x/100%.xhtml"),
        ] {
            assert_eq!(resolve(folder, href), expected);
        }
    }

    #[test]
    fn the_spine_gives_the_order_and_navigation_is_left_out() {
        let text = r#"<package><metadata><dc:title>Rules &amp;
            more</dc:title><dc:title>Second</dc:title></metadata><manifest>
            <item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
            <item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
            <item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>
            <item id="c" href="c.png" media-type="image/png"/></manifest>
            <spine><itemref idref="b"/><itemref idref="n"/><itemref idref="a"/><itemref idref="c"/></spine></package>"#;
        let package = package("p.opf", text).expect("a package");
        assert_eq!(package.title.as_deref(), Some("Rules & more"));
        assert_eq!(
            (package.pages, package.beside),
            (vec!["b.xhtml".into(), "a.xhtml".into()], vec!["nav.xhtml".into()])
        );
        assert_eq!(package.told, ["Not in the text: a page in another format, \u{ab}c.png\u{bb}."]);
    }
}
