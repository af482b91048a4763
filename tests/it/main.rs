//! System tests: the real binary on a real Postgres, one module a subject.

mod bad_input;
mod end_to_end;
mod kill;
