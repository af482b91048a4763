//! The statement that is a step: the fence, and what nearly every step has to write.
//!
//! A part of a statement costs the server its share even if it has nothing to write, so there is the statement with all
//! parts, `step.sql`, and two that are made of it by leaving sections out: many steps write files and close no todo, and
//! as many do neither. Whoever changes `step.sql` lets the test below write the other two, and `steps_without_plans.sql`
//! after a change of `steps.sql`.

use super::{
    Commit, Committed,
    batch::{Batch, RequestRow},
    workspace::Versions,
};
use crate::rows::{json, json_of_about, text};
use chrono::{DateTime, Utc};
use plumbline_engine::PhaseKind;
use sqlx::PgConnection;
use std::borrow::Cow;
use uuid::Uuid;

/// Bytes of a call's JSON besides its arguments and what of them is escaped, with some to spare.
const ABOUT_A_CALL: usize = 128;

/// Executes the step's statement. `None`: the fence touched no row, so nothing was written.
pub(super) async fn write(
    connection: &mut PgConnection,
    commit: &Commit<'_>,
    batch: &Batch<'_>,
    files: &Versions<'_>,
) -> Result<Option<Committed>, sqlx::Error> {
    let (progress, totals) = (commit.progress, &commit.state.totals);
    let phase_name = progress.phase_name.as_deref().map(text);
    let current_todo = progress.current_todo.as_deref().map(text);
    let said = SaidColumns::of(batch);
    let todos = MovedColumns::of(batch);
    let asked = AskedValues::of(batch);
    // The parts that all of them have, and then the arguments of those that one has besides.
    macro_rules! execute {
        ($statement:literal, $($argument:expr),*) => {
            sqlx::query_file_as!(
                Committed,
                $statement,
                commit.lease.job_id,
                commit.lease.epoch,
                commit.expected_step,
                progress.phase_number,
                progress.phase.map(PhaseKind::as_str),
                phase_name.as_deref(),
                progress.todos_done,
                progress.todos_total,
                current_todo.as_deref(),
                totals.requests,
                totals.tokens,
                totals.cached_tokens,
                totals.cost_microusd,
                i32::try_from(batch.feedback_taken.len()).unwrap_or(i32::MAX),
                json(&batch.messages),
                &said.contents as &[Cow<'_, str>],
                &said.tool_calls as &[Option<String>],
                asked.id,
                asked.model.as_deref(),
                asked.purpose,
                asked.prompt_tokens,
                asked.cached_tokens,
                asked.completion_tokens,
                asked.estimated,
                asked.duration_ms,
                asked.attempt,
                asked.error.as_deref(),
                asked.raw_usage,
                asked.created_at,
                json(commit.state),
                $($argument),*
            )
            .fetch_optional(connection)
            .await
        };
    }
    if !batch.moved.is_empty() {
        execute!(
            "queries/step.sql",
            &files.paths,
            &files.contents as &[Option<Vec<u8>>],
            &files.placeholders,
            &todos.phase_numbers,
            &todos.positions,
            &todos.statuses as &[&str],
            &todos.notes as &[Option<Cow<'_, str>>]
        )
    } else if !files.paths.is_empty() {
        execute!(
            "queries/step_without_todos.sql",
            &files.paths,
            &files.contents as &[Option<Vec<u8>>],
            &files.placeholders
        )
    } else {
        execute!("queries/step_without_files_and_todos.sql",)
    }
}

/// What is long of the messages, a column each.
#[derive(Default)]
pub(super) struct SaidColumns<'a> {
    pub(super) contents: Vec<Cow<'a, str>>,
    /// JSON; none where nothing was called.
    pub(super) tool_calls: Vec<Option<String>>,
}

impl<'a> SaidColumns<'a> {
    pub(super) fn of(batch: &Batch<'a>) -> Self {
        let mut columns = Self::default();
        for row in &batch.messages {
            let calls = &row.message.tool_calls;
            columns.contents.push(text(&row.message.content));
            let about = calls.iter().map(|call| ABOUT_A_CALL + call.arguments.len() + call.arguments.len() / 8);
            columns.tool_calls.push((!calls.is_empty()).then(|| json_of_about(about.sum(), calls)));
        }
        columns
    }
}

/// The first request of a step, a value each; none where the step asked for nothing.
#[derive(Default)]
struct AskedValues<'a> {
    id: Option<Uuid>,
    model: Option<Cow<'a, str>>,
    purpose: Option<&'static str>,
    prompt_tokens: Option<i64>,
    cached_tokens: Option<i64>,
    completion_tokens: Option<i64>,
    estimated: Option<bool>,
    duration_ms: Option<i64>,
    attempt: Option<i32>,
    error: Option<Cow<'a, str>>,
    raw_usage: Option<String>,
    created_at: Option<DateTime<Utc>>,
}

