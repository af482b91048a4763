//! One format a module: from its bytes to pages of Markdown-like text. Runs in the child process only.

mod accents;
mod archive;
mod attributes;
mod blocks;
mod dehyphenate;
pub(crate) mod docx;
pub(crate) mod epub;
mod foreign;
mod formula;
pub(crate) mod html;
mod kind;
mod nesting;
mod numerals;
pub(crate) mod odt;
mod page_numbers;
pub(crate) mod pdf;
mod raised;
mod repeated;
pub(crate) mod text;
pub(crate) mod warnings;
mod xml;

pub use kind::{Kind, has_pages, kind_of};
pub use text::table_rows;
