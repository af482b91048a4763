//! The model's decision: a turn of tool calls with their arguments.

use serde_json::{Value, json};

/// One tool call, before it has an id.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) name: &'static str,
    /// Its arguments, an object.
    pub(crate) args: Value,
}

impl Call {
    /// A text among the arguments; empty when absent.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.args[key].as_str().unwrap_or_default()
    }
}

/// The model's answer: a sentence and the calls, in order.
///
/// A turn may repeat calls that were already made for the same todo; [`crate::reply`] removes these. So a rule can say
/// "write these three pieces, then close the todo" without tracking the progress of earlier turns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    /// The text of the answer.
    pub(crate) say: String,
    /// The calls.
    pub(crate) calls: Vec<Call>,
}

/// A turn that says `say` and makes `calls`.
pub(crate) fn turn(say: impl Into<String>, calls: Vec<Call>) -> Turn {
    Turn { say: say.into(), calls }
}

/// Maximum bytes written with one call, so that an answer stays below common output limits.
const PIECE_BYTES: usize = 12_000;

pub(crate) fn read_file(path: &str) -> Call {
    Call { name: "read_file", args: json!({ "path": path }) }
}

/// Reads `limit` lines from line `first`, counted from 1.
pub(crate) fn read_lines(path: &str, first: usize, limit: usize) -> Call {
    let args = match first {
        1 => json!({"path": path, "limit": limit}),
        _ => json!({"path": path, "offset": first, "limit": limit}),
    };
    Call { name: "read_file", args }
}

pub(crate) fn list_files(path: &str) -> Call {
    Call { name: "list_files", args: json!({ "path": path }) }
}

/// Lists the first recorded requirements.
pub(crate) fn first_requirements() -> Call {
    Call { name: "list_requirements", args: json!({"limit": 10}) }
}

pub(crate) fn coverage() -> Call {
    Call { name: "coverage", args: json!({}) }
}

/// Records the duties of a passage, and decides its other candidates.
pub(crate) fn record_passage(passage: u32, items: &[Value], rest: &[Value]) -> Call {
    let args = match items.is_empty() {
        true => json!({"passage": passage, "rest": rest}),
        false => json!({"passage": passage, "items": items, "rest": rest}),
    };
    Call { name: "record_passage", args }
}

pub(crate) fn write_file(path: &str, content: &str) -> Call {
    Call { name: "write_file", args: json!({"path": path, "content": content}) }
}

pub(crate) fn append(path: &str, content: &str) -> Call {
    Call { name: "write_file", args: json!({"path": path, "content": content, "append": true}) }
}

/// Writes a file of any length in pieces that end at line ends.
pub(crate) fn write_in_pieces(path: &str, content: &str) -> Vec<Call> {
    let mut pieces = vec![String::new()];
    for line in content.split_inclusive('\n') {
        let last = pieces.last_mut().expect("pieces is never empty: it begins with one");
        match !last.is_empty() && last.len() + line.len() > PIECE_BYTES {
            true => pieces.push(line.to_owned()),
            false => last.push_str(line),
        }
    }
    let mut pieces = pieces.iter();
    let first = pieces.next().map(|piece| write_file(path, piece));
    first.into_iter().chain(pieces.map(|piece| append(path, piece))).collect()
}

pub(crate) fn write_plan(content: &str) -> Call {
    Call { name: "write_plan", args: json!({ "content": content }) }
}

pub(crate) fn add_note(text: &str) -> Call {
    Call { name: "add_note", args: json!({ "text": text }) }
}

pub(crate) fn generate_workspace_summary() -> Call {
    Call { name: "generate_workspace_summary", args: json!({}) }
}

pub(crate) fn extract_document_text(document: &str) -> Call {
    Call { name: "extract_document_text", args: json!({ "file_path": document }) }
}

pub(crate) fn chunk_document(document: &str) -> Call {
    Call { name: "chunk_document", args: json!({ "file_path": document }) }
}

/// Closes passages without further duties.
pub(crate) fn close_passages(numbers: impl Iterator<Item = u32>, reason: &str) -> Call {
    let passages: Vec<Value> = numbers.map(|passage| json!({"passage": passage, "reason": reason})).collect();
    Call { name: "close_passages", args: json!({ "passages": passages }) }
}

pub(crate) fn get_graph_schema() -> Call {
    Call { name: "get_graph_schema", args: json!({}) }
}

pub(crate) fn todo_write(phase: &str, description: &str, todos: &[String]) -> Call {
    let todos: Vec<Value> = (1..).zip(todos).map(|(id, content)| json!({"id": id, "content": content})).collect();
    Call { name: "todo_write", args: json!({"phase": phase, "description": description, "todos": todos}) }
}

pub(crate) fn todo_complete(notes: &str) -> Call {
    Call { name: "todo_complete", args: json!({ "notes": notes }) }
}

pub(crate) fn job_complete(summary: &str, deliverables: &[String], undelivered: &[Value], confidence: f64) -> Call {
    let mut args = json!({
        "summary": summary,
        "deliverables": deliverables,
        "confidence": confidence,
        "notes": crate::DISCLAIMER,
    });
    if !undelivered.is_empty() {
        args["undelivered"] = json!(undelivered);
    }
    Call { name: "job_complete", args }
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, write_in_pieces};

    #[test]
    fn pieces_put_together_are_the_content() {
        let content: String = (0..1000).map(|n| format!("line {n} of a long file\n")).collect();
        let pieces = write_in_pieces("output/x.md", &content);
        assert!(pieces.len() > 1);
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.args["content"].as_str().unwrap()).collect();
        assert!(texts.iter().all(|text| text.len() <= PIECE_BYTES && text.ends_with('\n')));
        assert_eq!(texts.concat(), content);
        assert!(pieces[0].args.get("append").is_none() && pieces[1..].iter().all(|piece| piece.args["append"] == true));
    }

    #[test]
    fn a_short_file_is_one_piece() {
        assert_eq!(write_in_pieces("a.md", "one\ntwo").len(), 1);
    }
}
