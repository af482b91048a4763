//! Writing the todos of the next phase. They are rows at once, with the phase they belong to, and
//! `todos.yaml` is their view.

use super::{Decision, Deed, OwnTool, arguments::number};
use crate::{
    Phases, PlannedTodo, Run, TodoPlan,
    ledger::Ledger,
    phase::number_list::{as_list, read_list},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Maximum length of a todo, in characters: it is one line in every request.
const MAX_CONTENT: usize = 500;

/// Each todo is one piece of work that can be finished and checked; say in its text when it is done. Ids are unique
/// numbers; the order of the list is the order of work. A todo for passages of the documents names them, in `passages` or
/// in its text ("chunks 7-9"): it is not closed at the first word while some are unread or have sentences left that
/// nobody cited or closed.
///
/// {arguments}
///
/// Example: `{"phase": "Comparison", "description": "Compare every section of the two drafts", "todos": [{"id": 1,
/// "content": "Compare sections 1-3: each difference in notes/differences.md with both places"}, …]}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct TodoWrite {
    /// # Name of the phase.
    phase: String,
    /// # What the phase is for.
    #[schemars(required)]
    description: Option<String>,
    /// the todos in their order, each with its text as `content`; `passages` names what it works through, e.g. `7-9, 12`, where
    /// the text does not say `chunks 7-9`
    todos: Vec<Item>,
}

impl OwnTool for TodoWrite {
    const NAME: &str = "todo_write";
    const PHASES: Phases = Phases::Strategic;
    const DESCRIPTION: &str = "Write the todo list of the next phase (todos.yaml); replaces one written before.";

    /// A plain text is a todo without an id.
    fn normalize_arguments(arguments: &mut Map<String, Value>) {
        for todo in arguments.get_mut("todos").and_then(Value::as_array_mut).into_iter().flatten() {
            if todo.is_string() {
                *todo = json!({"content": todo.take()});
            }
        }
    }

    fn decide(self, run: &Run) -> Decision {
        let mut plan = TodoPlan {
            phase: self.phase,
            description: self.description.unwrap_or_default(),
            todos: (1..)
                .zip(self.todos)
                .map(|(place, todo)| todo.planned(place, run.ledger()))
                .collect::<Result<_, _>>()?,
        };
        check(run, &plan)?;
        let followed_up = add_follow_ups(run, &mut plan);
        let mut text = format!(
            "todos.yaml written: phase '{}' with {} todos. It begins when the todos of this phase are complete.",
            plan.phase,
            plan.todos.len()
        );
        if !followed_up.is_empty() {
            renumber(&mut plan.todos);
            text.push_str(&format!(
                " Passages {} were left open and no todo named them: todos for them stand first now. Write the list anew, with \
                 todos that name them, for another order.",
                as_list(&followed_up)
            ));
        }
        Ok(Deed::Plan(plan, text))
    }
}

/// Adds a todo to `todos.yaml` as it is being written. Ids after it move up by one.
///
/// {arguments}
///
/// Examples: `{"content": "Check all totals"}` · `{"content": "Read annex A", "after": 3}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct AddTask {
    /// the text of the todo
    content: Option<String>,
    /// # Id after which it goes; at the end if left out.
    after: Option<i64>,
    /// # The same as content.
    task: Option<String>,
    /// # The same as after.
    after_task: Option<i64>,
}

impl OwnTool for AddTask {
    const NAME: &str = "add_task";
    const PHASES: Phases = Phases::Strategic;
    const DESCRIPTION: &str = "Add one todo to the list being written for the next phase.";

    fn decide(self, run: &Run) -> Decision {
        let content = self.task.or(self.content).ok_or("argument 'content' is missing: the text of the todo.")?;
        let after = self.after_task.or(self.after);
        let mut plan = staged(run);
        let most = run.settings().phases.max_todos;
        if plan.todos.len() >= most {
            return Err(format!("the list has {most} todos already, the most a phase may have; merge some of them."));
        }
        let at = match after {
            None => plan.todos.len(),
            Some(id) => plan.todos.iter().position(|todo| todo.id == id).map(|at| at + 1).ok_or_else(|| {
                format!("there is no todo {id} in the list being written; it has {} todos.", plan.todos.len())
            })?,
        };
        check_content(&content, at + 1)?;
        if let Some(same) = plan.todos.iter().position(|todo| todo.content == content) {
            return Err(format!("the list has that already, as todo {}.", same + 1));
        }
        plan.todos.insert(at, PlannedTodo::new(0, content, BTreeSet::new()));
        renumber(&mut plan.todos);
        let text = format!("Todo {} added; the list has {} todos now.", at + 1, plan.todos.len());
        Ok(Deed::Plan(plan, text))
    }
}

/// The list written so far, or a new one named after the next phase of the plan.
fn staged(run: &Run) -> TodoPlan {
    let (phase, description) = match &run.state().staged {
        Some(staged) => (staged.phase.clone(), staged.description.clone()),
        None => (next_planned_name(run), String::new()),
    };
    let todos = run.todos().staged().iter().map(PlannedTodo::from).collect();
    TodoPlan { phase, description, todos }
}

