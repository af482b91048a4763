//! Tests of what is written about the system, and of the tests' own instruments.

mod clocks;
mod documentation;
mod fault_table;
mod invariants_self_test;
mod old_words;
