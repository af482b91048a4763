//! The job's first step.

use super::prepared::{is_to_prepare, open_first_phase, take_files};
use crate::{
    Autonomy, Beginning, FileWrite, Intake, JobExit, Owed, OwedFile, Previous, Product, Run, Stage, phase::opening,
    run::Workspace,
};
use chrono::{DateTime, Utc};
use serde_json::json;

pub(super) fn done(run: &mut Run, mut intake: Intake, now: DateTime<Utc>) {
    let by_rule = intake.by_rule.take();
    let given = intake.files.iter().find(|file| file.path == opening::CONTEXT).and_then(opening::given);
    let waiting = intake.waiting;
    run.state_mut().previous = intake.previous.map(|job_id| Previous { job_id, versions: None });
    // The findings of the earlier job are derived from its documents.
    run.state_mut().shows_untrusted |= intake.previous.is_some();
    take_files(run, intake);
    run.state_mut().judged.waited = waiting.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let judges_by_rule = by_rule.is_some();
    by_rule.into_iter().flatten().for_each(|product| run.record_product(product));
    if judges_by_rule && waiting == Some(0) && owes_nothing(run.workspace(), &run.settings().owed) {
        return end_judged_by_rule(run);
    }
    run.state_mut().stage = Stage::Prepare { beginning: Beginning { waiting, given, notes: Vec::new() } };
    if !is_to_prepare(run) {
        open_first_phase(run, now);
    }
}

/// Rules have judged everything: the system writes the report, and the job ends without a request.
fn end_judged_by_rule(run: &mut Run) {
    let judged = run.state().judged.by_rule;
    let scripts = run.workspace().results().filter(|path| path.starts_with("output/insert"));
    let scripts: Vec<String> = scripts.map(str::to_owned).collect();
    let outcome = outcome_by_rule(judged, &scripts);
    let text = format!("# Validation report\n\n{outcome}\n");
    run.record_product(Product::WriteFile(FileWrite::text(VALIDATION_REPORT, text)));
    let deliverables: Vec<String> = [VALIDATION_REPORT.to_string()].into_iter().chain(scripts).collect();
    let result = json!({
        "summary": outcome,
        "deliverables": deliverables,
        "undelivered": [],
        "confidence": null,
        "notes": null,
        "coverage": null,
        "passages": run.ledger().counts(),
    });
    run.state_mut().stage = Stage::Review { result: result.clone() };
    let exit = match run.settings().autonomy {
        Autonomy::Full => JobExit::Completed { result },
        Autonomy::Review => JobExit::Review { result, reason: "waiting for approval or feedback".into() },
    };
    run.leave(exit);
}

/// Whether the model has no work other than judging.
fn owes_nothing(workspace: &Workspace, owed: &Owed) -> bool {
    let is_there = |file: &OwedFile| !file.required || workspace.files().contains_key(&file.path);
    workspace.sources().is_empty() && owed.files.iter().all(is_there)
}

/// The report of a job that rules have completed.
const VALIDATION_REPORT: &str = "output/validation_report.md";

/// The results of the rules, for the reader of the report.
fn outcome_by_rule(judged: usize, scripts: &[String]) -> String {
    if judged == 0 {
        return "No requirement waited to be judged, so no model was asked.".into();
    }
    let were = if judged == 1 { "requirement was" } else { "requirements were" };
    format!(
        "{judged} {were} accepted by rule: the checks (form, evidence, likeness to other requirements) found nothing to remark, so no \
         model was asked. Integration is switched off, since no graph is configured (connections.neo4j); the statements for one \
         are in {}.",
        scripts.join(", ")
    )
}
