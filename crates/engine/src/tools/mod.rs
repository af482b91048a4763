//! The tools that decide something about the job itself: todos, plan, memory, completion. Pure functions over the run;
//! one file a family, specification beside behaviour.

mod arguments;
pub(crate) mod broken;
mod coverage;
mod declaration;
pub(crate) mod fit;
mod job_complete;
mod memory;
pub(crate) mod parsed_call;
mod plan;
mod rewind;
mod search_tools;
pub(crate) mod spec;
pub(crate) mod todo_complete;
mod todo_write;
mod undelivered;

pub use declaration::Declaration;
pub use spec::{Handler, Phases, Replay, Schema, ToolSpec, Toolset};
pub use undelivered::gives_up;

use crate::{Check, Run, transition::Consequence};
use serde_json::{Map, Value};

/// What a tool tells the model: a result, or why it refused.
pub(crate) type Answer = Result<String, String>;

/// The specifications of the engine's own tools, in the fixed order of the request.
pub fn specs() -> Vec<ToolSpec> {
    [
        todo_complete::specs(),
        todo_write::specs(),
        rewind::specs(),
        plan::specs(),
        memory::specs(),
        coverage::specs(),
        job_complete::specs(),
        search_tools::specs(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The gate of completion.
pub(crate) const JOB_COMPLETE: &str = "job_complete";

/// Whether a tool only asks if something may end: a refused one has done nothing.
pub(crate) fn is_gate(name: &str) -> bool {
    closes_todo(name) || name == JOB_COMPLETE
}

/// Whether a call closes the current todo.
pub(crate) fn closes_todo(name: &str) -> bool {
    matches!(name, "todo_complete" | "complete_task")
}

/// Whether a call is about the todos of the phase in which it is made: behind the end of that phase it has no place.
pub(crate) fn belongs_to_its_phase(name: &str) -> bool {
    closes_todo(name) || matches!(name, "todo_write" | "add_task" | "todo_rewind" | "archive_and_reset")
}

/// What the outside looks at before one of the engine's own tools is carried out, if anything.
pub(crate) fn check(run: &Run, name: &str) -> Option<Check> {
    match name {
        JOB_COMPLETE => {
            let requirements = run.settings.records_requirements();
            (requirements || run.settings.owed.is_inspected).then_some(Check::Deliverables { requirements })
        }
        name if closes_todo(name) => todo_complete::check(run),
        _ => None,
    }
}

/// The first name of a tool that was called by its second one.
pub(crate) fn first_name(name: &str) -> Option<&'static str> {
    match name {
        "complete_task" => Some("todo_complete"),
        "write_requirement_to_db" => Some("add_requirement"),
        _ => None,
    }
}

/// Carries out one of the engine's own tools.
pub(crate) fn run(run: &mut Run, name: &str, arguments: &Map<String, Value>, consequence: &mut Consequence) -> Answer {
    match name {
        "todo_complete" | "complete_task" => todo_complete::complete(run, arguments, consequence),
        "get_progress" => Ok(todo_complete::progress(run)),
        "todo_write" => todo_write::write(run, arguments),
        "add_task" => todo_write::add(run, arguments),
        "todo_rewind" => rewind::rewind(run, arguments, consequence),
        "archive_and_reset" => rewind::reset(run, consequence),
        "write_plan" => plan::write(run, arguments),
        "read_plan" => Ok(plan::read(run)),
        "generate_workspace_summary" => Ok(memory::generate_summary(run)),
        "add_note" => memory::add(run, arguments, memory::Section::Notes),
        "add_accomplishment" => memory::add(run, arguments, memory::Section::Accomplishments),
        "close_passages" => coverage::close(run, arguments),
        "coverage" => coverage::show(run, arguments),
        "job_complete" => job_complete::complete(run, arguments, consequence),
        "search_tools" => search_tools::search(run, arguments),
        other => Err(format!("{other} cannot be carried out by this worker; it was configured, but is not built in.")),
    }
}
