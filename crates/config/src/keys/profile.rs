//! Profiles: the known deviations of a provider or a model, as data.
//!
//! `providers.json` has an entry for each, chosen by prefixes of the address and of the model's name. Of all entries
//! that match, more specific ones override general ones, key by key, and a job type's own `llm.profile` overrides all
//! of them. The file of `PLUMBLINE_CONFIG_DIR` extends the built-in one; at equal specificity, it takes precedence.

use crate::{
    Llm, Prices,
    error::Problem,
    keys::llm::SECTIONS,
    layers::{
        Kind, Layer,
        files::Files,
        merge::{merge, overlaid},
    },
    rules::check,
};
use plumbline_engine::{Api, OutputCapField, ReasoningEcho, ToolCallIds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The file.
pub(crate) const FILE: &str = "providers.json";
/// Where a configuration has the keys of an entry.
const SECTION: &str = "llm.profile.";

/// Deviations of a provider or a model from OpenAI's chat completions. Omitted keys have their behaviour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileKeys {
    /// The protocol for `llm.api: auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    /// The form of tool call ids: `plain` is our default, `functions_index` is `functions.NAME:INDEX` (Kimi), `alnum9`
    /// is nine letters and digits (Mistral).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallIds>,
    /// The field in which chat completions accept reasoning back, e.g. `reasoning_content`; the original field when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_field: Option<String>,
    /// Which reasoning is sent back with an answer: `always`, only that of the `same_endpoint`, the same with an
    /// `empty_string` if there was none, or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_echo: Option<ReasoningEcho>,
    /// The request field of an answer's cap, if `llm.output_cap` is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_cap: Option<OutputCapField>,
    /// The values of `llm.reasoning_level` that the model accepts; any when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efforts: Option<Vec<String>>,
    /// The values of `llm.tool_choice` that the endpoint accepts; any when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choices: Option<Vec<String>>,
    /// Whether a request for a summary must name the tools that its conversation calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_in_summary: Option<bool>,
    /// Whether a user message may directly follow tool results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_after_tool: Option<bool>,
    /// Whether system messages may occur after the first message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_in_middle: Option<bool>,
    /// Whether a streaming request may have `stream_options`, which request its usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<bool>,
    /// Placeholder for the thought signature of calls by another model, if each must have one (Gemini 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_placeholder: Option<String>,
    /// Whether the server's `usage` counts the whole prompt; true when absent. If it does not, set `false`, so that the
    /// job is not paused for a server that seems to truncate its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports_whole_prompt: Option<bool>,
    /// Whether the server serves the beginning of a prompt that it has read before from a cache; assumed when absent.
    /// If it does not, the results of a closed todo's turns leave the conversation at once (`limits.closed_todos`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_cache: Option<bool>,
    /// The model's context window, in tokens, if `llm.context_window` is not set.
    #[schemars(range(min = 1024, max = 100_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    /// Its prices, if `llm.prices` is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

/// Keys that `llm` also has, and that apply there as defaults.
const OF_LLM: [&str; 3] = ["output_cap", "context_window", "prices"];

impl ProfileKeys {
    /// Whether the model accepts the configured effort.
    pub(crate) fn takes_effort(&self, llm: &Llm) -> bool {
        match (&llm.reasoning_level, &self.efforts) {
            (Some(level), Some(efforts)) => efforts.contains(level),
            (None, _) | (_, None) => true,
        }
    }
}

/// An entry of `providers.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileEntry {
    /// Its name.
    pub name: String,
    /// Prefix of addresses; none: any.
    pub base_url: Option<String>,
    /// Prefix of model names, with or without the part before their last slash; none: any.
    pub model: Option<String>,
    /// Its keys.
    pub keys: ProfileKeys,
}

