//! The rules of a graph of requirements, checked only on added data: an old error elsewhere must not block a correct
//! requirement.
//!
//! The arguments' schema ensures that labels and relation types are known ones (A1, B1); the constraints and the
//! counter ensure that ids exist and are unique (A2, A3). The remaining rules: a relation leads to a node of its kind
//! that exists (B2) and not back to the requirement (B3). Violations of these are errors. The warnings C1 and C3 to C5
//! are reported with the judgement; C2 concerns messages, and none is added.

use crate::error::ToolError;
use crate::graph::{End, GraphClient, Link, Names, PROPERTIES, RELATIONS, RelationKind, relation};
use crate::requirements::checks::{fulfilment, graph_error};
use crate::tool::ToolEnv;
use plumbline_engine::HeldRequirement;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A relation as the model asks for it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[schemars(extend("enum" = RELATIONS.map(|kind| kind.name)))]
    pub(crate) r#type: String,
    #[schemars(length(min = 1, max = 500))]
    pub(crate) target: String,
    #[serde(default)]
    pub(crate) properties: Map<String, Value>,
}

/// Finds the target nodes of the relations. Without a graph the names are kept unresolved.
pub(crate) async fn resolve(
    env: &ToolEnv<'_>,
    graph: Option<&GraphClient>,
    wanted: Vec<Wanted>,
) -> Result<Vec<Link>, ToolError> {
    let mut links: Vec<Link> = Vec::new();
    for (place, Wanted { r#type, target, properties }) in wanted.into_iter().enumerate() {
        let kind = relation(&r#type)
            .ok_or_else(|| ToolError::refused(format!("relations[{place}]: there is no relation {type}")))?;
        let at = |error: ToolError| error.at(format_args!("nothing was integrated; relations[{place}]"));
        known(&properties).map_err(at)?;
        let target = match graph {
            None => target,
            Some(graph) => {
                let names = env.names.of(graph, kind.end).await?;
                target_id(graph, kind, &names, &target).await.map_err(at)?
            }
        };
        // The same relation twice is one, as with MERGE; the later properties win.
        links.retain(|link| link.kind != kind || link.target != target);
        links.push(Link { kind, target, properties });
    }
    Ok(links)
}

/// Keys come from a model, and through it from a document: only those of the vocabulary may reach a graph.
fn known(properties: &Map<String, Value>) -> Result<(), ToolError> {
    match properties.keys().find(|key| !PROPERTIES.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let key: String = key.chars().take(40).collect();
            let known = PROPERTIES.join(", ");
            Err(ToolError::refused(format!("a relation has no property {key:?}; the properties are {known}")))
        }
    }
}

async fn target_id(graph: &GraphClient, kind: RelationKind, names: &Names, wanted: &str) -> Result<String, ToolError> {
    if let Some(found) = graph.find(kind.end, names, wanted).await.map_err(|error| graph_error(&error))? {
        return Ok(found.id);
    }
    let label = kind.end.label();
    let near = names.nearest(wanted, 3);
    Err(ToolError::refused(match near.is_empty() {
        true => format!("the graph has no {label} named `{wanted}`, nor any other; leave the relation out"),
        false => format!("the graph has no {label} named `{wanted}`; the nearest are {}", near.join(", ")),
    }))
}

fn has(links: &[Link], prefix: &str) -> bool {
    links.iter().any(|link| link.kind.name.starts_with(prefix))
}

/// C1, C3, C4, C5.
pub(crate) fn warnings(row: &HeldRequirement, links: &[Link], stated: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if links.iter().all(|link| link.kind.end == End::Requirement) {
        warnings.push("C1: it is related to no object and no message".to_string());
    }
    if row.gobd_relevant && !has(links, "IMPACTS_") {
        warnings.push("C3: it bears on book-keeping and impacts nothing".to_string());
    }
    if !has(links, "FULFILLED_BY_") && !has(links, "NOT_FULFILLED_BY_") {
        warnings.push("C4: it is neither fulfilled nor marked as a gap".to_string());
    }
    let derived = fulfilment::status(links);
    if derived != stated {
        warnings.push(format!("C5: it is stated to be {stated}, its relations say {derived}"));
    }
    warnings
}

/// The relations in `validation_result`.
pub(crate) fn report(links: &[Link]) -> Vec<Value> {
    links.iter().map(|link| json!({"type": link.kind.name, "target": link.target})).collect()
}
