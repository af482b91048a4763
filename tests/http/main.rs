//! The worker seen from outside: probes, metrics, API, dashboard, traces. The real binary, a real Postgres, a real
//! collector's protocol, and a real browser where there is one.

mod api;
mod approvals;
mod browser;
mod client;
mod collector;
mod downloads;
mod guard;
mod headline;
mod pages;
mod probes;
mod scale;
mod secrets;
mod strangers;
mod traces;
