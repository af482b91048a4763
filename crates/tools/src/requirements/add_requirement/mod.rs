//! `add_requirement`: a requirement for the hand-over, with verified evidence, once.

mod build;
pub(crate) mod key;
pub(crate) mod schema;

use crate::arguments::decode;
use crate::documents::citation_check::{Claim, Pointer, Verified, verify, verify_pointer};
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::Tool;
use crate::tool::ToolEnv;
use build::build;
pub(crate) use build::{distinct, evidence};
use plumbline_engine::{Citation, Handler, Phases, Product, Replay, ToolSpec};
use schema::{Arguments, DOCUMENTATION, Evidence, schema};
use serde_json::{Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

/// The same tool under its older name.
pub(crate) const ALIAS: Tool =
    Tool { spec: alias_spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "add_requirement",
        phases: Phases::Tactical,
        description: "Record one requirement with its evidence. Quotes are verified against the source, and the same text is recorded once.".into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

fn alias_spec() -> ToolSpec {
    ToolSpec {
        name: "write_requirement_to_db",
        description: "Older name of add_requirement, with the same parameters.".into(),
        // The request carries the parameters once, under the first name; calls are checked against them all the same.
        parameters: json!({
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The requirement's words"}}
        })
        .into(),
        ..spec()
    }
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let mut arguments: Arguments = decode(arguments)?;
    if let Some(known) = known(env, arguments.text.as_deref()).await? {
        let mut citations = Vec::new();
        for evidence in &arguments.citations {
            match citation(env, evidence).await {
                Ok(verified) => citations.push(verified.citation),
                // No loss: the requirement has its own quotes.
                Err(ToolError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        return said_again(env, &known, citations).await;
    }
    let mut citations = Vec::with_capacity(arguments.citations.len());
    let mut put_right = String::new();
    for (place, evidence) in arguments.citations.iter().enumerate() {
        let verified = citation(env, evidence).await.map_err(|error| at(place, error))?;
        put_right.extend(verified.put_right.map(|put_right| format!("; citations[{place}]: {put_right}")));
        citations.push(verified.citation);
    }
    let text = match (arguments.text.take(), &citations[..]) {
        (Some(text), _) => text,
        (None, [citation]) => {
            if let Some(known) = known(env, Some(&citation.quote)).await? {
                return said_again(env, &known, citations).await;
            }
            citation.quote.clone()
        }
        (None, _) => return Err(ToolError::refused("`text` may be left out only where there is exactly one citation")),
    };
    let key = key::of(&text);
    let requirement = build(env, arguments, text, key, &citations).await?;
    let evidence = match citations.len() {
        0 => "unverified, it has no citation".to_string(),
        1 => "1 citation verified".to_string(),
        n => format!("{n} citations verified"),
    };
    let content = format!("recorded {}: {} ({evidence}{put_right})", requirement.candidate_id, requirement.name);
    let mut products: Vec<Product> = citations.into_iter().map(Product::AddCitation).collect();
    products.push(Product::AddRequirement(Box::new(requirement)));
    Ok(Output { content, products })
}

/// The requirement that has a text already.
async fn known(env: &ToolEnv<'_>, text: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(text) = text else { return Ok(None) };
    Ok(env.overlay.requirement(&key::of(text)).await?)
}

/// A duty that a document states twice is one requirement; quotes that are new count for the sentences that they were cut
/// from.
async fn said_again(env: &ToolEnv<'_>, known: &str, cited: Vec<Citation>) -> ToolResult {
    let mut citations = Vec::new();
    for citation in cited {
        if env.overlay.citation(&citation.id).await?.is_none() {
            citations.push(citation);
        }
    }
    let content = match citations.len() {
        0 => format!("already recorded as {known}; nothing changed"),
        1 => format!("already recorded as {known}; nothing changed, but its citation counts for its passage"),
        n => format!("already recorded as {known}; nothing changed, but its {n} citations count for their passages"),
    };
    Ok(Output { content, products: citations.into_iter().map(Product::AddCitation).collect() })
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
        other @ (ToolError::Transient(_) | ToolError::Unavailable { .. } | ToolError::Workspace(_)) => other,
    }
}