fn next_planned_name(run: &Run) -> String {
    let planned = run.workspace().plan();
    let next = usize::try_from(run.state().phase.completed).unwrap_or(0);
    planned.get(next).map_or_else(|| format!("Phase {}", next + 1), |phase| phase.name.clone())
}

/// A todo as the model writes it.
#[derive(Deserialize, JsonSchema)]
struct Item {
    #[schemars(required)]
    id: Option<i64>,
    content: String,
    /// # The passages that it works through, e.g. "7-9, 12"; left out if its text says "chunks 7-9".
    #[schemars(with = "Option<String>")]
    passages: Option<Value>,
}

impl Item {
    fn planned(self, place: i64, ledger: &Ledger) -> Result<PlannedTodo, String> {
        let passages = read_passages(self.passages.as_ref()).ok_or_else(|| {
            format!("todo {place}: its passages must be listed as in \"7-9, 12\", by the numbers of their chunks.")
        })?;
        let unknown = passages.iter().find(|number| !ledger.is_empty() && ledger.get(**number).is_none());
        if let (Some(number), Some(last)) = (unknown, ledger.all().last()) {
            return Err(format!(
                "todo {place}: there is no passage {number}; the documents have passages up to {}.",
                last.number
            ));
        }
        Ok(PlannedTodo::new(self.id.unwrap_or(place), self.content, passages))
    }
}

/// A list as in `"7-9, 12"`, a number, or an array of numbers; none if it is anything else.
pub(super) fn read_passages(value: Option<&Value>) -> Option<BTreeSet<i32>> {
    let number = |value: &Value| number(value).and_then(|number| i32::try_from(number).ok());
    match value {
        None | Some(Value::Null) => Some(BTreeSet::new()),
        Some(Value::String(list)) if list.trim().is_empty() => Some(BTreeSet::new()),
        Some(Value::String(list)) => read_list(list),
        Some(Value::Array(numbers)) => numbers.iter().map(number).collect(),
        Some(one) => Some([number(one)?].into()),
    }
}

fn check(run: &Run, plan: &TodoPlan) -> Result<(), String> {
    let (fewest, most) = (run.settings().phases.min_todos, run.settings().phases.max_todos);
    let count = plan.todos.len();
    if count < fewest {
        return Err(format!(
            "todos.yaml not written: {count} todos, but a phase has {fewest} to {most}. Divide the work of the phase \
             into smaller checkable steps, or join it with the next phase."
        ));
    }
    if count > most {
        return Err(format!(
            "todos.yaml not written: {count} todos, but a phase has {fewest} to {most}. Write the first {most} now and \
             leave the rest to the next phase."
        ));
    }
    for (at, todo) in plan.todos.iter().enumerate() {
        check_content(&todo.content, at + 1)?;
        if let Some(first) = plan.todos[..at].iter().position(|other| other.id == todo.id) {
            return Err(format!(
                "todos.yaml not written: todos {} and {} have the same id {}.",
                first + 1,
                at + 1,
                todo.id
            ));
        }
        if let Some(first) = plan.todos[..at].iter().position(|other| other.content == todo.content) {
            return Err(format!(
                "todos.yaml not written: todos {} and {} are the same, '{}'. Name the piece of work that each is about.",
                first + 1,
                at + 1,
                todo.content
            ));
        }
    }
    if run.state().guards.had_no_effect(plan.todos.iter().map(|todo| todo.content.as_str())) {
        return Err("todos.yaml not written: this is, word for word, the list of a phase that came to its end without an effect: \
                    nothing was recorded or judged, no passage read, no new file written. Write todos that go about it in \
                    another way, or complete the job."
            .into());
    }
    Ok(())
}

/// Adds todos for passages that phases of work have skipped.
fn add_follow_ups(run: &Run, plan: &mut TodoPlan) -> BTreeSet<i32> {
    let worked = usize::try_from(run.state().phase.completed).unwrap_or(0);
    if run.settings().coverage.is_none() || worked == 0 {
        return BTreeSet::new();
    }
    let is_last = run.workspace().plan().len() <= worked + 1;
    run.ledger().add_follow_ups(plan, is_last, run.settings().phases.max_todos.saturating_sub(plan.todos.len()))
}

fn check_content(content: &str, place: usize) -> Result<(), String> {
    if content.is_empty() {
        return Err(format!("todo {place} is empty: expected a text such as \"Compare sections 1-3\"."));
    }
    let length = content.chars().count();
    if length > MAX_CONTENT {
        return Err(format!(
            "todo {place} is {length} characters long, at most {MAX_CONTENT} are allowed; put details into a file and name it."
        ));
    }
    Ok(())
}

fn renumber(todos: &mut [PlannedTodo]) {
    for (at, todo) in todos.iter_mut().enumerate() {
        todo.id = at as i64 + 1;
    }
}
