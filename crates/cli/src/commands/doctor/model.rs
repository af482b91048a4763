//! The models of all job types: whether their endpoints answer, accept the key, and know the model.

use super::finding::Finding;
use crate::{environment, error::Failure};
use plumbline_config::{ConfigRegistry, Connections, DEFAULT_KEY_ENV, Llm, ModelEnv, Secrets};
use plumbline_engine::Purpose;
use plumbline_job_setup::secret;
use plumbline_llm::{Api, ApiKey, ModelList, answers_as, list_models, server_window};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Timeout of an endpoint's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of models listed if the wanted one is not among them.
const NAMED: usize = 3;

/// An endpoint, the variable of its key and its protocol, with the wanted models, and the largest window in tokens that
/// a job type assumes; 0 if none is set.
type Endpoints = BTreeMap<(String, String, Api), BTreeMap<String, u32>>;

pub(super) async fn check(configs: Option<&ConfigRegistry>) -> Vec<Finding> {
    let env = match environment::model_env() {
        Ok(env) => env,
        Err(failure) => return vec![Finding::fail("model", failure.to_string())],
    };
    let endpoints = endpoints(configs, &env);
    if endpoints.is_empty() {
        let text = "no endpoint and model are configured; set OPENAI_BASE_URL and PLUMBLINE_MODEL, or `llm.base_url` and \
                    `llm.model` in each job type's configuration";
        return vec![Finding::note("model", text)];
    }
    let mut findings = Vec::new();
    let secrets = configs.map(|configs| Secrets::of(configs, &env)).unwrap_or_default();
    for ((base_url, key_env, api), models) in &endpoints {
        let key = secret(&secrets, key_env, base_url);
        let names: BTreeSet<String> = models.keys().cloned().collect();
        let finding = endpoint(base_url, key_env, *api, key.as_ref(), &names).await;
        findings.push(Finding { text: finding.text + &profile(configs, base_url, &names), ..finding });
        for (model, window) in models {
            findings.extend(smaller_window(base_url, *api, key.as_ref(), model, *window).await);
        }
    }
    findings
}

/// The profiles of the models.
fn profile(configs: Option<&ConfigRegistry>, base_url: &str, models: &BTreeSet<String>) -> String {
    let Some(profiles) = configs.and_then(|configs| configs.profiles().ok()) else { return String::new() };
    let names: BTreeSet<&str> = models.iter().filter_map(|model| profiles.name_of(base_url, model)).collect();
    match names.len() {
        0 => " (profile: none)".to_owned(),
        _ => format!(" (profile: {})", list(names.into_iter().map(str::to_owned))),
    }
}

/// Every endpoint of a job type; another check reports configurations that do not resolve.
fn endpoints(configs: Option<&ConfigRegistry>, env: &ModelEnv) -> Endpoints {
    let mut endpoints = Endpoints::new();
    let mut add = |llm: &Llm| {
        if let (Some(base_url), Some(model)) = (&llm.base_url, &llm.model) {
            let key_env = llm.api_key_env.clone().unwrap_or_else(|| DEFAULT_KEY_ENV.into());
            let models = endpoints.entry((base_url.clone(), key_env, llm.protocol())).or_default();
            let window = models.entry(model.clone()).or_default();
            *window = llm.context_window.max(*window);
        }
    };
    for job_type in configs.into_iter().flat_map(ConfigRegistry::job_types) {
        let resolved = configs.map(|configs| configs.show(job_type, &json!({}), env));
        let Some(Ok(resolved)) = resolved else { continue };
        for purpose in [Purpose::Strategic, Purpose::Tactical, Purpose::Summary] {
            add(&resolved.llm(purpose));
        }
    }
    if let (true, Some(base_url)) = (endpoints.is_empty(), &env.base_url) {
        // Without a model no job can run, but the endpoint can be checked.
        let models = env.model.iter().map(|model| (model.clone(), 0)).collect();
        endpoints.insert((base_url.clone(), DEFAULT_KEY_ENV.into(), Api::Chat), models);
    }
    endpoints
}

