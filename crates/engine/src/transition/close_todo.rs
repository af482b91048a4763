//! Closes todos. Closing the last one ends the phase if its required results exist; if not, the refusal is the result
//! of this call and the todo stays open.

use crate::{
    Change, FileWrite, Passage, PassageState, PhaseKind, Product, Run, State, Todo, Work,
    ledger::worst_of,
    phase::{NextPhase, SystemTodos},
    run::Workspace,
    tools::todo_complete::holds_todos_to_passages,
};

/// The beginning of `progress.md`: real text, so that later, short lines never make it a placeholder.
const PROGRESS_HEAD: &str = "# Progress\n\nEvery closed todo, in the order of closing.\n";

/// Closes the current todo, if it is the wanted one; returns the answer to the call, and the next phase if this one ends.
pub(super) fn complete_todo(
    run: &mut Run,
    wanted: Option<i64>,
    notes: Option<String>,
) -> Result<(String, Option<NextPhase>), String> {
    let Some(current) = run.todos().current().cloned() else {
        return Err("every todo of this phase is closed already.".into());
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != i64::from(current.position)) {
        return Err(format!(
            "todo {wanted} is not the current one: todos are worked in order, and todo {} ('{}') is current.",
            current.position, current.content
        ));
    }
    SystemTodos::of(run).check_needs(&current)?;
    let is_last = run.todos().open().count() == 1;
    let next = is_last.then(|| following_phase(run, current.position)).transpose();
    let calls = run.state_mut().stage.calls_mut();
    if next.is_err() && calls.closed_beside > 0 {
        calls.closed_beside -= 1;
        let said = format!("This todo was closed with the one before it. Todo {} is current.", current.position);
        return Ok((said, None));
    }
    let next = next?;
    let unevidenced = run.state().effects.lacks_evidence(run.ledger(), run.state().phase.opening);
    let open_passages = ask_for_passages(run, &current)?;
    let answer = run.state().answer_at_hand();
    if unevidenced && *run.state_mut().effects.asked_for.get_or_insert(answer) >= answer {
        return Err(evidence_wanted(run, current.position));
    }
    let work = std::mem::take(&mut run.state_mut().work);
    let (todos, step) = run.todos_mut();
    todos.move_on(step, current.position, notes.clone());
    run.state_mut().note_closed_todo();
    if unevidenced {
        let phase_number = run.state().phase.number;
        run.push(Change::TodoUnevidenced { phase_number, position: current.position });
    }
    run.record_product(noted_progress(run, &current.content, notes.as_deref()));
    let answered = close_answered(run);
    run.state_mut().stage.calls_mut().closed_beside += u32::try_from(answered.len()).unwrap_or(u32::MAX);
    let remaining = run.todos().open().count();
    let mut text = format!("Task {} '{}' marked complete. {}", current.position, current.content, left(remaining));
    text.push_str(&results_of_todo(run.state().phase.kind, &work));
    if unevidenced {
        text.push_str(" It is on record as closed without evidence, and counted in the result.");
    }
    if open_passages > 0 {
        text.push_str(&format!(" {open_passages} of its passages stay open; `coverage` shows them."));
    }
    for (position, answer) in answered {
        text.push_str(&format!(" Task {position} is closed as well: {answer}."));
    }
    if next.is_some() {
        text.push_str(" The phase is complete; the next one begins.");
    }
    Ok((text, next))
}

/// If a phase has fewer results than closed todos, the first closing is refused once: the refusal lists all open todos.
/// Later closings are accepted and recorded as unevidenced, since some todos are answered by existing knowledge.
fn evidence_wanted(run: &Run, position: i32) -> String {
    let effects = &run.state().effects;
    format!(
        "todo {position} stays open: this would be closed todo {} of the phase, and {} came of it so far (records, passages, new \
         files, texts shown for the first time). Do with the tools what the open todos say, then close them. One for which there is nothing to do is closed from your next answer on, with a note that says why; \
         it is then on record as closed without evidence. Open: {}",
        effects.closed + 1,
        in_all(effects.evidence_so_far(run.ledger())),
        run.todos().open_in_words()
    )
}

fn in_all(evidence: u32) -> String {
    match evidence {
        0 => "nothing".into(),
        1 => "1 thing".into(),
        count => format!("{count} things"),
    }
}

