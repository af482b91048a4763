//! Who may set which key: the operator, in files and environment, or an enqueuer, in a job's `config`.
//!
//! Each key of the schema has a level, `x-level`: `operator`, `job` or `bounded`. Checks compare effective values, not
//! syntax: `null` resets to the lower layers, and setting a key to its current value is allowed. A bound is a value set
//! by the operator; a built-in default is not a bound.

use super::{
    level::Level,
    schema::{complete, without_null},
    walk::{Place, visit},
};
use crate::{
    JobConfig, ModelEnv,
    error::Problem,
    keys::{deliverables, http_tools},
    layers::{
        Layers,
        locate::{above, child},
    },
    resolved::binds_recorder,
    secrets,
};
use plumbline_engine::path::matches_pattern;
use serde_json::Value;
use std::collections::BTreeMap;

/// A key that a row sets but must not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The dotted key, e.g. `llm.base_url`.
    pub key: String,
    /// Its level.
    pub level: Level,
}

/// Checks the changes of a job's own layer; reports the first forbidden one in the order of the keys.
///
/// # Errors
/// The key, its level and a sentence.
pub(crate) fn check(layers: &Layers, env: &ModelEnv) -> Result<(), (Forbidden, String)> {
    let (mut below, mut row) = (layers.without_row(), layers.merged());
    let (mut levels, mut incomplete) = (BTreeMap::new(), BTreeMap::new());
    for config in [&mut below, &mut row] {
        visit(config, &mut |path, _, place| match place {
            Place::Known { level, .. } => drop(levels.insert(path.to_owned(), *level)),
            // An object without what it needs may be all that the row sets, e.g. `"web_search": {}`.
            Place::Missing { level, .. } => drop(incomplete.insert(above(path).to_owned(), *level)),
            Place::Unknown(..) => {}
        });
    }
    let policy = RowPolicy { below: &below, row: &row, bounds: &layers.bounds(), env };
    let changed = levels.iter().chain(&incomplete).filter(|(path, _)| at(&below, path) != at(&row, path));
    changed.into_iter().try_for_each(|(path, level)| policy.key(path, *level))
}

/// Lists to which a job may add, and from which it takes nothing away.
const ADDED_TO: [&str; 5] =
    ["approval", "coverage_settings.patterns", "deliverables", "citations_required", "no_sources"];

/// Such a job accounts for each document, unless the operator excepts one.
const NO_SOURCES_OF_RECORDERS: &str = "`no_sources` has level operator in a job type that records requirements: a job may \
     not set it; leave it out, or ask the operator for `job_may_set` in the job type";

/// The stricter one of two words, which is a bound.
const STRICT: [&str; 3] = ["stop", "drop", "policy"];

struct RowPolicy<'a> {
    /// The configuration without the row.
    below: &'a Value,
    /// The configuration with the row.
    row: &'a Value,
    /// The values set by the operator.
    bounds: &'a Value,
    env: &'a ModelEnv,
}

