//! The model client: sends one request of the engine in a provider's protocol, and returns one decoded answer or one
//! classified failure.
//!
//! ```text
//! ModelRequest ──dialect──▶ bytes ────http────▶ status, headers, bytes or events ──dialect──▶ Reply
//!                                                              └────────────classify──▶ Failure
//! ```
//!
//! It supports three protocols (see [`Api`]): chat completions, used by OpenAI, llama.cpp, vLLM, Ollama and OpenRouter,
//! OpenAI's responses and Anthropic's messages; and each server implements them slightly differently. So the client is
//! strict in what it sends (a fixed order of fields, so that equal conversations give equal bytes and a provider's
//! prefix cache remains usable) and tolerant in what it reads. An answer may be streamed, and is used only when
//! complete. The client never retries: it classifies the failure, and the engine decides.

mod answer;
mod classify;
mod client;
mod config;
mod dialect;
mod embedder;
mod http;
mod learnt;
mod list_models;
mod profile;
mod server_window;

pub use answer::finish;
pub use classify::suspicion;
pub use client::{ModelClient, ModelClientError, jitter, request_body};
pub use config::{ApiKey, ModelConfig, Timeouts};
pub use embedder::{EmbedError, Embedder, EmbedderSettings};
pub use http::{body::body_within, budget::values_in, stated_limits::StatedLimits, tls};
pub use learnt::{Learnt, has_taught};
pub use list_models::{ModelList, answers_as, list_models};
pub use plumbline_engine::{Api, OutputCapField, ReasoningEcho, Streaming, ToolCallIds, ToolChoice};
pub use profile::Profile;
pub use server_window::server_window;
