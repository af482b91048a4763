//! The tools of the tests, carried out on the toy rows.

use super::toy::Toy;
use plumbline_engine::{FileWrite, Product, Requirement, ToolCall, ToolReturn, path};
use serde_json::{Value, json};

/// Carries a call out.
pub(crate) fn execute(toy: &Toy, call: &ToolCall) -> ToolReturn {
    let arguments: Value = serde_json::from_str(&call.arguments).expect("calls that run have valid arguments");
    let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_string();
    match call.name.as_str() {
        "write_file" => match path::normalize(&text("path")) {
            Ok(path) => {
                let write = Product::WriteFile(FileWrite::text(path.clone(), text("content")));
                ToolReturn::ok(&call.id, format!("Wrote {path}."), vec![write])
            }
            Err(why) => ToolReturn::error(&call.id, why),
        },
        "read_file" => match toy.files.get(&text("path")) {
            Some(content) => ToolReturn::ok(&call.id, String::from_utf8_lossy(content), Vec::new()),
            None => ToolReturn::error(&call.id, format!("{} does not exist", text("path"))),
        },
        "add_requirement" => {
            let requirement = requirement(&text("text"));
            let known = toy.requirements.contains_key(&requirement.content_key);
            let products = if known { Vec::new() } else { vec![Product::AddRequirement(Box::new(requirement))] };
            ToolReturn::ok(&call.id, "Recorded.", products)
        }
        "web_search" => ToolReturn::ok(&call.id, format!("Found: {}", text("query")), Vec::new()),
        other => ToolReturn::ok(&call.id, format!("{other} done."), Vec::new()),
    }
}

fn requirement(text: &str) -> Requirement {
    Requirement {
        candidate_id: "req_1".into(),
        content_key: text.as_bytes().to_vec(),
        text: text.into(),
        name: "Retention".into(),
        r#type: "compliance".into(),
        priority: "high".into(),
        source_document: None,
        source_location: json!({}),
        gobd_relevant: false,
        gdpr_relevant: false,
        citations: json!([]),
        mentioned_objects: Vec::new(),
        mentioned_messages: Vec::new(),
        reasoning: None,
        research_notes: None,
        confidence: 0.9,
        tags: Vec::new(),
    }
}