impl RowPolicy<'_> {
    /// Checks one key whose value the row changes.
    fn key(&self, path: &str, level: Level) -> Result<(), (Forbidden, String)> {
        let refuse = |sentence: String| Err((Forbidden { key: path.to_owned(), level }, sentence));
        if path == "llm.model" && at(self.row, path).is_null() {
            return refuse(format!(
                "`{path}` has level {level}: the job's config takes the model away, and a job needs one; set `{path}` to a model, \
                 or leave it out"
            ));
        }
        if self.is_opened(path) {
            return self.within_opened(path).and_then(|()| self.below_ceiling(path, level)).or_else(refuse);
        }
        if path == "no_sources" && binds_recorder(&self.below["tools"]) {
            return Err((
                Forbidden { key: path.to_owned(), level: Level::Operator },
                NO_SOURCES_OF_RECORDERS.to_owned(),
            ));
        }
        if ADDED_TO.contains(&path) {
            return self.takes_nothing_away(path, level).or_else(refuse);
        }
        match level {
            Level::Operator if path == "autonomy" && at(self.row, path) == "review" => Ok(()),
            Level::Operator => refuse(format!(
                "`{path}` has level operator: a job may not set it; leave it out, or ask the operator for `job_may_set` in \
                 the job type"
            )),
            Level::Bounded => self.within_bound(path).and_then(|()| self.below_ceiling(path, level)).or_else(refuse),
            // Only the operator can give a type a tool that it lacks; a job chooses among the type's tools.
            Level::Job if path.starts_with("tools.") => {
                let forbidden = Forbidden { key: path.to_owned(), level: Level::Operator };
                self.within_tools(path).map_err(|sentence| (forbidden, sentence))
            }
            Level::Job => self.within_type(path).or_else(refuse),
        }
    }

    fn takes_nothing_away(&self, path: &str, level: Level) -> Result<(), String> {
        let gone = deliverables::taken_away(at(self.below, path), at(self.row, path));
        gone.map_or(Ok(()), |gone| {
            Err(format!(
                "`{path}` has level {level}: a job may add to it and take nothing away, and `{gone}` is missing or asked less of; \
                 name what the job type names, and then the job's own"
            ))
        })
    }

    /// `job_may_set` of the type; a key there also opens the keys below it.
    fn is_opened(&self, path: &str) -> bool {
        let opens = |open: &str| path.strip_prefix(open).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        texts(at(self.below, "job_may_set")).any(opens)
    }

    /// An address and the name of a secret are opened only for the values that the operator lists. A value that is the
    /// same without the row is allowed.
    fn within_opened(&self, path: &str) -> Result<(), String> {
        let known = leaves(self.below, "");
        let variables: Vec<&str> = known.iter().filter(|(key, _)| is_variable(key)).map(|(_, name)| *name).collect();
        for (path, text) in leaves(at(self.row, path), path).into_iter().filter(|leaf| !known.contains(leaf)) {
            let is_address = [".base_url", ".uri", ".url"].iter().any(|end| path.ends_with(end));
            if is_address && !texts(at(self.below, "addresses_allowed")).any(|allowed| begins_with(text, allowed)) {
                return Err(format!(
                    "`{path}` has level operator and is an address that `addresses_allowed` of the job type does not name; ask the \
                     operator to add it"
                ));
            }
            if is_variable(&path) && !secrets::may_be_named(text, &variables, self.env) {
                return Err(format!(
                    "`{path}` has level operator and names a variable that is no secret for jobs; ask the operator to list it in \
                     PLUMBLINE_SECRETS"
                ));
            }
        }
        Ok(())
    }

    /// A job begins at or below `limits_ceiling`; "no limit" is above any ceiling.
    fn below_ceiling(&self, path: &str, level: Level) -> Result<(), String> {
        let Some(key) = path.strip_prefix("limits.") else { return Ok(()) };
        let (most, wanted) = (at(self.row, &format!("limits_ceiling.{key}")), at(self.row, path));
        let is_above = match wanted.as_f64() {
            Some(wanted) => most.as_f64().is_some_and(|most| wanted > most),
            None => wanted.is_null() && most.is_number(),
        };
        let wanted = if wanted.is_null() { "no limit".to_owned() } else { wanted.to_string() };
        let way = "where no job may begin; lower it or leave it out";
        let above = || format!("`{path}` has level {level}: {wanted} is above the {most} of `limits_ceiling`, {way}");
        if is_above { Err(above()) } else { Ok(()) }
    }

    /// A value of the operator is a bound; of coverage, a built-in value as well.
    fn within_bound(&self, path: &str) -> Result<(), String> {
        let bounds = if path.starts_with("coverage_settings.") { self.below } else { self.bounds };
        let (bound, wanted) = (of_purpose_or_llm(bounds, path), of_purpose_or_llm(self.row, path));
        let is_within = match (bound.as_f64(), wanted.as_f64()) {
            (Some(least), Some(wanted)) if path.ends_with(".minimum") => wanted >= least,
            // No value means no limit.
            (Some(most), wanted) => wanted.is_some_and(|wanted| wanted <= most),
            (None, _) => wanted == bound || !bound.as_str().is_some_and(|word| STRICT.contains(&word)),
        };
        let way = match bound {
            Value::Number(_) if path.ends_with(".minimum") => "raise it or leave it out",
            Value::Number(_) => "lower it or leave it out",
            _ => "leave it out",
        };
        let beyond =
            || format!("`{path}` has level bounded: a job may not go beyond what the operator set, {bound}; {way}");
        if is_within { Ok(()) } else { Err(beyond()) }
    }

    /// A job chooses only among the values that its type offers.
    fn within_type(&self, path: &str) -> Result<(), String> {
        if path == "coverage" && at(self.row, path) != "documents" {
            return Err("`coverage` has level job: a job may switch it on, not off; leave it out".to_owned());
        }
        let (models, model) = (at(self.below, "models_allowed"), at(self.row, path));
        let is_model = path == "llm.model" || (path.starts_with("llm_by_purpose.") && path.ends_with(".model"));
        match model.as_str().filter(|_| is_model && models.is_array()) {
            Some(name) if !texts(models).any(|pattern| matches_pattern(name, pattern)) => Err(format!(
                "`{path}` has level job: a job may choose among `models_allowed` of its type, which do not name `{name}`; choose \
                 one that they do"
            )),
            _ => Ok(()),
        }
    }

    fn within_tools(&self, path: &str) -> Result<(), String> {
        let all = || self.below["tools"].as_object().into_iter().flat_map(|lists| lists.values()).flat_map(texts);
        let other = texts(at(self.row, path)).find(|name| !all().any(|known| http_tools::covers(known, name)));
        other.map_or(Ok(()), |name| {
            Err(format!(
                "`{path}` names `{name}`, which none of the job type's lists has, and so has level operator: a job may leave \
                 tools out and add none"
            ))
        })
    }
}

