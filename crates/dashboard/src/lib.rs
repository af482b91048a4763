//! The worker's HTTP server: probes, metrics, a read-only API and the dashboard.
//!
//! ```text
//! request ─▶ access ▶ route ─▶ store (two connections of its own) ─▶ JSON or a template
//!            │  methods: GET and HEAD only
//!            │  who: loopback, or a token
//!            └─ headers: no inline script, no framing, no sniffing
//! ```
//!
//! | question | file |
//! |---|---|
//! | on which address, who may ask | `options`, `server/bind`, `server/access`, `server/session` |
//! | how many may ask at once | `server/connections`, `server/streams` |
//! | is the worker alive and ready | `health` |
//! | what does the API give | `api/` |
//! | what does a page show | `pages/`, its `templates/` and `assets/` |
//! | which lines of a text are a table | `pages/markdown` |
//!
//! Nothing here writes, and nothing here can slow jobs down: it has its own small pool, every list is paginated, and
//! the number of open event streams is bounded. Pages are complete without JavaScript; the only script replaces parts
//! of a page by newer ones.

mod api;
mod error;
mod health;
mod options;
mod pages;
mod server;

pub use error::HttpError;
pub use health::WorkerHealth;
pub use options::HttpOptions;
pub use server::{Server, start};
