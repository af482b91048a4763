//! Visible parts of a PDF outside page content: values of form fields and typed annotations, which become text; and XFA
//! forms, attached files, comments and recordings, which are only reported.

use super::drawn::{self, Drawn};
use super::lines::Line;
use super::objects::{Look, MAX_DEPTH};
use super::page_layout::{Placed, Sheet};
use super::strings::text_of;
use crate::formats::blocks::Block;
use crate::formats::repeated::label_obliges;
use crate::formats::warnings::first_words;
use crate::formats::xml;
use quick_xml::events::Event;
use std::collections::{BTreeMap, HashSet};
use unpdf::parser::backend::{PageId, RawBackend};
use unpdf::parser::raw::{PdfDict, PdfObject, RawDocument, stream};

/// Maximum annotations of a page, and files of a document, that are examined.
const MOST: usize = 5_000;
/// A button with this many words has meaningful text.
const WORDS_OF_A_TEXT: usize = 4;
/// Default type size of entered text.
const USUAL_SIZE: f32 = 10.0;

/// Content found outside the page content.
#[derive(Default)]
pub(crate) struct Elsewhere {
    /// Texts by page number.
    pub(crate) texts: BTreeMap<u32, Vec<Typed>>,
    /// Content missing from the text, one sentence each.
    pub(crate) told: Vec<String>,
    /// Whether the pages are only a placeholder until a program has rendered the document.
    pub(crate) is_placeholder: bool,
}

/// An entered text, or one typed onto a page.
#[derive(Debug)]
pub(crate) struct Typed {
    text: String,
    line: Line,
}

impl Typed {
    /// Puts the text after the nearest line above or beside it.
    pub(crate) fn put(&self, sheet: &mut Sheet) {
        let before = |(at, placed): (usize, &Placed)| {
            let line = placed.first?;
            let above = line.y - self.line.y;
            (above >= -2.0).then_some((above + line.distance(&self.line), at))
        };
        let nearest = sheet.blocks.iter().enumerate().filter_map(before).min_by(|one, other| one.0.total_cmp(&other.0));
        let block = Block::Paragraph(self.text.clone());
        let placed = Placed { block, first: Some(self.line), lines: 1, aside: false };
        sheet.blocks.insert(nearest.map_or(0, |(_, at)| at + 1), placed);
        sheet.as_set.push_str(&format!("\n\n{}", self.text));
        sheet.silent = false;
    }
}

/// Examines a document.
pub(crate) fn of(objects: &RawDocument, document: &RawBackend, pages: &[(u32, PageId)], all_pages: usize) -> Elsewhere {
    let mut found = Elsewhere::default();
    let look = Look { objects, document };
    if let Ok(catalog) = objects.catalog() {
        look.form(catalog, &mut found);
        look.placeless(catalog, &mut found);
        look.attached(catalog, &mut found);
    }
    let off = objects.catalog().map(|catalog| drawn::layers_off(&look, catalog)).unwrap_or_default();
    for (number, id) in pages {
        look.page(*number, *id, &mut found);
        look.patterns(*number, *id, &mut found);
        let hidden = if off.is_empty() { None } else { Drawn::switched_off(&look, *id, &off) };
        let said = |words: String| {
            format!("Page {number}: of a layer that is switched off, and still in the text: {}.", first_words(&words))
        };
        found.told.extend(hidden.map(said));
    }
    if let Some(declared) = objects.declared_page_count().filter(|declared| *declared as usize > all_pages) {
        found.told.push(format!("The document says that it has {declared} pages; {all_pages} of them could be found."));
    }
    found
}

