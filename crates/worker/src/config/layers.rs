//! The layers of a job type's configuration: the files of its `$extends` chain, the environment, the job's own
//! `config`. Later layers win.

use super::{check, error::Problem, locate::Lines, merge::merge};
use serde_json::{Value, json};

/// One source of configuration.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    /// File name, or what it is.
    pub(super) name: String,
    /// The object it contributes, without `$extends`.
    pub(super) value: Value,
    /// Where its keys stand.
    pub(super) lines: Lines,
    /// Whether the operator wrote it: a file that did not come with the binary, or the environment.
    pub(super) is_operators: bool,
}

impl Layer {
    /// A layer that is no file.
    pub(super) fn unwritten(name: &str, value: Value) -> Self {
        Self { name: name.into(), value, lines: Lines::default(), is_operators: false }
    }

    /// The environment's.
    pub(super) fn environment(value: Value) -> Self {
        Self { is_operators: true, ..Self::unwritten("the environment", value) }
    }
}

/// A service that is `false` is none, as one that is `null`; and `postgres: true` says what holds anyway.
pub(super) fn with_switches(mut value: Value) -> Value {
    if let Some(connections) = value.get_mut("connections").and_then(Value::as_object_mut) {
        for key in ["neo4j", "embeddings", "web_search"] {
            if connections.get(key) == Some(&Value::Bool(false)) {
                connections.insert(key.to_owned(), Value::Null);
            }
        }
        if connections.get("postgres") == Some(&Value::Bool(true)) {
            connections.remove("postgres");
        }
    }
    value
}

fn merged<'a>(layers: impl Iterator<Item = &'a Layer>) -> Value {
    let mut merged = json!({});
    for layer in layers {
        merge(&mut merged, &layer.value);
    }
    merged
}

/// Layers in the order in which they are put on top of each other: `files`, then `over`.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    /// The files of the `$extends` chain, the most general first.
    pub(super) files: Vec<Layer>,
    /// What is no file: the environment, then the job's own `config`.
    pub(super) over: Vec<Layer>,
}

impl Layers {
    /// All layers, the lowest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.files.iter().chain(&self.over)
    }

    /// The layers that speak of this very job type: its own file, and what is no file.
    pub(super) fn iter_own(&self) -> impl Iterator<Item = &Layer> {
        self.files.last().into_iter().chain(&self.over)
    }

    /// Everything merged.
    pub(super) fn merged(&self) -> Value {
        merged(self.iter())
    }

    /// Everything merged, groups that were taken out put back.
    pub(super) fn refilled(&self) -> Value {
        let mut merged = self.merged();
        check::refill(&mut merged, &self.origin());
        merged
    }

    /// What would hold without the job's own `config`.
    pub(super) fn without_row(&self) -> Value {
        let over = self.over.iter().take(1).cloned().collect();
        Self { files: self.files.clone(), over }.refilled()
    }

    /// What the operator set.
    pub(super) fn bounds(&self) -> Value {
        merged(self.iter().filter(|layer| layer.is_operators))
    }

    /// What every job type begins with: the most general file, and the environment.
    pub(super) fn origin(&self) -> Value {
        merged(self.files.first().into_iter().chain(self.over.first()))
    }

    /// The problem of some values together, at the highest layer that sets one of them: whoever wrote that layer
    /// wrote last and can mend it. Keys that nobody set belong to the job type's own file.
    pub(super) fn blame(&self, keys: &[String], message: String) -> Problem {
        let set = |layer: &'_ Layer| {
            let found = keys.iter().find(|key| layer.value.pointer(&format!("/{}", key.replace('.', "/"))).is_some());
            found.map(|key| (layer.name.clone(), layer.lines.of(key)))
        };
        let culprit = self.iter().rev().find_map(set);
        let (name, line) = culprit
            .or_else(|| self.files.last().map(|layer| (layer.name.clone(), None)))
            .unwrap_or_else(|| ("configuration".into(), None));
        Problem::new(name, line, message)
    }
}
