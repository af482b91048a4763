//! `add_requirement`: a requirement for the hand-over, with verified evidence, once.

mod build;
pub(crate) mod key;
pub(crate) mod same_words;
mod without_quote;

use crate::documents::citation_check::{Pointer, Verified, Words, verify_pointer, verify_words};
use crate::documents::found_quote::apart;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, Tool, ToolEnv};
pub(crate) use build::{build, distinct, evidence, name_from};
use plumbline_engine::{Phases, Product};
use same_words::{Same, further_quotes, same_words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Maximum characters of a name: the limit of the validation queue.
const MAX_NAME_CHARS: usize = 80;
/// Minimum characters of a requirement's text.
pub(crate) const MIN_TEXT_CHARS: usize = 10;

/// Records one requirement for the validator. Every quote given as evidence is verified as by `cite`; if one does not
/// occur in its source, nothing is recorded and the answer gives the nearest passage; without any quote the call is refused once. A wrong page is put right. A requirement whose text is recorded
/// already is not recorded again. `write_requirement_to_db` is the same tool under its older name.
///
/// {arguments}
///
/// Example: `{"text": "Invoices must be kept for ten years.", "name": "Retention of invoices", "type": "compliance",
/// "priority": "high", "citations": [{"passage": 2, "from": 5, "to": 5}], "gobd_relevant": true, "mentioned_objects": ["Invoice"], "confidence": 0.9}`
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddRequirement {
    /// # The requirement's words, one obligation; the quote where there is exactly one
    /// the requirement's words, 10 to 10,000 characters, one obligation (default: the quote, where there is exactly one)
    #[schemars(length(min = MIN_TEXT_CHARS, max = 10_000))]
    pub(crate) text: Option<String>,
    /// # Short name, at most 80 characters
    /// a short name, at most 80 characters (default: the beginning of the text)
    #[schemars(length(max = MAX_NAME_CHARS))]
    pub(crate) name: Option<String>,
    /// `functional` (default), `non_functional`, `compliance` or `constraint`
    #[schemars(extend("enum" = ["functional", "non_functional", "compliance", "constraint"]))]
    pub(crate) r#type: Option<String>,
    /// `high` (must, shall), `medium` (should; default) or `low` (is encouraged, may)
    #[schemars(extend("enum" = ["high", "medium", "low"]))]
    pub(crate) priority: Option<String>,
    /// # The document, e.g. input/policy.pdf
    /// the document, e.g. `input/policy.pdf` (default: that of the first citation)
    pub(crate) source_document: Option<String>,
    /// `article`, `paragraph`, `page`, `section`, as far as known (default page: that of the first citation)
    #[serde(default)]
    pub(crate) source_location: Location,
    /// evidence: sentences by the numbers they are shown with, `{"passage": 7, "from": 3, "to": 4}` (`to` default: `from`;
    /// at most six), which are quoted for you; or objects with `quote` and `source` (or `passage`) and `page`; or ids from `cite`
    #[schemars(length(max = 50))]
    #[serde(default)]
    pub(crate) citations: Vec<Evidence>,
    /// whether it bears on proper book-keeping or on data protection
    #[serde(default)]
    pub(crate) gobd_relevant: bool,
    #[serde(default)]
    pub(crate) gdpr_relevant: bool,
    /// names of business objects and messages, as they stand in the document
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    pub(crate) mentioned_objects: Vec<String>,
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    pub(crate) mentioned_messages: Vec<String>,
    /// why it is a requirement; what research found
    #[schemars(length(max = 10_000))]
    pub(crate) reasoning: Option<String>,
    #[schemars(length(max = 10_000))]
    pub(crate) research_notes: Option<String>,
    /// 0 to 1 (default 0.5)
    #[schemars(range(min = 0, max = 1))]
    pub(crate) confidence: Option<f64>,
    /// free labels
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// Where in its document a requirement is, as far as known.
#[derive(Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Location {
    #[schemars(extend("type" = ["string", "integer"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    article: Option<Value>,
    #[schemars(extend("type" = ["string", "integer"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    paragraph: Option<Value>,
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    #[schemars(extend("type" = ["string", "number"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<Value>,
}

/// # sentences of a passage by their numbers, {passage, from, to}; or an object with source or passage, page (optional) and quote; or a citation id such as cit_1a2b3c4d
/// One piece of evidence.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Evidence {
    /// A citation made before.
    Id(#[schemars(regex(pattern = "^cit_[0-9a-f]{8}$"))] String),
    /// A quote to be verified now.
    Quote {
        source: Option<String>,
        #[schemars(range(min = 1))]
        passage: Option<i32>,
        #[schemars(range(min = 1, max = 1_000_000))]
        page: Option<u32>,
        #[schemars(length(max = 10_000))]
        quote: String,
    },
    /// Sentences of a passage, by their numbers.
    Pointer {
        #[schemars(range(min = 1))]
        passage: i32,
        #[schemars(range(min = 1))]
        from: u32,
        #[schemars(range(min = 1))]
        to: Option<u32>,
    },
}

impl Declared for AddRequirement {
    const NAME: &str = "add_requirement";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Record one requirement with its evidence. Quotes are verified against the source, and the same words at \
        the same place are recorded once.";

    async fn run(mut self, env: &ToolEnv<'_>) -> ToolResult {
        let mut citations = Vec::with_capacity(self.citations.len());
        let mut put_right = String::new();
        for (place, evidence) in self.citations.iter().enumerate() {
            let verified = citation(env, evidence).await;
            let verified =
                verified.map_err(|error| error.at(format_args!("nothing was recorded; citations[{place}]")))?;
            put_right.extend(verified.put_right.map(|put_right| format!("; citations[{place}]: {put_right}")));
            let citation = apart(verified.citation, citations.iter());
            citations.push(citation);
        }
        let text = match (self.text.take(), &citations[..]) {
            (Some(text), _) => text,
            (None, [citation]) => citation.quote.clone(),
            (None, _) => {
                return Err(ToolError::refused("`text` may be left out only where there is exactly one citation"));
            }
        };
        let (key, remark) = match same_words(env, &text, &citations).await? {
            Same::None => (key::of(&text), String::new()),
            Same::Elsewhere { key, id } => (key, format!("; the same words as {id}, at another place")),
            Same::Requirement(known) => {
                let id = known.requirement.candidate_id.clone();
                let (added, products) = further_quotes(*known, citations)?;
                let what = match added {
                    0 => "nothing changed".to_owned(),
                    1 => "1 quote was added to it".to_owned(),
                    n => format!("{n} quotes were added to it"),
                };
                return Ok(Output::of(format!("already recorded as {id}; {what}"), products));
            }
        };
        if citations.is_empty() {
            let most = without_quote::MOST_CONFIDENCE;
            self.confidence = Some(self.confidence.unwrap_or(env.ctx.record_defaults.confidence).min(most));
        }
        let requirement = build(env, self, text, key, &citations).await?;
        if citations.is_empty() {
            without_quote::check(env, &requirement.text).await?;
        }
        let evidence = match citations.len() {
            0 => "unverified, it has no citation".to_string(),
            1 => "1 citation verified".to_string(),
            n => format!("{n} citations verified"),
        };
        let number = env.overlay.next_number();
        let content = format!(
            "recorded {}: {} ({evidence}{put_right}), r{number}{remark}",
            requirement.candidate_id, requirement.name
        );
        let mut products: Vec<Product> = citations.into_iter().map(Product::AddCitation).collect();
        products.push(Product::AddRequirement(Box::new(requirement)));
        Ok(Output::of(content, products))
    }
}

/// The same tool under its older name. The request contains the parameters once, under the first name; calls are
/// validated against them under both.
pub(crate) fn alias() -> Tool {
    let mut tool = Tool::declared::<AddRequirement>();
    tool.spec.name = "write_requirement_to_db".into();
    tool.spec.description = "Older name of add_requirement, with the same parameters.".into();
    let text = json!({"type": "string", "description": "The requirement's words"});
    tool.spec.parameters = json!({"type": "object", "properties": {"text": text}}).into();
    tool
}

pub(crate) async fn citation(env: &ToolEnv<'_>, evidence: &Evidence) -> Result<Verified, ToolError> {
    match evidence {
        Evidence::Id(id) => match env.overlay.citation(id).await? {
            Some(citation) => Ok(Verified { citation, put_right: None }),
            None => Err(ToolError::refused(format!(
                "there is no citation {id}; cite the quote first, or give source, page and quote here"
            ))),
        },
        Evidence::Quote { source, passage, page, quote } => {
            let words = Words { source: source.as_deref(), passage: *passage, page: *page, quote };
            verify_words(env, words).await
        }
        Evidence::Pointer { passage, from, to } => {
            verify_pointer(env, Pointer { passage: *passage, from: *from, to: to.unwrap_or(*from) }).await
        }
    }
}
