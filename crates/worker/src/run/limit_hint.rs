//! The hint of how to resume a job that one of its limits paused, shown after the reason.

use crate::clock;
use plumbline_engine::{Change, JobExit, Run};
use uuid::Uuid;

/// The limits that `plumbline resume` has a flag for.
const FLAGS: [(&str, &str); 4] = [
    ("max_iterations", "--max-iterations N"),
    ("token_budget", "--token-budget TOKENS"),
    ("cost_budget_usd", "--cost-budget USD"),
    ("deadline_s", "--deadline SECONDS"),
];

/// Appends the way to raise the limit to a pause by a limit.
pub(crate) fn append_limit_hint(run: &Run, job_id: Uuid, changes: &mut [Change]) {
    let pauses = changes.iter_mut().filter_map(|change| match change {
        Change::Exited(JobExit::Paused { reason }) => Some(reason),
        _ => None,
    });
    for reason in pauses {
        let Some((limit, sentence)) = run.limit_reached(clock::now()) else { continue };
        let flag = FLAGS.iter().find(|(key, _)| *key == limit && reason.starts_with(&sentence));
        if let Some((_, flag)) = flag {
            reason.push_str(&format!(
                "; raise it with `plumbline resume {job_id} {flag}` or resume_job('{job_id}', limits => '{{\"{limit}\": …}}')"
            ));
        }
    }
}
