//! All kinds, one file per family.

mod arguments;
mod bodies;
mod calls;
mod endings;
mod markup;
mod own_words;
mod paths;
mod provider;
mod repeats;
mod requirements;
mod shapes;
mod silence;
mod todos;
mod truncated;
mod wire;

use super::{Kind, Reaction, odd};

/// Every family with its kinds, in the order of tables.
const FAMILIES: [&[Kind]; 14] = [
    silence::KINDS,
    repeats::KINDS,
    calls::KINDS,
    arguments::KINDS,
    todos::KINDS,
    endings::KINDS,
    markup::KINDS,
    truncated::KINDS,
    paths::KINDS,
    requirements::KINDS,
    shapes::KINDS,
    bodies::KINDS,
    provider::KINDS,
    wire::KINDS,
];

/// A healthy model, to compare with.
static HEALTHY: Kind = odd("healthy", |turn| Reaction::answer(&turn.healthy));

/// A healthy model that records its findings in its own words.
static OWN_WORDS: Kind = odd("own_words", own_words::reworded);

/// A healthy model that records its findings in English.
static IN_ENGLISH: Kind = odd("in_english", own_words::in_english);

/// The kinds that waiting does not fix: the job must pause at once, for a person to act.
pub static FATAL: &[Kind] = provider::FATAL;

/// Every kind from which a job can recover.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    FAMILIES.into_iter().flatten()
}

/// The kind of this name; `healthy` is the unchanged rehearsal model, `own_words` the same in other words,
/// `in_english` the same in English.
pub fn find(name: &str) -> Option<&'static Kind> {
    kinds().chain(FATAL).chain([&HEALTHY, &OWN_WORDS, &IN_ENGLISH]).find(|kind| kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::{FATAL, find, kinds};
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: Vec<&str> = kinds().chain(FATAL).map(|kind| kind.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(names.len() >= 40 && names.iter().all(|name| find(name).is_some()));
    }
}
