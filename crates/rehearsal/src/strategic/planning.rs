//! Exploring, planning, and writing the next phase.

use crate::call::{Call, Turn, list_files, read_file, todo_complete, todo_write, turn, write_file, write_plan};
use crate::plan::manifest;
use crate::plan::schedule;
use crate::plan::task::Task;
use crate::plan::{Phase, Plan, Step};
use crate::request_view::archive::Archive;
use crate::request_view::opening::Document;
use crate::request_view::{RequestView, one_line};
use crate::strategic::closing;
use crate::validator;

/// The engine's minimum number of todos.
const MIN_TODOS: usize = 5;

/// The section of the first opening about documents that the system has extracted and chunked.
const PREPARED: &str = "What was prepared";

/// Initial todo 1: read what the opening does not show, then write the memory.
pub(super) fn explore(view: &RequestView<'_>) -> Turn {
    if validator::is_job(view)
        && let Ok(phases) = phases(view)
        && let Some(turn) = validator::plan_at_once(view, &Plan { head: head(view), phases })
    {
        return turn;
    }
    let mut looks = Vec::new();
    // The instructions are in the system prompt; a long list of documents is truncated in the opening.
    let is_whole = |documents: &str| !documents.contains("\n- … and ");
    if !view.opening("Documents").is_some_and(is_whole) {
        looks.extend([read_file("instructions.md"), list_files("input")]);
    }
    if looks.iter().any(|call| view.result_of(call).is_none()) {
        return turn("Reading the instructions and listing the documents.", looks);
    }
    let documents = view.documents();
    let listed: Vec<String> = documents.iter().map(Document::line).collect();
    let listed = if listed.is_empty() { "The job has no documents.".to_owned() } else { listed.join("\n") };
    let memory = format!(
        "# Workspace\n\n{}\n\n## Goal\n\n{}\n\n## Documents\n\n{listed}\n\n## Conventions\n\n\
         - A requirement is a sentence with a normative word, quoted as it stands, with its page.\n\
         - Deliverables go to output/.\n\n## Progress\n\n",
        crate::DISCLAIMER,
        one_line(view.prompt()),
    );
    let notes = format!("{} documents", documents.len());
    turn(
        "Noting the goal, the documents and the conventions.",
        vec![write_file("workspace.md", &memory), todo_complete(&notes)],
    )
}

fn head(view: &RequestView<'_>) -> String {
    let approach = match view.documents().is_empty() {
        true if validator::is_job(view) => validator::APPROACH,
        true => {
            "There is no document, so the prompt itself is the work: its statements are listed in output/answer.md. No \
             requirement is recorded, because there is no source to quote."
        }
        false => {
            "Go through all chunks of every document in order; what is not prepared is extracted and cut first. Record \
             every sentence with a normative word (must, shall, should, may not, required; muss, darf nicht, ist zu) and \
             every entry under a lead with one, decide what is left by number, and write the report."
        }
    };
    format!(
        "# Plan\n\n{}\n\n## Goal\n\n{}\n\n## Approach\n\n{approach}\n\n## How completion is judged\n\n\
         Every phase below is ticked, and every deliverable exists in output/.",
        crate::DISCLAIMER,
        one_line(view.prompt()),
    )
}

/// The phases that the job needs, as far as they can be known before it begins, or the call to be made first.
fn phases(view: &RequestView<'_>) -> Result<Vec<Phase>, Call> {
    if validator::is_job(view) {
        return Ok(vec![validator::phase()]);
    }
    // A later opening lists only the passages of each document.
    let is_prepared = [PREPARED, "Coverage"].iter().any(|section| view.opening(section).is_some());
    let prepared = if is_prepared { manifest::prepared(view)? } else { Vec::new() };
    Ok(schedule::first(&view.documents(), &prepared, &owed(view)))
}

/// The paths of the deliverables.
fn owed(view: &RequestView<'_>) -> Vec<String> {
    view.owed().into_iter().filter(|owed| owed.required).map(|owed| owed.path).collect()
}

