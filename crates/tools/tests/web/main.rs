//! Web research against real servers on loopback, the only address that the guard allows as an exception.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod bench;
mod http_tools;
mod pages;
mod searches;
mod server;
mod tricks;
