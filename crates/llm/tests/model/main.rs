//! The model client against a real HTTP server on loopback, scripted by each test.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod answers;
mod budget;
mod conversation;
mod double;
mod ends;
mod failures;
mod goes_back;
mod job;
mod paid;
mod published;
mod quirks;
mod refusals;
mod server;
mod silence;
mod stalls;
mod streams;
mod switching;
mod talk;
mod ways;
mod windows;
mod wire;
