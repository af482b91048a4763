//! From the creator to the validator, and into the graph.

mod both_jobs;
mod by_rule;
mod dev;
mod graph;
mod graph_script;
mod validator;
mod validator_outages;
mod validator_sql;
