//! A job's findings: candidates, coverage, requirements with their evidence, reports.

mod candidates;
mod coverage;
mod eval;
mod liars;
mod losses;
mod own_records;
mod planted;
mod record_passage;
mod report;
mod unseen;
mod versions;
