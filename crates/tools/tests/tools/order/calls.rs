//! The random calls: few paths and few words, so that calls of one answer interact.

use super::job::Call;
use plumbline_engine::PhaseKind;
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

/// Sentences of the document, and one that does not occur in it.
pub(super) const SENTENCES: [&str; 5] = [
    "Invoices must be kept for ten years.",
    "each payment shall be approved by two persons before it is made",
    "The supplier must notify the buyer within two days of a loss.",
    "The auditor must be shown each record on the day on which it is asked for.",
    "Visitors must not enter the archive alone.",
];

/// From 1 to 12 calls for a phase.
pub(super) fn answer(kind: PhaseKind) -> impl Strategy<Value = Vec<Call>> {
    vec(call(kind), 1..=12)
}

fn call(kind: PhaseKind) -> BoxedStrategy<Call> {
    let (planning, working) = match kind {
        PhaseKind::Strategic => (4, 0),
        PhaseKind::Tactical => (1, 10),
    };
    prop_oneof![
        12 => file_call(),
        6 => memory_call(),
        // Also of the other phase: these are refused.
        planning => planning_call(),
        working + 1 => document_call(),
        working + 1 => record_call(),
        1 => Just(("no_such_tool", json!({}))),
    ]
    .boxed()
}

fn file_call() -> impl Strategy<Value = Call> {
    let write = (path(), words(), option::of(any::<bool>())).prop_map(|(path, words, append)| {
        ("write_file", with(json!({"path": path, "content": format!("# Notes\n\n{words}\n")}), "append", append))
    });
    let edit = (path(), words(), words())
        .prop_map(|(path, old, new)| ("edit_file", json!({"path": path, "old": old, "new": new})));
    let read = (path(), option::of(1..4_u32))
        .prop_map(|(path, offset)| ("read_file", with(json!({ "path": path }), "offset", offset)));
    let search = (words(), select(vec!["", "notes", "chunks"]), select(vec!["text", "regex"]))
        .prop_map(|(query, path, mode)| ("search_files", json!({"query": query, "path": path, "mode": mode})));
    let folder = select(vec!["notes", "notes/new", "output", "chunks"]);
    prop_oneof![
        4 => write,
        3 => edit,
        3 => read,
        2 => path().prop_map(|path| ("delete_file", json!({ "path": path }))),
        1 => search,
        1 => select(vec!["", "notes", "output", "work"]).prop_map(|path| ("list_files", json!({ "path": path }))),
        1 => folder.prop_map(|path| ("create_folder", json!({ "path": path }))),
    ]
}

fn memory_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => words().prop_map(|words| ("add_note", json!({ "text": words }))),
        1 => words().prop_map(|words| ("add_accomplishment", json!({ "text": words }))),
        1 => Just(("generate_workspace_summary", json!({}))),
        1 => Just(("read_plan", json!({}))),
        1 => Just(("get_progress", json!({}))),
        1 => Just(("coverage", json!({}))),
    ]
}

fn planning_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => (0..3_usize).prop_map(|phases| {
            let sections: String = (1..=phases).map(|n| format!("\n## Phase {n}: Part {n}\n- [ ] alpha\n")).collect();
            ("write_plan", json!({"content": format!("# Plan\n{sections}")}))
        }),
        1 => vec(words(), 1..3).prop_map(|tasks| ("write_plan", json!({ "tasks": tasks }))),
        2 => words().prop_map(|words| ("add_task", json!({ "content": words }))),
    ]
}

