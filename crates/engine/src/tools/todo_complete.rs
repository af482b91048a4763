//! Closes todos. Closing the last one ends the phase if its required results exist; if not, the refusal is the result
//! of this call and the todo stays open (lesson 21).

use super::{Answer, OwnTool, arguments::whole};
use crate::{
    Change, Check, FileWrite, Passage, PassageState, PhaseKind, Phases, Product, Run, Stage, Todo, Work,
    ledger::worst_of,
    phase::{NextPhase, SystemTodos, close_answered},
    transition::Consequence,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The beginning of `progress.md`: real text, so that later, short lines never make it a placeholder.
const PROGRESS_HEAD: &str = "# Progress\n\nEvery closed todo, in the order of closing.\n";

/// Closes the first open todo of the active list. Closing the last one ends the phase: a tactical phase is archived and a
/// strategic one follows; a strategic phase ends only when the todos of the next phase have been written. Todos need
/// evidence: while fewer things came of the phase (requirements recorded or judged, passages read or answered, new files,
/// texts shown for the first time) than todos are closed in it, the first closing is refused, and later ones are on
/// record. The answer counts what was recorded and written since the todo became current. `complete_task` is the same
/// tool under its older name.
///
/// {arguments}
///
/// Examples: `{}` · `{"notes": "Pages 3-5 read; 14 findings, the table on page 4 is unclear"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct TodoComplete {
    /// # What was done and where the result is, in one or two sentences.
    notes: Option<String>,
    /// Of a call by the older name, where only this one is bound.
    #[schemars(skip)]
    #[serde(default, deserialize_with = "whole")]
    task_number: Option<i64>,
}

impl OwnTool for TodoComplete {
    const NAME: &str = "todo_complete";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Close the current todo (the one marked CURRENT) once its work is done.";

    fn run(self, run: &mut Run, consequence: &mut Consequence) -> Answer {
        complete(run, self.task_number, self.notes, consequence)
    }
}

/// The same as `todo_complete`. With `task_number` it is refused unless that todo is the current one: todos are worked in
/// order.
///
/// {arguments}
///
/// Example: `{"task_number": 3}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct CompleteTask {
    /// # What was done and where the result is, in one or two sentences.
    notes: Option<String>,
    /// # Number of the current todo.
    #[serde(default, deserialize_with = "whole")]
    task_number: Option<i64>,
}

impl OwnTool for CompleteTask {
    const NAME: &str = "complete_task";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Older name of todo_complete.";

    fn run(self, run: &mut Run, consequence: &mut Consequence) -> Answer {
        complete(run, self.task_number, self.notes, consequence)
    }
}

/// Shows x of y todos, the current one, the phase, the time and the number of requests so far. The active todo list in
/// every request says the same.
///
/// Example: `{}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct GetProgress {}

impl OwnTool for GetProgress {
    const NAME: &str = "get_progress";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "How many todos of the phase are done, and which is current.";
    const READS_ONLY: bool = true;

    fn run(self, run: &mut Run, _: &mut Consequence) -> Answer {
        Ok(progress(run))
    }
}

fn complete(run: &mut Run, wanted: Option<i64>, notes: Option<String>, consequence: &mut Consequence) -> Answer {
    let Some(current) = run.todos.current().cloned() else {
        return Err("every todo of this phase is closed already.".into());
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != i64::from(current.position)) {
        return Err(format!(
            "todo {wanted} is not the current one: todos are worked in order, and todo {} ('{}') is current.",
            current.position, current.content
        ));
    }
    SystemTodos::of(run).check_needs(&current)?;
    let is_last = run.todos.open().count() == 1;
    let next = is_last.then(|| following_phase(run, current.position)).transpose();
    if next.is_err() && run.state.stage.calls_mut().closed_beside > 0 {
        run.state.stage.calls_mut().closed_beside -= 1;
        return Ok(format!("This todo was closed with the one before it. Todo {} is current.", current.position));
    }
    let next = next?;
    let unevidenced = run.state.effects.lacks_evidence(&run.ledger, run.state.phase.opening);
    let open_passages = ask_for_passages(run, &current)?;
    if unevidenced {
        ask_for_evidence(run, current.position)?;
    }
    if let Some(next) = next {
        *consequence = Consequence::NextPhase(next);
    }
    let work = std::mem::take(&mut run.state.work);
    close(run, current.position, notes.clone());
    if unevidenced {
        let phase_number = run.state.phase.number;
        run.step.push(Change::TodoUnevidenced { phase_number, position: current.position });
    }
    note_progress(run, &current.content, notes.as_deref());
    let answered = close_answered(run);
    run.state.stage.calls_mut().closed_beside += u32::try_from(answered.len()).unwrap_or(u32::MAX);
    let remaining = run.todos.open().count();
    let mut text = format!("Task {} '{}' marked complete. {}", current.position, current.content, left(remaining));
    text.push_str(&results_of_todo(run, &work));
    if unevidenced {
        text.push_str(" It is on record as closed without evidence, and counted in the result.");
    }
    if open_passages > 0 {
        text.push_str(&format!(" {open_passages} of its passages stay open; `coverage` shows them."));
    }
    for (position, answer) in answered {
        text.push_str(&format!(" Task {position} is closed as well: {answer}."));
    }
    if is_last {
        text.push_str(" The phase is complete; the next one begins.");
    }
    Ok(text)
}

