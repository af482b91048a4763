//! The layers of a job type's configuration, lowest first: `defaults`, the environment, the files of the type and of
//! the types that it extends, the environment's connections, the job's own `config`. Later layers override earlier
//! ones, so the environment only fills what a job type does not set.

pub(crate) mod env;
pub(crate) mod files;
pub(crate) mod locate;
pub(crate) mod merge;
pub(crate) mod origin;
pub(crate) mod parse;
pub(crate) mod row_prices;
pub(crate) mod yaml;

use super::{ModelEnv, Profiles, error::Problem};
use crate::layers::{
    locate::{Lines, above},
    merge::{merge, merge_onto},
};
use serde_json::{Map, Value, json};

/// With more keys without a value, a file extends nothing.
const MOST_MISSING: usize = 3;

/// One source of configuration.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// File name, or a description.
    pub(crate) name: String,
    /// The object it contributes, without `$extends`.
    pub(crate) value: Value,
    /// The lines of its keys.
    pub(crate) lines: Lines,
    /// Whether the operator wrote it: a file that is not built in, or the environment.
    pub(crate) is_operators: bool,
    /// Its kind.
    pub(crate) kind: Kind,
}

/// The kind of a layer, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `defaults`.
    Defaults,
    /// The known properties of the model and its provider.
    Profile,
    /// Values filled by the environment.
    Environment,
    /// The file of a job type.
    Type,
    /// The environment's connections, which override the files.
    Connections,
    /// The prices of the models that a job's row chooses.
    RowPrices,
    /// A job's own `config`.
    Row,
}

impl Layer {
    /// A layer without a file.
    pub(crate) fn synthetic(name: &str, value: Value, kind: Kind) -> Self {
        Self { name: name.into(), value, lines: Lines::default(), is_operators: kind != Kind::Row, kind }
    }

    /// A layer derived from a file that has its keys elsewhere. The operator did not set it, so it is not a bound.
    pub(crate) fn synthetic_file(name: &str, value: Value, kind: Kind) -> Self {
        Self { is_operators: false, ..Self::synthetic(name, value, kind) }
    }

    /// The place of a key in it, for a person.
    fn place_of(&self, path: &str) -> String {
        match (self.kind, self.lines.of(path)) {
            (Kind::Environment | Kind::Connections, _) => self.named_for(path),
            (Kind::Defaults | Kind::Type, Some(line)) if !self.is_operators => {
                // The user's folder has no such file.
                format!("built in ({}:{line})", self.name.trim_start_matches("configs/"))
            }
            (_, Some(line)) => format!("{}:{line}", self.name),
            (_, None) => self.name.clone(),
        }
    }

    /// Its name; of the environment, with the variable that sets a key.
    pub(crate) fn named_for(&self, path: &str) -> String {
        match self.kind {
            Kind::Environment | Kind::Connections => format!("{} ({})", self.name, env::variable_of(path)),
            _ => self.name.clone(),
        }
    }

    /// The same layer, with each value replaced by its place.
    fn of_places(&self) -> Self {
        Self { value: places(self, &self.value, ""), ..self.clone() }
    }
}

fn places(layer: &Layer, value: &Value, path: &str) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Object(map) => {
            let below = |(key, value): (&String, &Value)| {
                (key.clone(), places(layer, value, &crate::layers::locate::child(path, key)))
            };
            Value::Object(map.iter().map(below).collect())
        }
        _ => Value::String(layer.place_of(path)),
    }
}