/// Initial todos 2 and 3: goal, approach and completion criteria, and the phases by the length of the documents.
pub(super) fn write(view: &RequestView<'_>) -> Turn {
    let phases = match phases(view) {
        Err(call) => return turn("Reading what was prepared.", vec![call]),
        Ok(phases) => phases,
    };
    let plan = Plan { head: head(view), phases };
    let notes = format!("{} phases", plan.phases.len());
    turn("Writing the plan with its phases.", vec![write_plan(&plan.render()), todo_complete(&notes)])
}

/// The plan, made again if it was lost.
fn plan(view: &RequestView<'_>) -> Result<Plan, Call> {
    let plan = Plan::current(view)?;
    if plan.phases.is_empty() {
        return Ok(Plan { head: head(view), phases: phases(view)? });
    }
    Ok(plan)
}

/// The plan with the finished steps of the previous phase ticked, and that phase's name if steps were left to tick; or
/// the call to be made first. A step closed without an explanation stays open, so that its phase is repeated. After the
/// preparation the manifest determines the following phases.
pub(super) fn marked(view: &RequestView<'_>) -> Result<(Plan, Option<String>), Call> {
    let mut plan = plan(view)?;
    let archive = Archive::read(view);
    let named = archive.as_ref().and_then(|archive| plan.phases.iter().position(|phase| phase.name == archive.phase));
    // Without a note, or with an unknown name, it was the first unticked phase.
    let at = named.or_else(|| plan.phases.iter().position(|phase| !phase.done()));
    let ended = archive.as_ref().is_none_or(|archive| archive.completed);
    let Some(phase) = at.and_then(|at| plan.phases.get_mut(at)).filter(|phase| ended && !phase.done()) else {
        return Ok((plan, None));
    };
    match &archive {
        Some(archive) => phase.tick(&archive.done),
        None => phase.finish(),
    }
    let name = phase.name.clone();
    let prepared = plan.phases.iter().filter(|phase| phase.name.starts_with(schedule::PREPARATION)).all(Phase::done);
    if name.starts_with(schedule::PREPARATION) && prepared {
        schedule::lay_out(&mut plan, &manifest::prepared(view)?, &owed(view));
    }
    Ok((plan, Some(name)))
}

/// Transition todo 3: tick the finished phase.
pub(super) fn mark(view: &RequestView<'_>) -> Turn {
    match marked(view) {
        Err(call) => turn("Reading what the plan depends on.", vec![call]),
        Ok((_, None)) => turn("The plan needs no change.", vec![todo_complete("no phase was left to tick")]),
        Ok((plan, Some(name))) => turn(
            format!("Ticking the phase '{name}'."),
            vec![write_plan(&plan.render()), todo_complete(&format!("what is finished of '{name}' is ticked"))],
        ),
    }
}

/// Final todo 1: tick the last phase, check the deliverables and complete; missing ones are written first.
pub(super) fn verify(view: &RequestView<'_>) -> Turn {
    let (plan, ticked) = match marked(view) {
        Err(call) => return turn("Looking at the plan.", vec![call]),
        Ok(marked) => marked,
    };
    let tick = ticked.map(|_| write_plan(&plan.render()));
    let then = match plan.next() {
        None => verified(closing::finish(view)),
        Some(phase) => {
            let notes = format!("'{}' is still to be done", phase.name);
            turn("Verifying the deliverables.", vec![todo_complete(&notes)])
        }
    };
    turn(then.say, tick.into_iter().chain(then.calls).collect())
}

/// The deliverables are there when the job is handed over: the todo is closed before.
fn verified(mut turn: Turn) -> Turn {
    if turn.calls.last().is_some_and(|call| call.name == "job_complete") {
        turn.calls.insert(turn.calls.len() - 1, todo_complete("the deliverables are in output/, none of them empty"));
    }
    turn
}

