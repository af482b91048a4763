//! Corpora: work that must pass without a false stop, and false ends that must not pass as done. Each entry is a case
//! that a rule could get wrong; a changed rule shows here which cases it affects.

mod false_ends;
mod honest_ends;
mod long_work;