impl<'a> Look<'a> {
    /// XFA forms.
    fn form(&self, catalog: &'a PdfDict, found: &mut Elsewhere) {
        let Some(packets) =
            self.get(catalog, "AcroForm").and_then(|form| self.dictionary(form)).and_then(|form| self.get(form, "XFA"))
        else {
            return;
        };
        let parts: Vec<&PdfObject> = match packets {
            PdfObject::Array(parts) => parts.iter().map(|part| self.objects.resolve(part)).collect(),
            packet => vec![packet],
        };
        let unpacked =
            parts.into_iter().filter_map(PdfObject::as_stream).filter_map(|packed| stream::decompress(packed).ok());
        let words: String = unpacked.map(|packet| xfa_words(&String::from_utf8_lossy(&packet))).collect();
        found.is_placeholder = matches!(self.get(catalog, "NeedsRendering"), Some(PdfObject::Bool(true)));
        let said = match found.is_placeholder {
            true => "The document is an XFA form, which a program draws: its pages are not in the text",
            false => "The document is an XFA form as well: what only its program shows is not in the text",
        };
        let words = if words.trim().is_empty() { String::new() } else { format!(": {}", first_words(&words)) };
        found.told.push(format!("{said}{words}; print it to a PDF and supply that."));
    }

    fn attached(&self, catalog: &'a PdfDict, found: &mut Elsewhere) {
        let tree = self.get(catalog, "Names").and_then(|names| self.dictionary(names));
        let tree = tree.and_then(|names| self.get(names, "EmbeddedFiles")).and_then(|tree| self.dictionary(tree));
        let mut files: Vec<String> = tree.map(|tree| self.files_in(tree)).unwrap_or_default();
        let associated = self.array(catalog, "AF").iter().take(MOST).filter_map(|file| self.file_name(file));
        files.extend(associated);
        let mut named = HashSet::new();
        files.retain(|file| named.insert(file.clone()));
        let kind = if catalog.contains_key(b"Collection".as_slice()) {
            "a file of this portfolio"
        } else {
            "an attached file"
        };
        found.told.extend(files.iter().map(|file| format!("Not in the text: {kind}, {}.", first_words(file))));
    }

    fn files_in(&self, tree: &'a PdfDict) -> Vec<String> {
        let (mut files, mut open) = (Vec::new(), vec![(tree, 0)]);
        while let Some((node, depth)) = open.pop().filter(|_| files.len() < MOST) {
            let specs = self.array(node, "Names").chunks(2).filter_map(|pair| pair.get(1));
            files.extend(specs.filter_map(|spec| self.file_name(spec)));
            let kids = self.array(node, "Kids").iter().rev().filter_map(|kid| self.dictionary(kid));
            open.extend(kids.filter(|_| depth < MAX_DEPTH).map(|kid| (kid, depth + 1)));
        }
        files
    }

    fn file_name(&self, spec: &'a PdfObject) -> Option<String> {
        match self.objects.resolve(spec) {
            PdfObject::Str(name) => Some(text_of(name)),
            other => {
                let spec = self.dictionary(other)?;
                ["UF", "F", "Desc"].into_iter().find_map(|key| self.text(spec, key))
            }
        }
    }

    fn page(&self, number: u32, id: PageId, found: &mut Elsewhere) {
        let Ok(page) = self.objects.get_dict(id) else { return };
        let files = self.array(page, "AF").iter().take(MOST).filter_map(|file| self.file_name(file));
        found.told.extend(
            files.map(|file| format!("Page {number}: not in the text: an attached file, {}.", first_words(&file))),
        );
        for object in self.array(page, "Annots").iter().take(MOST) {
            let Some(annotation) = self.dictionary(object) else { continue };
            let kind = self.get(annotation, "Subtype").and_then(PdfObject::as_name).unwrap_or_default();
            let contents = || self.text(annotation, "Contents");
            let say =
                |what: &str, words: String| format!("Page {number}: not in the text: {what}, {}.", first_words(&words));
            if is_hidden(annotation) {
                let words = if kind == b"Widget" { self.value(annotation, id) } else { contents() };
                found
                    .told
                    .extend(words.map(|words| format!("Page {number}: left out as hidden: {}.", first_words(&words))));
                continue;
            }
            let typed = match kind {
                b"Widget" => self.value(annotation, id),
                b"FreeText" => {
                    contents().or_else(|| self.rich(annotation, "RC")).or_else(|| self.appearance(annotation, id))
                }
                b"Stamp" => {
                    let words = self.appearance(annotation, id).or_else(contents);
                    found.told.extend(words.map(|words| say("a stamp", words)));
                    continue;
                }
                b"FileAttachment" => {
                    let file = annotation.get(b"FS".as_slice()).and_then(|spec| self.file_name(spec)).or_else(contents);
                    found.told.extend(file.map(|file| say("an attached file", file)));
                    continue;
                }
                b"Movie" | b"Sound" | b"Screen" | b"RichMedia" | b"3D" => {
                    let words = contents().unwrap_or_else(|| String::from_utf8_lossy(kind).into_owned());
                    found.told.push(say("a recording or model", words));
                    continue;
                }
                // Most programs say where the link leads, or repeat its words.
                b"Link" => {
                    let words = contents().filter(|words| label_obliges(words));
                    found.told.extend(words.map(|words| say("a description of a link", words)));
                    continue;
                }
                // It shows the words of the comment that it belongs to.
                b"Popup" => continue,
                _ => {
                    let words = contents().or_else(|| self.rich(annotation, "RC"));
                    let drawn = || self.appearance(annotation, id).map(|words| say("words drawn over the page", words));
                    found.told.extend(words.map(|words| say("a comment", words)).or_else(drawn));
                    continue;
                }
            };
            if let Some(text) = typed {
                let line = self.place(annotation);
                found.texts.entry(number).or_default().push(Typed { text, line });
            }
        }
    }