impl ProfileEntry {
    fn matches(&self, base_url: &str, model: &str) -> bool {
        let begins = |text: &str, prefix: &Option<String>| {
            prefix.as_ref().is_none_or(|prefix| text.to_lowercase().starts_with(&prefix.to_lowercase()))
        };
        let bare = model.rsplit_once('/').map_or(model, |(_, name)| name);
        begins(base_url, &self.base_url) && (begins(model, &self.model) || begins(bare, &self.model))
    }

    /// An entry with both prefixes is more specific than one with a single prefix; an address takes precedence over a
    /// model's name, because it is the server that refuses a request; then the longer prefix.
    fn specificity(&self) -> (usize, usize, usize) {
        let [base_url, model] = [&self.base_url, &self.model].map(|prefix| prefix.as_ref().map_or(0, String::len));
        (usize::from(base_url > 0) + usize::from(model > 0), base_url, model)
    }
}

/// All known profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles(Vec<ProfileEntry>);

impl Profiles {
    /// The profiles of the built-in file and of the operator's.
    ///
    /// # Errors
    /// The first entry that cannot be read.
    pub(crate) fn of(built_in: &Files, files: &Files) -> Result<Self, Problem> {
        let own = files.get(FILE).filter(|file| !file.is_built_in);
        let mut entries = Vec::new();
        for file in built_in.get(FILE).into_iter().chain(own) {
            let (value, lines) = crate::layers::parse::parse(file, crate::layers::files::Format::Json)?;
            let wrong = |said: String| Problem::new(&file.shown, lines.of("profiles"), said);
            let list = value["profiles"].as_array().ok_or_else(|| {
                wrong("has no list `profiles`; write {\"profiles\": [{\"name\": …, \"match\": …}]}".to_owned())
            })?;
            for (at, one) in list.iter().enumerate() {
                entries.push(entry(one).map_err(|said| wrong(format!("`profiles[{at}]`: {said}")))?);
            }
        }
        // Stable: at equal specificity, the operator's come last and take precedence.
        entries.sort_by_key(ProfileEntry::specificity);
        Ok(Self(entries))
    }

    /// All profiles, general ones first.
    pub fn iter(&self) -> impl Iterator<Item = &ProfileEntry> {
        self.0.iter()
    }

    /// The name of the most specific profile for a model at an address.
    pub fn name_of(&self, base_url: &str, model: &str) -> Option<&str> {
        self.0.iter().rev().find(|entry| entry.matches(base_url, model)).map(|entry| entry.name.as_str())
    }

    /// The merged profile of a model at an address.
    fn known_of(&self, llm: &Value) -> Value {
        let text = |key: &str| llm[key].as_str().unwrap_or_default();
        let mut known = json!({});
        for entry in self.0.iter().filter(|entry| entry.matches(text("base_url"), text("model"))) {
            merge(&mut known, &json!(entry.keys));
        }
        known
    }

    /// The layer that a configuration gets above `defaults`. `merged` is the configuration without it, `below` the same
    /// without the job's row.
    pub(crate) fn layer(&self, merged: &Value, below: &Value, defaults: &Value) -> Layer {
        let llm = &merged["llm"];
        let own = self.over_own(llm, &below["llm"]["profile"]);
        let mut value = json!({"llm": with_keys_of_llm(&own)});
        for purpose in SECTIONS.map(|(_, purpose)| purpose.as_str()) {
            if let Some(whole) = of_other_model(llm, &merged["llm_by_purpose"][purpose]) {
                let other = self.over_own(&whole, &below["llm_by_purpose"][purpose]["profile"]);
                value["llm_by_purpose"][purpose] = of_another(&other, &own, llm, defaults);
            }
        }
        Layer::synthetic_file(FILE, value, Kind::Profile)
    }

