//! The commands, one a file.

pub(crate) mod approvals;
pub(crate) mod candidates;
pub(crate) mod config;
pub(crate) mod control;
pub(crate) mod coverage;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod enqueue;
pub(crate) mod eval;
pub(crate) mod files;
pub(crate) mod fork;
pub(crate) mod healthcheck;
pub(crate) mod job_summary;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod models;
pub(crate) mod prune;
pub(crate) mod rehearse;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod status;
pub(crate) mod trace;
pub(crate) mod watch;
pub(crate) mod worker;
