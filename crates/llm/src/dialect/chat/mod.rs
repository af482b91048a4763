//! OpenAI's chat completions, as spoken by OpenAI, llama.cpp, vLLM, Ollama, OpenRouter and nearly everybody else.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod stream;
