//! The completion gate: completion needs evidence. Every named deliverable must exist and must not be a placeholder;
//! undelivered items are named; a job that delivered nothing ends `failed`.

use super::{
    Decision, Deed, OwnTool,
    records_gate::{self, Held},
    undelivered::{Entry, Undelivered},
};
use crate::{
    Autonomy, JobError, JobExit, Passage, PassageState, Phases, REPORT, REQUIREMENT_LISTS, Run,
    ledger::{MAX_NAMED, reasons_of, worst_of},
    run::Deliverables,
    vocabulary::path,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Accepted when every deliverable exists and has real content. Work that was planned and not done belongs into
/// `undelivered`: a sentence, or `{phase, reason}`, `{item, reason}`. Refused while phases of the plan were never worked
/// and `undelivered` does not name them.
///
/// {arguments}
///
/// Example: `{"summary": "Both drafts compared, 14 differences, one page unreadable", "deliverables":
/// ["output/differences.md"], "undelivered": ["page 7 of the second draft: no text"], "confidence": 0.8}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct JobComplete {
    /// # What was done, in a few sentences.
    summary: String,
    /// # Workspace paths of the result files.
    #[schemars(required)]
    deliverables: Option<Vec<String>>,
    /// how sure the result is, from 0 to 1
    #[schemars(range(min = 0, max = 1))]
    confidence: f64,
    /// # What was asked for and is missing, with the reason.
    #[schemars(with = "Vec<Entry>")]
    #[serde(default)]
    undelivered: Undelivered,
    /// what else is to be said to those who read the result
    notes: Option<String>,
}

impl OwnTool for JobComplete {
    const NAME: &str = "job_complete";
    const PHASES: Phases = Phases::Strategic;
    const DESCRIPTION: &str = "End the job: name the deliverables, and honestly what could not be delivered.";

    fn decide(self, run: &Run) -> Decision {
        let mut claim = Claim::of(self)?;
        if run.feedback_waiting() {
            return Err(
                "the job is not complete: the user has written in the meantime. Their words follow; take them in \
                        first."
                    .into(),
            );
        }
        claim.add_required_deliverables(run);
        claim.check_files(run)?;
        claim.check_contradictions(run)?;
        claim.check_staged(run)?;
        claim.check_work(run)?;
        claim.check_coverage(run)?;
        if let Some((told, why)) = records_gate::not_judged(run) {
            return Ok(Deed::RefuseOnce(told, why));
        }
        if let Some(exit) = claim.owing(run) {
            return end(exit, "The job ends as failed: it owes files that were not delivered. Its files are kept.");
        }
        // The system writes its report for any job with documents; it is not the model's result.
        let delivers = claim.deliverables.iter().any(|path| path != REPORT);
        if !delivers && run.ledger().standing().count() == 0 {
            let exit = claim.nothing_delivered()?;
            return end(exit, "The job ends as failed: nothing was delivered. Its files are kept.");
        }
        let is_decided = match records_gate::nothing_recorded(run) {
            Ok(is_decided) => is_decided,
            Err(held) => {
                let said = "The job ends as failed: no requirement was recorded. Its files are kept.";
                return claim.held(run, held, said);
            }
        };
        let review = records_gate::review_reason(run, is_decided);
        if let Some(exit) = claim.not_covered(run, review.is_some()) {
            let said =
                "The job ends as failed: too little of its documents was worked through. Files and rows are kept.";
            return end(exit, said);
        }
        if let Err(held) = records_gate::not_supported(run) {
            let said =
                "The job ends as failed: its requirements say what their quotes do not. Files and rows are kept.";
            return claim.held(run, held, said);
        }
        let result = claim.to_json(run);
        let exit = match (review, run.settings().autonomy) {
            (Some(reason), _) => JobExit::Review { result, reason },
            (None, Autonomy::Full) => JobExit::Completed { result },
            (None, Autonomy::Review) => JobExit::Review { result, reason: "waiting for approval or feedback".into() },
        };
        end(exit, "The job is complete.")
    }
}

