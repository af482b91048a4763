//! One requirement, one transaction: its node, its `rid`, its relations.
//!
//! Idempotent: the node is found by the id of its row, so a second run gives the same node and the same `rid`.
//! New numbers come from a counter node; if another writer has taken a number, the unique constraint fails, the
//! counter catches up and the transaction is retried.

use super::client::GraphClient;
use super::error::GraphError;
use super::statement::{Access, Rows, Statement};
use super::transaction::Transaction;
use crate::graph::schema::{End, RelationKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Maximum retries with the next free number after a taken one.
const MAX_NUMBERS_TAKEN: u32 = 5;

const KNOWN: &str = "MATCH (r:Requirement {sourceRequirementId: $id}) RETURN r.rid AS rid";
const LOCK_COUNTER: &str = "MERGE (c:PlumblineCounter {name: 'rid'}) ON CREATE SET c.value = 0 SET c.takenFor = $id";
/// The first write acquires the counter's lock, so that later reads see what no other transaction can change.
const COUNT: &str = "MERGE (c:PlumblineCounter {name: 'rid'}) ON CREATE SET c.value = 0 SET c.takenFor = $id \
                     WITH c SET c.value = c.value + 1 RETURN c.value AS value";
const MERGE_NODE: &str = "MERGE (r:Requirement {sourceRequirementId: $id}) \
                          ON CREATE SET r.createdAt = $now SET r.rid = coalesce(r.rid, $rid) \
                          SET r += $properties SET r.updatedAt = $now RETURN r.rid AS rid";
const HIGHEST: &str = "MATCH (r:Requirement) WHERE r.rid STARTS WITH 'R-' \
                       RETURN max(toInteger(substring(r.rid, 2))) AS highest";
const RAISE_COUNTER: &str = "MATCH (c:PlumblineCounter {name: 'rid'}) WHERE c.value < $highest SET c.value = $highest";

/// A requirement as a node.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementNode {
    /// Its row; the node's key.
    pub source_requirement_id: Uuid,
    /// Its properties, besides the key, `rid`, `createdAt` and `updatedAt`. Nulls are omitted; a value that a graph
    /// cannot store, an object or a mixed list, becomes JSON text.
    pub properties: Map<String, Value>,
    /// The time of integration, as text.
    pub now: String,
}

/// A relation from the requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its type and target kind.
    pub kind: RelationKind,
    /// The id of the target node.
    pub target: String,
    /// Its properties.
    pub properties: Map<String, Value>,
}

/// The result of integration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrated {
    /// The node's number, e.g. `R-0042`.
    pub rid: String,
    /// Whether the node already existed.
    pub existed: bool,
}

impl GraphClient {
    /// Writes a requirement with its relations atomically.
    ///
    /// # Errors
    /// [`GraphError`]. If the answer to the commit is lost, running it again gives the same result.
    pub async fn integrate(&self, node: &RequirementNode, links: &[Link]) -> Result<Integrated, GraphError> {
        self.constrain().await?;
        let mut taken = 0;
        loop {
            match self.integrate_once(node, links).await {
                Err(GraphError::Constraint { message }) if taken < MAX_NUMBERS_TAKEN => {
                    tracing::debug!(requirement.id = %node.source_requirement_id, message, "requirement number is \
                                                                                            already in use");
                    taken += 1;
                    self.catch_up().await?;
                }
                done => return done,
            }
        }
    }

    async fn integrate_once(&self, node: &RequirementNode, links: &[Link]) -> Result<Integrated, GraphError> {
        let id = node.source_requirement_id.to_string();
        let (transaction, known) = self.begin(&Statement::new(KNOWN, json!({"id": id}))).await?;
        match write(&transaction, &id, &known, node, links).await {
            Ok(integrated) => transaction.commit().await.map(|()| integrated),
            Err(error) => {
                transaction.rollback().await;
                Err(error)
            }
        }
    }

