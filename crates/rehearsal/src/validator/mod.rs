//! The validator's work by rules: which is mostly to do what the checks of `next_requirement` say.
//!
//! | module | what |
//! |---|---|
//! | this one | is this a validator's job, its plan, its report |
//! | `batch` | what a claim gave: requirements with their findings |
//! | `judging` | claim, judge all, claim again, until nothing is pending |

mod batch;
mod judging;

use crate::call::{Call, Turn, get_graph_schema, todo_complete, turn, write_file};
use crate::plan::Phase;
use crate::plan::task::Task;
use crate::request_view::{RequestView, one_line};

pub(crate) use judging::validate;

/// Where the counts and reasons go.
pub(crate) const REPORT: &str = "output/validation_report.md";

/// What a validator without a graph leaves instead of nodes.
pub(crate) const SCRIPT: &str = "output/insert.cypher";

/// What the job's result says then.
pub(crate) const SWITCHED_OFF: &str = "No graph is configured, so integration is switched off: the statements for what \
     was accepted are in output/insert.cypher. ";

/// Whether the job is a validator's: in strategic phases only its instructions tell, since its tools are tactical.
pub(crate) fn is_job(view: &RequestView<'_>) -> bool {
    view.bound("next_requirement") || view.system().contains("`next_requirement`")
}

/// How the plan says it is done.
pub(crate) const APPROACH: &str = "Claim the pending requirements, twenty at a time. Reject each that the checks find fault \
     with, integrate the others, and relate them to the objects and messages of the graph that they mention.";

/// What a summary report says of the method.
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

/// Looks at the graph; one that cannot be reached is noticed again when requirements are claimed.
pub(crate) fn look_at_graph(view: &RequestView<'_>) -> Turn {
    let call = get_graph_schema();
    match view.work().iter().find(|done| done.is(&call)) {
        None => turn("Looking at the graph.", vec![call]),
        Some(done) => {
            let first = one_line(done.result.lines().next().unwrap_or_default());
            turn("The graph was looked at.", vec![todo_complete(&first)])
        }
    }
}

/// Writes what came of all requirements, in the words of the last claim.
pub(crate) fn write_report(view: &RequestView<'_>) -> Turn {
    let claim: Call = judging::claim();
    let Some(done) = view.result_of(&claim) else {
        return turn("Asking what was judged.", vec![claim]);
    };
    let outcome = match done.result.split_once(batch::JUDGED) {
        Some((_, outcome)) => outcome.trim().to_owned(),
        None => format!("Not all requirements could be judged: {}", one_line(done.result)),
    };
    let text =
        format!("# Validation report\n\n{}\n\n## Outcome\n\n{outcome}\n\n## Method\n\n{METHOD}\n", crate::DISCLAIMER);
    turn(format!("Writing {REPORT}."), vec![write_file(REPORT, &text), todo_complete(&format!("{REPORT} is written"))])
}