/// The job leaves the worker; `said` answers the call.
fn end(exit: JobExit, said: &str) -> Decision {
    Ok(Deed::Exit(exit, said.into()))
}

/// How a sentence is answered in a job that records no requirements.
const QUOTED: &str = "A sentence is answered by a deliverable that quotes it, in quotation marks or in a block quote, in JSON under \
                      a key with `quote` in its name; that it was cited is not enough. ";

/// The model's claim.
struct Claim {
    summary: String,
    deliverables: Vec<String>,
    undelivered: Undelivered,
    confidence: f64,
    notes: Option<String>,
}

impl Claim {
    fn of(call: JobComplete) -> Result<Self, String> {
        let JobComplete { summary, deliverables, confidence, undelivered, notes } = call;
        let confidence = Some(confidence).filter(|confidence| (0.0..=1.0).contains(confidence));
        Ok(Self {
            summary,
            deliverables: deliverables.iter().flatten().map(|path| path::normalize(path)).collect::<Result<_, _>>()?,
            undelivered,
            confidence: confidence.ok_or("argument 'confidence' must be a number from 0 to 1.")?,
            notes,
        })
    }

    /// Required deliverables are added, whether the model names them or not; except optional ones that are missing, and
    /// those that the model declares undelivered.
    fn add_required_deliverables(&mut self, run: &Run) {
        for owed in &run.settings().owed.files {
            let is_expected = match Deliverables::of(run).is_delivered(owed) {
                true => !self.undelivered.gives_up(&owed.path),
                false => owed.required && !self.declares_undelivered(&owed.path),
            };
            if is_expected && !self.deliverables.contains(&owed.path) {
                self.deliverables.push(owed.path.clone());
            }
        }
    }

    fn declares_undelivered(&self, path: &str) -> bool {
        self.undelivered.sentences().iter().any(|said| names(said, path))
    }

    /// A file is either delivered or not: one that exists and passes must not be declared missing as well.
    fn check_contradictions(&self, run: &Run) -> Result<(), String> {
        let rendered = REQUIREMENT_LISTS.into_iter().filter(|path| Deliverables::of(run).will_render(path));
        let delivered: BTreeSet<&str> = self.deliverables.iter().map(String::as_str).chain(rendered).collect();
        let both: Vec<&str> = delivered.into_iter().filter(|path| self.declares_undelivered(path)).collect();
        if both.is_empty() {
            return Ok(());
        }
        Err(format!(
            "the job is not complete: {} is there and counts as delivered, and 'undelivered' names it as well. Take it out of \
             one of them: out of 'undelivered' if it is a result (a part that is missing is named there without the \
             file's path), out of 'deliverables' if it is none. A file that this job owes counts as long as it is there; to give \
             it up, name it as {{\"item\": path, \"reason\": …}}.",
            both.join(", ")
        ))
    }

    /// The exit of a job that requires a file and declares it undelivered.
    fn owing(&self, run: &Run) -> Option<JobExit> {
        let owed = run.settings().owed.files.iter().filter(|owed| owed.required);
        let missing: Vec<&str> = owed
            .map(|owed| owed.path.as_str())
            .filter(|path| !self.deliverables.iter().any(|one| one == path))
            .collect();
        (!missing.is_empty()).then(|| {
            let were = if missing.len() == 1 { "was" } else { "were" };
            let why = self.undelivered.sentences().join("; ");
            let sentence = format!("{} {were} owed and not delivered: {why}", missing.join(", "));
            JobExit::Failed(JobError::new("not_delivered", sentence).with("summary", self.summary.clone()))
        })
    }

