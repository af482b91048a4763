//! Lookups among the objects of a PDF: values by their keys, with indirect ones resolved.

use super::strings::text_of;
use unpdf::parser::backend::{ObjectId, PageId, RawBackend, ResourceScope};
use unpdf::parser::raw::{PdfDict, PdfObject, RawDocument, stream};

/// Deeper trees are broken.
pub(super) const MAX_DEPTH: usize = 32;

/// A document's objects.
pub(super) struct Look<'a> {
    pub(super) objects: &'a RawDocument,
    pub(super) document: &'a RawBackend,
}

impl<'a> Look<'a> {
    pub(super) fn get(&self, dictionary: &'a PdfDict, key: &str) -> Option<&'a PdfObject> {
        let object = self.objects.resolve(dictionary.get(key.as_bytes())?);
        (!matches!(object, PdfObject::Null)).then_some(object)
    }

    pub(super) fn dictionary(&self, object: &'a PdfObject) -> Option<&'a PdfDict> {
        match self.objects.resolve(object) {
            PdfObject::Dict(dictionary) => Some(dictionary),
            PdfObject::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    pub(super) fn array(&self, dictionary: &'a PdfDict, key: &str) -> &'a [PdfObject] {
        self.get(dictionary, key).and_then(PdfObject::as_array).unwrap_or_default()
    }

    pub(super) fn text(&self, dictionary: &'a PdfDict, key: &str) -> Option<String> {
        let text = match self.get(dictionary, key)? {
            PdfObject::Str(bytes) => text_of(bytes),
            PdfObject::Name(name) => String::from_utf8_lossy(name).into_owned(),
            PdfObject::Stream(packed) => text_of(&stream::decompress(packed).ok()?),
            PdfObject::Array(all) => {
                let strings = all.iter().filter_map(|one| self.objects.resolve(one).as_str_bytes());
                strings.map(text_of).collect::<Vec<_>>().join("; ")
            }
            _ => return None,
        };
        let text = text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A key of a field, possibly inherited from its parent field.
    pub(super) fn inherited<T>(&self, field: &'a PdfDict, find: impl Fn(&'a PdfDict) -> Option<T>) -> Option<T> {
        let above = |field: &&'a PdfDict| self.dictionary(field.get(b"Parent".as_slice())?);
        std::iter::successors(Some(field), above).take(MAX_DEPTH).find_map(find)
    }

    /// An entry of the resources of a form, or else of its page, including inherited ones.
    pub(super) fn resource(&self, scope: ResourceScope, category: &str, name: &[u8]) -> Option<&'a PdfObject> {
        let own = |id: ObjectId| self.resources(id, category)?.get(name);
        scope.form.and_then(own).or_else(|| self.with_parents(scope.page).find_map(own))
    }

    /// A category of the resources of a form or page.
    pub(super) fn resources(&self, id: ObjectId, category: &str) -> Option<&'a PdfDict> {
        let resources = self.dictionary(self.objects.get_dict(id).ok()?.get(b"Resources".as_slice())?)?;
        self.dictionary(resources.get(category.as_bytes())?)
    }

    /// A page and the nodes of the page tree above it.
    pub(super) fn with_parents(&self, page: PageId) -> impl Iterator<Item = ObjectId> + use<'a> {
        let objects = self.objects;
        let above = move |id: &ObjectId| objects.get_dict(*id).ok()?.get(b"Parent".as_slice())?.as_reference();
        std::iter::successors(Some(page), above).take(MAX_DEPTH)
    }
}
