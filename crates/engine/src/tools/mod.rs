//! The tools that affect the job itself: todos, plan, memory, completion. A tool reads the run and decides on a
//! [`Deed`]; the transition carries it out. One file per family, with the arguments and their handling.

mod arguments;
pub(crate) mod broken;
pub(crate) mod coverage;
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
pub use spec::{Handler, HttpMethod, Phases, Replay, Schema, ToolSpec, Toolset};
pub use undelivered::gives_up;

use crate::{Check, FileWrite, Guards, JobExit, NextPhase, Run, TodoPlan, run::next::bound_tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a call leads to, with the text that answers it; or the reason for a refusal.
pub(crate) type Decision = Result<Deed, String>;

/// What a call of the engine's own tools leads to.
pub(crate) enum Deed {
    /// Nothing changes.
    Answer(String),
    /// A file is written.
    Write(FileWrite, String),
    /// The todos of the next phase are written.
    Plan(TodoPlan, String),
    /// These deferred tools are bound from the next request on.
    Load(Vec<String>, String),
    /// Passages are closed, as far as the ledger takes it.
    ClosePassages(Vec<coverage::Entry>),
    /// The current todo is closed, if it is the wanted one and the phase has what it takes.
    CompleteTodo {
        /// Its number, if the call names it.
        wanted: Option<i64>,
        /// What was done.
        notes: Option<String>,
    },
    /// The call is refused for a reason that is held against the job only once.
    RefuseOnce(Told, String),
    /// The phase ends, and this one begins.
    EndPhase(NextPhase, String),
    /// The job leaves.
    Exit(JobExit, String),
}

/// The guardrails' record of such a refusal.
pub(crate) type Told = fn(&mut Guards) -> &mut Option<i64>;

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

    /// Decides what a call leads to.
    fn decide(self, run: &Run) -> Decision;
}

/// An entry of the list of tools.
struct Listed {
    name: &'static str,
    spec: fn() -> ToolSpec,
    decide: fn(&Run, Map<String, Value>) -> Decision,
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
    Listed { name: T::NAME, spec: spec_of::<T>, decide: decide_as::<T> }
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

fn decide_as<T: OwnTool>(run: &Run, mut arguments: Map<String, Value>) -> Decision {
    T::normalize_arguments(&mut arguments);
    let tool: T = arguments::read(arguments).map_err(|why| with_example(run, T::NAME, why))?;
    tool.decide(run)
}

/// The error about arguments, with the example at the end of the tool's documentation.
fn with_example(run: &Run, name: &str, why: String) -> String {
    let documentation = bound_tool(run, name).map_or("", |tool| &tool.documentation);
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
            let requirements = run.settings().records_requirements();
            let sentences = run.settings().coverage.is_some() && !run.ledger().records();
            (requirements || sentences || run.settings().owed.is_inspected).then_some(Check::Deliverables {
                requirements,
                sentences,
                compares: run.state().compares_anew,
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

/// Decides what a call of one of the engine's own tools leads to.
pub(crate) fn decide(run: &Run, name: &str, arguments: &Map<String, Value>) -> Decision {
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.decide)(run, arguments.clone()),
        None => Err(format!("{name} cannot be carried out by this worker; it was configured, but is not built in.")),
    }
}
