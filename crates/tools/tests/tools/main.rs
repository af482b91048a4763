//! The tools with a workspace in memory; the real parser reads documents in its child process.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod batches;
mod bench;
mod chunks;
mod citations;
mod comparison;
mod documents;
mod files;
mod inspection;
mod long_texts;
mod order;
mod path_tricks;
mod record_passage;
mod recorded;
mod requirements;
mod searching;
mod specs;
mod untrusted;
