//! `add_requirement`: a requirement for the hand-over, with verified evidence, once.

mod build;
pub(crate) mod key;

use crate::documents::citation_check::{Claim, Pointer, Verified, verify, verify_pointer};
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, Tool, ToolEnv};
use build::build;
pub(crate) use build::{distinct, evidence};
use plumbline_engine::{Citation, Phases, Product, RecordedRequirement, RequirementChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Longest name, in characters: the hand-over's own limit.
const MAX_NAME_CHARS: usize = 80;
/// Fewest characters of a requirement's text.
pub(crate) const MIN_TEXT_CHARS: usize = 10;

/// Records one requirement for the validator. Every quote given as evidence is verified as by `cite`; if one does not
/// occur in its source, nothing is recorded and the answer gives the nearest passage. A wrong page is put right. A requirement whose text is recorded
/// already is not recorded again. `write_requirement_to_db` is the same tool under its older name.
///
/// {arguments}
///
/// Example: `{"text": "Invoices must be kept for ten years.", "name": "Retention of invoices", "type": "compliance",
/// "priority": "high", "citations": [{"passage": 2, "from": 5, "to": 5}], "gobd_relevant": true, "mentioned_objects": ["Invoice"], "confidence": 0.9}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddRequirement {
    /// # The requirement's words, one obligation; the quote where there is exactly one
    /// the requirement's words, 10 to 10,000 characters, one obligation (default: the quote, where there is exactly one)
    #[schemars(length(min = MIN_TEXT_CHARS, max = 10_000))]
    text: Option<String>,
    /// # Short name, at most 80 characters
    /// a short name, at most 80 characters (default: the beginning of the text)
    #[schemars(length(max = MAX_NAME_CHARS))]
    name: Option<String>,
    /// `functional` (default), `non_functional`, `compliance` or `constraint`
    #[schemars(extend("enum" = ["functional", "non_functional", "compliance", "constraint"]))]
    r#type: Option<String>,
    /// `high` (must, shall), `medium` (should; default) or `low` (is encouraged, may)
    #[schemars(extend("enum" = ["high", "medium", "low"]))]
    priority: Option<String>,
    /// # The document, e.g. input/policy.pdf
    /// the document, e.g. `input/policy.pdf` (default: that of the first citation)
    source_document: Option<String>,
    /// `article`, `paragraph`, `page`, `section`, as far as known (default page: that of the first citation)
    #[serde(default)]
    source_location: Location,
    /// evidence: sentences by the numbers they are shown with, `{"passage": 7, "from": 3, "to": 4}` (`to` default: `from`;
    /// at most six), which are quoted for you; or objects with `source`, `page` and `quote`; or ids from `cite`
    #[schemars(length(max = 50))]
    #[serde(default)]
    citations: Vec<Evidence>,
    /// whether it bears on proper book-keeping or on data protection
    #[serde(default)]
    gobd_relevant: bool,
    #[serde(default)]
    gdpr_relevant: bool,
    /// names of business objects and messages, as they stand in the document
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    mentioned_objects: Vec<String>,
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    mentioned_messages: Vec<String>,
    /// why it is a requirement; what research found
    #[schemars(length(max = 10_000))]
    reasoning: Option<String>,
    #[schemars(length(max = 10_000))]
    research_notes: Option<String>,
    /// 0 to 1 (default 0.5)
    #[schemars(range(min = 0, max = 1))]
    confidence: Option<f64>,
    /// free labels
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    tags: Vec<String>,
}

/// Where in its document a requirement is, as far as known.
#[derive(Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Location {
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

/// # sentences of a passage by their numbers, {passage, from, to}; or an object with source, page (optional) and quote; or a citation id such as cit_1a2b3c4d
/// One piece of evidence.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Evidence {
    /// A citation made before.
    Id(#[schemars(regex(pattern = "^cit_[0-9a-f]{8}$"))] String),
    /// A quote to be verified now.
    Quote {
        source: String,
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
            let verified = citation(env, evidence).await.map_err(|error| at(place, error))?;
            put_right.extend(verified.put_right.map(|put_right| format!("; citations[{place}]: {put_right}")));
            citations.push(verified.citation);
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
            Same::Requirement(known) => return said_again(*known, citations),
        };
        let requirement = build(env, self, text, key, &citations).await?;
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
        Ok(Output { content, products })
    }
}

