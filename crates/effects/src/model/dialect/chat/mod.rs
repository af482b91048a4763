//! OpenAI's chat completions, as spoken by OpenAI, llama.cpp, vLLM, Ollama, OpenRouter and nearly everybody else.

pub(super) mod request;
pub(super) mod response;
pub(super) mod stream;