/// If a phase has fewer results than closed todos, the first closing is refused once: the refusal lists all open todos.
/// Later closings are accepted and recorded as unevidenced, since some todos are answered by existing knowledge.
fn ask_for_evidence(run: &mut Run, position: i32) -> Result<(), String> {
    let answer = answer_at_hand(run);
    let asked_for = *run.state.effects.asked_for.get_or_insert(answer);
    if asked_for < answer {
        return Ok(());
    }
    Err(format!(
        "todo {position} stays open: this would be closed todo {} of the phase, and {} came of it so far (records, passages, new \
         files, texts shown for the first time). Do with the tools what the open todos say, then close them. One for which there is nothing to do is closed from your next answer on, with a note that says why; \
         it is then on record as closed without evidence. Open: {}",
        run.state.effects.closed + 1,
        in_all(run.state.effects.evidence_so_far(&run.ledger)),
        run.todos.open_in_words()
    ))
}

fn in_all(evidence: u32) -> String {
    match evidence {
        0 => "nothing".into(),
        1 => "1 thing".into(),
        count => format!("{count} things"),
    }
}

/// The answer that tries to close a todo.
pub(super) fn answer_at_hand(run: &Run) -> i64 {
    match run.state.stage {
        Stage::Tools { message_seq, .. } => message_seq,
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => {
            run.conversation.next_seq()
        }
    }
}

/// What is read before the closing of a todo that will be refused for unread passages: the first of them, whose text
/// the refusal contains.
pub(super) fn check(run: &Run) -> Option<Check> {
    let current = run.todos.current().filter(|_| holds_todos_to_passages(run))?;
    let is_refused = run.state.work.asked_passages.is_none_or(|asked| asked >= answer_at_hand(run));
    let unread = run.ledger.open_of(current).find(|passage| passage.state == PassageState::Unread);
    let unread = unread.filter(|_| is_refused)?;
    Some(Check::Passage { number: unread.number, path: unread.chunk_path.clone()? })
}

/// Whether the first attempt to close a todo is refused while passages that it names are open.
fn holds_todos_to_passages(run: &Run) -> bool {
    run.settings.coverage.is_some() && run.state.phase.kind == PhaseKind::Tactical
}

/// The first attempt to close a todo that names passages is refused while some of them are not answered: the refusal
/// names them, with the sentences that are not cited, and contains the text of the first unread one. Returns how many
/// stay open if it is closed nevertheless.
fn ask_for_passages(run: &mut Run, current: &Todo) -> Result<usize, String> {
    if !holds_todos_to_passages(run) {
        return Ok(0);
    }
    let step = run.step.number();
    run.ledger.decide_by_todo(&current.passages, step);
    let open: Vec<&Passage> = run.ledger.open_of(current).collect();
    if open.is_empty() {
        return Ok(0);
    }
    let first_unread = open.iter().find(|passage| passage.state == PassageState::Unread).map(|passage| passage.number);
    let record = if run.ledger.records() { "record" } else { "cite" };
    let (left, listed, answer) = (open.len(), worst_of(open), answer_at_hand(run));
    let are = if left == 1 { "is" } else { "are" };
    let asked = *run.state.work.asked_passages.get_or_insert(answer);
    if asked < answer {
        return Ok(left);
    }
    // One refusal is enough, including one for lack of evidence.
    run.state.effects.asked_for.get_or_insert(answer);
    let shown = run.calls.shown.take().filter(|shown| Some(shown.number) == first_unread);
    let shown =
        shown.map(|shown| format!("\n\nPassage {}, which counts as read by this:\n\n{}", shown.number, shown.text));
    Err(format!(
        "todo {} stays open: of the passages that it names {left} {are} not answered:\n{listed}\nRead what is unread, {record} what \
         obliges somebody, close the rest with a reason (close_passages), then close the todo. If that cannot be done, close it \
         in your next answer with a note that says why.{}",
        current.position,
        shown.unwrap_or_default()
    ))
}

