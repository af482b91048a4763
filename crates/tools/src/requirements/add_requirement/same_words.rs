//! Records with the same text: at the same place it is the same requirement, and further quotes are added to it; at
//! another place it is a different one.

use super::{build::evidence, key};
use crate::error::ToolError;
use crate::tool::ToolEnv;
use plumbline_engine::{Citation, Product, RecordedRequirement, RequirementChange};
use serde_json::{Map, Value, json};

/// The job's record with the same text.
pub(crate) enum Same {
    /// Nothing.
    None,
    /// This one, the same requirement: at the same place, or one of the two has no quote.
    Requirement(Box<RecordedRequirement>),
    /// A different requirement, at another place; `key` is for the new one.
    Elsewhere { key: Vec<u8>, id: String },
}

pub(crate) async fn same_words(env: &ToolEnv<'_>, text: &str, citations: &[Citation]) -> Result<Same, ToolError> {
    let Some(id) = env.overlay.requirement(&key::of(text)).await? else { return Ok(Same::None) };
    let cited: Value = citations.iter().map(evidence).collect();
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

/// A requirement of the job that is not withdrawn.
async fn standing(env: &ToolEnv<'_>, id: &str) -> Result<RecordedRequirement, ToolError> {
    let recorded = env.overlay.recorded().await?;
    let known = recorded.into_iter().find(|known| known.requirement.candidate_id == id && !known.is_withdrawn());
    known.ok_or_else(|| ToolError::refused(format!("{id} was withdrawn in the meantime; record it again")))
}

/// The same requirement again: the number of its new quotes, and the products that add them.
///
/// # Errors
/// Its row's citations are not a list.
pub(crate) fn further_quotes(
    known: RecordedRequirement,
    cited: Vec<Citation>,
) -> Result<(usize, Vec<Product>), ToolError> {
    let (is_pending, mut becomes) = (known.is_pending(), known.requirement);
    let id = becomes.candidate_id.clone();
    let Value::Array(mut quotes) = std::mem::take(&mut becomes.citations) else {
        return Err(ToolError::refused(format!(
            "the citations of {id} are no list; update_requirement sets them anew"
        )));
    };
    let mut products = Vec::new();
    for citation in cited {
        let evidence = evidence(&citation);
        if !quotes.iter().any(|known| is_same_quote(known, &evidence)) {
            quotes.push(evidence);
            products.push(Product::AddCitation(citation));
        }
    }
    let added = products.len();
    // A row that a validator has claimed stays unchanged.
    if added == 0 || !is_pending {
        return Ok((0, Vec::new()));
    }
    becomes.citations = Value::Array(quotes);
    if becomes.source_document.is_none() {
        becomes.source_document = becomes.citations[0]["source"].as_str().map(str::to_owned);
    }
    let fields = Map::from_iter([
        ("citations".to_owned(), becomes.citations.clone()),
        ("source_document".to_owned(), json!(becomes.source_document)),
    ]);
    let reason = "the same words at the same place, with further quotes".to_owned();
    let change = RequirementChange { candidate_id: id, reason, becomes: Some(Box::new(becomes)), fields };
    products.push(Product::ChangeRequirement(Box::new(change)));
    Ok((added, products))
}

/// Whether two stored citations have the same quote at the same place.
pub(crate) fn is_same_quote(known: &Value, other: &Value) -> bool {
    ["source", "page", "quote", "passage", "from"].into_iter().all(|part| known[part] == other[part])
}
