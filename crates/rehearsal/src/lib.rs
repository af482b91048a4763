//! Plumbline's rehearsal model: a rule-based server without an LLM, for chat completions, OpenAI's responses and
//! Anthropic's messages.
//!
//! `plumbline dev`, the system tests and the benchmarks need a model server that does a creator's whole job: reads the
//! instructions, plans phases by the length of the documents, extracts and chunks documents that the system has not
//! prepared, records every normative sentence with its citation, writes the deliverables and completes. This crate does
//! that through the ordinary tools, like a real model, and identifies itself in everything it writes.
//!
//! **It is stateless.** Equal requests have equal answers, byte for byte. It knows only the request: the system prompt,
//! the phase's opening, the conversation since, the bound tools and the todo list. Information that must outlive a
//! phase is written to files, as the engine requires of every model.
//!
//! How one request is answered, and where:
//!
//! | question | module |
//! |---|---|
//! | Is the conversation well formed? | [`check`] |
//! | Which phase, which todo, what was done since that todo began? | `request_view` |
//! | What is to be done for this todo? | `strategic`, `tactical` |
//! | What does the plan say, and what comes next? | `plan` |
//! | What does a validator's job do? | `validator` |
//! | Which sentences are normative, and where do they stand? | `text` |
//! | What does a requirement look like? | `requirement` |
//! | How does the decision become an answer? | `reply` |
//! | What is near to what, for a search over embeddings? | `server::embedding` |
//! | How are requests and answers of other protocols read and written? | `server::dialect` |
//! | How would a model answer that behaves badly? | [`misbehave`] |

use request_view::RequestView;

mod call;
pub mod misbehave;
mod plan;
mod reply;
mod request_view;
mod requirement;
mod server;
mod strategic;
mod summary;
mod tactical;
mod text;
mod unknown_todo;
mod validator;

pub use server::{Answering, MAX_REQUEST_BYTES, Options, Rehearsal, answering, answering_by_todo, check, serve, wire};
pub use wire::{ChatRequest, ChatResponse};

/// The name under which the model lists itself. It answers to every other name as well, and echoes it.
pub const MODEL: &str = "plumbline-rehearsal";

/// The sentence in every report of this model.
pub const DISCLAIMER: &str = "Produced by Plumbline's rehearsal model, a rule-based stand-in without an LLM; \
                              not a production answer.";

/// Answers one request. Pure and deterministic.
///
/// The request should have passed [`check::check`]; any other is answered as far as it can be understood. Todos whose
/// work is known are done in one answer, including the reads of the next one.
pub fn answer(request: &ChatRequest) -> ChatResponse {
    let mut view = RequestView::of(request);
    let mut turn = step(&view);
    let refused = reply::refused(&view, &turn.calls);
    // After a refused closing, the model waits for its result.
    let mut latest = turn.calls.clone();
    while !view.was_refused() && ends_a_todo(&latest) && turn.calls.len() < reply::MAX_CALLS {
        view.advance(&latest);
        let next = if view.has_todo() { step(&view) } else { break };
        turn.say = format!("{} {}", turn.say, next.say);
        latest.clone_from(&next.calls);
        turn.calls.extend(next.calls);
    }
    reply::reply(request, refused, turn)
}

/// The same with at most one todo per answer, like a model that waits for each result: for jobs that are stopped,
/// killed or disturbed between many requests.
pub fn answer_by_todo(request: &ChatRequest) -> ChatResponse {
    let view = RequestView::of(request);
    let mut turn = step(&view);
    if let Some(end) = turn.calls.iter().position(|call| call.name == "todo_complete") {
        turn.calls.truncate(end + 1);
    }
    let refused = reply::refused(&view, &turn.calls);
    reply::reply(request, refused, turn)
}

/// The work for the current todo.
fn step(view: &RequestView<'_>) -> call::Turn {
    let turn = match view.stage() {
        request_view::Stage::Summary => summary::turn_for(view),
        request_view::Stage::Strategic => strategic::turn_for(view),
        request_view::Stage::Tactical => tactical::turn_for(view),
    };
    let mut turn = with_bound_tools(view, looked(view, turn));
    turn.calls = reply::outstanding(view, turn.calls);
    turn
}

fn ends_a_todo(calls: &[call::Call]) -> bool {
    calls.last().is_some_and(|call| call.name == "todo_complete")
}

/// The turn with bound tools only: an unbound tool is replaced by an equivalent one, or its call is omitted.
fn with_bound_tools(view: &RequestView<'_>, mut turn: call::Turn) -> call::Turn {
    let in_place = |call: call::Call| match call.name {
        name if view.bound(name) => Some(call),
        "write_plan" => Some(call::write_file(plan::PATH, call.text("content"))),
        "add_note" => Some(call::append("workspace.md", &format!("- {}\n", call.text("text")))),
        _ => None,
    };
    let whole = turn.clone();
    let is_held = |name: &str| validator::is_for_next_phase(view, &whole, name);
    let in_place = |call: call::Call| if is_held(call.name) { Some(call) } else { in_place(call) };
    turn.calls = turn.calls.into_iter().filter_map(in_place).collect();
    turn
}

/// A todo is not closed without work: if it is already answered, the memory is read first.
fn looked(view: &RequestView<'_>, mut turn: call::Turn) -> call::Turn {
    let only_closes = matches!(turn.calls.as_slice(), [call] if call.name == "todo_complete");
    if only_closes && view.work().is_empty() {
        turn.calls.insert(0, call::read_file("workspace.md"));
    }
    turn
}

/// The duties that the model finds in the chunk files of a document, in order: its future requirements. For comparing
/// the extraction of documents.
pub fn normative_sentences(chunks: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for shown in chunks.iter().map(|chunk| text::Shown::read(chunk)) {
        for text in text::findings(&shown).iter().map(text::Finding::text) {
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}
