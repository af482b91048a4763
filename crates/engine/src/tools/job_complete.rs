//! The completion gate: completion needs evidence. Every named deliverable must exist and be no placeholder; what could
//! not be delivered is named; a job that delivered nothing ends `failed` (lessons 11, 24, 26).

use super::{Answer, arguments};
use crate::{
    Autonomy, Change, Handler, JobError, Leave, Phases, Replay, Run, TodoStatus, ToolSpec, apply::Consequence, path,
};
use serde_json::{Map, Value, json};

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "job_complete",
        phases: Phases::Strategic,
        description: "End the job: name the deliverables, and honestly what could not be delivered.".into(),
        parameters: json!({"type": "object", "properties": {
            "summary": {"type": "string", "description": "What was done, in a few sentences."},
            "deliverables": {"type": "array", "items": {"type": "string"}, "description": "Workspace paths of the result files."},
            "undelivered": {"type": "array", "items": {"type": "string"}, "description": "What was asked for and is missing, with the reason."},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "notes": {"type": "string"}},
            "required": ["summary", "deliverables", "confidence"], "additionalProperties": false}).into(),
        documentation: "Accepted when every deliverable exists and has real content. Work that was planned and not \
                        done belongs into `undelivered`.\n\nExample: `{\"summary\": \"142 requirements recorded from \
                        policy.pdf\", \"deliverables\": [\"output/requirements.md\", \"output/summary_report.md\"], \
                        \"undelivered\": [], \"confidence\": 0.9}`"
            .into(),
        handler: Handler::Engine,
        replay: Replay::Safe,
        reads_only: false,
    }]
}

pub(super) fn complete(run: &mut Run, arguments: &Map<String, Value>, consequence: &mut Consequence) -> Answer {
    let claim = Claim::read(arguments)?;
    if !run.feedback.is_empty() {
        return Err("the job is not complete: the user has written in the meantime. Their words follow; take them in \
                    first."
            .into());
    }
    claim.check_files(run)?;
    claim.check_staged(run)?;
    let result = claim.to_json();
    if claim.deliverables.is_empty() && run.requirements == 0 {
        *consequence = Consequence::Leave(claim.nothing_delivered()?);
        close_todos(run);
        return Ok("The job ends as failed: nothing was delivered. Its files are kept.".into());
    }
    close_todos(run);
    *consequence = Consequence::Leave(match run.settings.autonomy {
        Autonomy::Full => Leave::Completed { result },
        Autonomy::Review => Leave::Review { result, reason: "waiting for approval or feedback".into() },
    });
    Ok("The job is complete.".into())
}

/// The current todo is what led here; others were skipped.
fn close_todos(run: &mut Run) {
    if let Some(current) = run.current_todo().map(|todo| todo.position) {
        super::todo_complete::move_todo(run, current, TodoStatus::Completed, None);
    }
    let open: Vec<i32> = run.todos.iter().filter(|todo| todo.status.is_open()).map(|todo| todo.position).collect();
    for position in open {
        super::todo_complete::move_todo(run, position, TodoStatus::Abandoned, None);
    }
    if run.state.staged.take().is_some() {
        run.staged_todos.clear();
        run.pending.push(Change::TodosPut { phase_number: run.state.phase.number + 1, todos: Vec::new() });
    }
}

/// What the model claims.
struct Claim {
    summary: String,
    deliverables: Vec<String>,
    undelivered: Vec<String>,
    confidence: f64,
    notes: Option<String>,
}

impl Claim {
    fn read(arguments: &Map<String, Value>) -> Result<Self, String> {
        let confidence = arguments.get("confidence").and_then(Value::as_f64).filter(|c| (0.0..=1.0).contains(c));
        let deliverables = arguments::texts(arguments, "deliverables")?;
        Ok(Self {
            summary: arguments::text(arguments, "summary", "142 requirements recorded from policy.pdf")?,
            deliverables: deliverables.iter().map(|path| path::normalize(path)).collect::<Result<_, _>>()?,
            undelivered: arguments::texts(arguments, "undelivered")?,
            confidence: confidence.ok_or("argument 'confidence' must be a number from 0 to 1.")?,
            notes: arguments::optional_text(arguments, "notes")?,
        })
    }

    fn check_files(&self, run: &Run) -> Result<(), String> {
        let mut problems = Vec::new();
        for path in &self.deliverables {
            match run.files.get(path) {
                None => problems.push(format!("{path} does not exist")),
                Some(_) if path.starts_with("input/") => problems.push(format!("{path} is an input, not a result")),
                Some(facts) if facts.placeholder => problems.push(format!("{path} has no real content yet")),
                Some(_) => {}
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(format!(
            "the job is not complete: {}. Finish these files, or leave them out and say in 'undelivered' what is \
             missing and why.{}",
            problems.join("; "),
            existing(run)
        ))
    }

    fn check_staged(&self, run: &Run) -> Result<(), String> {
        match &run.state.staged {
            Some(staged) if self.undelivered.is_empty() => Err(format!(
                "the job is not complete: todos for the phase '{}' are written and not done. Complete the todos of \
                 this phase to begin it, or name that work in 'undelivered'.",
                staged.phase
            )),
            Some(_) | None => Ok(()),
        }
    }

    fn nothing_delivered(&self) -> Result<Leave, String> {
        if self.undelivered.is_empty() {
            return Err("the job is not complete: no deliverable is named and no requirement is recorded. Name the \
                        result files, or say in 'undelivered' what could not be delivered and why."
                .into());
        }
        let error = JobError::new("not_delivered", format!("nothing was delivered: {}", self.undelivered.join("; ")))
            .with("summary", self.summary.clone());
        Ok(Leave::Failed(error))
    }

    fn to_json(&self) -> Value {
        json!({
            "summary": self.summary,
            "deliverables": self.deliverables,
            "undelivered": self.undelivered,
            "confidence": self.confidence,
            "notes": self.notes,
        })
    }
}

fn existing(run: &Run) -> String {
    let files: Vec<&str> =
        run.files.keys().filter(|path| path.starts_with("output/")).map(String::as_str).take(10).collect();
    if files.is_empty() {
        " There is nothing in output/.".into()
    } else {
        format!(" In output/: {}.", files.join(", "))
    }
}
