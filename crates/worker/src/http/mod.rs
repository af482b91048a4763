//! The worker's HTTP side: probes, metrics, a read-only API and the dashboard (INTERFACE section 8).
//!
//! ```text
//! request ─▶ guard ─▶ route ─▶ store (two connections of its own) ─▶ JSON or a template
//!            │  methods: GET and HEAD only
//!            │  who: loopback, or a token
//!            └─ headers: no inline script, no framing, no sniffing
//! ```
//!
//! | question | file |
//! |---|---|
//! | on which address, who may ask | `options`, `bind`, `guard`, `session` |
//! | how many may ask at once | `connections`, `streams` |
//! | is the worker alive and ready | `health` |
//! | what does the API give | `api`, `events` |
//! | what does a page show | `pages/`, `templates/`, `assets/` |
//! | where in a document does a quote stand | `highlight` |
//! | which lines of a text are a table | `markdown` |
//!
//! Nothing here writes, and nothing here can slow the work down: it has its own small pool, every list is a page, and
//! the number of open event streams is bounded. Pages are whole without JavaScript; the one script only replaces parts
//! of a page by the same parts of a fresher one.

mod api;
mod assets;
mod bind;
mod chart;
mod connections;
mod cursor;
mod error;
mod events;
mod failure;
mod filters;
mod guard;
mod health;
mod highlight;
mod markdown;
mod options;
mod pages;
mod query;
mod redact;
mod render;
mod server;
mod session;
mod streams;

pub use error::HttpError;
pub(crate) use health::WorkerHealth;
pub use options::HttpOptions;
pub(crate) use server::start;
