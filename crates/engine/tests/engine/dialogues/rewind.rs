//! Abandoning a phase: by the model's rewind, or by the escape hatch of strategic phases.

use crate::kit::{Dialogue, check, settings};
use plumbline_engine::{Opening, PhaseKind, PhaseOutcome, TodoStatus};
use serde_json::json;

#[test]
fn a_rewound_phase() {
    let todos: Vec<_> = (1..=5).map(|id| json!({"id": id, "content": format!("Process section {id}")})).collect();
    let script = format!(
        r#"
        take in
        call todo_write {}
        close 4
        close 2
        call todo_rewind {{"issue": "The document has no sections."}} + todo_complete
        "#,
        json!({"phase": "Extraction", "todos": todos})
    );
    check("a_rewound_phase", settings(), &script);
}

#[test]
fn what_is_done_stays_done_and_the_issue_is_at_hand() {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue.close_with(json!({"notes": "two found"}));
    dialogue.call("todo_rewind", json!({"issue": "The document has no sections."}));
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Rewound));
    assert_eq!(dialogue.toy.phases[&2].outcome, Some(PhaseOutcome::Rewound));
    let states: Vec<TodoStatus> = dialogue.toy.todos[&2].iter().map(|todo| todo.status).collect();
    assert_eq!(states[0], TodoStatus::Completed);
    assert!(states[1..].iter().all(|status| *status == TodoStatus::Abandoned), "{states:?}");
    let opening = &dialogue.request()[1].text;
    assert!(opening.contains("The phase before was given up: The document has no sections."), "{opening}");
    assert!(opening.contains("notes: \"two found\""), "the archive note is in the opening: {opening}");
    assert!(dialogue.toy.text("archive/phase_2.yaml").contains("issue: \"The document has no sections.\""));
}

#[test]
fn a_rewind_without_an_issue_is_refused() {
    let mut dialogue = Dialogue::working(settings(), 2);
    assert!(dialogue.call("todo_rewind", json!({"issue": " "})).starts_with("Error: argument 'issue' is missing"));
    assert_eq!(dialogue.phase().0, 2);
}

#[test]
fn archive_and_reset_restarts_the_same_strategic_phase() {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue.finish_phase();
    dialogue.close();
    let five: Vec<_> = (1..=5).map(|id| json!({"id": id, "content": format!("Wrong todo {id} of the list")})).collect();
    dialogue.call("todo_write", json!({"phase": "Wrong", "todos": five}));
    dialogue.call("archive_and_reset", json!({}));
    assert_eq!(dialogue.phase(), (4, PhaseKind::Strategic, Opening::Transition));
    assert_eq!(dialogue.run.progress().todos_done, 0);
    assert_eq!(dialogue.run.state().staged, None, "todos written ahead are dropped");
    let refused = dialogue.finish_phase();
    assert!(refused.contains("stays open"), "the dropped list opens no phase: {refused}");
}

#[test]
fn the_escape_hatch_is_not_offered_in_tactical_phases() {
    let mut dialogue = Dialogue::working(settings(), 2);
    assert_eq!(
        dialogue.call("archive_and_reset", json!({})),
        "Error: archive_and_reset is only available in strategic phases; this phase is tactical."
    );
}

#[test]
fn the_escape_hatch_is_refused_when_it_was_used_too_often_with_what_is_left_to_do() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.write_plan(2);
    for _ in 0..3 {
        dialogue.close();
        dialogue.call("archive_and_reset", json!({}));
    }
    dialogue.close();
    let number = dialogue.phase().0;
    let refused = dialogue.call("archive_and_reset", json!({}));
    assert!(refused.starts_with("Error: refused: 3 phases were given up already"), "{refused}");
    assert!(refused.ends_with("Open: 2. Write main_plan.md; 3. Divide into phases; 4. Write the todos"), "{refused}");
    assert!(dialogue.call("todo_rewind", json!({"issue": "no"})).starts_with("Error: refused: 3 phases"));
    assert_eq!(dialogue.phase().0, number, "the phase goes on");
}

#[test]
fn a_tactical_phase_earns_one_of_them_back_unless_it_replaces_an_abandoned_one() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.write_plan(9);
    for _ in 0..3 {
        dialogue.call("archive_and_reset", json!({}));
    }
    for _ in 0..2 {
        for earned in [false, true] {
            dialogue.open_tactical();
            let rewind = dialogue.call("todo_rewind", json!({"issue": "hard"}));
            assert!(rewind.starts_with("Error: refused"), "none is left: {rewind}");
            dialogue.finish_phase();
            let reset = dialogue.call("archive_and_reset", json!({}));
            assert_eq!(reset.starts_with("The list is archived"), earned, "{reset}");
        }
    }
}
