//! What is taken away from a job: its process, its database, its volume; and going back.

mod approvals;
mod counting_graph;
mod counting_tool;
mod drain;
mod history;
mod http_tools;
mod in_doubt;
mod kill;
mod lost_answers;
mod order;
mod postgres_trouble;
mod volumes;
