//! Legitimate long work: no guardrail may stop it, refuse any of its calls, or plan it again.

use crate::kit::{Dialogue, settings};
use serde_json::{Value, json};

/// Turns of each case: well above every bound of the guardrails.
const TURNS: usize = 60;

/// The calls of the nth turn.
type Work = fn(usize) -> Vec<(&'static str, Value)>;

fn read(path: impl Into<String>) -> (&'static str, Value) {
    ("read_file", json!({"path": path.into()}))
}

fn write(path: impl Into<String>, content: impl Into<String>) -> (&'static str, Value) {
    ("write_file", json!({"path": path.into(), "content": content.into()}))
}

fn note(n: usize) -> (&'static str, Value) {
    ("add_note", json!({"text": format!("Thought {n} on the policy")}))
}

fn record(text: String) -> (&'static str, Value) {
    ("add_requirement", json!({"text": text}))
}

fn search(query: impl Into<String>) -> (&'static str, Value) {
    ("web_search", json!({"query": query.into()}))
}

/// A note after this many turns, as in long reading.
fn now_and_then(n: usize, every: usize, calls: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    if n % every == every - 1 { calls.into_iter().chain([note(n)]).collect() } else { calls }
}

const CASES: [(&str, Work); 42] = [
    ("a file a turn", |n| vec![write(format!("notes/{n}.md"), "What this section says.")]),
    ("one file that grows", |n| vec![write("notes.md", format!("Notes up to {n}."))]),
    ("reading after each change of the same file", |n| vec![write("a.md", format!("Draft {n}.")), read("a.md")]),
    ("reading, then changing the same file", |n| vec![read("a.md"), write("a.md", format!("Draft {n}."))]),
    ("changing in one turn, reading in the next", |n| {
        vec![if n % 2 == 0 { write("a.md", format!("Draft {n}.")) } else { read("a.md") }]
    }),
    ("two hundred requirements of one form", |n| {
        (0..4).map(|k| record(format!("Record {} must be kept for ten years.", n * 4 + k))).collect()
    }),
    ("a requirement a turn", |n| vec![record(format!("Document {n} must be signed."))]),
    ("requirements with their search", |n| vec![search(format!("rule {n}")), record(format!("Rule {n} holds."))]),
    ("many similar searches, noted now and then", |n| now_and_then(n, 20, vec![search(format!("GoBD section {n}"))])),
    ("pages in order, noted now and then", |n| now_and_then(n, 20, vec![("index_page", json!({"page": n}))])),
    ("pages in pairs", |n| {
        now_and_then(n, 10, vec![("index_page", json!({"page": n})), ("index_page", json!({"page": n + 1}))])
    }),
    ("each page twice", |n| now_and_then(n, 15, vec![("index_page", json!({"page": n / 2}))])),
    ("going back to the start each tenth turn", |n| now_and_then(n, 5, vec![("index_page", json!({"page": n % 10}))])),
    ("polling a result that changes", |n| vec![("get_progress", json!({})), write("poll.md", format!("Look {n}."))]),
    ("looking at progress now and then", |n| {
        if n % 6 == 0 { vec![("get_progress", json!({})), note(n)] } else { vec![note(n)] }
    }),
    ("looking at the plan now and then", |n| {
        if n % 9 == 0 { vec![("read_plan", json!({})), note(n)] } else { vec![note(n)] }
    }),
    ("reading the instructions now and then", |n| {
        if n % 12 == 0 { vec![read("instructions.md"), note(n)] } else { vec![note(n), search(format!("{n}"))] }
    }),
    ("a note a turn", |n| vec![note(n)]),
    ("an accomplishment a turn", |n| vec![("add_accomplishment", json!({"text": format!("Section {n} is done")}))]),
    ("notes and accomplishments in turn", |n| {
        vec![if n % 2 == 0 { note(n) } else { ("add_accomplishment", json!({"text": format!("Done: {n}")})) }]
    }),
    ("a new file, read back at once", |n| vec![write(format!("f{n}.md"), "Content of it."), read(format!("f{n}.md"))]),
    ("files that do not exist, one after another", |n| vec![read(format!("missing/{n}.md")), note(n)]),
    ("eight calls a turn", |n| (0..8).map(|k| write(format!("part/{n}_{k}.md"), "A part of the whole.")).collect()),
    ("thirty calls a turn", |n| {
        (0..30).map(|k| ("index_page", json!({"page": n * 30 + k}))).chain([note(n)]).collect()
    }),
    ("the same search in each section, with other words", |n| {
        vec![search(format!("retention {}", n % 7)), write(format!("s/{n}.md"), "What was found for it.")]
    }),
    ("letters to many", |n| vec![("send_letter", json!({"to": n})), note(n)]),
    ("a summary after each five notes", |n| {
        if n % 5 == 4 { vec![("generate_workspace_summary", json!({}))] } else { vec![note(n)] }
    }),
    ("rewriting one paragraph in sixty ways", |n| vec![write("output/report.md", "word ".repeat(n + 5))]),
    ("shortening a text", |n| vec![write("output/report.md", "word ".repeat(100 - n))]),
    ("between two files", |n| vec![write(["a.md", "b.md"][n % 2], format!("Turn {n}."))]),
    ("comparing two files that change", |n| {
        vec![write("a.md", format!("A{n}.")), read("a.md"), read("b.md"), write("b.md", format!("B{n}."))]
    }),
    ("a table, row by row", |n| vec![write("table.csv", (0..=n).map(|k| format!("{k},x\n")).collect::<String>())]),
    ("long files", |n| vec![write(format!("long/{n}.md"), "Invoices must be kept. ".repeat(150))]),
    ("long results", |n| vec![write("long.md", format!("{n} {}", "must be kept. ".repeat(400))), read("long.md")]),
    ("twenty turns of reading before each note", |n| now_and_then(n, 21, vec![read(format!("chunks/{n}.md"))])),
    ("the same call three times, then another", |n| now_and_then(n, 9, vec![("index_page", json!({"page": n / 3}))])),
    ("a loop of nine looks", |n| now_and_then(n, 18, vec![("index_page", json!({"page": n % 9}))])),
    ("letters and pages in turn", |n| {
        vec![if n % 2 == 0 { ("send_letter", json!({"to": n})) } else { ("index_page", json!({"page": n})) }, note(n)]
    }),
    ("arguments in another order", |n| vec![("index_page", json!({"page": n, "depth": n % 3})), note(n)]),
    ("text in another language", |n| vec![record(format!("Die Rechnung {n} muss aufbewahrt werden."))]),
    ("an error that is put right each time", |n| {
        if n % 2 == 0 {
            vec![read(format!("x{n}.md"))]
        } else {
            vec![write(format!("x{}.md", n - 1), "Now it is there.")]
        }
    }),
    ("words beside the calls", |n| vec![write(format!("w/{n}.md"), "Something to be kept for the report.")]),
];

#[test]
fn legitimate_long_work_passes_without_a_false_stop() {
    for (name, work) in CASES {
        let mut dialogue = Dialogue::working(settings(), 2);
        let phase = dialogue.phase();
        for n in 0..TURNS {
            for result in dialogue.calls(&work(n)) {
                assert!(!result.contains("refused"), "{name}, turn {n}: {result}");
            }
            assert!(dialogue.run.exit().is_none(), "{name}, turn {n}: {:?}", dialogue.run.exit());
            assert_eq!(dialogue.phase(), phase, "{name}, turn {n}: the phase was given up");
        }
    }
}

#[test]
fn a_long_phase_of_twenty_todos_and_hundreds_of_turns_passes() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.write_plan(1);
    let todos: Vec<Value> = (1..=20).map(|id| json!({"id": id, "content": format!("Read part {id} of it")})).collect();
    dialogue.call("todo_write", json!({"phase": "All of it", "description": "Long.", "todos": todos}));
    dialogue.finish_phase();
    for n in 0..400 {
        let calls =
            if n % 20 == 19 { vec![("todo_complete", json!({}))] } else { vec![("index_page", json!({"page": n}))] };
        dialogue.calls(&calls);
        assert!(dialogue.run.exit().is_none(), "turn {n}: {:?}", dialogue.run.exit());
    }
    assert_eq!(dialogue.phase().0, 3, "the phase came to its end by its todos, not before");
}
