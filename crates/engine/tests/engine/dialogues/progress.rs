//! Only completed phases with results count as progress.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{Autonomy, Feedback, JobExit, MessageKind, Opening, Outcome, PhaseKind, Settings, Stage};
use serde_json::{Value, json};

/// Writes a plan of three phases and opens the first.
fn planned(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::begun(settings);
    dialogue.write_plan(3);
    dialogue.open_tactical();
    dialogue
}

fn opening(dialogue: &Dialogue) -> String {
    let messages = dialogue.toy.messages.iter().rev();
    messages
        .clone()
        .find(|message| message.kind == MessageKind::Opening)
        .expect("a phase has an opening")
        .content
        .clone()
}

/// Only closes the phase's todos.
fn close_all(dialogue: &mut Dialogue) {
    for _ in dialogue.run.progress().todos_done..dialogue.run.progress().todos_total {
        dialogue.close();
    }
}

#[test]
fn a_rewound_phase_is_none_of_the_plan() {
    let mut dialogue = planned(settings());
    dialogue.finish_phase();
    dialogue.open_tactical();
    dialogue.call("todo_rewind", json!({"issue": "the annex was missing"}));
    dialogue.open_tactical();
    dialogue.finish_phase();
    assert_eq!(dialogue.phase().2, Opening::Transition, "two of three phases have come to their end");
    dialogue.open_tactical();
    dialogue.finish_phase();
    // The third has; the opening says that the boxes of all three are open.
    assert_eq!(dialogue.phase().2, Opening::Final);
    let text = opening(&dialogue);
    assert!(!text.contains("Every phase of the plan is done"), "{text}");
    assert!(text.contains("and 3 of its steps are not ticked") && text.contains("- do it"), "{text}");
}

#[test]
fn the_last_phase_is_final_and_its_open_steps_are_named() {
    for (boxes, said) in [("x", "Every phase of the plan is done"), (" ", "1 of its steps are not ticked")] {
        let mut dialogue = Dialogue::begun(settings());
        let plan = format!("# Plan\n\n## Phase 1: One\n- [x] first\n\n## Phase 2: Two\n- [{boxes}] second\n");
        dialogue.call("write_plan", json!({"content": plan}));
        for _ in 0..2 {
            dialogue.open_tactical();
            dialogue.finish_phase();
        }
        assert_eq!(dialogue.phase().2, Opening::Final);
        let text = opening(&dialogue);
        assert!(text.contains(said), "{text}");
        assert_eq!(text.contains("- second"), boxes == " ", "{text}");
    }
}

#[test]
fn a_second_phase_without_results_ends_the_job() {
    let mut dialogue = planned(settings());
    close_all(&mut dialogue);
    let text = opening(&dialogue);
    assert!(text.contains("In phase 2 nothing was written or recorded, although its todos were closed."), "{text}");
    dialogue.open_tactical();
    close_all(&mut dialogue);
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["kind"], "no_progress");
    assert!(
        error.message.starts_with("2 tactical phases in a row came to their end with nothing"),
        "{}",
        error.message
    );
    // A retry continues with the phase that was next.
    dialogue.resume(|_| {});
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    let text = opening(&dialogue);
    assert!(text.contains("told to go on") && text.contains("2 tactical phases in a row came to their end"), "{text}");
    dialogue.open_tactical();
}

#[test]
fn a_person_who_wants_to_review_is_asked() {
    let mut dialogue = planned(Dialogue::with(|settings| settings.autonomy = Autonomy::Review));
    close_all(&mut dialogue);
    dialogue.open_tactical();
    close_all(&mut dialogue);
    assert!(
        matches!(dialogue.exit(), JobExit::Review { reason, .. } if reason.contains("nothing written or recorded"))
    );
    assert!(matches!(dialogue.run.state().stage, Stage::Review { .. }));
    let row = Feedback { id: 1, text: "Begin with annex A.".into(), created_at: dialogue.now };
    dialogue.toy.feedback.push(row);
    dialogue.resume(|_| {});
    dialogue.apply(Outcome::FeedbackReceived(Vec::new()));
    assert_eq!(dialogue.phase().2, Opening::Feedback);
}

