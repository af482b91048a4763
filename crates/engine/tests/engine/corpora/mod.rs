//! Corpora: what must pass without a false stop, and what must not pass as done. Each entry is a case that a rule could
//! get wrong; a rule that is made stricter or laxer shows here which ones it catches.

mod false_ends;
mod honest_ends;
mod long_work;
