//! The tools of the tests, executed on the toy rows.

use super::toy::Toy;
use plumbline_engine::{
    Candidate, Check, Citation, CutDocument, FileWrite, Passage, PhaseKind, Prepared, Product, Requirement, ToolCall,
    ToolReturn, Touched, blocks, candidate_id_of, path,
};
use serde_json::{Value, json};

/// Executes a call.
pub(crate) fn execute(toy: &Toy, call: &ToolCall) -> ToolReturn {
    let arguments: Value = serde_json::from_str(&call.arguments).expect("calls that run have valid arguments");
    let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_string();
    match call.name.as_str() {
        "write_file" | "edit_file" | "delete_file" => {
            let changed = path::normalize(&text("path"));
            match changed.and_then(|path| change(toy, &call.name, path, &arguments)) {
                Ok((said, product)) => ToolReturn::ok(&call.id, said, vec![product]),
                Err(why) => ToolReturn::error(&call.id, why),
            }
        }
        "read_file" => match toy.files.get(&text("path")) {
            Some(content) => {
                let from = arguments["offset"].as_i64().map(|line| format!("From line {line}: ")).unwrap_or_default();
                ToolReturn::ok(&call.id, from + &String::from_utf8_lossy(content), Vec::new())
            }
            None => ToolReturn::error(&call.id, format!("{} does not exist", text("path"))),
        },
        "add_requirement" => {
            let requirement = quoting(requirement(&text("text")), &arguments);
            let known = toy.recorded.iter().any(|known| known.is_of(&requirement.content_key));
            let products = if known { Vec::new() } else { vec![Product::AddRequirement(Box::new(requirement))] };
            ToolReturn::ok(&call.id, "Recorded.", products)
        }
        "cite" => {
            let touched = |key: &str| Some(i32::try_from(arguments[key].as_i64()?).expect("a small number"));
            let place = touched("passage").map(|passage| Touched { passage, from: 1, to: 1 });
            ToolReturn::ok(&call.id, "Cited.", vec![Product::AddCitation(citation(&text("quote"), place))])
        }
        "web_search" => {
            let found = ToolReturn::ok(&call.id, format!("Found: {}", text("query")), Vec::new());
            ToolReturn { untrusted: true, ..found }
        }
        "index_page" if arguments["page"].is_i64() => {
            ToolReturn::ok(&call.id, format!("Page {} is indexed.", arguments["page"]), Vec::new())
        }
        other => ToolReturn::ok(&call.id, format!("{other} done."), Vec::new()),
    }
}

/// Makes the check that the engine requests before it executes a call.
pub(crate) fn look(toy: &Toy, call: &ToolCall, check: &Check) -> ToolReturn {
    match check {
        Check::Deliverables { sentences, .. } => {
            let quoted = sentences.then(|| Product::DeliverQuotes(quoted(toy)));
            ToolReturn::ok(&call.id, String::new(), quoted.into_iter().collect())
        }
        Check::Passage { path, .. } => {
            let read =
                ToolCall { name: "read_file".into(), arguments: json!({"path": path}).to_string(), ..call.clone() };
            execute(toy, &read)
        }
    }
}

/// The quotes in the files of `output/`: the first sentence of each passage that they name, as in `passage 3`.
fn quoted(toy: &Toy) -> Vec<Touched> {
    let files = toy.files.iter().filter(|(path, _)| path.starts_with("output/"));
    let texts: Vec<String> = files.map(|(_, content)| String::from_utf8_lossy(content).into_owned()).collect();
    let is_named = |passage: &i32| texts.iter().any(|text| text.contains(&format!("passage {passage}")));
    let passages = toy.passages.keys().copied().filter(is_named);
    passages.map(|passage| Touched { passage, from: 1, to: 1 }).collect()
}