#[test]
fn a_file_a_record_and_a_new_part_of_a_document_are_something_to_show() {
    let work: [(&str, Value); 3] = [
        ("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept."})),
        ("add_requirement", json!({"text": "Invoices must be kept for ten years."})),
        ("read_file", json!({"path": "chunks/chunk_001.md"})),
    ];
    for (name, arguments) in work {
        let mut dialogue = planned(settings());
        dialogue.toy.place("chunks/chunk_001.md", b"Invoices must be kept.".to_vec());
        dialogue.resume(|_| {});
        close_all(&mut dialogue);
        dialogue.open_tactical();
        dialogue.call(name, arguments.clone());
        close_all(&mut dialogue);
        assert!(dialogue.run.exit().is_none(), "{name}: {:?}", dialogue.run.exit());
        assert!(!opening(&dialogue).contains("nothing was written"), "{name}");
        // Texts and records that exist already are not new.
        dialogue.open_tactical();
        dialogue.call(name, arguments);
        close_all(&mut dialogue);
        assert!(opening(&dialogue).contains("nothing was written"), "{name}");
    }
}

#[test]
fn equal_todos_and_the_list_of_a_phase_without_an_effect_are_refused() {
    let mut dialogue = planned(settings());
    close_all(&mut dialogue);
    let list = |texts: &[&str]| json!({"phase": "Next", "description": "", "todos": texts});
    let text = dialogue.call("todo_write", list(&["Work", "Read", "Work", "Write", "Check"]));
    assert!(text.starts_with("Error: todos.yaml not written: todos 1 and 3 are the same, 'Work'"), "{text}");
    let last: Vec<String> = (1..=5).map(|id| format!("Process section {id} of the policy")).collect();
    let last: Vec<&str> = last.iter().map(String::as_str).collect();
    let text = dialogue.call("todo_write", list(&last));
    assert!(
        text.contains("this is, word for word, the list of a phase that came to its end without an effect"),
        "{text}"
    );
    assert!(!dialogue.call("add_task", json!({"content": "Check"})).starts_with("Error"));
    let text = dialogue.call("add_task", json!({"content": "Check"}));
    assert!(text.starts_with("Error: the list has that already, as todo 1"), "{text}");
}

/// A validator that judges forty rows per phase.
#[test]
fn the_list_of_a_phase_that_brought_something_about_may_be_worked_again() {
    let mut dialogue = planned(settings());
    let last: Vec<String> = (1..=5).map(|id| format!("Process section {id} of the policy")).collect();
    for _ in 0..3 {
        dialogue.finish_phase();
        let text = dialogue.call("todo_write", json!({"phase": "Next", "description": "", "todos": last}));
        assert!(!text.starts_with("Error"), "{text}");
        dialogue.finish_phase();
    }
}

