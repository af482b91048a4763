//! From a job's recording to the items compared with the gold list.

use plumbline_replay::Recording;
use plumbline_tools::evaluation::{Quote, Run};
use serde_json::Value;

/// The run of a recording: its final requirements.
pub(super) fn run(name: String, recording: &Recording) -> Run {
    let steps = &recording.job.steps;
    let mut kept: Vec<Value> = Vec::new();
    for step in steps {
        kept.extend(step.requirements.iter().cloned());
        step.put_right.iter().for_each(|change| put_right(&mut kept, change));
    }
    let totals = steps.iter().rev().find_map(|step| step.state.as_ref()?.get("totals"));
    let total = |key: &str| totals.and_then(|totals| totals[key].as_i64()).unwrap_or_default();
    Run {
        name,
        requirements: kept.iter().map(quotes).collect(),
        tokens: total("tokens"),
        cost_usd: total("cost_microusd") as f64 / 1e6,
    }
}

/// Applies a later change of a requirement.
fn put_right(kept: &mut Vec<Value>, change: &Value) {
    let Some(at) = kept.iter().position(|one| one["candidate_id"] == change["candidate_id"]) else { return };
    if change["kind"] == "withdrawn" {
        kept.remove(at);
        return;
    }
    for (key, value) in change["fields"].as_object().into_iter().flatten() {
        kept[at][key] = value.clone();
    }
}

/// The verified quotes of a requirement.
fn quotes(requirement: &Value) -> Vec<Quote> {
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let citations = requirement["citations"].as_array().into_iter().flatten();
    let verified = citations.filter(|citation| citation["verified"] == true);
    let quote = |citation: &Value| Quote {
        document: text(&citation["source"]),
        page: number(&citation["page"]),
        passage: number(&citation["passage"]),
        text: text(&citation["quote"]),
    };
    verified.map(quote).collect()
}
