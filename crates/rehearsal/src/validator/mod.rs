//! The validator's work by rules: mostly following the checks of `next_requirement`.
//!
//! | module | what |
//! |---|---|
//! | this one | is this a validator's job, its plan, its report |
//! | `batch` | what a claim gave: requirements with their findings |
//! | `judging` | claim, judge all, claim again, until nothing is pending; then the end |

mod batch;
mod judging;

use crate::call::{Call, Turn, get_graph_schema, todo_complete, todo_write, turn, write_file, write_plan};
use crate::plan::task::Task;
use crate::plan::{Phase, Plan};
use crate::request_view::{RequestView, Stage, one_line};

pub(crate) use judging::{look_at_graph, validate};

/// The file for counts and reasons.
pub(crate) const REPORT: &str = "output/validation_report.md";

/// The output of a validator without a graph.
pub(crate) const SCRIPT: &str = "output/insert.cypher";

/// The job's result in that case.
pub(crate) const SWITCHED_OFF: &str = "No graph is configured, so integration is switched off: the statements for what \
     was accepted are in output/insert.cypher. ";

/// Whether the job is a validator's: in strategic phases only its instructions show it, because its tools are tactical.
pub(crate) fn is_job(view: &RequestView<'_>) -> bool {
    view.bound("next_requirement") || view.system().contains("`next_requirement`")
}

/// The method in the plan.
pub(crate) const APPROACH: &str = "Claim the pending requirements, forty at a time. Reject each that the checks find fault \
     with, integrate the others, and relate them to the objects and messages of the graph that they mention.";

/// The method in a summary report.
pub(crate) const METHOD: &str = "Every pending requirement was claimed and checked by the tools: form, evidence, \
     duplicates. What they found fault with was rejected, everything else integrated (or accepted, without a graph) and \
     related to what it mentions. Nothing was understood or weighed: whether a sentence binds anybody, a person or a real \
     model has to say.";

/// The one phase of such a job.
pub(crate) fn phase() -> Phase {
    let read_back = Task::ReadBack(REPORT.to_owned());
    let tasks = [Task::GraphSchema, Task::Validate, Task::WriteValidationReport, read_back, Task::NoteDelivered];
    Phase::new("Validation", tasks.into_iter().map(|task| task.text()))
}

/// The complete planning in one answer, followed by the first reads of the next phase; none if the phase has begun.
pub(crate) fn plan_at_once(view: &RequestView<'_>, plan: &Plan) -> Option<Turn> {
    let is_begun = !view.history.is_empty();
    let phase = plan.next().filter(|_| is_job(view) && !is_begun)?;
    let todos: Vec<String> = phase.steps.iter().map(|step| step.text.clone()).collect();
    let memory = format!(
        "# Workspace\n\n{}\n\n## Goal\n\n{}\n\n## Conventions\n\n- {APPROACH}\n\n## Progress\n\n- The plan is written.\n",
        crate::DISCLAIMER,
        one_line(view.prompt()),
    );
    let calls = vec![
        write_file("workspace.md", &memory),
        todo_complete("the goal is noted"),
        write_plan(&plan.render()),
        todo_complete("one phase"),
        todo_write(&phase.name, "Judge every pending requirement, then report.", &todos),
        todo_complete("its todos are written"),
        get_graph_schema(),
        judging::claim(),
    ];
    Some(turn("Planning the validation.", calls))
}

/// Whether a call after the end of the phase is meant for the next one, which carries it out.
pub(crate) fn is_for_next_phase(view: &RequestView<'_>, turn: &Turn, tool: &str) -> bool {
    let closes = turn.calls.iter().filter(|call| call.name == "todo_complete").count();
    let behind_the_end = match view.stage() {
        Stage::Strategic => ["get_graph_schema", "next_requirement"].contains(&tool),
        Stage::Tactical => ["write_plan", "job_complete"].contains(&tool),
        Stage::Summary => false,
    };
    behind_the_end && closes > 0 && is_job(view)
}

/// Writes the outcome of all requirements, in the words of the last claim.
pub(crate) fn write_report(view: &RequestView<'_>) -> Turn {
    let claim: Call = judging::claim();
    let Some(done) = view.result_of(&claim) else {
        return turn("Asking what was judged.", vec![claim]);
    };
    let text = report(done.result);
    turn(format!("Writing {REPORT}."), vec![write_file(REPORT, &text), todo_complete(&format!("{REPORT} is written"))])
}

/// The report by the result of the last claim.
fn report(result: &str) -> String {
    let outcome = match result.split_once(batch::JUDGED) {
        Some((_, outcome)) => outcome.trim().to_owned(),
        None => format!("Not all requirements could be judged: {}", one_line(result)),
    };
    format!("# Validation report\n\n{}\n\n## Outcome\n\n{outcome}\n\n## Method\n\n{METHOD}\n", crate::DISCLAIMER)
}

/// The job's summary and its deliverables, by the same.
fn summary(result: &str) -> (String, Vec<String>) {
    let is_off = result.contains("integration is switched off");
    let files = [REPORT].into_iter().chain(is_off.then_some(SCRIPT)).map(str::to_owned).collect();
    (format!("{}{}", if is_off { SWITCHED_OFF } else { "" }, crate::DISCLAIMER), files)
}
