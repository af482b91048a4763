//! The tools that turn documents into text, chunks and citations, and their common check of every quote.

pub(crate) mod chunk_document;
pub(crate) mod citation_check;
pub(crate) mod cite;
pub(crate) mod document_names;
pub(crate) mod extract_document_text;
pub(crate) mod found_quote;
pub(crate) mod last_layouts;
mod prepare;
pub(crate) mod quote_cache;
pub(crate) mod text_parts;
mod unread_pages;
pub(crate) mod word_search;

pub use text_parts::part_path;
