//! The words that a stream of a PDF draws: an annotation's appearance, a pattern, a page with layers that are switched
//! off.

use super::objects::Look;
use std::collections::HashSet;
use unpdf::parser::backend::{ContentOp, ObjectId, PageId, PaintedXObject, PdfBackend as _, PdfValue, ResourceScope};
use unpdf::parser::raw::{PdfDict, PdfObject, stream};

/// Deeper forms are broken.
const MAX_DEPTH: usize = 8;
/// Maximum streams of one reading: forms may be drawn again and again.
const MOST_STREAMS: usize = 500;

/// The words of a stream and of the forms in it.
pub(super) struct Drawn<'a> {
    look: &'a Look<'a>,
    page: PageId,
    /// Layers whose words alone are of interest; none: all words are.
    off: Option<&'a HashSet<ObjectId>>,
    /// Of each open sequence of marked content, whether its layer is switched off.
    marks: Vec<bool>,
    streams: usize,
    words: String,
}

impl<'a> Drawn<'a> {
    /// The words of a stream with resources of its own; none if it draws none.
    pub(super) fn of_stream(look: &'a Look<'a>, page: PageId, stream: &PdfObject) -> Option<String> {
        let packed = look.objects.resolve(stream).as_stream()?;
        let content = stream::decompress(packed).ok()?;
        let mut drawn = Self::new(look, page, None);
        drawn.read(ResourceScope::form(page, stream.as_reference()?), &content, 0);
        drawn.finish()
    }

    /// The words of a page in layers that are switched off.
    pub(super) fn switched_off(look: &'a Look<'a>, page: PageId, off: &'a HashSet<ObjectId>) -> Option<String> {
        let content = look.document.page_content(page).ok()?;
        let mut drawn = Self::new(look, page, Some(off));
        drawn.read(ResourceScope::page(page), &content, 0);
        drawn.finish()
    }

    fn new(look: &'a Look<'a>, page: PageId, off: Option<&'a HashSet<ObjectId>>) -> Self {
        Self { look, page, off, marks: Vec::new(), streams: 0, words: String::new() }
    }

    fn finish(self) -> Option<String> {
        let words = self.words.trim().to_owned();
        (!words.is_empty()).then_some(words)
    }

    fn read(&mut self, scope: ResourceScope, content: &[u8], depth: usize) {
        self.streams += 1;
        let Ok(operations) = self.look.document.decode_content(content) else { return };
        let marks = self.marks.len();
        let mut font = Vec::new();
        for operation in &operations {
            match (operation.operator.as_str(), operation.operands.as_slice()) {
                ("Tf", [PdfValue::Name(name), ..]) => font.clone_from(name),
                ("Tj" | "TJ" | "'" | "\"", _) => self.text(scope, &font, operation),
                ("BDC", [PdfValue::Name(tag), PdfValue::Name(name)]) if tag == b"OC" => {
                    self.marks.push(self.is_off(self.look.resource(scope, "Properties", name)));
                }
                ("BDC" | "BMC", _) => self.marks.push(false),
                ("EMC", _) if self.marks.len() > marks => drop(self.marks.pop()),
                ("Do", [PdfValue::Name(name)]) if depth < MAX_DEPTH && self.streams < MOST_STREAMS => {
                    self.form(scope, name, depth);
                }
                _ => {}
            }
        }
        self.marks.truncate(marks);
    }

    fn form(&mut self, scope: ResourceScope, name: &[u8], depth: usize) {
        let Some(PaintedXObject::Form(form)) = self.look.document.xobject(scope, name) else { return };
        let Some(content) = form.content else { return };
        let group = self.look.objects.get_dict(form.id).ok().and_then(|form| form.get(b"OC".as_slice()));
        self.marks.push(self.is_off(group));
        self.read(ResourceScope::form(self.page, form.id), &content, depth + 1);
        self.marks.pop();
    }

    fn text(&mut self, scope: ResourceScope, font: &[u8], operation: &ContentOp) {
        if self.off.is_some() && !self.marks.contains(&true) {
            return;
        }
        self.words.push(' ');
        strings(&operation.operands, &mut |bytes| {
            self.words.push_str(&self.look.document.decode_text(scope, font, bytes).text);
        });
    }

    /// Whether content of a layer, or of one of several layers, is not shown.
    fn is_off(&self, layer: Option<&PdfObject>) -> bool {
        let (Some(layer), Some(off)) = (layer, self.off) else { return false };
        let is_off = |layer: &PdfObject| layer.as_reference().is_some_and(|id| off.contains(&id));
        let members = || match self.look.dictionary(layer)?.get(b"OCGs".as_slice())? {
            one if is_off(one) => Some(true),
            several => Some(self.look.objects.resolve(several).as_array()?.iter().all(is_off)),
        };
        is_off(layer) || members().unwrap_or(false)
    }
}

/// The layers of a document that are switched off when it is opened.
pub(super) fn layers_off(look: &Look<'_>, catalog: &PdfDict) -> HashSet<ObjectId> {
    let properties = look.get(catalog, "OCProperties").and_then(|properties| look.dictionary(properties));
    let Some(properties) = properties else { return HashSet::new() };
    let Some(shown) = look.get(properties, "D").and_then(|shown| look.dictionary(shown)) else { return HashSet::new() };
    let ids = |list: &[PdfObject]| list.iter().filter_map(PdfObject::as_reference).collect::<HashSet<_>>();
    let mut off = ids(look.array(shown, "OFF"));
    if look.get(shown, "BaseState").and_then(PdfObject::as_name) == Some(b"OFF".as_slice()) {
        let on = ids(look.array(shown, "ON"));
        off.extend(ids(look.array(properties, "OCGs")).difference(&on));
    }
    off
}

/// The strings among operands, including those in arrays.
fn strings(operands: &[PdfValue], take: &mut impl FnMut(&[u8])) {
    for operand in operands {
        match operand {
            PdfValue::Str(bytes) => take(bytes),
            PdfValue::Array(inner) => strings(inner, take),
            _ => {}
        }
    }
}
