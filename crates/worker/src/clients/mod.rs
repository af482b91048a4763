//! Clients of models, the graph and the web, one for each distinct configuration, shared by all jobs of the process.

mod cache;
pub(crate) mod graph;
pub(crate) mod model;
pub(crate) mod web;

use cache::ClientCache;
