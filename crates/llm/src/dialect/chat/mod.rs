//! OpenAI's chat completions, supported by OpenAI, llama.cpp, vLLM, Ollama, OpenRouter and nearly every other server.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod stream;
