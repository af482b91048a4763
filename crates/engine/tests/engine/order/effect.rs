//! The effects of an executed call on the job, and its result.

use super::{
    Call, Job, Text,
    job::{MEMORY, PLAN, PROGRESS, SUMMARY, TODOS},
};
use plumbline_engine::{PhaseKind, PhaseOutcome, TodoStatus};

/// A call's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// Whether it is an error.
    pub(crate) failed: bool,
    /// Texts that it contains.
    pub(crate) shows: Vec<String>,
}

impl Said {
    pub(super) fn failed() -> Self {
        Self { failed: true, shows: Vec::new() }
    }

    pub(super) fn shows(texts: impl IntoIterator<Item = String>) -> Self {
        Self { failed: false, shows: texts.into_iter().collect() }
    }
}

/// The end that a call causes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    /// The phase; for `archive_and_reset` it is [`PhaseOutcome::Forced`] here.
    Phase(PhaseOutcome),
    Job,
}

/// Executes a call that the phase binds.
pub(super) fn carry_out(job: &mut Job, call: &Call) -> (Said, Option<End>) {
    match call {
        Call::TodoComplete => close(job, None),
        Call::CompleteTask(number) => close(job, Some(*number)),
        Call::TodoRewind(_) => (Said::default(), Some(End::Phase(PhaseOutcome::Rewound))),
        Call::ArchiveAndReset => (Said::default(), Some(End::Phase(PhaseOutcome::Forced))),
        Call::JobComplete { deliverable } => complete(job, deliverable),
        _ => (work(job, call).unwrap_or_else(Said::failed), None),
    }
}

/// A call that ends nothing; none if it fails.
fn work(job: &mut Job, call: &Call) -> Option<Said> {
    match call {
        Call::ReadFile(path) => return Some(Said::shows(job.files.get(path)?.parts())),
        Call::WriteFile { path, content, append } => write(job, path, content, *append)?,
        Call::EditFile { path, old, new } => edit(job, path, old, new)?,
        Call::DeleteFile(path) => {
            may_write(path)?;
            job.files.remove(path)?;
        }
        Call::AddRequirement(text) if job.requirements.contains(text) => {}
        Call::AddRequirement(text) => job.requirements.push(text.clone()),
        Call::WritePlan(content) => {
            job.files.insert(PLAN.into(), Text::Exactly(format!("{}\n", content.trim())));
            job.planned = job.planned.max(job.plan().len());
        }
        Call::ReadPlan => return Some(Said::shows(job.known(PLAN).map(str::to_owned))),
        Call::AddNote(text) => remember(job, "## Notes", text),
        Call::AddAccomplishment(text) => remember(job, "## Accomplishments", text),
        Call::Summary => {
            job.files.insert(SUMMARY.into(), Text::Holding(Vec::new()));
        }
        Call::GetProgress => return Some(Said::shows([progress(job)])),
        Call::TodoWrite(contents) => stage(job, contents)?,
        Call::AddTask(content) => add_task(job, content)?,
        Call::Look(_) => {}
        Call::TodoComplete
        | Call::CompleteTask(_)
        | Call::TodoRewind(_)
        | Call::ArchiveAndReset
        | Call::JobComplete { .. } => unreachable!("these end something"),
    }
    Some(Said::default())
}

/// Checks which tool may write a file; the plan is written in strategic phases, which [`Job::binds`] checks.
fn may_write(path: &str) -> Option<()> {
    let by_the_system = matches!(path, PROGRESS | SUMMARY | TODOS | "error.md" | "instructions.md")
        || path.starts_with("output/requirements.")
        || ["requirements/", "input/", "archive/", "tools/"].iter().any(|folder| path.starts_with(folder));
    (!by_the_system).then_some(())
}

fn write(job: &mut Job, path: &str, content: &str, append: bool) -> Option<()> {
    may_write(path)?;
    let before = if append { job.known(path).unwrap_or_default() } else { "" };
    let line_end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{line_end}{content}");
    put(job, path, text);
    Some(())
}

fn edit(job: &mut Job, path: &str, old: &str, new: &str) -> Option<()> {
    may_write(path)?;
    let text = job.known(path)?;
    if old == new || text.matches(old).count() != 1 {
        return None;
    }
    let text = text.replacen(old, new, 1);
    put(job, path, text);
    Some(())
}

fn put(job: &mut Job, path: &str, text: String) {
    job.files.insert(path.into(), Text::Exactly(text));
    if path == PLAN {
        job.planned = job.planned.max(job.plan().len());
    }
}