/// What the job has recorded with the same words.
enum Same {
    /// Nothing.
    None,
    /// This, which is the same requirement: at the same place, or one of the two has no quote.
    Requirement(Box<RecordedRequirement>),
    /// Another requirement, at another place; the key of one at the place at hand.
    Elsewhere { key: Vec<u8>, id: String },
}

async fn same_words(env: &ToolEnv<'_>, text: &str, citations: &[Citation]) -> Result<Same, ToolError> {
    let Some(id) = env.overlay.requirement(&key::of(text)).await? else { return Ok(Same::None) };
    let cited: Value = citations.iter().map(build::evidence).collect();
    let Some(place) = key::place(&cited) else { return Ok(Same::Requirement(Box::new(standing(env, &id).await?))) };
    let first = standing(env, &id).await?;
    if key::place(&first.requirement.citations).is_none_or(|known| known == place) {
        return Ok(Same::Requirement(Box::new(first)));
    }
    let key = key::at(text, &place);
    match env.overlay.requirement(&key).await? {
        Some(there) => Ok(Same::Requirement(Box::new(standing(env, &there).await?))),
        None => Ok(Same::Elsewhere { key, id }),
    }
}

/// A requirement of the job that was not withdrawn.
async fn standing(env: &ToolEnv<'_>, id: &str) -> Result<RecordedRequirement, ToolError> {
    let recorded = env.overlay.recorded().await?;
    let known = recorded.into_iter().find(|known| known.requirement.candidate_id == id && !known.is_withdrawn());
    known.ok_or_else(|| ToolError::refused(format!("{id} was withdrawn in the meantime; record it again")))
}

/// The same requirement again: quotes that it does not have yet are added to it.
fn said_again(known: RecordedRequirement, cited: Vec<Citation>) -> ToolResult {
    let (is_pending, mut becomes) = (known.is_pending(), known.requirement);
    let id = becomes.candidate_id.clone();
    let Value::Array(mut quotes) = std::mem::take(&mut becomes.citations) else {
        return Err(ToolError::refused(format!(
            "the citations of {id} are no list; update_requirement sets them anew"
        )));
    };
    let is_same = |known: &Value, new: &Value| {
        ["source", "page", "quote", "passage", "from"].into_iter().all(|part| known[part] == new[part])
    };
    let mut products = Vec::new();
    for citation in cited {
        let evidence = build::evidence(&citation);
        if !quotes.iter().any(|known| is_same(known, &evidence)) {
            quotes.push(evidence);
            products.push(Product::AddCitation(citation));
        }
    }
    let added = products.len();
    becomes.citations = Value::Array(quotes);
    // What a validator has taken stays as it is.
    if added == 0 || !is_pending {
        return Ok(Output::text(format!("already recorded as {id}; nothing changed")));
    }
    if becomes.source_document.is_none() {
        becomes.source_document = becomes.citations[0]["source"].as_str().map(str::to_owned);
    }
    let fields = Map::from_iter([
        ("citations".to_owned(), becomes.citations.clone()),
        ("source_document".to_owned(), json!(becomes.source_document)),
    ]);
    let reason = "the same words at the same place, with further quotes".to_owned();
    let change = RequirementChange { candidate_id: id.clone(), reason, becomes: Some(Box::new(becomes)), fields };
    products.push(Product::ChangeRequirement(Box::new(change)));
    let what = if added == 1 { "1 quote was" } else { &format!("{added} quotes were") };
    Ok(Output { content: format!("already recorded as {id}; {what} added to it"), products })
}

/// The same tool under its older name. The request carries the parameters once, under the first name; calls are checked against
/// them all the same.
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
        Evidence::Quote { source, page, quote } => verify(env, Claim { source, page: *page, quote }).await,
        Evidence::Pointer { passage, from, to } => {
            verify_pointer(env, Pointer { passage: *passage, from: *from, to: to.unwrap_or(*from) }).await
        }
    }
}

/// Says which of several citations was refused, and that nothing was recorded.
fn at(place: usize, error: ToolError) -> ToolError {
    match error {
        ToolError::Refused(reason) => ToolError::refused(format!("nothing was recorded; citations[{place}]: {reason}")),
        other @ (ToolError::Unreadable { .. }
        | ToolError::Transient(_)
        | ToolError::Unavailable { .. }
        | ToolError::Workspace(_)) => other,
    }
}