/// Alternating lists, notes, a counter in a file: the output of a model that goes in circles.
#[test]
fn a_job_of_phases_without_an_effect_is_stuck() {
    type Circle = fn(i32) -> (&'static str, Value);
    let circles: [Circle; 3] = [
        |_| ("write_file", json!({"path": "output/ten.md", "content": "The same ten lines of text, once more."})),
        |n| ("add_note", json!({"text": format!("Note {n} on the work that was done")})),
        |n| ("write_file", json!({"path": "output/counter.md", "content": format!("The counter is at {n} by now.")})),
    ];
    for (at, circle) in circles.into_iter().enumerate() {
        let mut dialogue = planned(settings());
        let (mut phases, mut n) = (0, 0);
        while dialogue.run.exit().is_none() {
            match dialogue.phase().1 {
                PhaseKind::Strategic => {
                    dialogue.call("todo_write", list(&format!("{phases}")));
                    dialogue.finish_phase();
                }
                PhaseKind::Tactical => {
                    (phases, n) = (phases + 1, n + 1);
                    let (name, arguments) = circle(n);
                    dialogue.call(name, arguments);
                    close_all(&mut dialogue);
                }
            }
        }
        let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
        // The plan has three phases. A file that exists for the first time is an effect; writing the same bytes is not.
        let (kind, most) = [("no_progress", 3), ("stuck", 7), ("stuck", 8)][at];
        assert_eq!((error.details["kind"].as_str(), phases), (Some(kind), most), "{at}: {}", error.message);
    }
}

/// A plan that grows with each phase explains no more phases than a plan that does not.
#[test]
fn a_plan_that_grows_without_an_effect_does_not_put_off_the_end() {
    let mut dialogue = planned(settings());
    let mut phases = 0;
    while dialogue.run.exit().is_none() && phases < 30 {
        match dialogue.phase().1 {
            PhaseKind::Strategic => {
                dialogue.write_plan(3 + phases);
                dialogue.call("todo_write", list(&format!("{phases}")));
                dialogue.finish_phase();
            }
            PhaseKind::Tactical => {
                phases += 1;
                dialogue.call("add_note", json!({"text": format!("Note {phases} on the work that was done")}));
                close_all(&mut dialogue);
            }
        }
    }
    assert!(dialogue.reason().starts_with("the job is stuck: 7 tactical phases"), "{}", dialogue.reason());
}

fn list(name: &str) -> Value {
    let todos: Vec<String> = (1..=5).map(|part| format!("{name}: part {part}")).collect();
    json!({"phase": name, "description": "", "todos": todos})
}

/// A phase that is planned again repeatedly, with todos closed in between only by the planning phases.
#[test]
fn a_closed_todo_does_not_take_back_a_forced_replanning() {
    let mut dialogue = planned(settings());
    for _ in 0..20 {
        if dialogue.run.exit().is_some() {
            break;
        }
        match dialogue.phase().1 {
            PhaseKind::Strategic => dialogue.open_tactical(),
            PhaseKind::Tactical => {
                dialogue.close();
                for _ in 0..8 {
                    if dialogue.phase().1 == PhaseKind::Tactical {
                        dialogue.call("no_such_tool", json!({}));
                    }
                }
            }
        }
    }
    assert!(dialogue.reason().starts_with("the job is stuck:"), "{}", dialogue.reason());
    assert!(dialogue.reason().ends_with("3 re-plannings did not help"), "{}", dialogue.reason());
}

#[test]
fn a_todo_that_does_not_fit_the_window_is_to_be_split_and_ends_the_job_where_that_does_not_help() {
    let mut dialogue = planned(Dialogue::with(|settings| settings.limits.context_threshold_tokens = 4000));
    dialogue.counts = true;
    let mut told = false;
    for n in 0..400 {
        if dialogue.run.exit().is_some() {
            break;
        }
        match (&dialogue.run.state().stage, dialogue.phase().1) {
            (Stage::Summary { .. }, _) => {
                dialogue.says("The page was read.");
            }
            (_, PhaseKind::Strategic) => dialogue.open_tactical(),
            (_, PhaseKind::Tactical) => {
                let thoughts = "the policy says more on this. ".repeat(100);
                dialogue.reply(crate::kit::reply(&thoughts, vec![crate::kit::call("get_progress", &json!({"n": n}))]));
            }
        }
        told |= dialogue.toy.messages.last().is_some_and(|message| {
            message.content.contains("has filled the context of 4000 tokens 2 times")
                && message.content.contains("Split it")
        });
    }
    assert!(told, "the model is told to split the todo");
    assert!(dialogue.reason().starts_with("the job is stuck: todo 1 ('Process section 1"), "{}", dialogue.reason());
    assert!(dialogue.reason().contains("the context of 4000 tokens"), "{}", dialogue.reason());
    assert!(dialogue.toy.requests.len() < 100, "{} requests", dialogue.toy.requests.len());
}
