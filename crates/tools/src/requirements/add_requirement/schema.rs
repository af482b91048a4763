//! The arguments of `add_requirement`: their schema, their types, their documentation.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Longest name, in characters: the hand-over's own limit.
pub(crate) const MAX_NAME_CHARS: usize = 80;
/// Fewest characters of a requirement's text.
pub(crate) const MIN_TEXT_CHARS: usize = 10;

pub(crate) const DOCUMENTATION: &str = "\
# add_requirement

Records one requirement for the validator. Every quote given as evidence is verified as by `cite`; if one does not
occur in its source, nothing is recorded and the answer gives the nearest passage. A wrong page is put right. A requirement whose text is recorded
already is not recorded again. `write_requirement_to_db` is the same tool under its older name.

| argument | meaning |
|---|---|
| `text` | the requirement's words, 10 to 10,000 characters, one obligation (default: the quote, where there is exactly one) |
| `name` | a short name, at most 80 characters (default: the beginning of the text) |
| `type` | `functional` (default), `non_functional`, `compliance` or `constraint` |
| `priority` | `high` (must, shall), `medium` (should; default) or `low` (is encouraged, may) |
| `source_document` | the document, e.g. `input/policy.pdf` (default: that of the first citation) |
| `source_location` | `article`, `paragraph`, `page`, `section`, as far as known (default page: that of the first citation) |
| `citations` | evidence: sentences by the numbers they are shown with, `{\"passage\": 7, \"from\": 3, \"to\": 4}` (`to` default: `from`; at most six), which are quoted for you; or objects with `source`, `page` and `quote`; or ids from `cite` |
| `gobd_relevant`, `gdpr_relevant` | whether it bears on proper book-keeping or on data protection |
| `mentioned_objects`, `mentioned_messages` | names of business objects and messages, as they stand in the document |
| `reasoning`, `research_notes` | why it is a requirement; what research found |
| `confidence` | 0 to 1 (default 0.5) |
| `tags` | free labels |

Example: `{\"text\": \"Invoices must be kept for ten years.\", \"name\": \"Retention of invoices\", \"type\": \"compliance\",
\"priority\": \"high\", \"citations\": [{\"passage\": 2, \"from\": 5, \"to\": 5}], \"gobd_relevant\": true, \"mentioned_objects\": [\"Invoice\"], \"confidence\": 0.9}`
";

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": MIN_TEXT_CHARS, "maxLength": 10_000, "description": "The requirement's words, one obligation; the quote where there is exactly one"},
            "name": {"type": "string", "maxLength": MAX_NAME_CHARS, "description": "Short name, at most 80 characters"},
            "type": {"type": "string", "enum": ["functional", "non_functional", "compliance", "constraint"]},
            "priority": {"type": "string", "enum": ["high", "medium", "low"]},
            "source_document": {"type": "string", "description": "The document, e.g. input/policy.pdf"},
            "source_location": {
                "type": "object",
                "properties": {
                    "article": {"type": ["string", "integer"]},
                    "paragraph": {"type": ["string", "integer"]},
                    "page": {"type": "integer", "minimum": 1},
                    "section": {"type": ["string", "number"]}
                },
                "additionalProperties": false
            },
            "citations": {
                "type": "array",
                "maxItems": 50,
                "items": {
                    "description": "sentences of a passage by their numbers, {passage, from, to}; or an object with source, page (optional) and quote; or a citation id such as cit_1a2b3c4d",
                    "anyOf": [
                        {"type": "string", "pattern": "^cit_[0-9a-f]{8}$"},
                        {
                            "type": "object",
                            "properties": {
                                "source": {"type": "string"},
                                "page": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
                                "quote": {"type": "string", "maxLength": 10_000}
                            },
                            "required": ["source", "quote"]
                        },
                        {
                            "type": "object",
                            "properties": {
                                "passage": {"type": "integer", "minimum": 1},
                                "from": {"type": "integer", "minimum": 1},
                                "to": {"type": "integer", "minimum": 1}
                            },
                            "required": ["passage", "from"]
                        }
                    ]
                }
            },
            "gobd_relevant": {"type": "boolean"},
            "gdpr_relevant": {"type": "boolean"},
            "mentioned_objects": names(),
            "mentioned_messages": names(),
            "reasoning": {"type": "string", "maxLength": 10_000},
            "research_notes": {"type": "string", "maxLength": 10_000},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "tags": names()
        },
        "additionalProperties": false
    })
}

fn names() -> Value {
    json!({"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": 100})
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    pub(crate) text: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) r#type: Option<String>,
    pub(crate) priority: Option<String>,
    pub(crate) source_document: Option<String>,
    #[serde(default)]
    pub(crate) source_location: Map<String, Value>,
    #[serde(default)]
    pub(crate) citations: Vec<Evidence>,
    #[serde(default)]
    pub(crate) gobd_relevant: bool,
    #[serde(default)]
    pub(crate) gdpr_relevant: bool,
    #[serde(default)]
    pub(crate) mentioned_objects: Vec<String>,
    #[serde(default)]
    pub(crate) mentioned_messages: Vec<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) research_notes: Option<String>,
    pub(crate) confidence: Option<f64>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// One piece of evidence.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Evidence {
    /// A citation made before.
    Id(String),
    /// A quote to be verified now.
    Quote { source: String, page: Option<u32>, quote: String },
    /// Sentences of a passage, by their numbers.
    Pointer { passage: i32, from: u32, to: Option<u32> },
}
