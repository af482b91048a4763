//! `cite`: a verified citation.

use super::arguments::decode;
use super::error::{Output, ToolResult};
use super::evidence::{Claim, Verified, verify};
use super::registry::Tool;
use super::toolbox::Bench;
use plumbline_engine::{Handler, Phases, Product, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool =
    Tool { spec, schema, patience: 1, run: |bench, arguments| Box::pin(run(bench, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "cite",
        phases: Phases::Tactical,
        description:
            "Record a citation: a verbatim quote from a document, verified against its text. Returns the citation's id."
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
extracted text word for word; white space, line-break hyphenation, ligatures and typographic quotation marks do not
matter. A quote that does not occur is refused with the passage nearest to it. The same citation has the same id, so
citing twice does no harm.

| argument | meaning |
|---|---|
| `source` | the document, e.g. `input/policy.pdf`; its file name is enough where it is the only one of that name |
| `page` | the page on which the quote begins; left out: the whole document is searched |
| `quote` | the words as they stand in the document, at least 8 characters; best a whole sentence |

Example: `{\"source\": \"input/policy.pdf\", \"page\": 3, \"quote\": \"Invoices must be kept for ten years.\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "source": {"type": "string", "description": "The document, e.g. input/policy.pdf"},
            "page": {"type": "integer", "minimum": 1, "maximum": 1_000_000, "description": "Page on which the quote begins"},
            "quote": {"type": "string", "maxLength": 10_000, "description": "The words exactly as they stand in the document"}
        },
        "required": ["source", "quote"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    source: String,
    page: Option<u32>,
    quote: String,
}

async fn run(bench: &Bench<'_>, arguments: Value) -> ToolResult {
    let Arguments { source, page, quote } = decode(arguments)?;
    let Verified { citation, put_right } = verify(bench, Claim { source: &source, page, quote: &quote }).await?;
    let page = citation.page.map_or_else(String::new, |page| format!(", page {page}"));
    let put_right = put_right.map_or_else(String::new, |put_right| format!(" ({put_right})"));
    let done = format!("citation {}: the quote occurs in {}{page}{put_right}", citation.id, citation.source);
    Ok(Output::with(done, Product::AddCitation(citation)))
}
