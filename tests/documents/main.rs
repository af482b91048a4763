//! System tests of documents and texts: large ones, searches by words and by meaning.

mod embeddings;
mod large;
mod make;
mod parts;
mod script;
mod search;