/// After a rewind: tick the steps that the archive note shows as done. After feedback: add a phase that answers it.
pub(super) fn adapt(view: &RequestView<'_>) -> Turn {
    let mut plan = match plan(view) {
        Err(call) => return turn("Reading the plan.", vec![call]),
        Ok(plan) => plan,
    };
    let done = Archive::read(view).unwrap_or_default().done;
    let notes = match plan.next_mut() {
        Some(phase) => {
            // At least one step stays open, or the phase would count as finished although it was stopped.
            let open: Vec<&mut Step> = phase.steps.iter_mut().filter(|step| !step.done).collect();
            let most = open.len().saturating_sub(1);
            let ticked = open.into_iter().filter(|step| done.contains(&step.text)).take(most);
            let count = ticked.map(|step| step.done = true).count();
            format!("'{}' is taken up again, {count} of its steps are finished", phase.name)
        }
        None => {
            let number = plan.phases.iter().filter(|phase| phase.name.starts_with("Feedback ")).count() + 1;
            plan.phases.push(schedule::feedback(u32::try_from(number).unwrap_or(u32::MAX)));
            "a phase that answers the feedback is added".to_owned()
        }
    };
    turn("Adapting the plan.", vec![write_plan(&plan.render()), todo_complete(&notes)])
}

/// The last todo of most strategic phases: the todos of the next phase, or the end of the job.
pub(super) fn set_todos(view: &RequestView<'_>) -> Turn {
    // The tick may be missing if an earlier todo of this phase was closed too early. Before the first phase there is
    // nothing to tick, and no note.
    let marked = match Archive::read(view) {
        Some(_) => marked(view),
        None => plan(view).map(|plan| (plan, None)),
    };
    let (plan, ticked) = match marked {
        Err(call) => return turn("Reading the plan.", vec![call]),
        Ok(marked) => marked,
    };
    let tick = ticked.map(|_| write_plan(&plan.render()));
    let Some(phase) = plan.next().filter(|_| !had_no_effect(view)) else {
        let then = closing::finish(view);
        return turn(then.say, tick.into_iter().chain(then.calls).collect());
    };
    let todos = todos(phase);
    let description = format!("{} todos of the plan's phase '{}'", todos.len(), phase.name);
    let notes = format!("'{}' is next", phase.name);
    let calls = [todo_write(&phase.name, &description, &todos), todo_complete(&notes)];
    turn(format!("Next phase: {}.", phase.name), tick.into_iter().chain(calls).chain(first_reads(&todos)).collect())
}

/// Whether the engine has refused the next phase's list because nothing came of it before: then nothing is left to do.
fn had_no_effect(view: &RequestView<'_>) -> bool {
    let mut refused = view.work().iter().filter(|done| done.name == "todo_write" && done.failed());
    refused.any(|done| done.result.contains("came to its end without an effect"))
}

/// The reads for the first todos follow the end of this phase, so that the next phase has the results from its
/// beginning.
fn first_reads(todos: &[String]) -> Vec<Call> {
    let mut tasks = todos.iter().map(|todo| Task::read(todo));
    match tasks.find(|task| *task != Task::Terms) {
        Some(Task::Process { first, last, .. }) => {
            (first..=last).map(|number| read_file(&manifest::chunk_file(number))).collect()
        }
        _ => Vec::new(),
    }
}

/// The open steps of a phase; if they are too few for the engine, the last finished ones are repeated.
fn todos(phase: &Phase) -> Vec<String> {
    let open = phase.steps.iter().filter(|step| !step.done).count();
    let mut again = MIN_TODOS.saturating_sub(open);
    let mut todos: Vec<String> = Vec::new();
    for step in phase.steps.iter().rev() {
        if !step.done {
            todos.push(step.text.clone());
        } else if again > 0 {
            again -= 1;
            todos.push(step.text.clone());
        }
    }
    todos.reverse();
    todos
}
