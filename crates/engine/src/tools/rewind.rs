//! Giving a phase up: `todo_rewind` says why and re-plans, `archive_and_reset` is the escape hatch of strategic
//! phases. What is done stays done.

use super::{Answer, arguments};
use crate::{Handler, Opening, Phases, Replay, Run, ToolSpec, phase::transition::NextPhase, transition::Consequence};
use serde_json::{Map, Value, json};

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "todo_rewind".into(),
            phases: Phases::Both,
            description: "Give this phase up because its plan does not work; a strategic phase reconsiders it.".into(),
            parameters: json!({"type": "object", "properties": {
                "issue": {"type": "string", "description": "What does not work, and why."}},
                "required": ["issue"], "additionalProperties": false})
            .into(),
            documentation: "Archives the todo list with the issue and opens a strategic phase with the issue at hand. \
                            Finished todos stay finished, files stay as they are. Use it when the remaining todos \
                            rest on a wrong assumption, not when one of them is merely hard.\n\nExample: \
                            `{\"issue\": \"The document has no sections; the todos must go by pages\"}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "archive_and_reset".into(),
            phases: Phases::Strategic,
            description: "Archive this strategic todo list and start the phase anew; the last resort.".into(),
            parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}).into(),
            documentation: "Archives the current list, drops todos written ahead and begins this strategic phase \
                            again with fresh todos and a fresh conversation.\n\nExample: `{}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
    ]
}

pub(super) fn rewind(run: &Run, arguments: &Map<String, Value>, consequence: &mut Consequence) -> Answer {
    run.too_many_rewinds()?;
    let issue = arguments::text(arguments, "issue", "The document has no sections; the todos must go by pages")?;
    *consequence = Consequence::NextPhase(NextPhase { issue: Some(issue), ..NextPhase::strategic(Opening::Rewound) });
    Ok("The list is archived with this issue; a strategic phase reconsiders it now.".into())
}

pub(super) fn reset(run: &Run, consequence: &mut Consequence) -> Answer {
    run.too_many_rewinds()?;
    let issue = "the model archived the list and started the phase anew".to_string();
    *consequence =
        Consequence::NextPhase(NextPhase { issue: Some(issue), ..NextPhase::strategic(run.state.phase.opening) });
    Ok("The list is archived; this phase starts anew now.".into())
}