/// The change of a call to a file.
fn change(toy: &Toy, tool: &str, path: String, arguments: &Value) -> Result<(String, Product), String> {
    check_writer(toy, &path)?;
    let text = |key: &str| arguments[key].as_str().unwrap_or_default();
    let known = toy.file(&path).map(|content| String::from_utf8_lossy(content).into_owned());
    let known_text = known.as_deref().ok_or_else(|| format!("{path} does not exist"));
    match tool {
        "write_file" => {
            let before = known.as_deref().filter(|_| arguments["append"] == true).unwrap_or_default();
            let line_end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            let content = format!("{before}{line_end}{}", text("content"));
            Ok((format!("Wrote {path}."), Product::WriteFile(FileWrite::text(path, content))))
        }
        "edit_file" => {
            let (old, new) = (text("old"), text("new"));
            let before = known_text?;
            if old == new || before.matches(old).count() != 1 {
                return Err(format!("{old:?} is not replaced in {path}"));
            }
            let content = before.replacen(old, new, 1);
            Ok((format!("Edited {path}."), Product::WriteFile(FileWrite::text(path, content))))
        }
        _ => known_text.map(|_| (format!("Deleted {path}."), Product::DeleteFile { path: path.clone() })),
    }
}

/// Checks which tool may write a file.
fn check_writer(toy: &Toy, path: &str) -> Result<(), String> {
    let kind = toy.state.as_ref().map(|state| state.phase.kind);
    let by_others =
        matches!(path, "progress.md" | "workspace_summary.md" | "todos.yaml" | "error.md" | "instructions.md")
            || path == "main_plan.md" && kind == Some(PhaseKind::Tactical)
            || path.starts_with("output/requirements.")
            || ["requirements/", "input/", "archive/", "tools/"].iter().any(|folder| path.starts_with(folder));
    if by_others { Err(format!("{path} is read only")) } else { Ok(()) }
}

/// Prepares a document: each line of it is a passage, and each that says "must" a candidate.
pub(crate) fn prepare(document: &str, toy: &Toy) -> Prepared {
    let text = String::from_utf8_lossy(&toy.files[document]).into_owned();
    let first = toy.passages.keys().next_back().copied().unwrap_or(0) + 1;
    let passages = (first..).zip((1..).zip(text.lines())).map(|(number, (ordinal, line))| Passage {
        pages: Some((ordinal, ordinal)),
        sha256: {
            let mut hash = [0; 32];
            line.bytes().enumerate().for_each(|(at, byte)| hash[at % 32] ^= byte.rotate_left(at as u32 / 32));
            hash
        },
        chunk_path: Some(format!("chunks/chunk_{number:03}.md")),
        blocks: blocks(line),
        unseen: blocks(line),
        candidates: line
            .contains("must")
            .then(|| Candidate { sentence: 1, text: line.into(), ..Candidate::default() })
            .into_iter()
            .collect(),
        ..Passage::unread(number, document, ordinal)
    });
    let passages: Vec<Passage> = passages.collect();
    let chunks = passages
        .iter()
        .zip(text.lines())
        .filter_map(|(passage, line)| Some(Product::WriteFile(FileWrite::text(passage.chunk_path.clone()?, line))));
    let mut products: Vec<Product> = chunks.collect();
    products.push(Product::CutDocument(Box::new(CutDocument { document: document.to_string(), passages })));
    Prepared { document: document.to_string(), note: String::new(), products }
}

fn citation(quote: &str, place: Option<Touched>) -> Citation {
    let (id, source, quote) = (format!("cit_{quote}"), "input/policy.pdf".into(), quote.into());
    Citation {
        id,
        source,
        page: None,
        page_to: None,
        quote,
        verified: true,
        place,
        continues: Vec::new(),
        again: Vec::new(),
    }
}

/// The requirement with tags, and with a quote of the first sentence of a passage if one is named.
fn quoting(mut requirement: Requirement, arguments: &Value) -> Requirement {
    if arguments["passage"].is_i64() {
        requirement.candidate_id = candidate_id_of(&requirement.content_key);
        let passage = &arguments["passage"];
        let quote = json!({"source": "input/policy.pdf", "quote": "Invoices must be kept.", "verified": true, "passage": passage, "from": 1, "to": 1});
        requirement.citations = json!([quote]);
    }
    let tags = arguments["tags"].as_array().into_iter().flatten();
    requirement.tags = tags.filter_map(Value::as_str).map(str::to_owned).collect();
    requirement
}

fn requirement(text: &str) -> Requirement {
    Requirement {
        number: None,
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
