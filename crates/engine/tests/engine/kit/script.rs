//! Dialogues as scripts of a few lines. A line is an event from outside:
//!
//! ```text
//! take in                     the documents are available
//! call NAME {…} + NAME {…}    the model calls tools; `executor` runs them
//! ask NAME {…}                the model calls a tool that does not run yet
//! run                         the waiting calls run
//! cut off NAME {…}            the model's answer reached the cap
//! say TEXT                    the model answers without a call
//! fail CLASS                  the model call fails
//! wake                        the wait is over
//! feedback TEXT               the user writes
//! crash                       the worker dies, another loads the rows
//! resume                      a job that left is resumed when it is due
//! close N                     a read of a file and todo_complete, N times, each in a separate answer
//! ```
//!
//! The transcript repeats each line and shows the resulting changes and the next effect.

use super::{Dialogue, call, change, effect, reply};
use plumbline_engine::{Change, FailureClass, JobExit, Outcome, Settings, ToolCall};
use serde_json::{Value, json};
use std::fmt::Write;

/// Plays a script and compares the transcript with the stored one.
pub(crate) fn check(name: &str, settings: Settings, script: &str) {
    let mut dialogue = Dialogue::new(settings);
    let mut transcript = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let changes = play(&mut dialogue, line);
        writeln!(transcript, "> {line}").expect("writing to a String cannot fail");
        for change in changes.iter().map(change) {
            writeln!(transcript, "    {change}").expect("writing to a String cannot fail");
        }
        writeln!(transcript, "  = {}\n", effect(&dialogue.run.next())).expect("writing to a String cannot fail");
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots", omit_expression => true }, {
        insta::assert_snapshot!(name, transcript);
    });
}

fn play(dialogue: &mut Dialogue, line: &str) -> Vec<Change> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match (verb, rest) {
        ("take", "in") => dialogue.apply(super::intake()),
        ("call", calls) => dialogue.reply(reply("", calls.split(" + ").map(parse_call).collect())),
        ("cut", rest) => {
            let call = parse_call(rest.trim_start_matches("off "));
            dialogue.cut_off(&call.name, &arguments(&call.arguments))
        }
        ("say", text) => dialogue.says(text),
        ("fail", class) => dialogue.fails(parse_class(class)),
        ("wake", _) => {
            dialogue.wake();
            Vec::new()
        }
        ("feedback", text) => dialogue.feedback(text),
        ("ask", asked) => dialogue.apply(Outcome::ModelReplied(reply("", vec![parse_call(asked)]))),
        ("run", _) => dialogue.run_tools(),
        ("resume", _) => {
            if let JobExit::Parked { until, .. } = dialogue.exit() {
                dialogue.now = *until;
            }
            dialogue.resume(|_| {});
            Vec::new()
        }
        ("crash", _) => {
            dialogue.crash();
            Vec::new()
        }
        ("close", times) => (0..times.parse().expect("close N"))
            .flat_map(|_: u32| {
                let new = json!({"path": "instructions.md", "offset": dialogue.run.state().next_seq});
                let look = call("read_file", &new);
                dialogue.reply(reply("", vec![look, call("todo_complete", &json!({}))]))
            })
            .collect(),
        _ => panic!("no such line in a script: {line}"),
    }
}

fn parse_call(text: &str) -> ToolCall {
    let (name, arguments_text) = text.trim().split_once(' ').unwrap_or((text.trim(), "{}"));
    call(name, &arguments(arguments_text))
}

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn parse_class(text: &str) -> FailureClass {
    serde_json::from_value(json!(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}