fn document_call() -> impl Strategy<Value = Call> {
    let file = || select(vec!["input/policy.md", "notes/a.md", "input/none.md"]);
    prop_oneof![
        1 => file().prop_map(|path| ("extract_document_text", json!({ "file_path": path }))),
        1 => (file(), select(vec![100, 1000])).prop_map(|(path, tokens)| {
            ("chunk_document", json!({"file_path": path, "max_tokens": tokens, "overlap": 0}))
        }),
        4 => sentence().prop_map(|quote| ("cite", json!({"source": "input/policy.md", "quote": quote}))),
        1 => (1..6_u32).prop_map(|passage| ("cite", json!({"passage": passage, "from": 1, "to": 1}))),
        2 => (1..6_u32).prop_map(|passage| {
            let closing = json!({"passage": passage, "reason": "it obliges nobody, as its words say"});
            ("close_passages", json!({ "passages": [closing] }))
        }),
    ]
}

fn record_call() -> impl Strategy<Value = Call> {
    let add = (sentence(), words(), any::<bool>(), any::<bool>()).prop_map(|(text, name, is_quoted, is_alias)| {
        let (tool, arguments) = requirement(text, name, is_quoted);
        (if is_alias { "write_requirement_to_db" } else { tool }, arguments)
    });
    let fields = prop_oneof![
        words().prop_map(|name| json!({ "name": name })),
        sentence().prop_map(|text| json!({ "text": text })),
        sentence().prop_map(|text| json!({"citations": [{"source": "input/policy.md", "quote": text}]})),
    ];
    let item = (1..9_u32, option::of(words())).prop_map(|(s, name)| with(json!({"s": s.to_string()}), "name", name));
    let rest = prop_oneof![
        2 => Just(json!([])),
        2 => Just(json!([{"why": "it obliges nobody, as its words say"}])),
        1 => (1..9_u32).prop_map(|s| json!([{"s": s.to_string(), "why": "a definition"}])),
        1 => (1..9_u32).prop_map(|s| json!([{"s": s.to_string(), "in": "r1"}])),
    ];
    let passage = (1..4_u32, vec(item, 0..3), option::of(rest)).prop_map(|(passage, items, rest)| {
        ("record_passage", with(json!({"passage": passage, "items": items}), "rest", rest))
    });
    prop_oneof![
        6 => add,
        4 => passage,
        2 => Just(("list_requirements", json!({}))),
        2 => (id(), fields).prop_map(|(id, fields)| {
            ("update_requirement", json!({"id": id, "fields": fields, "reason": "it says otherwise"}))
        }),
        2 => id().prop_map(|id| ("withdraw_requirement", json!({"id": id, "reason": "it is said elsewhere"}))),
        2 => sentence().prop_map(|text| ("query_similar_requirements", json!({ "text": text }))),
    ]
}

/// Records a sentence.
pub(super) fn requirement(text: &str, name: &str, is_quoted: bool) -> Call {
    let quotes = json!([{"source": "input/policy.md", "quote": text}]);
    let citations = if is_quoted { quotes } else { json!([]) };
    let arguments = json!({"text": text, "name": name, "type": "compliance", "priority": "high",
        "source_document": "input/policy.md", "citations": citations, "confidence": 0.9});
    ("add_requirement", arguments)
}

fn path() -> impl Strategy<Value = &'static str> {
    let often = vec!["notes/a.md", "notes/b.md", "workspace.md", "output/c.md"];
    let rarely = vec!["main_plan.md", "todos.yaml", "progress.md", "workspace_summary.md", "output/requirements.md"];
    prop_oneof![4 => select(often), 1 => select(rarely)]
}

fn words() -> impl Strategy<Value = &'static str> {
    select(vec!["alpha", "beta", "Phase 1", "alpha beta gamma", "## Notes"])
}

fn sentence() -> impl Strategy<Value = &'static str> {
    select(SENTENCES.to_vec())
}

/// The id of a requirement with one of the sentences.
fn id() -> impl Strategy<Value = String> {
    sentence().prop_map(|text| plumbline_engine::candidate_id_of(&plumbline_tools::content_key(text)))
}

/// Adds an argument if there is a value.
fn with(mut arguments: Value, key: &str, value: Option<impl Into<Value>>) -> Value {
    if let Some(value) = value {
        arguments[key] = value.into();
    }
    arguments
}