/// The results of a todo according to the rows: a model that notes a different count sees the discrepancy.
fn results_of_todo(run: &Run, work: &Work) -> String {
    match (work.in_words(), run.state.phase.kind) {
        (Some(counts), _) => format!(" During it: {counts}."),
        (None, PhaseKind::Tactical) => " During it nothing was recorded or written.".into(),
        (None, PhaseKind::Strategic) => String::new(),
    }
}

fn left(remaining: usize) -> String {
    if remaining == 1 { "1 task remaining.".into() } else { format!("{remaining} tasks remaining.") }
}

fn following_phase(run: &Run, position: i32) -> Result<NextPhase, String> {
    match run.state.phase.kind {
        PhaseKind::Tactical => Ok(NextPhase::after_tactical(run)),
        PhaseKind::Strategic => NextPhase::tactical(run).ok_or_else(|| {
            format!(
                "todo {position} stays open: this phase ends when the todos of the next one are written with \
                 todo_write ({} to {} of them), or with job_complete when nothing is left to do.",
                run.settings.phases.min_todos, run.settings.phases.max_todos
            )
        }),
    }
}

fn close(run: &mut Run, position: i32, notes: Option<String>) {
    run.todos.move_on(&mut run.step, position, notes);
    run.state.effects.closed += 1;
    let guards = &mut run.state.guards;
    guards.compactions_of_todo = 0;
    // Not reset by the todos of the re-planning itself, or by one that was closed without any work.
    if run.state.phase.kind == PhaseKind::Tactical && guards.phase_has_results {
        guards.forced_replans = 0;
    }
    guards.repeats.clear();
}

pub(crate) fn note_progress(run: &mut Run, content: &str, notes: Option<&str>) {
    let phase = &run.state.phase;
    let heading = if run.todos.all().iter().filter(|todo| !todo.status.is_open()).count() == 1 {
        format!("\n## Job phase {} ({}): {}\n", phase.number, phase.kind.as_str(), phase.name)
    } else {
        String::new()
    };
    let begin = if run.workspace.files().contains_key("progress.md") { "" } else { PROGRESS_HEAD };
    let notes = notes.map(|notes| format!(" — {}", notes.replace('\n', " "))).unwrap_or_default();
    let text = format!("{begin}{heading}- {}{notes}\n", content.replace('\n', " "));
    run.record_product(added_to_progress(run, text));
}

/// The file with one more entry. Written whole if its text is in memory, because appending makes the step, and again
/// the mirror, read the file from the rows first; not if the text is not a faithful copy of the file's bytes.
fn added_to_progress(run: &Run, text: String) -> Product {
    let known = &run.workspace.memory().progress;
    let faithful = !known.contains(char::REPLACEMENT_CHARACTER);
    match run.workspace.files().get("progress.md") {
        Some(facts) if !faithful || facts.size != known.len() as u64 => {
            Product::AppendFile { path: "progress.md".into(), text }
        }
        Some(_) | None => Product::WriteFile(FileWrite::text("progress.md", format!("{known}{text}"))),
    }
}

fn progress(run: &Run) -> String {
    let progress = run.progress();
    let current = run
        .todos
        .current()
        .map_or_else(|| "no todo is open".to_string(), |todo| format!("current: {}. {}", todo.position, todo.content));
    let phase = &run.state.phase;
    let elapsed = match run.state.elapsed_s {
        seconds @ 0..60 => format!("{seconds} s"),
        _ => run.state.elapsed(),
    };
    let recorded = match run.ledger.standing().count() {
        0 => String::new(),
        count => format!(", {count} requirements recorded"),
    };
    format!(
        "{}: {}\n{} of {} todos complete, {current}\n{elapsed} elapsed, {} model requests so far{recorded}",
        run.state.phase.which(run.workspace.planned()),
        phase.name,
        progress.todos_done,
        progress.todos_total,
        run.state.totals.requests,
    )
}