/// The first attempt to close a todo that names passages is refused while some of them are not answered: the refusal
/// names them, with the sentences that are not cited, and contains the text of the first unread one. Returns how many
/// stay open if it is closed nevertheless.
fn ask_for_passages(run: &mut Run, current: &Todo) -> Result<usize, String> {
    if !holds_todos_to_passages(run) {
        return Ok(0);
    }
    let (ledger, step) = run.ledger_mut();
    ledger.decide_by_todo(&current.passages, step);
    let open: Vec<&Passage> = run.ledger().open_of(current).collect();
    if open.is_empty() {
        return Ok(0);
    }
    let first_unread = open.iter().find(|passage| passage.state == PassageState::Unread).map(|passage| passage.number);
    let record = if run.ledger().records() { "record" } else { "cite" };
    let (left, listed, answer) = (open.len(), worst_of(open), run.state().answer_at_hand());
    let are = if left == 1 { "is" } else { "are" };
    let state = run.state_mut();
    if *state.work.asked_passages.get_or_insert(answer) < answer {
        return Ok(left);
    }
    // One refusal is enough, including one for lack of evidence.
    state.effects.asked_for.get_or_insert(answer);
    let shown = run.calls().shown.as_ref().filter(|shown| Some(shown.number) == first_unread);
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
fn results_of_todo(kind: PhaseKind, work: &Work) -> String {
    match (work.in_words(), kind) {
        (Some(counts), _) => format!(" During it: {counts}."),
        (None, PhaseKind::Tactical) => " During it nothing was recorded or written.".into(),
        (None, PhaseKind::Strategic) => String::new(),
    }
}

fn left(remaining: usize) -> String {
    if remaining == 1 { "1 task remaining.".into() } else { format!("{remaining} tasks remaining.") }
}

fn following_phase(run: &Run, position: i32) -> Result<NextPhase, String> {
    match run.state().phase.kind {
        PhaseKind::Tactical => Ok(NextPhase::after_tactical(run)),
        PhaseKind::Strategic => NextPhase::tactical(run).ok_or_else(|| {
            format!(
                "todo {position} stays open: this phase ends when the todos of the next one are written with \
                 todo_write ({} to {} of them), or with job_complete when nothing is left to do.",
                run.settings().phases.min_todos,
                run.settings().phases.max_todos
            )
        }),
    }
}

impl State {
    fn note_closed_todo(&mut self) {
        self.effects.closed += 1;
        self.guards.compactions_of_todo = 0;
        // Not reset by the todos of the re-planning itself, or by one that was closed without any work.
        if self.phase.kind == PhaseKind::Tactical && self.guards.phase_has_results {
            self.guards.forced_replans = 0;
        }
        self.guards.repeats.clear();
    }
}

/// `progress.md` with a closed todo.
fn noted_progress(run: &Run, content: &str, notes: Option<&str>) -> Product {
    let phase = &run.state().phase;
    let heading = if run.todos().iter().filter(|todo| !todo.status.is_open()).count() == 1 {
        format!("\n## Job phase {} ({}): {}\n", phase.number, phase.kind.as_str(), phase.name)
    } else {
        String::new()
    };
    let begin = if run.workspace().files().contains_key("progress.md") { "" } else { PROGRESS_HEAD };
    let notes = notes.map(|notes| format!(" — {}", notes.replace('\n', " "))).unwrap_or_default();
    let text = format!("{begin}{heading}- {}{notes}\n", content.replace('\n', " "));
    added_to_progress(run.workspace(), text)
}

/// The file with one more entry. Written whole if its text is in memory, because appending makes the step, and again
/// the mirror, read the file from the rows first; not if the text is not a faithful copy of the file's bytes.
fn added_to_progress(workspace: &Workspace, text: String) -> Product {
    let known = &workspace.memory().progress;
    let faithful = !known.contains(char::REPLACEMENT_CHARACTER);
    match workspace.files().get("progress.md") {
        Some(facts) if !faithful || facts.size != known.len() as u64 => {
            Product::AppendFile { path: "progress.md".into(), text }
        }
        Some(_) | None => Product::WriteFile(FileWrite::text("progress.md", format!("{known}{text}"))),
    }
}

/// Closes todos that are current and already answered; never the last todo of a phase, since it ends the phase. Returns
/// the notes, each with the todo's number.
pub(super) fn close_answered(run: &mut Run) -> Vec<(i32, String)> {
    let mut closed = Vec::new();
    while let Some((position, content, note)) = SystemTodos::of(run).answered(run.todos()) {
        let (todos, step) = run.todos_mut();
        todos.move_on(step, position, Some(note.clone()));
        run.record_product(noted_progress(run, &content, Some(&note)));
        closed.push((position, note));
    }
    closed
}
