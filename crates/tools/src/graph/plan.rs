//! A server's query plan of a statement: the operations as the server parsed it.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Maximum size of a plan; the longest query that the tool accepts has a plan of some ten thousand bytes.
const MAX_PLAN_BYTES: usize = 1 << 20;
/// Maximum operators in it.
const MAX_OPERATORS: usize = 1_000;

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its name with the database appended, e.g. `Expand(All)@neo4j`.
    pub name: String,
    /// Its details, in Cypher or a similar notation, e.g. `n.name = $autostring_0`; empty if the server gives none.
    pub details: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node<'a> {
    operator_type: String,
    #[serde(default)]
    arguments: Arguments,
    #[serde(borrow, default)]
    children: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Arguments {
    #[serde(rename = "Details", default)]
    details: String,
}

/// The operators of a plan. A plan is as deep as it is long, so each operator is parsed separately.
pub(super) fn operators(plan: &RawValue) -> Result<Vec<Operator>, String> {
    if plan.get().len() > MAX_PLAN_BYTES {
        return Err(format!("a plan of more than {} KiB", MAX_PLAN_BYTES >> 10));
    }
    let mut operators = Vec::new();
    let mut waiting = vec![plan];
    while let Some(next) = waiting.pop() {
        if operators.len() == MAX_OPERATORS {
            return Err(format!("a plan of more than {MAX_OPERATORS} operators"));
        }
        let node: Node<'_> =
            serde_json::from_str(next.get()).map_err(|error| format!("a plan that is none: {error}"))?;
        operators.push(Operator { name: node.operator_type, details: node.arguments.details });
        waiting.extend(node.children);
    }
    Ok(operators)
}
