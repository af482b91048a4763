//! `cite`: a verified citation.

use crate::arguments::decode;
use crate::documents::citation_check::{Claim, Pointer, Verified, verify, verify_pointer};
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Phases, Product, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "cite",
        phases: Phases::Tactical,
        description:
            "Record a citation: sentences of a passage by their numbers, or a verbatim quote, verified against the document's text. Returns the citation's id."
                .into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

const DOCUMENTATION: &str = "\
# cite

Records a citation and returns its id, `cit_` and eight hexadecimal digits. The quote must occur in the document's
extracted text word for word; white space, ligatures and typographic quotation marks do not matter, nor whether a
word that a line end parts in the document has its hyphen. A quote that does not occur is refused with the passage nearest to it. The same citation has the same id, so
citing twice does no harm.

| argument | meaning |
|---|---|
| `passage`, `from`, `to` | sentences of a passage by the numbers they are shown with (`to` default: `from`): at most six; the quote is cut for you and always found |
| `source` | the document, e.g. `input/policy.pdf`; its file name is enough where it is the only one of that name |
| `page` | the page on which the quote begins; left out: the whole document is searched |
| `quote` | the words as they stand in the document, at least 8 characters; best a whole sentence |

Examples: `{\"passage\": 7, \"from\": 3, \"to\": 4}` · `{\"source\": \"input/policy.pdf\", \"page\": 3, \"quote\": \"Invoices must be kept for ten years.\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "passage": {"type": "integer", "minimum": 1, "description": "A passage by its number, e.g. 7 for chunks/chunk_007.md"},
            "from": {"type": "integer", "minimum": 1, "description": "Its first sentence to quote, by the number it is shown with"},
            "to": {"type": "integer", "minimum": 1, "description": "The last one (default: from)"},
            "source": {"type": "string", "description": "The document, e.g. input/policy.pdf"},
            "page": {"type": "integer", "minimum": 1, "maximum": 1_000_000, "description": "Page on which the quote begins"},
            "quote": {"type": "string", "maxLength": 10_000, "description": "The words exactly as they stand in the document"}
        },
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    source: Option<String>,
    page: Option<u32>,
    quote: Option<String>,
    passage: Option<i32>,
    from: Option<u32>,
    to: Option<u32>,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { source, page, quote, passage, from, to } = decode(arguments)?;
    let Verified { citation, put_right } = match (passage, from, source, quote) {
        (Some(passage), Some(from), _, None) => {
            verify_pointer(env, Pointer { passage, from, to: to.unwrap_or(from) }).await?
        }
        (None, None, Some(source), Some(quote)) => verify(env, Claim { source: &source, page, quote: &quote }).await?,
        _ => {
            return Err(ToolError::refused(
                "give either `passage` and `from` (and `to`), the numbers of sentences, or `source` and `quote`",
            ));
        }
    };
    let page = citation.page.map_or_else(String::new, |page| format!(", page {page}"));
    let put_right = put_right.map_or_else(String::new, |put_right| format!(" ({put_right})"));
    let done = format!("citation {}: the quote occurs in {}{page}{put_right}", citation.id, citation.source);
    Ok(Output::with(done, Product::AddCitation(citation)))
}