async fn endpoint(base_url: &str, key_env: &str, api: Api, key: Option<&ApiKey>, models: &BTreeSet<String>) -> Finding {
    let refused = match (key, environment::var(key_env)) {
        (Some(_), _) => {
            format!("{base_url} refuses the key in {key_env}; check it, and that its account may use the model")
        }
        (None, None) => format!("{base_url} requires a key, but {key_env} is not set; set it for the worker"),
        (None, Some(_)) => format!(
            "{base_url} requires a key, but {key_env} belongs to another host; name the key in the job type's \
             `llm.api_key_env`, or list it as {key_env}@HOST in PLUMBLINE_SECRETS"
        ),
    };
    match list_models(base_url, api, key, PATIENCE).await {
        Err(reason) => Finding::fail(
            "model",
            format!("{base_url} does not answer ({reason}); start it, or correct OPENAI_BASE_URL or `llm.base_url`"),
        ),
        Ok(ModelList::KeyRefused) => Finding::fail("model", refused),
        Ok(ModelList::NoList) => Finding::ok("model", format!("{base_url} answers")),
        Ok(ModelList::Models(known)) => {
            let unlisted: Vec<&String> = models.iter().filter(|model| !known.contains(model)).collect();
            for model in &unlisted {
                if !answers_as(base_url, api, model, key, PATIENCE).await {
                    return Finding::fail("model", unknown(base_url, model, &known));
                }
            }
            let has = if unlisted.is_empty() { "has" } else { "accepts, although it does not list it," };
            Finding::ok("model", format!("{base_url} answers and {has} {}", list(models.iter().cloned())))
        }
    }
}

/// A server whose window is smaller than the job types assume truncates requests or refuses them.
async fn smaller_window(base_url: &str, api: Api, key: Option<&ApiKey>, model: &str, wanted: u32) -> Option<Finding> {
    let window = server_window(base_url, api, model, key).await.filter(|window| *window < wanted)?;
    let text = format!(
        "{base_url} reports a context window of {window} tokens for {model}, but `llm.context_window` is {wanted}: \
         longer prompts lose their beginning; raise the server's window to {wanted} tokens (Ollama: \
         OLLAMA_CONTEXT_LENGTH={wanted}) or lower `llm.context_window`"
    );
    Some(Finding::note("model", text))
}

fn unknown(base_url: &str, model: &str, known: &[String]) -> String {
    let near: Vec<&str> = plumbline_engine::nearest(model, known.iter().map(String::as_str));
    let named = if near.is_empty() { known.iter().take(NAMED).cloned().collect() } else { to_owned(&near) };
    format!(
        "{base_url} does not have the model {model}; it has {}{}: set PLUMBLINE_MODEL or `llm.model` to one of its models",
        list(named.into_iter()),
        if known.len() > NAMED { " and others" } else { "" }
    )
}

fn to_owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn list(texts: impl Iterator<Item = String>) -> String {
    let list: Vec<String> = texts.collect();
    if list.is_empty() { "none".into() } else { list.join(", ") }
}

/// Unset variables named by a connection, which otherwise fail at the first use, hours into a job.
pub(super) fn secrets(configs: &ConfigRegistry) -> Vec<Finding> {
    let mut missing: BTreeMap<(&'static str, String), BTreeSet<String>> = BTreeMap::new();
    for job_type in configs.job_types() {
        let Ok(connections) = connections(configs, job_type) else { continue };
        for (key, variable) in variables(&connections) {
            if environment::var(&variable).is_none() {
                missing.entry((key, variable)).or_default().insert(job_type.to_owned());
            }
        }
    }
    let said = |((key, variable), types): ((&str, String), BTreeSet<String>)| {
        let types = list(types.into_iter());
        let text = format!("{variable}, named by `{key}` of {types}, is not set; set it for the worker");
        Finding::note("secrets", text)
    };
    missing.into_iter().map(said).collect()
}

fn connections(configs: &ConfigRegistry, job_type: &str) -> Result<Connections, Failure> {
    Ok(configs.show(job_type, &json!({}), &environment::model_env()?)?.config.connections)
}

fn variables(connections: &Connections) -> Vec<(&'static str, String)> {
    let neo4j = connections.neo4j.as_ref().and_then(|neo4j| neo4j.password_env.clone());
    let embeddings = connections.embeddings.as_ref().and_then(|embeddings| embeddings.api_key_env.clone());
    let search = connections.web_search.as_ref().and_then(|search| search.api_key_env.clone());
    let named = [
        ("connections.neo4j.password_env", neo4j),
        ("connections.embeddings.api_key_env", embeddings),
        ("connections.web_search.api_key_env", search),
    ];
    named.into_iter().filter_map(|(key, variable)| Some((key, variable?))).collect()
}