/// Adds a bullet at the end of a section of the memory, which is created if missing.
fn remember(job: &mut Job, heading: &str, line: &str) {
    let text = job.known(MEMORY).unwrap_or_default();
    let bullet = format!("- {line}");
    let lines: Vec<&str> = text.lines().collect();
    let section = lines.iter().position(|line| *line == heading);
    let text = match section {
        None if text.trim().is_empty() => format!("{heading}\n\n{bullet}\n"),
        None => format!("{}\n\n{heading}\n\n{bullet}\n", text.trim_end()),
        Some(at) => {
            let is_next = |line: &&str| line.starts_with("# ") || line.starts_with("## ");
            let end = lines[at + 1..].iter().position(is_next).map_or(lines.len(), |more| at + 1 + more);
            let last = (at..end).rev().find(|line| !lines[*line].trim().is_empty()).unwrap_or(at);
            // A blank line separates a heading from its first bullet, if there is one.
            let place = if last == at { (at + 2).min(end) } else { last + 1 };
            let mut lines = lines;
            lines.insert(place.max(last + 1), &bullet);
            lines.join("\n") + "\n"
        }
    };
    job.files.insert(MEMORY.into(), Text::Exactly(text));
}

fn progress(job: &Job) -> String {
    let list = job.todos.get(&job.number).map(Vec::as_slice).unwrap_or_default();
    let done = list.iter().filter(|(_, status)| *status == TodoStatus::Completed).count();
    format!("{done} of {} todos complete", list.len())
}

fn stage(job: &mut Job, contents: &[String]) -> Option<()> {
    let (fewest, most) = job.setup.todos;
    let is_repeated = contents.iter().enumerate().any(|(at, content)| contents[..at].contains(content));
    if !(fewest..=most).contains(&contents.len()) || is_repeated {
        return None;
    }
    put_staged(job, contents.to_vec());
    Some(())
}

fn add_task(job: &mut Job, content: &str) -> Option<()> {
    let mut contents: Vec<String> =
        job.staged().unwrap_or_default().iter().map(|(content, _)| content.clone()).collect();
    if contents.len() >= job.setup.todos.1 || contents.iter().any(|known| known == content) {
        return None;
    }
    contents.push(content.into());
    put_staged(job, contents);
    Some(())
}

fn put_staged(job: &mut Job, contents: Vec<String>) {
    job.files.insert(TODOS.into(), Text::Holding(contents.clone()));
    let list = contents.into_iter().map(|content| (content, TodoStatus::Pending)).collect();
    job.todos.insert(job.number + 1, list);
}

/// Closes the current todo, and the phase with the last one.
fn close(job: &mut Job, wanted: Option<usize>) -> (Said, Option<End>) {
    let Some(at) = job.current().filter(|at| wanted.is_none_or(|wanted| wanted == at + 1)) else {
        return (Said::failed(), None);
    };
    let left = job.list().len() - at - 1;
    let (staged, fewest) = (job.staged().map_or(0, <[_]>::len), job.setup.todos.0.max(1));
    if left == 0 && job.kind == PhaseKind::Strategic && staged < fewest {
        return (Said::failed(), None);
    }
    let list = job.list();
    list[at].1 = TodoStatus::Completed;
    if let Some(next) = list.get_mut(at + 1) {
        next.1 = TodoStatus::InProgress;
    }
    let content = list[at].0.clone();
    job.note(PROGRESS, format!("- {content}"));
    let tasks = if left == 1 { "task" } else { "tasks" };
    let said = format!("Task {} '{content}' marked complete. {left} {tasks} remaining.", at + 1);
    (Said::shows([said]), (left == 0).then_some(End::Phase(PhaseOutcome::Completed)))
}

/// The completion gate, for a job without documents to cover and a claim that omits nothing.
fn complete(job: &mut Job, deliverable: &str) -> (Said, Option<End>) {
    let has_content = job.files.get(deliverable).is_some_and(|text| match text {
        Text::Exactly(text) => text.chars().filter(|c| c.is_alphanumeric()).count() >= 20,
        Text::Holding(_) => true,
    });
    let has_worked = job.phases.values().any(|(kind, _)| *kind == PhaseKind::Tactical);
    if !has_content || !has_worked || job.completed < job.planned || job.staged().is_some() {
        return (Said::failed(), None);
    }
    job.close(PhaseOutcome::Completed);
    job.is_complete = true;
    (Said::default(), Some(End::Job))
}
