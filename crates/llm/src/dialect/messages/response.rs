//! Reads a message.

use super::BLOCKS;
use crate::dialect::decoded::{Decoded, NoAnswer, word_of};
use crate::dialect::ending::{self, REFUSAL};
use crate::dialect::fields::{
    Fields, arguments_of, error_of, fields_of, id, list, object, present, root_of, says_something, text_or_empty,
    under, value_of,
};
use crate::dialect::kept::{keep, kind};
use plumbline_engine::ToolCall;
use serde_json::{Value, json, value::RawValue};

/// Reads the body of a 200.
pub(in crate::dialect) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root = root_of(body)?;
    let reason = word_of(present(&root, "stop_reason")?.as_ref());
    // Some providers also report the cap as an error.
    if let (Some(error), false) = (error_of(&root)?, ending::is_cut(reason.as_deref())) {
        return Err(NoAnswer::Error(error));
    }
    under(&root, "content").ok_or_else(|| NoAnswer::malformed("it has no list of content blocks"))?;
    let content = list(&root, "content")?;
    let content: Vec<_> = content.into_iter().map(|raw| Ok((raw, fields_of(raw)?))).collect::<Result<_, _>>()?;
    let mut texts = 0;
    for (_, block) in &content {
        texts += u32::from(text_or_empty(block, "type")? == "text");
    }
    let mut decoded = Decoded::default();
    let mut blocks = Vec::with_capacity(content.len());
    for (raw, block) in content {
        blocks.extend(read_block(raw, &block, texts > 1, &mut decoded)?);
    }
    decoded.extra = keep(BLOCKS, blocks, |block| kind(block) == "tool_use" || *block == json!({"type": "text"}));
    decoded.finish_reason = reason;
    if decoded.finish_reason.as_deref() == Some(REFUSAL) && decoded.content.is_empty() {
        decoded.content = text_or_empty(&object(&root, "stop_details")?, "explanation")?;
    }
    decoded.raw_usage = present(&root, "usage")?;
    decoded.service_tier = decoded.raw_usage.as_ref().and_then(|usage| word_of(usage.get("service_tier")));
    Ok(decoded)
}

/// Reads a block, and its placeholder.
fn read_block(
    raw: &RawValue,
    block: &Fields<'_>,
    several: bool,
    decoded: &mut Decoded,
) -> Result<Option<Value>, NoAnswer> {
    Ok(match text_or_empty(block, "type")?.as_str() {
        "text" => {
            let said = text_or_empty(block, "text")?;
            decoded.content.push_str(&said);
            let citations = present(block, "citations")?.filter(says_something);
            Some(match (citations, several) {
                (Some(citations), _) => json!({"type": "text", "text": said, "citations": citations}),
                // Each of several texts keeps its position.
                (None, true) => json!({"type": "text", "text": said}),
                (None, false) => json!({"type": "text"}),
            })
        }
        "tool_use" => {
            decoded.tool_calls.push(call_of(block)?);
            Some(json!({"type": "tool_use"}))
        }
        // Without its signature it was truncated, and would be refused.
        "thinking" if text_or_empty(block, "signature")?.is_empty() => None,
        _ => Some(value_of(raw)?),
    })
}

fn call_of(block: &Fields<'_>) -> Result<ToolCall, NoAnswer> {
    let name = text_or_empty(block, "name")?.trim().to_string();
    if name.is_empty() {
        return Err(NoAnswer::malformed("it has a tool use without a name"));
    }
    Ok(ToolCall { id: id(block, "id")?, name, arguments: arguments_of(under(block, "input"))? })
}
