//! Runs one operation once in a separate process, so that callgrind can count its instructions: `plumbline-bench
//! instructed turn 500`. The setup is not counted; [`counted_region`] delimits the counted code.

use crate::error::Error;
use plumbline_bench::{
    dialogue::{Turn, after_guessed_turns, perform, turn},
    prose::prose,
};
use plumbline_engine::{Effect, ModelRequest, Run};
use plumbline_llm::{ModelConfig, request_body};
use std::hint::black_box;

/// The function that callgrind counts.
pub(crate) const REGION: &str = "*counted_region*";

/// Turns that are counted together, so that the growth of a vector is amortized.
const TURNS: usize = 20;

/// The operation and its size.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Task {
    pub(crate) what: What,
    /// Turns of the job so far; for tokens, bytes of the text
    pub(crate) size: usize,
}

/// The measured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    /// Turns of the engine: the answer applied, the results applied
    Turn,
    /// The next request, from the engine's state to the body's bytes
    Request,
    /// Only the texts of that request written as JSON: the floor of the one above
    Texts,
    /// The tokens of a text
    Tokens,
}

/// Runs it, and prints the number of turns or bytes by which to divide the instructions.
pub(crate) fn perform_task(task: Task) -> Result<(), Error> {
    let share = match task.what {
        What::Turn => turns(task.size),
        What::Request => request(task.size),
        What::Texts => texts(task.size),
        What::Tokens => token_count(task.size),
    };
    println!("{share}");
    Ok(())
}

/// Never inlined or renamed: callgrind looks up its symbol.
#[inline(never)]
fn counted_region(work: &mut dyn FnMut()) {
    work();
    // Without code after the call, it would become a tail jump, and the region would never end.
    black_box(());
}

fn turns(history: usize) -> usize {
    let mut run = after_guessed_turns(history);
    let mut turns: Vec<Turn> = (history..history + TURNS).rev().map(turn).collect();
    counted_region(&mut || {
        while let Some(next) = turns.pop() {
            perform(&mut run, next);
        }
    });
    TURNS
}

fn request(history: usize) -> usize {
    let run = after_guessed_turns(history);
    let mut body = Vec::new();
    counted_region(&mut || body = request_body(&config(), &next_request(&run)));
    body.len()
}

fn config() -> ModelConfig {
    ModelConfig::new("http://127.0.0.1:1/v1", "bench")
}

fn texts(history: usize) -> usize {
    let run = after_guessed_turns(history);
    let request = next_request(&run);
    let body: serde_json::Value =
        serde_json::from_slice(&request_body(&config(), &request)).expect("the body was written as JSON just now");
    let mut texts = Vec::new();
    collect_texts(&body, &mut texts);
    let mut written = Vec::new();
    counted_region(&mut || written = serde_json::to_vec(&texts).expect("texts are JSON"));
    written.len()
}

fn token_count(bytes: usize) -> usize {
    let text = prose(1, bytes);
    plumbline_tokens::load();
    let mut count = 0;
    counted_region(&mut || count = plumbline_tokens::count(&text));
    black_box(count);
    text.len()
}

fn next_request(run: &Run) -> ModelRequest<'_> {
    match run.next() {
        Effect::CallModel(request) => request,
        _ => unreachable!("after a whole turn the model is next"),
    }
}

/// All strings in a value except keys, in order.
fn collect_texts<'a>(value: &'a serde_json::Value, texts: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::String(text) => texts.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
