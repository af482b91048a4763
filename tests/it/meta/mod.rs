//! Tests of the documentation, and of the tests' own tools.

mod circles;
mod clocks;
mod documentation;
mod fault_table;
mod invariants_self_test;
mod removals;
mod walls;
