//! Resolves a name in a document to an object or message of the graph.
//!
//! Documents and graphs spell names differently, so a name without an exact match is compared with all. Each call reads
//! the names again, because a graph grows while a job runs.

use super::client::GraphClient;
use super::error::GraphError;
use super::statement::{Access, Statement};
use crate::graph::schema::End;
use serde_json::{Value, json};

/// From this similarity on, a name is considered a match.
const ALIKE: f64 = 0.6;
/// Maximum names that are compared; beyond them only exact matches are queried.
const MAX_NAMES: usize = 5_000;

/// Nodes of one label.
#[derive(Clone, Debug, Default)]
pub struct Names {
    nodes: Vec<Node>,
    /// Whether the graph has more than were read.
    more: bool,
}

/// A node prepared for comparison with texts and names: prepared once, because a turn compares many.
#[derive(Clone, Debug)]
struct Node {
    id: String,
    name: String,
    lower_id: String,
    lower_name: String,
    /// The name's words with a space around each; empty for a name without words.
    words: String,
}

impl Node {
    fn new(id: &str, name: &str) -> Self {
        let words = words(name);
        Self {
            id: id.to_string(),
            name: name.to_string(),
            lower_id: id.to_lowercase(),
            lower_name: name.to_lowercase(),
            words: if words.is_empty() { words } else { format!(" {words} ") },
        }
    }
}

/// The node that a name refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its `boid`, `mid` or `rid`.
    pub id: String,
    /// Its name in the graph.
    pub name: String,
    /// 1 for the same name or id, less for a similar one.
    pub likeness: f64,
}

impl Names {
    /// The node with this id or name, ignoring case; otherwise the one with the most similar name, if similar enough.
    fn find(&self, wanted: &str, exactly: bool) -> Option<Found> {
        let wanted = wanted.trim().to_lowercase();
        let likeness = |node: &Node| match node.lower_id == wanted || node.lower_name == wanted {
            true => 1.0,
            false if exactly => 0.0,
            false => strsim::normalized_levenshtein(&node.lower_name, &wanted),
        };
        let scored = self.nodes.iter().map(|node| (likeness(node), node));
        // The first of equals, so that the answer is deterministic.
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let least = if exactly { 1.0 } else { ALIKE };
        best.filter(|(likeness, _)| *likeness >= least).map(|(likeness, node)| Found {
            id: node.id.clone(),
            name: node.name.clone(),
            likeness,
        })
    }

    /// Whether the graph has none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether a text contains one of the names, as whole words in any case.
    pub fn occur_in(&self, text: &str) -> bool {
        self.occurring_in(text).next().is_some()
    }

    /// The names that a text contains, as whole words in any case.
    pub fn occurring_in(&self, text: &str) -> impl Iterator<Item = &str> {
        let text = format!(" {} ", words(text));
        let occurs = move |node: &&Node| !node.words.is_empty() && text.contains(&node.words);
        self.nodes.iter().filter(occurs).map(|node| node.name.as_str())
    }

    /// The names most similar to one that was not found, for a message.
    pub fn nearest(&self, wanted: &str, most: usize) -> Vec<&str> {
        let wanted = wanted.trim().to_lowercase();
        let mut scored: Vec<(f64, &str)> = self
            .nodes
            .iter()
            .map(|node| (strsim::normalized_levenshtein(&node.lower_name, &wanted), node.name.as_str()))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(most).map(|(_, name)| name).collect()
    }
}

impl GraphClient {
    /// The nodes of a label, by id; at most a few thousand.
    ///
    /// # Errors
    /// [`GraphError`].
    pub async fn names(&self, end: End) -> Result<Names, GraphError> {
        let (label, id) = (end.label(), end.id());
        let text = format!(
            "MATCH (n:{label}) WHERE n.{id} IS NOT NULL RETURN n.{id} AS id, n.name AS name ORDER BY id LIMIT {}",
            MAX_NAMES + 1
        );
        let rows = self.run(&Statement::new(text, json!({})), Access::Read).await?;
        let mut nodes: Vec<Node> = rows.values.iter().filter_map(|row| node(row)).collect();
        let more = nodes.len() > MAX_NAMES;
        nodes.truncate(MAX_NAMES);
        Ok(Names { nodes, more })
    }

    /// The node that a name refers to. Requirements match only by their exact `rid` or name: their names are sentences.
    ///
    /// # Errors
    /// [`GraphError`].
    pub async fn find(&self, end: End, names: &Names, wanted: &str) -> Result<Option<Found>, GraphError> {
        if let Some(found) = names.find(wanted, true) {
            return Ok(Some(found));
        }
        if names.more {
            let (label, id) = (end.label(), end.id());
            let text = format!(
                "MATCH (n:{label}) WHERE n.{id} = $wanted OR toLower(n.name) = toLower($wanted) \
                 RETURN n.{id} AS id, n.name AS name ORDER BY id LIMIT 1"
            );
            let rows = self.run(&Statement::new(text, json!({"wanted": wanted.trim()})), Access::Read).await?;
            if let Some(Node { id, name, .. }) = rows.values.first().and_then(|row| node(row)) {
                return Ok(Some(Found { id, name, likeness: 1.0 }));
            }
        }
        Ok(if end == End::Requirement { None } else { names.find(wanted, false) })
    }
}

/// The words of a text in lower case, separated by single spaces.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn node(row: &[Value]) -> Option<Node> {
    Some(Node::new(row.first()?.as_str()?, row.get(1).and_then(Value::as_str).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let nodes = [("BO-1", "Invoice"), ("BO-2", "Invoice archive"), ("BO-3", "Customer master data")];
        let nodes = nodes.map(|(id, name)| Node::new(id, name)).into();
        Names { nodes, more: false }
    }

    #[test]
    fn a_name_occurs_in_a_text_as_whole_words() {
        assert!(names().occur_in("Every (INVOICE) is kept."));
        assert!(names().occur_in("The customer\nmaster-data are checked."));
        assert!(!names().occur_in("Invoicing is done monthly, by customers."));
    }

    #[test]
    fn exact_names_and_ids_win_and_like_ones_are_found() {
        for (wanted, id) in
            [("invoice", "BO-1"), ("BO-2", "BO-2"), ("Invoices", "BO-1"), ("customer masterdata", "BO-3")]
        {
            assert_eq!(names().find(wanted, false).map(|found| found.id).as_deref(), Some(id), "{wanted}");
        }
        assert_eq!(names().find("Invoices", true), None);
        assert_eq!(names().find("Warehouse", false), None);
        assert_eq!(names().nearest("Invoicing", 1), ["Invoice"]);
    }
}
