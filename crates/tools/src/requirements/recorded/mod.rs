//! The requirements recorded by this job: listing, correcting, withdrawing, and references in deliverables.

pub(crate) mod list;
pub(crate) mod named;
pub(crate) mod update;
pub(crate) mod withdraw;

use crate::error::ToolError;
use crate::requirements::ids;
use crate::tool::ToolEnv;
use plumbline_engine::{RecordedRequirement, Requirement};

/// The requirement with this id if it may still be changed, or why not.
async fn pending(env: &ToolEnv<'_>, id: &str) -> Result<Requirement, ToolError> {
    let id = id.trim();
    let mut recorded = env.overlay.recorded().await?;
    recorded.retain(|known| ids::means(id, &known.requirement));
    // The text of a withdrawn one may have been recorded again.
    recorded.sort_by_key(RecordedRequirement::is_pending);
    match recorded.pop() {
        Some(known) if known.is_pending() => Ok(known.requirement),
        Some(known) if known.is_withdrawn() => {
            Err(ToolError::refused(format!("{id} is withdrawn already; record it anew if it holds after all")))
        }
        Some(known) => Err(ToolError::refused(format!(
            "{id} is {}: a validator has taken it, and only what is pending can be changed",
            known.status
        ))),
        None => Err(ToolError::refused(format!(
            "this job has recorded no requirement {id}; list_requirements gives their ids"
        ))),
    }
}

/// The page of a requirement, from its row.
fn page(requirement: &Requirement) -> Option<u64> {
    requirement.source_location.get("page").and_then(serde_json::Value::as_u64)
}
