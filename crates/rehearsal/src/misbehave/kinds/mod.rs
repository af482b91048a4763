//! All kinds, one file a family.

mod arguments;
mod calls;
mod endings;
mod markup;
mod paths;
mod provider;
mod repeats;
mod requirements;
mod shapes;
mod silence;
mod todos;
mod truncated;
mod wire;

use super::Kind;

/// Every kind that a job must get over, by family.
pub const KINDS: [&[Kind]; 12] = [
    &silence::KINDS,
    &repeats::KINDS,
    &calls::KINDS,
    &arguments::KINDS,
    &todos::KINDS,
    &endings::KINDS,
    &markup::KINDS,
    &truncated::KINDS,
    &[],
    &[],
    &[],
    &[],
];

/// The kinds that no waiting mends: the job must pause at once, for a person to act.
pub const FATAL: &[Kind] = &provider::FATAL;

/// A healthy model, to compare with.
const HEALTHY: Kind = super::odd("healthy", |turn| super::Reaction::answer(&turn.healthy));

/// The kind of this name; `healthy` is the rehearsal model as it is.
pub fn find(name: &str) -> Option<&'static Kind> {
    let all = KINDS.iter().flat_map(|family| family.iter()).chain(FATAL).chain([&HEALTHY]);
    all.into_iter().find(|kind| kind.name == name)
}
