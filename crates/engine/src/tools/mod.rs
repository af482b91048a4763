//! The tools that affect the job itself: todos, plan, memory, completion. Pure functions over the run; one file per
//! family, with the arguments and their handling.

mod arguments;
pub(crate) mod broken;
mod coverage;
mod declaration;
pub(crate) mod fit;
mod job_complete;
mod memory;
pub(crate) mod parsed_call;
mod plan;
mod records_gate;
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
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A tool's answer to the model: a result, or the reason for a refusal.
pub(crate) type Answer = Result<String, String>;

/// One of the engine's own tools. The type declares its arguments; their doc comments are the schema and the
/// documentation: see [`Declaration`].
pub(crate) trait OwnTool: JsonSchema + DeserializeOwned {
    /// The name the model calls.
    const NAME: &str;
    /// The phases in which it is bound.
    const PHASES: Phases;
    /// One or two sentences for the request.
    const DESCRIPTION: &str;
    /// Whether it is read-only.
    const READS_ONLY: bool = false;

    /// Normalizes arguments to the schema, if models write them differently with the same meaning.
    fn normalize_arguments(_: &mut Map<String, Value>) {}

    /// Executes a call.
    fn run(self, run: &mut Run, consequence: &mut Consequence) -> Answer;
}

/// An entry of the list of tools.
struct Listed {
    name: &'static str,
    spec: fn() -> ToolSpec,
    run: fn(&mut Run, Map<String, Value>, &mut Consequence) -> Answer,
}

/// The engine's own tools, in the fixed order of the request.
static TOOLS: &[Listed] = &[
    listed::<todo_complete::TodoComplete>(),
    listed::<todo_complete::CompleteTask>(),
    listed::<todo_complete::GetProgress>(),
    listed::<todo_write::TodoWrite>(),
    listed::<todo_write::AddTask>(),
    listed::<rewind::TodoRewind>(),
    listed::<rewind::ArchiveAndReset>(),
    listed::<plan::WritePlan>(),
    listed::<plan::ReadPlan>(),
    listed::<memory::GenerateWorkspaceSummary>(),
    listed::<memory::AddNote>(),
    listed::<memory::AddAccomplishment>(),
    listed::<coverage::ClosePassages>(),
    listed::<coverage::Coverage>(),
    listed::<job_complete::JobComplete>(),
    listed::<search_tools::SearchTools>(),
];

const fn listed<T: OwnTool>() -> Listed {
    Listed { name: T::NAME, spec: spec_of::<T>, run: run_as::<T> }
}

fn spec_of<T: OwnTool>() -> ToolSpec {
    let Declaration { parameters, documentation } = Declaration::of::<T>();
    ToolSpec {
        name: T::NAME.into(),
        phases: T::PHASES,
        description: T::DESCRIPTION.into(),
        parameters: parameters.into(),
        documentation: unwrapped(&documentation),
        handler: Handler::Engine,
        replay: Replay::Safe,
        reads_only: T::READS_ONLY,
    }
}

/// A text with one line per paragraph, except tables.
fn unwrapped(text: &str) -> String {
    let unwrapped = |part: &str| if part.starts_with('|') { part.to_owned() } else { part.replace('\n', " ") };
    text.split("\n\n").map(unwrapped).collect::<Vec<_>>().join("\n\n")
}

fn run_as<T: OwnTool>(run: &mut Run, mut arguments: Map<String, Value>, consequence: &mut Consequence) -> Answer {
    T::normalize_arguments(&mut arguments);
    let tool: T = arguments::read(arguments).map_err(|why| with_example(run, T::NAME, why))?;
    tool.run(run, consequence)
}

/// The error about arguments, with the example at the end of the tool's documentation.
fn with_example(run: &Run, name: &str, why: String) -> String {
    let documentation = run.bound_tool(name).map_or("", |tool| &tool.documentation);
    documentation.find("\n\nExample").map_or(why.clone(), |at| format!("{why} {}", documentation[at..].trim_start()))
}

/// The specifications of the engine's own tools, in the fixed order of the request.
pub fn specs() -> Vec<ToolSpec> {
    TOOLS.iter().map(|tool| (tool.spec)()).collect()
}

/// The completion gate.
pub(crate) const JOB_COMPLETE: &str = "job_complete";

/// Whether a tool only requests the end of something: a refused call has done nothing.
pub(crate) fn is_gate(name: &str) -> bool {
    closes_todo(name) || name == JOB_COMPLETE
}

/// Whether a call closes the current todo.
pub(crate) fn closes_todo(name: &str) -> bool {
    matches!(name, "todo_complete" | "complete_task")
}

/// Whether a call ends the phase, given the number of open todos after it.
pub(crate) fn ends_phase(name: &str, open: usize) -> bool {
    (closes_todo(name) && open == 0) || matches!(name, JOB_COMPLETE | "todo_rewind" | "archive_and_reset")
}

/// Whether a call is about the todos of its phase: after the end of that phase it is obsolete.
pub(crate) fn belongs_to_its_phase(name: &str) -> bool {
    closes_todo(name) || matches!(name, "todo_write" | "add_task" | "todo_rewind" | "archive_and_reset")
}

/// What the outside checks before one of the engine's own tools is executed, if anything.
pub(crate) fn check(run: &Run, name: &str) -> Option<Check> {
    match name {
        JOB_COMPLETE => {
            let requirements = run.settings.records_requirements();
            let sentences = run.settings.coverage.is_some() && !run.ledger.records();
            (requirements || sentences || run.settings.owed.is_inspected).then_some(Check::Deliverables {
                requirements,
                sentences,
                compares: run.state.compares_anew,
            })
        }
        name if closes_todo(name) => todo_complete::check(run),
        _ => None,
    }
}

/// The main name of a tool called by its alias.
pub(crate) fn first_name(name: &str) -> Option<&'static str> {
    match name {
        "complete_task" => Some("todo_complete"),
        "write_requirement_to_db" => Some("add_requirement"),
        _ => None,
    }
}

/// Executes one of the engine's own tools.
pub(crate) fn run(run: &mut Run, name: &str, arguments: &Map<String, Value>, consequence: &mut Consequence) -> Answer {
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.run)(run, arguments.clone(), consequence),
        None => Err(format!("{name} cannot be carried out by this worker; it was configured, but is not built in.")),
    }
}