/// The value at a dotted key; null if there is none.
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').try_fold(value, |value, key| value.get(key)).unwrap_or(&Value::Null)
}

/// Like [`at`]; a purpose without a value has that of `llm`.
fn of_purpose_or_llm<'a>(value: &'a Value, path: &str) -> &'a Value {
    let found = at(value, path);
    let key = path.strip_prefix("llm_by_purpose.").and_then(|rest| rest.split_once('.')).map(|(_, key)| key);
    match key.filter(|_| found.is_null()) {
        Some(key) => at(value, &format!("llm.{key}")),
        None => found,
    }
}

/// The texts in a value, each with its dotted key.
fn leaves<'a>(value: &'a Value, path: &str) -> Vec<(String, &'a str)> {
    let parts: Vec<(String, &Value)> = match value {
        Value::String(text) => return vec![(path.to_owned(), text)],
        Value::Object(map) => map.iter().map(|(key, part)| (child(path, key), part)).collect(),
        Value::Array(list) => {
            (0..).zip(list).map(|(at, part): (usize, _)| (child(path, &at.to_string()), part)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    parts.into_iter().flat_map(|(path, part)| leaves(part, &path)).collect()
}

/// Whether the value of a key is the name of a variable.
fn is_variable(path: &str) -> bool {
    path.split('.').any(|key| key.ends_with("_env"))
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Whether an address has the scheme, host and port of `allowed`, and a path that is equal to its path or below it.
fn begins_with(address: &str, allowed: &str) -> bool {
    let (Some(address), Some(allowed)) = (Address::of(address), Address::of(allowed)) else { return false };
    let beneath = address.path.strip_prefix(allowed.path.trim_end_matches('/'));
    let is_beneath = beneath.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // Dots, in any encoding, could leave the path.
    let climbs = address.path.split('/').any(|part| part.starts_with('.')) || address.path.contains(['%', '\\']);
    address.origin.eq_ignore_ascii_case(&allowed.origin) && is_beneath && !climbs
}

/// Whether a text can be compared with the address of a row.
pub(super) fn is_address(text: &str) -> bool {
    Address::of(text).is_some()
}

struct Address<'a> {
    /// `scheme://host:port`, always with the port.
    origin: String,
    path: &'a str,
}

impl<'a> Address<'a> {
    /// None for an address with a login, a query or anything else ambiguous.
    fn of(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        let is_plain = !host.is_empty() && host.chars().all(plain) && !text.contains(['?', '#', '@', ' ']);
        let has_port =
            host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()));
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };
        is_plain.then(|| Self { origin: format!("{scheme}://{host}{}", if has_port { "" } else { usual }), path })
    }
}

/// Keys in `job_may_set` that do not exist.
pub(crate) fn unknown_keys(config: &JobConfig) -> Vec<&str> {
    let is_known = |path: &str| {
        path.split('.').try_fold(complete(), |schema, key| without_null(schema)["properties"].get(key)).is_some()
    };
    config.job_may_set.iter().flatten().map(String::as_str).filter(|path| !is_known(path)).collect()
}

impl From<(Forbidden, String)> for crate::ConfigError {
    fn from((forbidden, sentence): (Forbidden, String)) -> Self {
        Self {
            problems: vec![Problem::new(crate::OVERRIDES, None, sentence)],
            forbidden: Some(forbidden),
            lacks_model: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::begins_with;

    #[test]
    fn an_address_begins_with_another_as_a_whole() {
        let allowed = "https://models.example/v1";
        for address in ["https://models.example/v1", "HTTPS://Models.Example:443/v1/", "https://models.example/v1/chat"]
        {
            assert!(begins_with(address, allowed), "{address}");
        }
        for address in [
            "http://models.example/v1",
            "https://models.example:8443/v1",
            "https://models.example/v10",
            "https://models.example/",
            "https://models.example.evil.example/v1",
            "https://models.example@evil.example/v1",
            "https://evil.example/?https://models.example/v1",
            "https://models.example/v1/../admin",
            "https://models.example/v1/%2e%2e/admin",
            "https://models.example\\@evil.example/v1",
            "models.example/v1",
        ] {
            assert!(!begins_with(address, allowed), "{address}");
        }
        assert!(begins_with("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"));
        assert!(!begins_with("http://127.0.0.1:80801/v1", "http://127.0.0.1:8080"));
    }
}