    /// The value of a field; without one, the words of its appearance.
    fn value(&self, field: &'a PdfDict, page: PageId) -> Option<String> {
        let kind = self.inherited(field, |field| self.get(field, "FT")?.as_name())?;
        let flags = self.inherited(field, |field| self.get(field, "Ff")?.as_i64()).unwrap_or(0);
        const PASSWORD: i64 = 1 << 13;
        const PUSH_BUTTON: i64 = 1 << 16;
        match kind {
            b"Btn" if flags & PUSH_BUTTON != 0 => {
                let caption = self.get(field, "MK").and_then(|look| self.text(self.dictionary(look)?, "CA"))?;
                (caption.split_whitespace().count() >= WORDS_OF_A_TEXT).then_some(caption)
            }
            b"Btn" => {
                let state = self.get(field, "AS").and_then(PdfObject::as_name);
                let state = state.or_else(|| self.inherited(field, |field| self.get(field, "V")?.as_name()))?;
                let name = self.inherited(field, |field| self.text(field, "TU")).unwrap_or_default();
                (state != b"Off").then(|| format!("[x] {name}").trim_end().to_owned())
            }
            // Who has signed.
            b"Sig" => self.appearance(field, page),
            b"Tx" if flags & PASSWORD != 0 => None,
            b"Tx" | b"Ch" => {
                let value = self.inherited(field, |field| self.text(field, "V"));
                let value = value.map(|value| self.shown_choices(field, value));
                value.or_else(|| self.rich(field, "RV")).or_else(|| self.appearance(field, page))
            }
            _ => None,
        }
    }

