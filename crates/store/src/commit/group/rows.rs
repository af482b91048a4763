//! Steps as the columns of `steps.sql`.

use crate::{
    Lease, StoredSettings,
    commit::{
        Commit,
        batch::Batch,
        leave,
        leave::Parting,
        plan::{Plan, Rows},
        step::SaidColumns,
        workspace::Versions,
    },
    rows::{json, text},
};
use plumbline_engine::{PhaseKind, Progress, Totals};
use sqlx::{Connection as _, PgConnection};
use std::{borrow::Cow, iter};

/// A step as its rows, without the run it is of.
#[derive(Debug)]
pub(super) struct Step {
    lease: Lease,
    expected_step: i64,
    progress: Progress,
    totals: Totals,
    state: String,
    /// How many rows `messages` are.
    said: usize,
    messages: String,
    contents: Vec<String>,
    tool_calls: Vec<Option<String>>,
    /// How many rows `requests` are.
    asked: usize,
    requests: String,
    paths: Vec<String>,
    files: Vec<Option<Vec<u8>>>,
    placeholders: Vec<bool>,
    moved: Vec<Moved>,
    /// What a job gets with its first step, phases and lists, and its end: most steps have none of it.
    seldom: Option<Box<Seldom>>,
}

#[derive(Debug)]
struct Seldom {
    settings: Option<StoredSettings>,
    set_id: Option<[u8; 32]>,
    plan: Plan,
    left: Option<Parting>,
}

/// A todo's new status.
#[derive(Debug)]
struct Moved {
    phase_number: i32,
    position: i32,
    status: &'static str,
    notes: Option<String>,
}

/// A step that was written, by its place among the others.
pub(super) struct Placed {
    pub(super) place: i32,
    pub(super) step: i64,
    pub(super) feedback_pending: bool,
}

impl Step {
    pub(super) fn of(commit: &Commit<'_>, batch: &Batch<'_>, files: &Versions<'_>) -> Self {
        let said = SaidColumns::of(batch);
        let moved = batch.moved.iter().map(|todo| Moved {
            phase_number: todo.phase_number,
            position: todo.position,
            status: todo.status.as_str(),
            notes: todo.notes.map(|notes| text(notes).into_owned()),
        });
        Self {
            lease: commit.lease,
            expected_step: commit.expected_step,
            progress: commit.progress.clone(),
            totals: commit.state.totals,
            state: json(commit.state),
            said: batch.messages.len(),
            messages: json(&batch.messages),
            contents: said.contents.into_iter().map(Cow::into_owned).collect(),
            tool_calls: said.tool_calls,
            asked: batch.requests.len(),
            requests: json(&batch.requests),
            paths: files.paths.clone(),
            files: files.contents.clone(),
            placeholders: files.placeholders.clone(),
            moved: moved.collect(),
            seldom: Seldom::of(commit, batch),
        }
    }

    fn seldom(&self) -> Option<&Seldom> {
        self.seldom.as_deref()
    }

    fn left(&self) -> Option<&Parting> {
        self.seldom()?.left.as_ref()
    }

    /// About how much it is to send.
    pub(super) fn bytes(&self) -> usize {
        let said: usize = self.contents.iter().map(String::len).sum();
        let called: usize = self.tool_calls.iter().flatten().map(String::len).sum();
        let files: usize = self.files.iter().flatten().map(Vec::len).sum();
        let seldom = self.seldom.as_ref().map_or(0, |seldom| seldom.bytes());
        self.state.len() + self.messages.len() + said + called + self.requests.len() + files + seldom
    }
}

impl Seldom {
    fn of(commit: &Commit<'_>, batch: &Batch<'_>) -> Option<Box<Self>> {
        let any = commit.settings.is_some() || batch.shared.is_some() || batch.left.is_some() || Plan::is_in(batch);
        any.then(|| {
            Box::new(Self {
                settings: commit.settings.cloned(),
                set_id: batch.shared.map(|shared| shared.id),
                plan: Plan::of(batch),
                left: batch.left.map(|leave| Parting::of(commit.lease, leave)),
            })
        })
    }

    fn bytes(&self) -> usize {
        let left = self.left.as_ref().map_or(0, Parting::bytes);
        self.settings.as_ref().map_or(0, |settings| settings.0.len()) + self.plan.bytes() + left
    }
}

/// Writes several steps; gives those that were written. The jobs that leave with theirs leave in the same transaction.
pub(super) async fn write(connection: &mut PgConnection, steps: &[Step]) -> Result<Vec<Placed>, sqlx::Error> {
    if steps.iter().all(|step| step.left().is_none()) {
        return write_steps(connection, steps).await;
    }
    let mut tx = connection.begin().await?;
    let written = write_steps(&mut tx, steps).await?;
    let step = |placed: &Placed| usize::try_from(placed.place).ok().and_then(|place| steps.get(place));
    let leaving: Vec<&Parting> = written.iter().filter_map(step).filter_map(Step::left).collect();
    leave::leave(&mut tx, &leaving).await?;
    tx.commit().await?;
    Ok(written)
}

