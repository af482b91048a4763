//! The commands, one a file.

pub(crate) mod config;
pub(crate) mod control;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod enqueue;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod outcome;
pub(crate) mod probe;
pub(crate) mod prune;
pub(crate) mod rehearse;
pub(crate) mod replay;
pub(crate) mod status;
pub(crate) mod trace;
pub(crate) mod watch;
pub(crate) mod worker;