    /// For a list, the labels of the chosen values.
    fn shown_choices(&self, field: &'a PdfDict, value: String) -> String {
        let options = self.inherited(field, |field| self.get(field, "Opt")?.as_array()).unwrap_or_default();
        let pair = |option: &'a PdfObject| match self.objects.resolve(option).as_array()? {
            [export, shown] => {
                let text = |one: &'a PdfObject| self.objects.resolve(one).as_str_bytes().map(text_of);
                Some((text(export)?, text(shown)?))
            }
            _ => None,
        };
        let pairs: Vec<(String, String)> = options.iter().filter_map(pair).collect();
        let shown = |value: &str| {
            pairs
                .iter()
                .find(|(export, _)| export == value)
                .map_or_else(|| value.to_owned(), |(_, shown)| shown.clone())
        };
        match self.inherited(field, |field| self.get(field, "V")?.as_array()) {
            Some(_) => value.split("; ").map(shown).collect::<Vec<_>>().join("; "),
            None => shown(&value),
        }
    }

    /// The words of a rich text.
    fn rich(&self, dictionary: &'a PdfDict, key: &str) -> Option<String> {
        let words = markup_words(&self.text(dictionary, key)?, |_| true);
        Some(words.trim().to_owned()).filter(|words| !words.is_empty())
    }

    /// Fields with a value and no position on a page.
    fn placeless(&self, catalog: &'a PdfDict, found: &mut Elsewhere) {
        let Some(form) = self.get(catalog, "AcroForm").and_then(|form| self.dictionary(form)) else { return };
        let mut open: Vec<(&'a PdfObject, usize)> =
            self.array(form, "Fields").iter().take(MOST).map(|one| (one, 0)).collect();
        while let Some((field, depth)) = open.pop().filter(|_| found.told.len() < MOST) {
            let Some(field) = self.dictionary(field) else { continue };
            let kids = self.array(field, "Kids");
            if kids.is_empty() && !field.contains_key(b"Rect".as_slice()) {
                let value = self.inherited(field, |field| self.text(field, "V"));
                let said = |value: String| {
                    format!("Not in the text: a field without a place on a page, {}.", first_words(&value))
                };
                found.told.extend(value.map(said));
            }
            open.extend(kids.iter().filter(|_| depth < MAX_DEPTH).map(|kid| (kid, depth + 1)));
        }
    }

    /// The words that an annotation's appearance draws, in its present state.
    fn appearance(&self, annotation: &'a PdfDict, page: PageId) -> Option<String> {
        let normal = self.dictionary(annotation.get(b"AP".as_slice())?)?.get(b"N".as_slice())?;
        let state = || match self.objects.resolve(normal) {
            PdfObject::Dict(states) => states.get(self.get(annotation, "AS")?.as_name()?),
            _ => Some(normal),
        };
        Drawn::of_stream(self, page, state()?)
    }

    /// Words drawn again and again in a pattern.
    fn patterns(&self, number: u32, page: PageId, found: &mut Elsewhere) {
        let Some(patterns) = self.with_parents(page).find_map(|id| self.resources(id, "Pattern")) else { return };
        let words = patterns.values().take(MOST).filter_map(|pattern| Drawn::of_stream(self, page, pattern));
        found.told.extend(
            words.map(|words| format!("Page {number}: not in the text: words in a pattern, {}.", first_words(&words))),
        );
    }

    fn place(&self, annotation: &'a PdfDict) -> Line {
        let corners: Vec<f32> =
            self.array(annotation, "Rect").iter().filter_map(|corner| self.objects.resolve(corner).as_f32()).collect();
        let [one, two, three, four] = corners[..] else { return Line::placed(0.0, USUAL_SIZE, (0.0, 0.0)) };
        let (bottom, top) = (two.min(four), two.max(four));
        // In a field of one line the text is in the middle, in a larger one at the top.
        let baseline =
            if top - bottom > 3.0 * USUAL_SIZE { top - USUAL_SIZE } else { (top + bottom) / 2.0 - USUAL_SIZE / 3.0 };
        Line::placed(baseline, USUAL_SIZE, (one.min(three), one.max(three)))
    }
}

/// Whether an annotation is neither shown nor printed.
fn is_hidden(annotation: &PdfDict) -> bool {
    const HIDDEN: i64 = 2;
    const NO_VIEW: i64 = 32;
    let flags = annotation.get(b"F".as_slice()).and_then(PdfObject::as_i64).unwrap_or(0);
    flags & (HIDDEN | NO_VIEW) != 0
}

/// The visible content of an XFA packet: the words of its template and of its data.
fn xfa_words(packet: &str) -> String {
    markup_words(packet, |open| open.iter().any(|name| matches!(name.as_str(), "text" | "exData" | "data")))
}

/// The words of markup within elements that are of interest.
fn markup_words(markup: &str, is_wanted: impl Fn(&[String]) -> bool) -> String {
    let mut reader = xml::reader(markup);
    let (mut words, mut open) = (String::new(), Vec::new());
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => open.push(start.local_name().as_ref().to_owned()),
            Event::End(_) => drop(open.pop()),
            Event::Text(text) if is_wanted(&open) => {
                words.push_str(&text.xml10_content());
                words.push(' ');
            }
            Event::Eof => break,
            _ => {}
        }
    }
    words
}
