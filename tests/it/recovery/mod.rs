//! Failures of a job's process, database or volume; and forks.

mod approvals;
mod counting_graph;
mod counting_tool;
mod decisions;
mod double;
mod drain;
mod history;
mod http_tools;
mod in_doubt;
mod kill;
mod lost_answers;
mod order;
mod outage_in_a_call;
mod postgres_trouble;
mod scene;
mod untrusted;
mod volumes;