impl<'a> AskedValues<'a> {
    fn of(batch: &Batch<'a>) -> Self {
        let Some(&RequestRow { id, record }) = batch.requests.first() else { return Self::default() };
        Self {
            id: Some(id),
            model: Some(text(&record.model)),
            purpose: Some(record.purpose.as_str()),
            prompt_tokens: Some(record.prompt_tokens.into()),
            cached_tokens: Some(record.cached_tokens.into()),
            completion_tokens: Some(record.completion_tokens.into()),
            estimated: Some(record.estimated),
            duration_ms: Some(record.duration_ms),
            attempt: Some(record.attempt),
            error: record.error.as_deref().map(text),
            raw_usage: record.raw_usage.as_ref().map(json),
            created_at: Some(record.created_at),
        }
    }
}

/// Todos with another status, a column each: arrays cost the server less than JSON.
#[derive(Default)]
struct MovedColumns<'a> {
    phase_numbers: Vec<i32>,
    positions: Vec<i32>,
    statuses: Vec<&'static str>,
    notes: Vec<Option<Cow<'a, str>>>,
}

impl<'a> MovedColumns<'a> {
    fn of(batch: &Batch<'a>) -> Self {
        let mut columns = Self::default();
        for todo in &batch.moved {
            columns.phase_numbers.push(todo.phase_number);
            columns.positions.push(todo.position);
            columns.statuses.push(todo.status.as_str());
            columns.notes.push(todo.notes.map(text));
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    /// A statement without what stands between two of its comments.
    fn without(statement: &str, from: &str, until: &str) -> String {
        let place = |comment: &str| {
            let start = statement.find(&format!("\n-- {comment}"));
            start.unwrap_or_else(|| panic!("the statement has no section {comment:?}")) + 1
        };
        format!("{}{}", &statement[..place(from)], &statement[place(until)..])
    }

    fn made_of(whole: &str, statement: &str, left_out: &str) -> String {
        let start = statement.find("WITH fence").expect("the fence comes first");
        format!("-- Made of {whole}, without {left_out}: see commit/step.rs.\n{}", &statement[start..])
    }

    #[test]
    fn the_narrower_statements_are_wider_ones_without_some_sections() {
        let queries = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
        let read = |name: &str| fs::read_to_string(queries.join(name)).expect("a statement can be read");
        let whole = read("step.sql");
        let no_todos = without(&whole, "Todos that", "The checkpoint.");
        let no_files = without(&no_todos, "New versions", "The checkpoint.");
        let no_plans = without(&read("steps.sql"), "What a job gets", "The checkpoint.");
        for (name, expected) in [
            ("step_without_todos.sql", made_of("step.sql", &no_todos, "todos")),
            ("step_without_files_and_todos.sql", made_of("step.sql", &no_files, "files and todos")),
            ("steps_without_plans.sql", made_of("steps.sql", &no_plans, "what a job writes seldom")),
        ] {
            if env::var_os("UPDATE").is_some() {
                fs::write(queries.join(name), &expected).expect("a statement can be written");
            }
            assert!(read(name) == expected, "{name} is not made of the wider statement: run this test with UPDATE=1");
        }
    }
}
