//! The parts of `next_requirement`'s result that the rules need.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The text of the last answer before its counts.
pub(super) const JUDGED: &str = "no pending requirement. Judged by this job:";

/// The text if every row has been given and some are not judged.
pub(super) const ALL_GIVEN: &str = "every requirement has been given";

/// One requirement.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Claimed {
    pub(super) id: String,
    #[serde(default)]
    pub(super) gobd: bool,
    #[serde(default)]
    pub(super) faults: Vec<String>,
    #[serde(default)]
    objects: Value,
    #[serde(default)]
    messages: Value,
}

#[derive(Deserialize)]
struct Batch {
    requirements: Vec<Claimed>,
}

/// The requirements of a claim; none if the result is not a claim, or was truncated.
pub(super) fn read(result: &str) -> Vec<Claimed> {
    serde_json::from_str::<Batch>(result).map(|batch| batch.requirements).unwrap_or_default()
}

impl Claimed {
    /// Its mentions, each with the suffix of its relations: the ids of the named nodes, or, without a graph, the names
    /// themselves.
    pub(super) fn targets(&self) -> Vec<(&'static str, String)> {
        let of = |suffix, mentioned| targets(mentioned).into_iter().map(move |target| (suffix, target));
        of("OBJECT", &self.objects).chain(of("MESSAGE", &self.messages)).collect()
    }
}

fn targets(mentioned: &Value) -> Vec<String> {
    let named = |nodes: &Map<String, Value>| nodes.values().filter_map(node).collect::<Vec<_>>();
    let mut targets: Vec<String> = Vec::new();
    let all = match mentioned {
        Value::Object(nodes) => named(nodes),
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    for target in all {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

/// The id of a node, which its name and likeness may follow.
fn node(described: &Value) -> Option<String> {
    described.as_str()?.split(" '").next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde_json::json;

    #[test]
    fn a_claim_says_what_its_requirements_mention() {
        let with_graph = json!({"a": "BO-1", "b": null, "c": "BO-1 'A' 0.8"});
        let text = json!({"requirements": [
            {"id": "r1", "faults": ["it has no name"], "objects": with_graph, "messages": {"m": "MSG-1"}},
            {"id": "r2", "objects": ["Invoice"]},
        ]});
        let claimed = read(&text.to_string());
        assert_eq!((claimed[0].id.as_str(), claimed[0].faults.len()), ("r1", 1));
        assert_eq!(claimed[0].targets(), [("OBJECT", "BO-1".to_owned()), ("MESSAGE", "MSG-1".to_owned())]);
        assert_eq!(claimed[1].targets(), [("OBJECT", "Invoice".to_owned())]);
        assert!(read("no pending requirement. Judged by this job: 1 integrated").is_empty());
    }
}
