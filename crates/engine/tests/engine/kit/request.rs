//! Requests as a provider sees them, and the rules of the strictest provider.

use super::toy::Toy;
use plumbline_engine::{ModelRequest, PhaseKind, Purpose, RequestMessage, Role, TodoListPosition, ToolCall};
use std::collections::BTreeSet;

/// A message on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) answers: Option<String>,
}

/// A request's messages as sent.
pub(crate) fn lines(request: &ModelRequest<'_>) -> Vec<Line> {
    let made = |role, text: &str| Line { role, text: text.into(), calls: Vec::new(), answers: None };
    request
        .messages
        .iter()
        .map(|message| match message {
            RequestMessage::System(text) => made(Role::System, text),
            RequestMessage::User(text) => made(Role::User, text),
            RequestMessage::Stored(message) => Line {
                role: message.role(),
                text: message.visible_content().into(),
                calls: message.tool_calls().map(ToolCall::from).collect(),
                // The result of a held call is a user message: its answer was dropped with the last phase.
                answers: message.tool_call_id().filter(|_| message.role() == Role::Tool).map(str::to_string),
            },
        })
        .collect()
}

/// Checks everything that must hold for each request.
pub(crate) fn validate(request: &ModelRequest<'_>, toy: &Toy) {
    let lines = lines(request);
    assert_eq!(lines[0].role, Role::System, "a request begins with the system prompt");
    assert!(lines[0].text.contains(&toy.job.prompt), "the user's prompt is in the system prompt");
    validate_pairs(&lines);
    validate_todo_list(request.purpose, &lines, toy);
    let state = toy.state.as_ref().expect("requests come after the first step");
    let kind = state.phase.kind;
    let loaded = state.loaded_tools.iter().map(String::as_str);
    let bound: Vec<&str> = toy.settings.bound(kind).map(|tool| tool.name.as_str()).chain(loaded).collect();
    let offered: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    match request.purpose {
        Purpose::Summary => assert!(offered.is_empty(), "a summary has no tools"),
        Purpose::Strategic => assert_eq!((kind, offered), (PhaseKind::Strategic, bound)),
        Purpose::Tactical => assert_eq!((kind, offered), (PhaseKind::Tactical, bound)),
    }
}

/// Each call has exactly one result, directly after it, in order.
fn validate_pairs(lines: &[Line]) {
    let mut waiting: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for line in lines {
        match (&line.answers, waiting.is_empty()) {
            (Some(id), _) => assert_eq!(waiting.first(), Some(&id.as_str()), "a result stands behind its call"),
            (None, empty) => assert!(empty, "calls without result: {waiting:?}"),
        }
        if line.answers.is_some() {
            waiting.remove(0);
        }
        for call in &line.calls {
            assert!(seen.insert(call.id.clone()), "the id {} is used twice", call.id);
            let arguments: serde_json::Value = serde_json::from_str(&call.arguments).expect("arguments are JSON");
            assert!(arguments.is_object(), "arguments are an object: {arguments}");
            waiting.push(&call.id);
        }
    }
    assert!(waiting.is_empty(), "calls without result: {waiting:?}");
}

fn validate_todo_list(purpose: Purpose, lines: &[Line], toy: &Toy) {
    let lists: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].text.contains("ACTIVE TODO LIST")).collect();
    let systems = lines.iter().filter(|line| line.role == Role::System).count();
    match (purpose, toy.settings.model.todo_list_position) {
        (Purpose::Summary, _) => assert_eq!((lists.len(), systems), (0, 1)),
        (_, TodoListPosition::Last) => assert_eq!((lists, systems), (vec![lines.len() - 1], 1)),
        (_, TodoListPosition::AfterSystem) => assert_eq!((lists, systems), (vec![1], 2)),
    }
}
