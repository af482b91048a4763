//! The relations of a part: which other parts it refers to.

use crate::child::protocol::Failure;
use crate::formats::xml;

/// A relation of a part to another one.
pub(super) struct Relation {
    pub(super) id: String,
    /// The last word of its type.
    pub(super) kind: String,
    pub(super) target: String,
}

pub(super) fn relations_in(part: &str, text: &str) -> Result<Vec<Relation>, Failure> {
    xml::elements(part, text, "Relationship", |start| {
        let of = |name| xml::attribute(start, name).unwrap_or_default();
        let kind = of("Type").rsplit('/').next().unwrap_or_default().to_owned();
        Some(Relation { id: of("Id"), kind, target: of("Target") })
    })
}

pub(super) fn relations_of(part: &str) -> String {
    match part.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/_rels/{name}.rels"),
        None => format!("_rels/{part}.rels"),
    }
}
