//! Resolves font names, so that the cache of a font's strings is valid on every page that uses it.

use unpdf::parser::backend::{ObjectId, ResourceScope};
use unpdf::parser::raw::{PdfDict, PdfObject, RawDocument};

/// Deeper page trees are broken.
const MAX_DEPTH: usize = 64;

/// A font of the document, distinguished from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Font {
    /// The object that describes it.
    Object(ObjectId),
    /// A font without its own object; numbered.
    Local(usize),
}

/// The document's objects, for looking fonts up.
pub(crate) struct Fonts(RawDocument);

impl Fonts {
    /// Reads the objects of a document.
    ///
    /// # Errors
    /// The parser's error if the document cannot be opened.
    pub(crate) fn load(bytes: &[u8]) -> unpdf::Result<Self> {
        RawDocument::load(bytes).map(Self)
    }

    /// The document's objects.
    pub(crate) fn objects(&self) -> &RawDocument {
        &self.0
    }

    /// The font of `name` in a form's or page's resources, including inherited ones; `number` is for a font without its
    /// own object.
    pub(crate) fn find(&self, scope: ResourceScope, name: &[u8], number: usize) -> Font {
        let above = |id: &ObjectId| match self.0.get_dict(*id).ok()?.get(b"Parent".as_slice())? {
            PdfObject::Reference(object, generation) => Some((*object, *generation)),
            _ => None,
        };
        let nodes = std::iter::successors(Some(scope.page), above).take(MAX_DEPTH);
        let entry = scope.form.into_iter().chain(nodes).find_map(|id| self.entry(id, name));
        match entry {
            Some(PdfObject::Reference(object, generation)) => Font::Object((*object, *generation)),
            _ => Font::Local(number),
        }
    }

    fn entry(&self, id: ObjectId, name: &[u8]) -> Option<&PdfObject> {
        let resources = self.dictionary(self.0.get_dict(id).ok()?.get(b"Resources".as_slice())?)?;
        let font = self.dictionary(resources.get(b"Font".as_slice())?)?.get(name)?;
        self.dictionary(font).map(|_| font)
    }

    fn dictionary<'a>(&'a self, object: &'a PdfObject) -> Option<&'a PdfDict> {
        match self.0.resolve(object) {
            PdfObject::Dict(dictionary) => Some(dictionary),
            _ => None,
        }
    }
}
