//! Reads a message.

use super::BLOCKS;
use crate::dialect::decoded::{Decoded, NoAnswer, word_of};
use crate::dialect::ending::REFUSAL;
use crate::dialect::fields::{
    Fields, arguments_of, error_of, fields_of, list, object, present, root_of, text, value_of,
};
use crate::dialect::kept::{keep, kind};
use plumbline_engine::ToolCall;
use serde_json::{Value, json, value::RawValue};

/// Reads the body of a 200.
pub(in crate::dialect) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root = root_of(body)?;
    if let Some(error) = error_of(&root) {
        return Err(NoAnswer::Error(error));
    }
    let content = list(root.get("content")).ok_or_else(|| NoAnswer::malformed("it has no list of content blocks"))?;
    let several = content.iter().filter(|block| kind_of(block) == "text").count() > 1;
    let mut decoded = Decoded::default();
    let mut blocks = Vec::with_capacity(content.len());
    for block in content {
        blocks.extend(read_block(block, several, &mut decoded)?);
    }
    decoded.extra = keep(BLOCKS, blocks, |block| kind(block) == "tool_use" || *block == json!({"type": "text"}));
    decoded.finish_reason = word_of(present(&root, "stop_reason").as_ref());
    if decoded.finish_reason.as_deref() == Some(REFUSAL) && decoded.content.is_empty() {
        decoded.content = text(&object(&root, "stop_details"), "explanation").unwrap_or_default();
    }
    decoded.raw_usage = present(&root, "usage");
    decoded.service_tier = decoded.raw_usage.as_ref().and_then(|usage| word_of(usage.get("service_tier")));
    Ok(decoded)
}

fn kind_of(block: &RawValue) -> String {
    text(&fields_of(block), "type").unwrap_or_default()
}

/// Reads a block, and what of it holds its place.
fn read_block(raw: &RawValue, several: bool, decoded: &mut Decoded) -> Result<Option<Value>, NoAnswer> {
    let block = fields_of(raw);
    Ok(match text(&block, "type").unwrap_or_default().as_str() {
        "text" => {
            let said = text(&block, "text").unwrap_or_default();
            decoded.content.push_str(&said);
            // Of several texts each keeps its own place.
            Some(if several { json!({"type": "text", "text": said}) } else { json!({"type": "text"}) })
        }
        "tool_use" => {
            decoded.tool_calls.push(call_of(&block)?);
            Some(json!({"type": "tool_use"}))
        }
        // Without its signature it was cut off, and is refused.
        "thinking" if text(&block, "signature").is_none_or(|signature| signature.is_empty()) => None,
        _ => value_of(Some(&raw)),
    })
}

fn call_of(block: &Fields<'_>) -> Result<ToolCall, NoAnswer> {
    let name = text(block, "name").unwrap_or_default().trim().to_string();
    if name.is_empty() {
        return Err(NoAnswer::malformed("it has a tool use without a name"));
    }
    let arguments = match block.get("input") {
        Some(input) if input.get().starts_with('{') => input.get().to_string(),
        input => arguments_of(value_of(input)),
    };
    Ok(ToolCall { id: text(block, "id").unwrap_or_default(), name, arguments })
}
