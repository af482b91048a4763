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
