//! The package of a DOCX file: which part is the document, the content of its other parts, and the package in the form
//! that the parser expects, with the document at the expected path.

use super::beside;
use super::markup::{self, Settled};
use super::numbering::Numbering;
use super::properties::{UnshownStyles, unshown_styles};
use super::relations::{relations_in, relations_of};
use super::{joined, prefixes, shown};
use crate::child::protocol::Failure;
use crate::formats::archive::{Archive, resolve};
use crate::formats::html;
use crate::formats::text;
use crate::formats::warnings::first_words;
use crate::formats::xml;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The path at which the parser expects the document.
const MAIN_PART: &str = "word/document.xml";

/// An analysed package.
pub(super) struct Package<'a> {
    /// As it is to be parsed.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Content missing from its text, one sentence each.
    pub(super) told: Vec<String>,
    /// The texts of pieces of other documents, in the order of their places.
    pub(super) chunks: Vec<String>,
    /// The words of its charts, some of which become text.
    pub(super) charts: Vec<String>,
}

/// Analyses a package.
pub(super) fn open(bytes: &[u8]) -> Result<Package<'_>, Failure> {
    let mut archive = Archive::open(bytes)?;
    let main = main_part(&mut archive)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut changed: BTreeMap<String, String> = BTreeMap::new();
    let (mut told, mut relations) = (Vec::new(), Vec::new());
    let styles = archive.text(&beside(&folder, "styles.xml"))?;
    let styles = styles.unwrap_or_default();
    let numbering = archive.text(&beside(&folder, "numbering.xml"))?.unwrap_or_default();
    let numbering = Numbering::of(&numbering, &styles);
    let styles = unshown_styles(&styles);
    let notes = ["footnotes.xml", "endnotes.xml"].map(|name| beside(&folder, name));
    for part in std::iter::once(&main).chain(&notes) {
        let Some(settled) = settled(&mut archive, part, &styles, &numbering)? else { continue };
        told.extend(settled.told);
        relations.extend(settled.chunks);
        changed.insert(part.clone(), settled.xml);
    }
    let chunks = chunks(&mut archive, &main, relations, &mut told)?;
    told.extend(beside::parts(&mut archive, &main, &folder)?);
    if let Some(xml) = archive.read(&main)? {
        told.extend(beside::of_text(&text::decode(&xml).0));
    }
    let charts = beside::charts(&mut archive, &folder)?;
    told.append(&mut archive.warnings);
    let moved = main != MAIN_PART;
    if changed.is_empty() && !moved {
        return Ok(Package { bytes: Cow::Borrowed(bytes), told, chunks, charts });
    }
    let rename = |name: &str| match moved {
        true if name == main => MAIN_PART.to_owned(),
        true if name == relations_of(&main) => relations_of(MAIN_PART),
        true => match name.strip_prefix(folder.as_str()).filter(|rest| folder.is_empty() || rest.starts_with('/')) {
            Some(rest) if !folder.is_empty() => format!("word{rest}"),
            _ => name.to_owned(),
        },
        false => name.to_owned(),
    };
    let bytes = archive.rewritten(&changed, rename)?;
    Ok(Package { bytes: Cow::Owned(bytes), told, chunks, charts })
}

/// The part of the package that is the document, by its relations.
fn main_part(archive: &mut Archive<'_>) -> Result<String, Failure> {
    let relations = archive.text("_rels/.rels")?.unwrap_or_default();
    let named = relations_in("_rels/.rels", &relations)?.into_iter().find(|relation| relation.kind == "officeDocument");
    let named = named.map(|relation| resolve("", &relation.target)).filter(|name| archive.has(name));
    Ok(named.unwrap_or_else(|| MAIN_PART.to_owned()))
}

/// A part with its changes; none if it needs no change.
fn settled(
    archive: &mut Archive<'_>,
    part: &str,
    styles: &UnshownStyles,
    numbering: &Numbering,
) -> Result<Option<Settled>, Failure> {
    let Some(bytes) = archive.read(part)? else { return Ok(None) };
    let (xml, damage) = text::decode(&bytes);
    let usual = prefixes::usual(&xml);
    let broken = |error: quick_xml::Error| xml::broken(part, &error);
    let joined = joined::joined(&usual).map_err(broken)?;
    let (shown, mut told) = shown::shown(&joined).map_err(broken)?;
    let is_changed = [&usual, &joined, &shown].iter().any(|xml| matches!(xml, Cow::Owned(_)));
    if damage.is_none() && !is_changed && styles.is_empty() && numbering.is_empty() && !markup::is_to_settle(&shown) {
        return Ok(None);
    }
    let mut settled = markup::settle(part, &shown, styles, numbering)?;
    told.append(&mut settled.told);
    settled.told = told;
    settled.told.extend(damage);
    Ok(Some(settled))
}

/// The texts of pieces of other documents.
fn chunks(
    archive: &mut Archive<'_>,
    main: &str,
    relations: Vec<String>,
    told: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    if relations.is_empty() {
        return Ok(Vec::new());
    }
    let list = archive.text(&relations_of(main))?.unwrap_or_default();
    let known = relations_in(&relations_of(main), &list)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut texts = Vec::with_capacity(relations.len());
    for id in relations {
        let target = known.iter().find(|relation| relation.id == id).map(|relation| resolve(folder, &relation.target));
        let name = target.unwrap_or_else(|| id.clone());
        let text = match archive.read(&name)? {
            Some(bytes) => chunk(&name, &bytes, told),
            None => None,
        };
        if text.is_none() {
            told.push(format!("Not in the text: a part in another format, {}.", first_words(&name)));
        }
        texts.push(text.unwrap_or_default());
    }
    Ok(texts)
}

/// The text of a piece by its name's extension; none for a format that cannot be embedded.
fn chunk(name: &str, bytes: &[u8], told: &mut Vec<String>) -> Option<String> {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let (text, warnings) = match extension.as_str() {
        "html" | "htm" | "xhtml" => html::markdown(bytes).ok()?,
        "txt" => {
            let (pages, trailer) = text::extract(bytes).ok()?;
            (pages.into_iter().map(|page| page.text).collect::<Vec<_>>().join("\n\n"), trailer.warnings)
        }
        "docx" => {
            let (mut pages, trailer) = super::extract(bytes).ok()?;
            (pages.pop()?.text, trailer.warnings)
        }
        _ => return None,
    };
    told.extend(warnings);
    Some(text)
}

fn beside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
