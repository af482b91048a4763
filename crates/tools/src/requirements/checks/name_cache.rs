//! Which objects and messages of the graph a row mentions.

use super::graph_error;
use super::relevance::Known;
use crate::error::ToolError;
use crate::graph::{End, GraphClient, Names};
use parking_lot::Mutex;
use plumbline_engine::HeldRequirement;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names of the graph's nodes as seen by the calls of one turn: read on first use, and again in the next turn,
/// because a graph grows while a job runs.
#[derive(Debug, Default)]
pub(crate) struct NameCache(Mutex<BTreeMap<End, Arc<Names>>>);

impl NameCache {
    /// The nodes of a label.
    pub(crate) async fn of(&self, client: &GraphClient, end: End) -> Result<Arc<Names>, ToolError> {
        let known = self.0.lock().get(&end).map(Arc::clone);
        if let Some(names) = known {
            return Ok(names);
        }
        let names = Arc::new(client.names(end).await.map_err(|error| graph_error(&error))?);
        self.0.lock().insert(end, Arc::clone(&names));
        Ok(names)
    }

    /// Invalidates these labels after nodes were written: their names are read again.
    pub(crate) fn forget(&self, ends: &[End]) {
        self.0.lock().retain(|end, _| !ends.contains(end));
    }
}

/// The names of a graph's objects and messages.
pub(crate) struct GraphNames<'a> {
    client: &'a GraphClient,
    objects: Arc<Names>,
    messages: Arc<Names>,
}

/// The names that a row mentions, with their nodes in the graph.
pub(crate) struct Mentions {
    /// Each mentioned object with the node it means, or null.
    pub(crate) objects: Value,
    /// Each mentioned message.
    pub(crate) messages: Value,
    /// The counts.
    pub(crate) known: Known,
}

impl<'a> GraphNames<'a> {
    /// The names for this turn.
    pub(crate) async fn load(names: &NameCache, client: &'a GraphClient) -> Result<Self, ToolError> {
        client.constrain().await.map_err(|error| graph_error(&error))?;
        let objects = names.of(client, End::Object).await?;
        let messages = names.of(client, End::Message).await?;
        Ok(Self { client, objects, messages })
    }

    /// The objects and the messages whose names a text contains.
    pub(crate) fn occurring_in(&self, text: &str) -> (Vec<String>, Vec<String>) {
        let names = |names: &Names| names.occurring_in(text).map(str::to_owned).collect();
        (names(&self.objects), names(&self.messages))
    }

    /// Whether the graph has no objects and no messages: then every requirement would be irrelevant to it.
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.messages.is_empty()
    }

    /// The mentions of a row.
    pub(crate) async fn of(&self, row: &HeldRequirement) -> Result<Mentions, ToolError> {
        let objects = self.matches(End::Object, &row.mentioned_objects).await?;
        let messages = self.matches(End::Message, &row.mentioned_messages).await?;
        let both = || objects.iter().chain(&messages);
        let known = Known {
            mentioned: both().count(),
            found: both().filter(|mention| !mention["id"].is_null()).count(),
            speaks_of_it: self.objects.occur_in(&row.text) || self.messages.occur_in(&row.text),
        };
        Ok(Mentions { objects: Value::Array(objects), messages: Value::Array(messages), known })
    }

    async fn matches(&self, end: End, mentioned: &Value) -> Result<Vec<Value>, ToolError> {
        let names = if end == End::Message { &self.messages } else { &self.objects };
        let mut matches = Vec::new();
        for wanted in mentioned.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let found = self.client.find(end, names, wanted).await.map_err(|error| graph_error(&error))?;
            matches.push(match found {
                Some(found) => json!({
                    "mentioned": wanted, "id": found.id, "name": found.name,
                    "similarity": (found.likeness * 100.0).round() / 100.0,
                }),
                None => json!({"mentioned": wanted, "id": null}),
            });
        }
        Ok(matches)
    }
}