    /// Merges the profiles of the fallback models below their configuration. Nothing known of the job's own model
    /// applies to another.
    pub(crate) fn know_fallbacks(&self, merged: &mut Value, defaults: &Value) {
        let llm = merged["llm"].clone();
        let fallback = merged.pointer_mut("/llm/fallback").and_then(Value::as_array_mut);
        for entry in fallback.into_iter().flatten() {
            let part = entry["llm"].clone();
            let Some(whole) = of_other_model(&llm, &part) else { continue };
            let mut known = with_keys_of_llm(&self.over_own(&whole, &part["profile"]));
            for key in OF_LLM {
                if known[key].is_null() {
                    known[key] = defaults["llm"][key].clone();
                }
            }
            entry["llm"] = overlaid(&known, &part);
        }
    }

    /// The prices of the model of a section; null if unknown.
    pub(crate) fn prices_of(&self, llm: &Value) -> Value {
        self.known_of(llm)["prices"].clone()
    }

    /// The profile of a model, merged below the keys of its job type.
    fn over_own(&self, llm: &Value, profile: &Value) -> Value {
        overlaid(&self.known_of(llm), profile)
    }
}

/// The part of a configuration that names another model or address, merged over `llm`; none if it names the same.
fn of_other_model(llm: &Value, part: &Value) -> Option<Value> {
    let is_other = ["model", "base_url"].iter().any(|key| !part[*key].is_null() && part[*key] != llm[*key]);
    (is_other && part.is_object()).then(|| overlaid(llm, part))
}

fn with_keys_of_llm(known: &Value) -> Value {
    let mut llm = json!({"profile": known});
    for key in OF_LLM.into_iter().filter(|key| !known[*key].is_null()) {
        llm[key] = known[key].clone();
    }
    llm
}

/// A purpose with a model of its own inherits nothing known of the job's model: the profile is replaced when the part
/// is merged over `llm`, and the window here.
fn of_another(other: &Value, own: &Value, llm: &Value, defaults: &Value) -> Value {
    let mut part = json!({"profile": other});
    for key in OF_LLM {
        // A value of `llm` in a file applies to all purposes.
        let is_said = llm[key] != defaults["llm"][key];
        let known = [&other[key], &defaults["llm"][key]].into_iter().find(|value| !value.is_null());
        if let (false, true, Some(known)) = (is_said, own[key] != other[key], known) {
            part[key] = known.clone();
        }
    }
    part
}

impl ProfileKeys {
    /// The names of all keys.
    pub fn names() -> impl Iterator<Item = String> {
        let schema = schemars::schema_for!(Self).to_value();
        let names: Vec<String> =
            schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
        names.into_iter()
    }
}

/// Parses an entry, or returns what is wrong with it.
fn entry(value: &Value) -> Result<ProfileEntry, String> {
    let mut keys = value.as_object().cloned().ok_or("it is no object; write {\"name\": …, \"match\": …}")?;
    let name = keys.remove("name").as_ref().and_then(Value::as_str).map(str::to_owned);
    let name = name.filter(|name| !name.is_empty()).ok_or("it has no `name`")?;
    let matches: Match =
        serde_json::from_value(keys.remove("match").unwrap_or_else(|| json!({}))).map_err(|error| {
            format!("`match` of `{name}` is {{base_url, model}}, texts that something begins with ({error})")
        })?;
    let keys = Value::Object(keys);
    if let Some(wrong) = wrong_key(&keys) {
        return Err(format!("of `{name}`: {wrong}"));
    }
    let keys = serde_json::from_value(keys).map_err(|error| format!("of `{name}`: {error}"))?;
    Ok(ProfileEntry { name, base_url: matches.base_url, model: matches.model, keys })
}

/// The first key of an entry that is not as in `llm.profile`.
fn wrong_key(keys: &Value) -> Option<String> {
    let whole = json!({"llm": {"profile": keys}});
    let wrong = check::layer(&Layer::synthetic("", whole.clone(), Kind::Profile)).into_iter();
    let missing = check::missing(&whole).into_iter().filter(|path| path.starts_with(SECTION));
    let missing = missing.map(|path| format!("`{path}` has no value; give it one"));
    wrong.map(|problem| problem.message).chain(missing).next().map(|message| message.replace(SECTION, ""))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    base_url: Option<String>,
    model: Option<String>,
}