    fn check_files(&self, run: &Run) -> Result<(), String> {
        let mut problems = Vec::new();
        let has_schema = |path: &str| run.settings().owed.files.iter().any(|owed| owed.has_schema && owed.path == path);
        for path in &self.deliverables {
            match run.workspace().files().get(path) {
                _ if Deliverables::of(run).will_render(path) => {}
                None if REQUIREMENT_LISTS.contains(&path.as_str()) && run.settings().records_requirements() => {
                    problems.push(format!("no requirement is recorded, so the system writes no {path}"));
                }
                None => problems.push(format!("{path} does not exist")),
                Some(_) if path.starts_with("input/") => problems.push(format!("{path} is an input, not a result")),
                Some(facts) if facts.placeholder && !has_schema(path) => {
                    problems.push(format!("{path} has no real content yet"))
                }
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
        match &run.state().staged {
            Some(staged) if self.undelivered.is_empty() => Err(format!(
                "the job is not complete: todos for the phase '{}' are written and not done. Complete the todos of \
                 this phase to begin it, or name that work in 'undelivered'.",
                staged.phase
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// A job is not complete before any work, nor with planned phases that were never worked, unless it says so. Work
    /// is counted in completed phases, not by ticks; the planned number is the maximum that the plan ever had.
    fn check_work(&self, run: &Run) -> Result<(), String> {
        let phase = &run.state().phase;
        if phase.tactical == 0 && self.undelivered.is_empty() {
            return Err(
                "the job is not complete: no tactical phase has run, so nothing of it was worked on. Write the todos \
                        of the first phase (todo_write), or say in 'undelivered' what was not done and why."
                    .into(),
            );
        }
        let planned = run.workspace().plan();
        let name = |ordinal: i32| planned.get(usize::try_from(ordinal - 1).ok()?).map(|phase| phase.name.as_str());
        let never_worked = phase.completed + 1..=phase.planned;
        let unnamed: Vec<String> = never_worked
            .filter(|ordinal| !self.undelivered.names_phase(*ordinal, name(*ordinal)))
            .map(|ordinal| name(ordinal).map_or_else(|| ordinal.to_string(), |name| format!("{ordinal} ('{name}')")))
            .collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        Err(format!(
            "the job is not complete: the plan had {} phases, {} came to their end. Never worked, and not named in \
             'undelivered': phase {}. Write the todos of the next one (todo_write), or name each as {{\"phase\": …, \
             \"reason\": …}}, also where its work was done in another phase.",
            phase.planned,
            phase.completed,
            listed(&unnamed)
        ))
    }

    /// Every passage must be answered, or named as undelivered with a reason.
    fn check_coverage(&mut self, run: &Run) -> Result<(), String> {
        if run.settings().coverage.is_none() {
            return Ok(());
        }
        let unprepared: Vec<&str> = run.workspace().unprepared(run.ledger()).collect();
        if !unprepared.is_empty() {
            return Err(format!(
                "the job is not complete: {} has no passages yet, so that nothing is known of what it says. Have it extracted \
                 and cut in a phase of work (todo_write); then work through its passages, or name them in 'undelivered'.",
                listed(&unprepared.into_iter().map(str::to_owned).collect::<Vec<_>>())
            ));
        }
        let open = run.ledger().all().filter(|passage| passage.state != PassageState::Answered);
        let open: BTreeSet<i32> = open.map(|passage| passage.number).collect();
        let named = self.undelivered.passages();
        let missing = open.difference(&named).filter_map(|number| run.ledger().get(*number));
        let (missing, unreadable): (Vec<&Passage>, Vec<&Passage>) = missing.partition(|passage| passage.has_text());
        if !missing.is_empty() {
            let quoted = if run.ledger().records() { "" } else { QUOTED };
            return Err(format!(
                "the job is not complete: {} of {} passages are neither answered nor named in 'undelivered':\n{}\n{quoted}Work \
                 through them in another phase (todo_write), close read ones that oblige nobody (close_passages), or name them as \
                 {{\"passages\": [numbers], \"document\": …, \"reason\": …}}.",
                missing.len(),
                run.ledger().counts().total,
                worst_of(missing)
            ));
        }
        self.undelivered = self.undelivered.of_passages(&open).with_unreadable(&unreadable);
        Ok(())
    }

    /// The exit of a job that has worked through too little of its documents, or closed too many passages.
    fn not_covered(&self, run: &Run, is_for_review: bool) -> Option<JobExit> {
        let bounds = run.settings().coverage.filter(|_| !run.ledger().is_empty())?;
        let counts = run.ledger().counts();
        let sentence = if counts.share_of_text() < bounds.minimum {
            let unreadable = match counts.without_text {
                0 => String::new(),
                count => format!("; {count} more have no text that could be read ({})", reasons_of(run.ledger())),
            };
            format!(
                "{} of {} passages of the documents are answered, a share of {} where at least {} is asked for \
                 (coverage_settings.minimum){unreadable}",
                counts.answered,
                counts.total - counts.without_text,
                counts.share_of_text(),
                bounds.minimum
            )
        } else if records_gate::is_closed_too_much(run) && !is_for_review {
            let (passages, share) = counts.hardly_covered();
            let what = if run.ledger().records() { "covered by requirements" } else { "cited" };
            format!(
                "{passages} passages were closed with fewer than a quarter of their candidate sentences {what}, a share of {share:.2} \
                 of those that have some where at most {} is allowed (coverage_settings.max_closed)",
                bounds.max_closed
            )
        } else {
            return None;
        };
        Some(JobExit::Failed(self.with_coverage(JobError::new("not_covered", sentence), run)))
    }

    /// An error with the model's text and the ledger's share.
    fn with_coverage(&self, error: JobError, run: &Run) -> JobError {
        error
            .with("summary", self.summary.clone())
            .with("coverage", run.ledger().counts().share())
            .with("undelivered", self.undelivered.to_json())
    }

    /// The claim is held up by the rules on requirements: refused once, then the job fails.
    fn held(&self, run: &Run, held: Held, said: &str) -> Decision {
        match held {
            Held::Refused(told, why) => Ok(Deed::RefuseOnce(told, why)),
            Held::Failed(error) => end(JobExit::Failed(self.with_coverage(error, run)), said),
        }
    }

    fn nothing_delivered(&self) -> Result<JobExit, String> {
        if self.undelivered.is_empty() {
            return Err("the job is not complete: no deliverable is named and no requirement is recorded. Name the \
                        result files, or say in 'undelivered' what could not be delivered and why."
                .into());
        }
        let error = JobError::new(
            "not_delivered",
            format!("nothing was delivered: {}", self.undelivered.sentences().join("; ")),
        )
        .with("summary", self.summary.clone());
        Ok(JobExit::Failed(error))
    }

    /// The model's claim, with the figures of the ledger.
    fn to_json(&self, run: &Run) -> Value {
        let counts = run.ledger().counts();
        let mut result = json!({
            "summary": self.summary,
            "deliverables": self.deliverables,
            "undelivered": self.undelivered.to_json(),
            "confidence": self.confidence,
            "notes": self.notes,
            "coverage": null,
            "passages": counts,
        });
        if run.settings().coverage.is_some() && !run.ledger().is_empty() {
            result["coverage"] = json!(counts.share());
        }
        if let Some(versions) = run.state().previous.as_ref().and_then(|previous| previous.versions) {
            result["versions"] = json!(versions);
        }
        result
    }
}

/// Whether a sentence names a file: the path as a whole word, not as a part of another path.
fn names(said: &str, path: &str) -> bool {
    let in_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    said.match_indices(path).any(|(at, _)| {
        let (before, mut after) = (said[..at].chars().next_back(), said[at + path.len()..].chars());
        let longer = match after.next() {
            Some('.' | '/') => after.next().is_some_and(in_a_name),
            next => next.is_some_and(in_a_name),
        };
        !longer && !before.is_some_and(|c| in_a_name(c) || c == '.')
    })
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

fn existing(run: &Run) -> String {
    let files: Vec<&str> = run.workspace().results().take(10).collect();
    if files.is_empty() {
        " There is nothing in output/.".into()
    } else {
        format!(" In output/: {}.", files.join(", "))
    }
}