/// A service that is `false` is absent, like one that is `null`; `postgres: true` has no effect.
pub(crate) fn with_switches(mut value: Value) -> Value {
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

/// The sections filled by the environment.
const FILLED: [&str; 2] = ["llm", "limits"];

/// Fills values that the files do not set: a `null` in a type's file removes the value of another file, and leaves the
/// key unset.
fn fill(merged: &mut Value, environment: &Value) {
    for section in FILLED {
        let Some(map) = merged.get_mut(section).and_then(Value::as_object_mut) else { continue };
        for (key, value) in environment[section].as_object().into_iter().flatten() {
            map.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Layers in merge order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(Vec<Layer>);

impl Layers {
    /// The files of an `$extends` chain, most general first, with the two layers of the environment in their places.
    pub(crate) fn new(mut files: Vec<Layer>, env: &ModelEnv) -> Self {
        let after_defaults = usize::from(files.first().is_some_and(|file| file.kind == Kind::Defaults));
        let environment = |value, kind| Layer::synthetic("the environment", value, kind);
        files.insert(after_defaults, environment(env.layer(), Kind::Environment));
        files.extend(env.connections_layer().map(|value| environment(value, Kind::Connections)));
        Self(files)
    }

    /// With a job's own `config` as the top layer.
    pub(crate) fn with_row(mut self, row: Layer) -> Self {
        self.0.push(row);
        self
    }

    /// With the prices of the models that the row chooses, in place of those without the row.
    pub(crate) fn with_row_prices(mut self, below: &Value, profiles: &Profiles) -> Self {
        let prices = row_prices::layer(below, &self.merged(), profiles);
        let row = self.0.iter().position(|layer| layer.kind == Kind::Row).unwrap_or(self.0.len());
        self.0.splice(row..row, prices);
        self
    }

    /// With the known properties of the model and its provider, above `defaults` and below everything else.
    pub(crate) fn with_profile(mut self, profiles: &Profiles) -> Self {
        // Profiles are the operator's; the model may be chosen by the row.
        let (merged, below) = (self.merged(), self.without_row());
        let above = self.0.iter().position(|layer| layer.kind == Kind::Defaults).map_or(0, |at| at + 1);
        let layer = profiles.layer(&merged, &below, &self.defaults());
        self.0.insert(above, layer);
        self
    }

    /// The values of `defaults`.
    pub(crate) fn defaults(&self) -> Value {
        self.iter().find(|layer| layer.kind == Kind::Defaults).map_or(Value::Null, |layer| layer.value.clone())
    }

    /// All layers, lowest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.0.iter()
    }

    /// The layers of exactly this job type: its own file, and the job's row.
    pub(crate) fn iter_own(&self) -> impl Iterator<Item = &Layer> {
        let file = self.iter().rev().find(|layer| layer.kind == Kind::Type);
        file.into_iter().chain(self.iter().filter(|layer| layer.kind == Kind::Row))
    }

    /// All layers merged.
    pub(crate) fn merged(&self) -> Value {
        self.merged_if(|_| true)
    }

    /// The layers without the job's own `config`.
    pub(crate) fn without_row(&self) -> Value {
        self.merged_if(|layer| layer.kind != Kind::Row)
    }

    /// The values set by the operator.
    pub(crate) fn bounds(&self) -> Value {
        self.merged_if(|layer| layer.is_operators)
    }

    /// The selected layers merged.
    fn merged_if(&self, counts: impl Fn(&Layer) -> bool) -> Value {
        let (mut merged, origin, environment) = (json!({}), self.origin(&counts), self.environment(&counts));
        let (files, over): (Vec<&Layer>, Vec<&Layer>) =
            self.iter().filter(|layer| counts(layer)).partition(|layer| layer.kind <= Kind::Type);
        files.iter().for_each(|layer| merge_onto(&mut merged, &layer.value, &origin));
        fill(&mut merged, environment);
        over.iter().for_each(|layer| merge_onto(&mut merged, &layer.value, &origin));
        merged
    }

    /// The values filled by the environment, if that is selected.
    fn environment(&self, counts: impl Fn(&Layer) -> bool) -> &Value {
        let found = self.iter().find(|layer| layer.kind == Kind::Environment && counts(layer));
        found.map_or(&Value::Null, |layer| &layer.value)
    }

    /// The common base of every job type, to which a `null` resets a section: the most general file, and the
    /// environment; of these, the selected layers.
    fn origin(&self, counts: impl Fn(&Layer) -> bool) -> Value {
        let environment = self.environment(&counts);
        let first = self.iter().find(|layer| matches!(layer.kind, Kind::Defaults | Kind::Type));
        let connections = self.iter().filter(|layer| layer.kind == Kind::Connections);
        let mut origin = json!({});
        for layer in first.into_iter().chain(connections).filter(|layer| counts(layer)) {
            merge(&mut origin, &layer.value);
        }
        // Over the first file if that is `defaults`; a type's own file overrides the environment.
        match first.is_some_and(|file| file.kind == Kind::Defaults) && environment.is_object() {
            true => merge(&mut origin, environment),
            false => fill(&mut origin, environment),
        }
        origin
    }

    /// The layers with each value replaced by its place: merged, they give the source of each value.
    pub(crate) fn of_places(&self) -> Self {
        Self(self.iter().map(Layer::of_places).collect())
    }

    /// Whether `llm.base_url` is filled by the environment.
    pub(crate) fn leaves_endpoint_open(&self) -> bool {
        self.merged_if(|layer| matches!(layer.kind, Kind::Type | Kind::Row))["llm"]["base_url"].is_null()
    }

    /// Removes a key from all files except the last: keys that `$extends` does not inherit.
    pub(crate) fn disinherit(files: &mut [Layer], key: &str) {
        let own = files.len().saturating_sub(1);
        for layer in files.iter_mut().take(own).filter(|layer| layer.kind == Kind::Type) {
            layer.value.as_object_mut().and_then(|map: &mut Map<_, _>| map.remove(key));
        }
    }

    /// The problems of required keys that no layer sets. Most of them are missing if a file extends nothing, which is one
    /// problem.
    pub(crate) fn blame_all_missing(&self, paths: &[String]) -> Vec<Problem> {
        match (paths, self.iter().find(|layer| layer.kind == Kind::Type)) {
            ([first, more @ ..], Some(lowest)) if more.len() > MOST_MISSING && self.defaults().is_null() => {
                let more = more.len();
                let message = format!(
                    "`{first}` and {more} other keys have no value; add `\"$extends\": \"defaults\"`, or set all of them"
                );
                vec![Problem::new(lowest.name.clone(), Some(1), message)]
            }
            _ => paths.iter().map(|path| self.blame_missing(path)).collect(),
        }
    }

    /// The problem of a required key that no layer sets, attributed to the highest layer that sets the object without it:
    /// a connection of the environment or of a row is no mistake of the type's file.
    fn blame_missing(&self, path: &str) -> Problem {
        let parent = above(path);
        let pointer = format!("/{}", parent.replace('.', "/"));
        let defaults = self.defaults();
        let writes = |layer: &&Layer| {
            let by_hand = matches!(layer.kind, Kind::Type | Kind::Connections | Kind::Row);
            by_hand && layer.value.pointer(&pointer).is_some_and(Value::is_object)
        };
        // A word, like `free` for prices, takes the keys of `defaults` away.
        let is_word = |layer: &Layer| layer.value.pointer(&pointer).is_some_and(Value::is_string);
        let has_no_defaults = defaults.pointer(&pointer).is_none() || self.iter().any(is_word);
        match self.iter().rev().find(writes).filter(|_| !parent.is_empty() && has_no_defaults) {
            Some(layer) => {
                let message = format!("`{path}` has no value; give it one, or leave out `{parent}`");
                Problem::new(layer.named_for(path), layer.lines.of(parent), message)
            }
            None if defaults.is_null() => {
                self.blame(&[path.to_owned()], format!("`{path}` has no value; set it or extend `defaults`"))
            }
            None => self.blame(&[path.to_owned()], format!("`{path}` has no value; give it one, or leave it out")),
        }
    }

    /// The problem of a combination of values, attributed to the highest layer that sets one of them: its author made
    /// the last change and can fix it. Keys that no layer sets are attributed to the job type's own file.
    pub(crate) fn blame(&self, keys: &[String], message: String) -> Problem {
        let set = |layer: &'_ Layer| {
            let found = keys.iter().find(|key| layer.value.pointer(&format!("/{}", key.replace('.', "/"))).is_some());
            found.map(|key| (layer.named_for(key), layer.lines.of(key)))
        };
        let culprit = self.iter().rev().find_map(set);
        let (name, line) = culprit
            .or_else(|| self.iter_own().next().map(|layer| (layer.name.clone(), None)))
            .unwrap_or_else(|| ("configuration".into(), None));
        Problem::new(name, line, message)
    }
}
