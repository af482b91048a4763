//! Which objects and messages of the graph a row mentions.

use super::graph_error;
use super::relevance::Known;
use crate::graph::{End, GraphClient, Names};
use crate::tools::error::ToolError;
use crate::tools::hand_over::HeldRequirement;
use serde_json::{Value, json};

/// The names of a graph's objects and messages, read once for all requirements of a call.
pub(in crate::tools) struct GraphNames<'a> {
    client: &'a GraphClient,
    objects: Names,
    messages: Names,
}

/// What a row mentions, as far as the graph has it.
pub(in crate::tools) struct Mentions {
    /// Each mentioned object with the node it means, or null.
    pub(in crate::tools) objects: Value,
    /// Each mentioned message.
    pub(in crate::tools) messages: Value,
    /// In numbers.
    pub(in crate::tools) known: Known,
}

impl<'a> GraphNames<'a> {
    /// Reads them anew: a graph grows while a job runs.
    pub(in crate::tools) async fn load(client: &'a GraphClient) -> Result<Self, ToolError> {
        client.constrain().await.map_err(|error| graph_error(&error))?;
        let objects = client.names(End::Object).await.map_err(|error| graph_error(&error))?;
        let messages = client.names(End::Message).await.map_err(|error| graph_error(&error))?;
        Ok(Self { client, objects, messages })
    }

    /// What a row mentions.
    pub(in crate::tools) async fn of(&self, row: &HeldRequirement) -> Result<Mentions, ToolError> {
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
