//! Documents made by the tests themselves: formats that are archives, and hostile ones by the hundred.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod beside;
mod contracts;
mod drawn;
mod drawn_tables;
mod formats;
mod hostile;
mod large;
mod layouts;
mod losses;
mod make;
mod mutated;
mod numbering;
mod odt_numbering;
mod outcomes;
mod policy;
mod samples;
mod signs;
mod tables;
mod unshown;
mod zoo;
