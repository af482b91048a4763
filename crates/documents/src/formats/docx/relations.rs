//! The relations of a part: which other parts it refers to.

use crate::child::protocol::Failure;
use crate::formats::xml;
use quick_xml::events::Event;

/// A relation of a part to another one.
pub(super) struct Relation {
    pub(super) id: String,
    /// The last word of its type.
    pub(super) kind: String,
    pub(super) target: String,
}

pub(super) fn relations_in(part: &str, text: &str) -> Result<Vec<Relation>, Failure> {
    let mut reader = xml::reader(text);
    let mut relations = Vec::new();
    loop {
        match reader.read_event().map_err(|error| xml::broken(part, &error))? {
            Event::Start(start) if start.local_name().as_ref() == "Relationship" => {
                let of = |name| xml::attribute(&start, name).unwrap_or_default();
                let kind = of("Type").rsplit('/').next().unwrap_or_default().to_owned();
                relations.push(Relation { id: of("Id"), kind, target: of("Target") });
            }
            Event::Eof => return Ok(relations),
            _ => {}
        }
    }
}

pub(super) fn relations_of(part: &str) -> String {
    match part.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/_rels/{name}.rels"),
        None => format!("_rels/{part}.rels"),
    }
}

/// The target of a relation as the name of an entry.
pub(super) fn resolve(folder: &str, target: &str) -> String {
    let (folder, target) = target.strip_prefix('/').map_or((folder, target), |target| ("", target));
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
