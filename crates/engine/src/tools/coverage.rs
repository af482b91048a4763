//! The ledger's tools: what is left of the documents, and closing passages whose candidate sentences are no requirements.

use super::{Answer, arguments};
use crate::{
    Handler, Phases, Replay, Run, ToolSpec,
    ledger::{SHORTEST_REASON, Scope, document_lines, worst},
};
use serde_json::{Map, Value, json};

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "close_passages".into(),
            phases: Phases::Both,
            description: "Close passages that you have read and whose candidate sentences are no requirements, each with its reason.".into(),
            parameters: json!({"type": "object", "properties": {
                "passages": {"type": "array", "items": {"type": "object", "properties": {
                    "passage": {"type": "integer", "description": "Its number, e.g. 7 for chunks/chunk_007.md."},
                    "reason": {"type": "string", "description": "Why its sentences are no requirements, in a sentence."}},
                    "required": ["passage", "reason"], "additionalProperties": false}}},
                "required": ["passages"], "additionalProperties": false})
            .into(),
            documentation: "A passage is answered when verified quotes, of six sentences at most, touch each of its candidate \
                            sentences, or when it has none. What is left of the others is closed here, one entry a passage, \
                            once it was read to its end. Not for passages that you have not read, nor to be done with a \
                            document: more than a part of the passages closed with hardly a citation fails the job.\n\nExample: `{\"passages\": [{\"passage\": \
                            7, \"reason\": \"definitions of terms, nobody has to do anything\"}]}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "coverage".into(),
            phases: Phases::Both,
            description: "What is left of the documents: passages that are unread or have candidate sentences without a quote, worst first.".into(),
            parameters: json!({"type": "object", "properties": {
                "document": {"type": "string", "description": "One document, e.g. input/policy.pdf; all when left out."}},
                "additionalProperties": false})
            .into(),
            documentation: "Shows a line a document and at most 20 passages. Candidate sentences are found by the words they are \
                            written in; they are a help, not a list of the requirements: a passage without any is read too.\n\n\
                            Example: `{\"document\": \"input/policy.pdf\"}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: true,
        },
    ]
}

pub(super) fn show(run: &Run, arguments: &Map<String, Value>) -> Answer {
    let document = arguments::optional_text(arguments, "document")?;
    if run.ledger.is_empty() {
        return Ok("No document of this job was cut into passages.".into());
    }
    let scope = match &document {
        None => Scope::Job,
        Some(document) if run.ledger.knows(document) => Scope::Document(document),
        Some(document) => {
            return Err(format!(
                "{document} has no passages. Those that have:\n{}",
                document_lines(&run.ledger).join("\n")
            ));
        }
    };
    let left = worst(&run.ledger, &scope);
    let left =
        if left.is_empty() { "Every passage is answered.".to_string() } else { format!("Left, worst first:\n{left}") };
    Ok(format!("{}\n\n{left}", document_lines(&run.ledger).join("\n")))
}

pub(super) fn close(run: &mut Run, arguments: &Map<String, Value>) -> Answer {
    let Some(Value::Array(entries)) = arguments.get("passages") else {
        return Err(
            "argument 'passages' must be a list such as [{\"passage\": 7, \"reason\": \"only definitions of terms\"}]."
                .into(),
        );
    };
    let entries: Vec<(i32, String)> = entries.iter().map(entry).collect::<Result<_, String>>()?;
    let step = run.step;
    let refused: Vec<String> =
        entries.iter().filter_map(|(passage, reason)| run.ledger.close(*passage, reason, step).err()).collect();
    let closed = entries.len() - refused.len();
    let progress = run.ledger.progress_in_words();
    match (closed, refused.is_empty()) {
        (0, false) => Err(format!("nothing was closed: {}.", refused.join("; "))),
        (_, false) => Ok(format!("{closed} closed, {} refused: {}. {progress}", refused.len(), refused.join("; "))),
        (_, true) => Ok(format!("{closed} closed. {progress}")),
    }
}

fn entry(entry: &Value) -> Result<(i32, String), String> {
    let fields = entry.as_object().ok_or("each of 'passages' must be an object with passage and reason.")?;
    let passage = arguments::optional_number(fields, "passage")?.and_then(|number| i32::try_from(number).ok());
    let passage = passage.ok_or("each of 'passages' must name a passage by its number.")?;
    let reason = arguments::optional_text(fields, "reason")?.unwrap_or_default();
    if reason.chars().count() < SHORTEST_REASON {
        return Err(format!(
            "passage {passage} has no reason of {SHORTEST_REASON} characters or more: say in a sentence why nothing of it is a \
             requirement."
        ));
    }
    Ok((passage, reason))
}
