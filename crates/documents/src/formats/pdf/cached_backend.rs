//! One page of a PDF as the parser's layout code requests it, with a cache.
//!
//! The layout code asks several times about each string of a page: its text, its width, whether its font is vertical.
//! The parser's own lookup walks each time through the resources of the page and of every node of the page tree above
//! it, which is most of a page's time. A document has few distinct strings, which recur: here each is looked up once
//! per font.

use super::actual_text;
use super::fonts::{Font, Fonts};
use super::ruling_lines::Rules;
use super::turned::Turn;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use unpdf::Result;
use unpdf::parser::TextSpan;
use unpdf::parser::backend::{
    BackendFontInfo, ContentOp, DecodedRun, DecodedText, GlyphAdvance, PageBox, PageContent, PageId, PaintedXObject,
    PdfBackend, PdfMetadataRaw, RawBackend, RawOutlineItem, RawXObject, ResourceScope, TextSuppression,
};

/// Maximum number of cached strings; beyond it, the cache is cleared. Ordinary books have some ten thousand.
const MOST_STRINGS: usize = 200_000;
/// Longer strings rarely recur.
const LONGEST: usize = 64;

/// The cache of a document's strings, kept from page to page.
#[derive(Default)]
pub(crate) struct StringCache {
    fonts: Vec<Known>,
    numbers: HashMap<Font, usize>,
    /// The font names of the current page or form: a handful, so a list is faster than a map.
    names: Vec<(Vec<u8>, usize)>,
    scope: Option<ResourceScope>,
    strings: usize,
    local: usize,
}

/// The cache of one font.
#[derive(Default)]
struct Known {
    strings: HashMap<Vec<u8>, Answers>,
    vertical: Option<bool>,
}

/// The cached properties of one string in one font.
#[derive(Default)]
struct Answers {
    text: Option<DecodedText>,
    run: Option<DecodedRun>,
    advances: Option<Option<Vec<GlyphAdvance>>>,
}

/// One page, seen through the parser's reader of the document.
pub(crate) struct View<'a> {
    document: &'a RawBackend,
    fonts: &'a Fonts,
    memory: &'a Mutex<StringCache>,
    pages: BTreeMap<u32, PageId>,
    rules: Mutex<Rules>,
    lost: AtomicUsize,
    meant: Mutex<BTreeSet<String>>,
    turn: Option<Turn>,
}

impl<'a> View<'a> {
    /// The page of that number and id, as it looks after a turn.
    pub(crate) fn new(
        document: &'a RawBackend,
        fonts: &'a Fonts,
        memory: &'a Mutex<StringCache>,
        (number, id): (u32, PageId),
        turn: Option<Turn>,
    ) -> Self {
        let pages = BTreeMap::from([(number, id)]);
        let (rules, lost, meant) = (Mutex::default(), AtomicUsize::new(0), Mutex::default());
        Self { document, fonts, memory, pages, rules, lost, meant, turn }
    }

    /// The page's content, after the turn.
    fn turn_content(&self, page: PageId, data: Vec<u8>) -> Vec<u8> {
        let Some(turn) = self.turn else { return data };
        [turn.operator(self.document.page_box(page)).into_bytes(), data].concat()
    }

    /// An area of the page, after the turn.
    fn turn_area(&self, page: PageId, area: PageBox) -> PageBox {
        self.turn.map_or(area, |turn| turn.area(area, self.document.page_box(page)))
    }

    /// How many characters of the page could not be decoded from the codes of their fonts.
    pub(crate) fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }

    /// The texts that the page's content states in place of its characters.
    pub(crate) fn meant(&self) -> Vec<String> {
        self.meant.lock().iter().cloned().collect()
    }

    /// Counts the characters of a string without text. The codes of composite fonts have two bytes.
    fn count_lost(&self, decoded: &DecodedText, bytes: &[u8]) {
        let lost = match decoded.suppressed {
            Some(TextSuppression::CompositeUnresolved) => bytes.len().div_ceil(2),
            Some(_) => bytes.len(),
            None => decoded.undecoded_codes as usize + meaningless(&decoded.text),
        };
        self.lost.fetch_add(lost, Ordering::Relaxed);
    }

    /// Whether the lines drawn so far may be the rulings of a table, on a page of that height and text.
    pub(crate) fn may_have_ruled_table(&self, height: f32, spans: &[TextSpan]) -> bool {
        self.rules.lock().may_contain_table(height, spans)
    }

    /// The heights of the lines drawn between the rows of its tables, from the top.
    pub(crate) fn drawn_between_rows(&self) -> Vec<f32> {
        self.rules.lock().between_rows()
    }

    /// A property of a string in a font, from the cache or else from the parser.
    fn recall<T: Clone>(
        &self,
        (scope, name, bytes): (ResourceScope, &[u8], &[u8]),
        place: impl Fn(&mut Answers) -> &mut Option<T>,
        ask: impl FnOnce() -> T,
    ) -> T {
        let mut memory = self.memory.lock();
        let font = memory.font(self.fonts, scope, name);
        let strings = &mut memory.fonts[font].strings;
        if let Some(answer) = strings.get_mut(bytes).and_then(|answers| place(answers).clone()) {
            return answer;
        }
        let answer = ask();
        if bytes.len() <= LONGEST {
            *place(strings.entry(bytes.to_vec()).or_default()) = Some(answer.clone());
            memory.grow();
        }
        answer
    }
}

