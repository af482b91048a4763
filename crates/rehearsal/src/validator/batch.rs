//! What `next_requirement` gives, as far as rules need it.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

/// What the last answer says before its counts.
pub(super) const JUDGED: &str = "no pending requirement. Judged by this job:";

/// The id of a requirement itself, known by its indentation: what stands deeper is the id of another one that is like it.
static ID: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#"(?m)^ {6}"id": "([0-9a-f-]{36})""#));

/// One requirement.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Claimed {
    pub(super) id: String,
    #[serde(default)]
    pub(super) gobd_relevant: bool,
    #[serde(default)]
    pub(super) checks: Checks,
    #[serde(default)]
    pub(super) objects: Vec<Value>,
    #[serde(default)]
    pub(super) messages: Vec<Value>,
    /// Whether it could be read whole.
    #[serde(skip)]
    pub(super) unread: bool,
}

/// What was found of it.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Checks {
    #[serde(default)]
    pub(super) faults: Vec<String>,
}

#[derive(Deserialize)]
struct Batch {
    requirements: Vec<Claimed>,
}

/// The requirements of a claim. A result that was too large for the conversation is cut; then the first id is all that
/// can be relied on.
pub(super) fn read(result: &str) -> Vec<Claimed> {
    if let Ok(batch) = serde_json::from_str::<Batch>(result) {
        return batch.requirements;
    }
    let id = ID.captures(result).map(|found| found[1].to_owned());
    let unread = |id| Claimed {
        id,
        gobd_relevant: false,
        checks: Checks::default(),
        objects: Vec::new(),
        messages: Vec::new(),
        unread: true,
    };
    id.map(unread).into_iter().collect()
}

/// What mentioned names lead to: the ids of the nodes they mean, or, without a graph, the names themselves.
pub(super) fn targets(mentioned: &[Value]) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    for target in mentioned.iter().filter_map(|entry| entry.as_str().or_else(|| entry["id"].as_str())) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::{read, targets};
    use serde_json::json;

    #[test]
    fn a_claim_is_read_whole_or_by_its_first_id() {
        let id = "01990000-0000-7000-8000-000000000001";
        let checks = json!({"faults": ["it has no name"], "similar": [{"id": id.replace('1', "2")}]});
        let text = json!({"requirements": [{"id": id, "checks": checks, "objects": ["Invoice"]}]});
        let text = serde_json::to_string_pretty(&text).unwrap();
        let whole = read(&text);
        assert_eq!((whole[0].id.as_str(), whole[0].checks.faults.len(), whole[0].unread), (id, 1, false));
        let cut = read(text.split("objects").next().unwrap());
        assert!(cut.len() == 1 && cut[0].unread, "{cut:?}");
        assert!(read("no pending requirement. Judged by this job: 1 integrated").is_empty());
    }

    #[test]
    fn names_without_a_node_lead_nowhere() {
        let with_graph = [
            json!({"mentioned": "a", "id": "BO-1"}),
            json!({"mentioned": "b", "id": null}),
            json!({"mentioned": "c", "id": "BO-1"}),
        ];
        assert_eq!(targets(&with_graph), ["BO-1"]);
        assert_eq!(targets(&[json!("Invoice")]), ["Invoice"]);
    }
}