    /// Raises the counter above the highest number in use, by value and not by text: `R-10000` is above `R-9999`.
    async fn catch_up(&self) -> Result<(), GraphError> {
        let lock = Statement::new(LOCK_COUNTER, json!({"id": "catch up"}));
        self.run(&lock, Access::Write).await?;
        let rows = self.run(&Statement::new(HIGHEST, json!({})), Access::Read).await?;
        let highest = rows.first().and_then(Value::as_i64).unwrap_or_default();
        self.run(&Statement::new(RAISE_COUNTER, json!({"highest": highest})), Access::Write).await.map(|_| ())
    }
}

async fn write(
    transaction: &Transaction<'_>,
    id: &str,
    known: &Rows,
    node: &RequirementNode,
    links: &[Link],
) -> Result<Integrated, GraphError> {
    let existed = !known.values.is_empty();
    // A node of others may have no number yet.
    let rid = match known.first().and_then(Value::as_str) {
        Some(rid) => rid.to_owned(),
        None => next_rid(transaction, id).await?,
    };
    let properties = storable(&node.properties);
    let parameters = json!({"id": id, "rid": rid, "now": node.now, "properties": properties});
    let merged = transaction.run(&Statement::new(MERGE_NODE, parameters)).await?;
    // Another transaction may have created the node in between; its number is used. Without this row there is no node.
    let rid = merged.first().and_then(Value::as_str).map(str::to_owned);
    let rid = rid.ok_or_else(|| transaction.malformed("MERGE of a requirement returned no number"))?;
    let mut by_kind: BTreeMap<RelationKind, Vec<&Link>> = BTreeMap::new();
    for link in links {
        by_kind.entry(link.kind).or_default().push(link);
    }
    for (kind, links) in by_kind {
        let written = transaction.run(&links_statement(id, kind, &links)).await?;
        let is_written = |link: &&Link| written.values.iter().any(|row| row.first() == Some(&json!(link.target)));
        if let Some(missing) = links.iter().find(|link| !is_written(link)) {
            return Err(GraphError::Refused {
                code: "Plumbline.TargetMissing".into(),
                message: format!("there is no {} {} any more", kind.end.label(), missing.target),
            });
        }
    }
    Ok(Integrated { rid, existed })
}

async fn next_rid(transaction: &Transaction<'_>, id: &str) -> Result<String, GraphError> {
    let counted = transaction.run(&Statement::new(COUNT, json!({"id": id}))).await?;
    let value = counted.first().and_then(Value::as_i64).ok_or_else(|| GraphError::Refused {
        code: "Plumbline.NoCounter".into(),
        message: "the counter of requirement numbers (:PlumblineCounter {name: 'rid'}) holds no integer".into(),
    })?;
    Ok(format!("R-{value:04}"))
}

/// All relations of one kind in one statement, which returns their targets. Names of types, labels and keys come from
/// the vocabulary; everything else is a parameter. A requirement is never related to itself.
fn links_statement(id: &str, kind: RelationKind, links: &[&Link]) -> Statement {
    let (name, label, key) = (kind.name, kind.end.label(), kind.end.id());
    let not_itself = if kind.end == End::Requirement { " AND t.rid <> r.rid" } else { "" };
    let text = format!(
        "UNWIND $links AS link MATCH (r:Requirement {{sourceRequirementId: $id}}), (t:{label}) \
         WHERE t.{key} = link.target{not_itself} \
         MERGE (r)-[x:{name}]->(t) SET x += link.properties RETURN link.target AS target"
    );
    let given = |link: &&Link| json!({"target": link.target, "properties": storable(&link.properties)});
    Statement::new(text, json!({"id": id, "links": links.iter().map(given).collect::<Vec<_>>()}))
}

/// Properties in a form that a graph can store.
pub(super) fn storable(properties: &Map<String, Value>) -> Map<String, Value> {
    let plain = |value: &Value| matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_));
    let strings = |items: &[Value]| items.iter().all(Value::is_string);
    properties
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| {
            let value = match value {
                Value::Array(items) if strings(items) => value.clone(),
                value if plain(value) => value.clone(),
                value => Value::String(value.to_string()),
            };
            (key.clone(), value)
        })
        .collect()
}
