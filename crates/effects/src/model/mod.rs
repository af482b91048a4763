//! The model client: one request of the engine out as chat completions, one decoded answer or one classified failure
//! back.
//!
//! ```text
//! ModelRequest ──body──▶ bytes ──exchange──▶ status, headers, bytes ──decode──▶ Reply
//!                                                      └────────────classify──▶ Failure
//! ```
//!
//! The wire is OpenAI's `POST {base_url}/chat/completions`, as spoken by OpenAI, llama.cpp, vLLM, Ollama and OpenRouter,
//! and each of them speaks it a little differently. So the client is strict in what it sends (a fixed order of fields,
//! so that equal conversations give equal bytes and a provider's prefix cache keeps serving) and tolerant in what it
//! reads. It never retries: it says what kind of failure it met, and the engine decides (DESIGN section 3).

mod answer;
mod body;
mod classify;
mod client;
mod config;
mod decode;
mod exchange;
mod json;
mod leaked;
mod pieces;
mod prefix;
mod retry_after;
mod survey;
mod usage;
mod writer;

pub use body::{Body as RequestBody, render as request_body};
pub(crate) use client::jitter;
pub use client::{ModelClient, ModelClientError};
pub use config::{ApiKey, ModelConfig, OutputCapField, Timeouts};
pub use prefix::Prefix;
pub use survey::{Survey, answers_as, survey};