impl StringCache {
    /// The number of the font of a name in a scope.
    fn font(&mut self, fonts: &Fonts, scope: ResourceScope, name: &[u8]) -> usize {
        if self.scope != Some(scope) {
            self.scope = Some(scope);
            self.names.clear();
        }
        if let Some((_, number)) = self.names.iter().find(|(known, _)| known == name) {
            return *number;
        }
        self.local += 1;
        let font = fonts.find(scope, name, self.local);
        let number = *self.numbers.entry(font).or_insert(self.fonts.len());
        if number == self.fonts.len() {
            self.fonts.push(Known::default());
        }
        self.names.push((name.to_vec(), number));
        number
    }

    fn grow(&mut self) {
        self.strings += 1;
        if self.strings > MOST_STRINGS {
            self.fonts.iter_mut().for_each(|font| font.strings.clear());
            self.strings = 0;
        }
    }
}

/// Private characters of a font, which have no meaning outside of it. A single one is a list's bullet or a symbol.
fn meaningless(text: &str) -> usize {
    let count = text.chars().filter(|c| matches!(*c, '\u{e000}'..='\u{f8ff}' | char::REPLACEMENT_CHARACTER)).count();
    if count > 1 { count } else { 0 }
}

impl PdfBackend for View<'_> {
    fn pages(&self) -> BTreeMap<u32, PageId> {
        self.pages.clone()
    }

    fn page_fonts(&self, scope: ResourceScope) -> Result<Vec<BackendFontInfo>> {
        self.document.page_fonts(scope)
    }

    fn page_content(&self, page: PageId) -> Result<Vec<u8>> {
        self.document.page_content(page).map(|data| self.turn_content(page, data))
    }

    fn page_content_with_losses(&self, page: PageId) -> Result<PageContent> {
        let mut content = self.document.page_content_with_losses(page)?;
        content.data = self.turn_content(page, content.data);
        Ok(content)
    }

    fn decode_content(&self, data: &[u8]) -> Result<Vec<ContentOp>> {
        let operations = self.document.decode_content(data)?;
        self.rules.lock().take(&operations);
        self.meant.lock().extend(actual_text::in_content(data));
        Ok(operations)
    }

    fn decode_text(&self, scope: ResourceScope, font: &[u8], bytes: &[u8]) -> DecodedText {
        let ask = || self.document.decode_text(scope, font, bytes);
        let decoded = self.recall((scope, font, bytes), |answers| &mut answers.text, ask);
        self.count_lost(&decoded, bytes);
        decoded
    }

    fn decode_run(&self, scope: ResourceScope, font: &[u8], bytes: &[u8]) -> DecodedRun {
        let ask = || self.document.decode_run(scope, font, bytes);
        let run = self.recall((scope, font, bytes), |answers| &mut answers.run, ask);
        self.count_lost(&run.decoded, bytes);
        run
    }

    fn glyph_advances(&self, scope: ResourceScope, font: &[u8], bytes: &[u8]) -> Option<Vec<GlyphAdvance>> {
        let ask = || self.document.glyph_advances(scope, font, bytes);
        self.recall((scope, font, bytes), |answers| &mut answers.advances, ask)
    }

    fn is_vertical_font(&self, scope: ResourceScope, name: &[u8]) -> bool {
        let mut memory = self.memory.lock();
        let font = memory.font(self.fonts, scope, name);
        *memory.fonts[font].vertical.get_or_insert_with(|| self.document.is_vertical_font(scope, name))
    }

    fn metadata(&self) -> PdfMetadataRaw {
        self.document.metadata()
    }

    fn page_box(&self, page: PageId) -> PageBox {
        self.turn_area(page, self.document.page_box(page))
    }

    fn crop_box(&self, page: PageId) -> PageBox {
        self.turn_area(page, self.document.crop_box(page))
    }

    fn page_rotation(&self, page: PageId) -> u16 {
        if self.turn.is_some() { 0 } else { self.document.page_rotation(page) }
    }

    fn struck_out_areas(&self, page: PageId) -> Vec<PageBox> {
        let areas = self.document.struck_out_areas(page).into_iter();
        areas.map(|area| self.turn_area(page, area)).collect()
    }

    fn outline(&self) -> Result<Vec<RawOutlineItem>> {
        self.document.outline()
    }

    fn page_xobjects(&self, page: PageId) -> Result<Vec<RawXObject>> {
        self.document.page_xobjects(page)
    }

    fn xobject(&self, scope: ResourceScope, name: &[u8]) -> Option<PaintedXObject> {
        self.document.xobject(scope, name)
    }
}
