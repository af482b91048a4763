//! System tests: the real binary on a real Postgres, a folder a subject.

mod conversation;
mod evidence;
mod handover;
mod interface;
mod meta;
mod operations;
mod queue;
mod recovery;
mod settings;

/// The graph server of the client's own tests: one double, checked in one place.
#[path = "../../crates/tools/tests/graph/kit/mod.rs"]
mod graph_kit;
