//! Turns that change something and bring the work no further.

use crate::kit::{Dialogue, covering, settings};
use plumbline_engine::{JobExit, Opening, PhaseKind};
use serde_json::{Value, json};

type Turn = fn(usize) -> Vec<(&'static str, Value)>;

fn note(n: usize) -> (&'static str, Value) {
    ("write_file", json!({"path": "notes.md", "content": format!("The counter is at {n} by now.")}))
}

fn found(n: usize) -> (&'static str, Value) {
    ("write_file", json!({"path": "output/all.md", "content": format!("{n} answers were found so far.")}))
}

/// How many requests a model has that repeats a kind of turn in tactical phases, and why its job ends.
fn end_of(turn: Turn) -> (usize, String) {
    let mut dialogue = Dialogue::working(settings(), 3);
    dialogue.toy.place("chunks/chunk_001.md", b"Invoices must be kept.".to_vec());
    dialogue.resume(|_| {});
    for n in 0..700 {
        if dialogue.run.exit().is_some() {
            break;
        }
        match dialogue.phase().1 {
            PhaseKind::Strategic => dialogue.open_tactical(),
            PhaseKind::Tactical => _ = dialogue.calls(&turn(n)),
        }
    }
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["kind"], "stuck");
    let end = (dialogue.toy.requests.len(), error.message.clone());
    // A retry continues the phase, and the count begins anew.
    let phase = dialogue.phase();
    dialogue.resume(|_| {});
    dialogue.calls(&turn(0));
    dialogue.calls(&turn(0));
    assert_eq!(dialogue.phase(), phase);
    end
}

#[test]
fn turns_that_only_rework_what_is_there_are_replanned_and_end_the_job() {
    let circles: [(Turn, usize); 4] = [
        (|n| vec![note(n)], 350),
        // Each read has another offset, and each result another text.
        (|n| vec![("read_file", json!({"path": "chunks/chunk_001.md", "offset": n % 20})), note(n)], 380),
        (|n| vec![("add_note", json!({"text": format!("Note {n} on the work")}))], 350),
        // New content of a file that is none of the notes counts half.
        (
            |n| {
                vec![(
                    "write_file",
                    json!({"path": "output/log.md", "content": format!("The counter is at {n} by now.")}),
                )]
            },
            650,
        ),
    ];
    for (at, (turn, most)) in circles.into_iter().enumerate() {
        let (requests, reason) = end_of(turn);
        assert!(requests <= most, "{at}: {requests} requests");
        assert!(reason.contains("nothing new came of the work"), "{at}: {reason}");
    }
}

#[test]
fn long_todos_that_bring_the_work_further_are_not_replanned() {
    let work: [Turn; 5] = [
        |n| {
            vec![(
                "write_file",
                json!({"path": format!("output/{n}.md"), "content": "What the pages say on retention."}),
            )]
        },
        |n| vec![("cite", json!({"quote": format!("Clause {n} binds.")})), note(n)],
        |n| vec![("add_requirement", json!({"text": format!("Clause {n} must be met.")})), note(n)],
        // Answers of a service, collected in one file, each in its turn or in two turns.
        |n| vec![("web_search", json!({"query": n.to_string()})), found(n)],
        |n| vec![if n % 2 == 0 { ("web_search", json!({"query": n.to_string()})) } else { found(n) }],
    ];
    for (at, turn) in work.into_iter().enumerate() {
        let mut dialogue = Dialogue::working(covering(), 3);
        for n in 0..190 {
            dialogue.calls(&turn(n));
        }
        assert_eq!(dialogue.phase(), (2, PhaseKind::Tactical, Opening::Work), "{at}");
    }
}
