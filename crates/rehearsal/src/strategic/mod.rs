//! Strategic phases: the system's todos, recognised by key words, and the work for each.
//!
//! | module | todos |
//! |---|---|
//! | `planning` | explore, plan, divide, tick, verify, set todos or complete |
//! | `memory` | workspace summary, workspace.md, reconsidering, feedback |
//! | `closing` | report, hand over |

mod closing;
mod memory;
mod planning;

pub(crate) use closing::{REPORT, report_text};

use crate::call::{Turn, turn};
use crate::request_view::RequestView;
use crate::unknown_todo::unknown_todo;

/// A rule: the work for one todo.
type Rule = fn(&RequestView<'_>) -> Turn;

/// Key words of the system's todos, all of which must occur, in lower case; the first rule that fits is taken.
const RULES: &[(&[&str], Rule)] = &[
    (&["explore"], planning::explore),
    (&["write main_plan.md"], planning::write),
    (&["divide"], planning::write),
    (&["summarize"], memory::summarize),
    (&["feedback", "note it"], memory::take_in_feedback),
    (&["evaluate"], memory::evaluate),
    (&["reconsider"], memory::reconsider),
    (&["main_plan.md accordingly"], planning::adapt),
    (&["update main_plan.md"], planning::mark),
    (&["update workspace.md"], memory::remember),
    (&["verify"], planning::verify),
    (&["what is missing"], closing::report),
    (&["todo_write"], planning::set_todos),
    (&["job_complete"], planning::set_todos),
];

/// Decides one strategic turn.
pub(crate) fn turn_for(view: &RequestView<'_>) -> Turn {
    let Some(todo) = view.todo_list.as_ref().and_then(|list| list.current()) else {
        return turn("There is no open todo to work on.", Vec::new());
    };
    let text = todo.text.to_lowercase();
    let rule = RULES.iter().find(|(words, _)| words.iter().all(|word| text.contains(word)));
    match rule {
        Some((_, rule)) => rule(view),
        None => unknown_todo(&todo.text),
    }
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn every_system_todo_has_its_rule() {
        for (todo, words) in [
            ("Explore: look at what the job has, then fill workspace.md", "explore"),
            ("Write main_plan.md with write_plan: the goal, the approach", "write main_plan.md"),
            ("Write main_plan.md: the goal, the approach, how completion is judged", "write main_plan.md"),
            ("Divide the plan into phases with their steps in main_plan.md", "divide"),
            ("Write the todos of the first phase with todo_write", "todo_write"),
            ("Summarize what the last phase produced", "summarize"),
            ("Update workspace.md with what must be remembered", "update workspace.md"),
            ("Update main_plan.md: mark the finished phase, correct the rest", "update main_plan.md"),
            ("Write the todos of the next phase with todo_write, or call job_complete if", "todo_write"),
            ("Verify that every deliverable exists in output/ and is complete", "verify"),
            ("Write what is missing: output/summary_report.md", "what is missing"),
            ("Call job_complete with the deliverables", "job_complete"),
            ("Reconsider the issue that stopped the last phase", "reconsider"),
            ("Update main_plan.md accordingly", "main_plan.md accordingly"),
            ("Write the corrected todos with todo_write", "todo_write"),
            ("Take in the feedback and note it in workspace.md", "feedback"),
            ("Evaluate what it means for the deliverables", "evaluate"),
        ] {
            let text = todo.to_lowercase();
            let rule = RULES.iter().find(|(words, _)| words.iter().all(|word| text.contains(word)));
            assert_eq!(rule.map(|(found, _)| found[0]), Some(words), "{todo}");
        }
    }
}
