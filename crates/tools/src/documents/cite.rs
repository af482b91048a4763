//! `cite`: a verified citation.

use crate::documents::citation_check::{Pointer, Verified, Words, verify_pointer, verify_words};
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Phases, Product};
use schemars::JsonSchema;
use serde::Deserialize;

/// Records a citation and returns its id, `cit_` and eight hexadecimal digits. The quote must occur in the document's
/// extracted text word for word; white space, ligatures and typographic quotation marks do not matter, nor whether a
/// word that a line end parts in the document has its hyphen. A quote that does not occur is refused with the passage nearest to it. The same citation has the same id, so
/// citing twice does no harm.
///
/// {arguments}
///
/// Examples: `{"passage": 7, "from": 3, "to": 4}` · `{"source": "input/policy.pdf", "page": 3, "quote": "Invoices must be kept for ten years."}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cite {
    /// # A passage by its number, e.g. 7 for chunks/chunk_007.md
    /// sentences of a passage by the numbers they are shown with (`to` default: `from`): at most six; the quote is cut
    /// for you and always found
    #[schemars(range(min = 1))]
    passage: Option<i32>,
    /// # Its first sentence to quote, by the number it is shown with
    #[schemars(range(min = 1))]
    from: Option<u32>,
    /// # The last one (default: from)
    #[schemars(range(min = 1))]
    to: Option<u32>,
    /// # The document, e.g. input/policy.pdf
    /// the document, e.g. `input/policy.pdf`; its file name is enough where it is the only one of that name
    source: Option<String>,
    /// # Page on which the quote begins
    /// the page on which the quote begins; left out: the whole document is searched
    #[schemars(range(min = 1, max = 1_000_000))]
    page: Option<u32>,
    /// # The words exactly as they stand in the document
    /// the words as they stand in the document, at least 8 characters; best a whole sentence
    #[schemars(length(max = 10_000))]
    quote: Option<String>,
}

impl Declared for Cite {
    const NAME: &str = "cite";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Record a citation: sentences of a passage by their numbers, or a verbatim quote, verified against \
        the document's text. Returns the citation's id.";

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { source, page, quote, passage, from, to } = self;
        let Verified { citation, put_right } = match (passage, from, source, quote) {
            (Some(passage), Some(from), _, None) => {
                verify_pointer(env, Pointer { passage, from, to: to.unwrap_or(from) }).await?
            }
            (passage, None, source, Some(quote)) if passage.is_some() || source.is_some() => {
                verify_words(env, Words { source: source.as_deref(), passage, page, quote: &quote }).await?
            }
            _ => {
                return Err(ToolError::refused(
                    "give either `passage` and `from` (and `to`), the numbers of sentences, or `quote` and its `source` or `passage`",
                ));
            }
        };
        let page = citation.page.map_or_else(String::new, |page| format!(", page {page}"));
        let put_right = put_right.map_or_else(String::new, |put_right| format!(" ({put_right})"));
        let done = format!("citation {}: the quote occurs in {}{page}{put_right}", citation.id, citation.source);
        Ok(Output::with(done, Product::AddCitation(citation)))
    }
}