/// Executes the statement of several steps.
async fn write_steps(connection: &mut PgConnection, steps: &[Step]) -> Result<Vec<Placed>, sqlx::Error> {
    let moved = || steps.iter().flat_map(|step| &step.moved);
    // The parts that both of them have, and then the arguments of those that one has besides.
    macro_rules! execute {
        ($statement:literal, $($argument:expr),*) => {
            sqlx::query_file_as!(
                Placed,
                $statement,
                &places(steps, |_| 1),
                &column(steps, |step| step.lease.job_id),
                &column(steps, |step| step.lease.epoch),
                &column(steps, |step| step.expected_step),
                &column(steps, |step| step.progress.phase_number),
                &column(steps, |step| step.progress.phase.map(PhaseKind::as_str)) as &[Option<&str>],
                &column(steps, |step| step.progress.phase_name.as_deref().map(text)) as &[Option<Cow<'_, str>>],
                &column(steps, |step| step.progress.todos_done),
                &column(steps, |step| step.progress.todos_total),
                &column(steps, |step| step.progress.current_todo.as_deref().map(text)) as &[Option<Cow<'_, str>>],
                &column(steps, |step| step.totals.requests),
                &column(steps, |step| step.totals.tokens),
                &column(steps, |step| step.totals.cached_tokens),
                &column(steps, |step| step.totals.cost_microusd),
                elements(steps, |step| &step.messages),
                &rows(steps, |step| &step.contents) as &[&String],
                &rows(steps, |step| &step.tool_calls) as &[&Option<String>],
                &places(steps, |step| step.said),
                elements(steps, |step| &step.requests),
                &places(steps, |step| step.asked),
                &places(steps, |step| step.paths.len()),
                &rows(steps, |step| &step.paths) as &[&String],
                &rows(steps, |step| &step.files) as &[&Option<Vec<u8>>],
                &rows(steps, |step| &step.placeholders) as &[&bool],
                &places(steps, |step| step.moved.len()),
                &moved().map(|todo| todo.phase_number).collect::<Vec<_>>(),
                &moved().map(|todo| todo.position).collect::<Vec<_>>(),
                &moved().map(|todo| todo.status).collect::<Vec<_>>() as &[&str],
                &moved().map(|todo| todo.notes.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
                &column(steps, |step| step.state.as_str()) as &[&str],
                $($argument),*
            )
            .fetch_all(connection)
            .await
        };
    }
    if steps.iter().all(|step| step.seldom.is_none()) {
        return execute!("queries/steps_without_plans.sql",);
    }
    execute!(
        "queries/steps.sql",
        &column(steps, |step| step.seldom()?.settings.as_ref().map(|settings| &*settings.0)) as &[Option<&str>],
        &column(steps, |step| step.seldom()?.set_id.as_ref().map(<[u8; 32]>::as_slice)) as &[Option<&[u8]>],
        elements(steps, |step| plan(step, |plan| &plan.opened).0),
        &places(steps, |step| plan(step, |plan| &plan.opened).1),
        elements(steps, |step| plan(step, |plan| &plan.closed).0),
        &places(steps, |step| plan(step, |plan| &plan.closed).1),
        elements(steps, |step| plan(step, |plan| &plan.lengths).0),
        &places(steps, |step| plan(step, |plan| &plan.lengths).1),
        elements(steps, |step| plan(step, |plan| &plan.todos).0),
        &places(steps, |step| plan(step, |plan| &plan.todos).1)
    )
}

/// Rows of a step's plan: the array, and how many there are.
fn plan(step: &Step, rows: impl Fn(&Plan) -> &Rows) -> (&str, usize) {
    step.seldom().map(|seldom| rows(&seldom.plan)).map_or(("", 0), |rows| (&rows.array, rows.count))
}

/// A value of each step.
fn column<'a, T>(steps: &'a [Step], value: impl Fn(&'a Step) -> T) -> Vec<T> {
    steps.iter().map(value).collect()
}

/// The values of which a step may have several.
fn rows<'a, T>(steps: &'a [Step], values: impl Fn(&'a Step) -> &'a [T]) -> Vec<&'a T> {
    steps.iter().flat_map(values).collect()
}

/// For so many rows of each step, its place among the steps.
fn places(steps: &[Step], count: impl Fn(&Step) -> usize) -> Vec<i32> {
    (0..).zip(steps).flat_map(|(place, step)| iter::repeat_n(place, count(step))).collect()
}

/// The JSON arrays of all steps as one.
fn elements<'a>(steps: &'a [Step], array: impl Fn(&'a Step) -> &'a str) -> String {
    let inner = |array: &'a str| array.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let filled: Vec<&str> = steps.iter().map(|step| inner(array(step))).filter(|inner| !inner.is_empty()).collect();
    format!("[{}]", filled.join(","))
}
