//! Which variables of the environment are secrets that a configuration may name, and to which host each belongs.
//!
//! A secret is sent only to its own host, regardless of who wrote the address: the host is set in `PLUMBLINE_SECRETS`
//! (`NAME@host[:port]`), or by an operator's file that has the name next to the address.

use super::{
    ConfigError, ConfigRegistry, JobConfig, Llm, ModelEnv, WebSearch, error::Problem, keys::http_tools, resolved,
};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    sync::{PoisonError, RwLock},
};

/// Variable with the model's key if the configuration names none.
pub const DEFAULT_KEY_ENV: &str = "OPENAI_API_KEY";

/// One entry of `PLUMBLINE_SECRETS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    name: String,
    /// `host` or `host:port`; none if the operator's files determine it.
    host: Option<String>,
}

/// Parses `PLUMBLINE_SECRETS`.
///
/// # Errors
/// If an entry is not a name, or names a variable that must never be a configuration's secret.
pub(crate) fn parse(text: &str) -> Result<Vec<Listed>, ConfigError> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let listed = |entry: &str| {
        let (name, host) = entry.split_once('@').map_or((entry, None), |(name, host)| (name, Some(host)));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_host = host.is_none_or(|host| !host.is_empty() && !host.contains(['/', '@']));
        match is_name && is_host && !is_never_allowed(name) {
            true => Ok(Listed { name: name.to_owned(), host: host.map(str::to_ascii_lowercase) }),
            false => Err(Problem::new(
                "the environment",
                None,
                "PLUMBLINE_SECRETS must be names of variables like NAME or NAME@host:port, with commas between them; \
                 DATABASE_URL and PLUMBLINE_* cannot be among them",
            )),
        }
    };
    Ok(entries.map(listed).collect::<Result<_, _>>()?)
}

/// Whether a variable belongs to the worker itself.
fn is_never_allowed(name: &str) -> bool {
    name.eq_ignore_ascii_case("DATABASE_URL") || name.to_ascii_uppercase().starts_with("PLUMBLINE_")
}

/// The variables that a configuration must not name, with the keys that name them.
pub(crate) fn refused(config: &JobConfig, llms: &[(&'static str, Llm)], env: &ModelEnv) -> Vec<(String, String)> {
    let of_llm = |(section, llm): &(&str, Llm)| Some((format!("{section}.api_key_env"), llm.api_key_env.clone()?));
    let named = llms.iter().filter_map(of_llm);
    let of_services = of_services(config).into_iter().map(|(key, name, _)| (key, name));
    let is_outside = |name: &str| env.secrets.as_ref().is_some_and(|listed| !listed.iter().any(|one| one.name == name));
    named.chain(of_services).filter(|(_, name)| is_never_allowed(name) || is_outside(name)).collect()
}

/// Whether a job's row may name this variable, if rows may name any.
pub(crate) fn may_be_named(name: &str, known: &[&str], env: &ModelEnv) -> bool {
    let is_listed = env.secrets.iter().flatten().any(|listed| listed.name == name);
    !is_never_allowed(name) && (is_listed || (env.secrets.is_none() && known.contains(&name)))
}

/// Whether a section, or `llm` for it, names the variable of its key in the operator's files.
fn names_a_key(written: &Value, section: &str) -> bool {
    let named = |path: &str| written.pointer(path).is_some_and(Value::is_string);
    if section == resolved::FALLBACK {
        return false;
    }
    section == resolved::FALLBACK_WITH_KEY
        || named("/llm/api_key_env")
        || named(&format!("/{}/api_key_env", section.replace('.', "/")))
}

/// Keys, variables and places of a configuration's services.
pub(crate) fn of_services(config: &JobConfig) -> Vec<(String, String, String)> {
    let connections = &config.connections;
    let neo4j = connections.neo4j.as_ref().and_then(|it| Some((it.password_env.clone()?, place(Some(&it.uri)))));
    let embeddings =
        connections.embeddings.as_ref().and_then(|it| Some((it.api_key_env.clone()?, place(Some(&it.base_url)))));
    let search = connections.web_search.as_ref();
    let search = search.and_then(|it| Some((it.api_key_env.clone()?, search_place(it))));
    let keys = [
        ("connections.neo4j.password_env", neo4j),
        ("connections.embeddings.api_key_env", embeddings),
        ("connections.web_search.api_key_env", search),
    ];
    let named = keys.into_iter().filter_map(|(key, found)| found.map(|(name, place)| (key.to_owned(), name, place)));
    let tools = http_tools::secrets(config);
    let of_tools = tools.into_iter().map(|(key, name, url)| (key, name.to_owned(), place(Some(url))));
    named.chain(of_tools).collect()
}

/// `host:port` of an address; empty if there is none.
fn place(address: Option<&str>) -> String {
    let Some((scheme, rest)) = address.and_then(|address| address.split_once("://")) else { return String::new() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
    match scheme.to_ascii_lowercase().as_str() {
        "http" if !has_port => format!("{host}:80"),
        "https" if !has_port => format!("{host}:443"),
        _ => host,
    }
}

/// A search service without an address has its provider's address.
fn search_place(search: &WebSearch) -> String {
    search.base_url.as_deref().map_or_else(|| format!("the service {}", search.provider), |url| place(Some(url)))
}

/// The secrets of a process.
#[derive(Debug, Default)]
pub struct Secrets {
    listed: Option<Vec<Listed>>,
    /// Pairs of name and place in the operator's current files.
    beside: RwLock<HashSet<(String, String)>>,
}

impl Secrets {
    /// The secrets named by the operator's files and environment.
    pub fn of(configs: &ConfigRegistry, env: &ModelEnv) -> Self {
        let secrets = Self { listed: env.secrets.clone(), beside: RwLock::default() };
        secrets.relearn(configs, env);
        secrets
    }

    /// Replaces the pairs by those of the current files.
    pub fn relearn(&self, configs: &ConfigRegistry, env: &ModelEnv) {
        let now = Self::default();
        for job_type in configs.job_types() {
            // A type that does not validate runs no jobs.
            if let Ok(resolved) = configs.show(job_type, &json!({}), env) {
                let written = configs.set_by_operator(job_type, env);
                now.learn(&resolved.config, |section| names_a_key(&written, section), env.base_url.as_deref());
            }
        }
        if let Some(address) = &env.base_url {
            now.learn_usual(address);
        }
        let found = now.beside.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.beside.write().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// Adds the pairs of name and place in a configuration written by the operator. `names_key`: whether they named the
    /// key of a section's model. A key that they did not name is the default key and belongs to the environment's
    /// address, if there is one: it is not sent to another address just because a file has one.
    pub fn learn(&self, config: &JobConfig, names_key: impl Fn(&str) -> bool, usual: Option<&str>) {
        let mut beside = self.beside.write().unwrap_or_else(PoisonError::into_inner);
        for (section, llm) in resolved::llms(config).unwrap_or_default() {
            let (name, place_of_llm) = (llm.api_key_env, place(llm.base_url.as_deref()));
            if names_key(section) || usual.is_none_or(|usual| place(Some(usual)) == place_of_llm) {
                beside.insert((name.unwrap_or_else(|| DEFAULT_KEY_ENV.to_owned()), place_of_llm));
            }
        }
        let services = of_services(config);
        beside.extend(services.into_iter().map(|(_, name, place)| (name, place)));
    }

    /// The default key belongs to the environment's address, whether or not a file leaves its own address unset.
    fn learn_usual(&self, address: &str) {
        let mut beside = self.beside.write().unwrap_or_else(PoisonError::into_inner);
        beside.insert((DEFAULT_KEY_ENV.to_owned(), place(Some(address))));
    }

    /// Whether the secret in a variable goes to the host of an address.
    pub fn goes_to(&self, name: &str, address: &str) -> bool {
        self.reaches(name, &place(Some(address)))
    }

    /// The same for a search service.
    pub fn goes_to_search(&self, name: &str, search: &WebSearch) -> bool {
        self.reaches(name, &search_place(search))
    }

    fn reaches(&self, name: &str, place: &str) -> bool {
        let belongs = self.belongs(name, place);
        if !belongs {
            tracing::warn!(variable = name, host = place, "secret not sent: it belongs to another host");
        }
        belongs
    }

    fn belongs(&self, name: &str, place: &str) -> bool {
        let beside = self.beside.read().unwrap_or_else(PoisonError::into_inner);
        let stands_beside = || beside.contains(&(name.to_owned(), place.to_owned()));
        let Some(listed) = &self.listed else { return !is_never_allowed(name) && stands_beside() };
        listed.iter().filter(|one| one.name == name).any(|one| match &one.host {
            None => stands_beside(),
            Some(host) => place == host || place.rsplit_once(':').is_some_and(|(name, _)| name == host),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Secrets {
        Secrets { listed: Some(parse(text).expect("a list")), beside: RwLock::default() }
    }

    #[test]
    fn a_secret_belongs_to_its_host() {
        let secrets = listed("KEY@models.example, LOCAL@127.0.0.1:8900,OTHER");
        assert!(secrets.belongs("KEY", &place(Some("https://models.example/v1"))));
        assert!(secrets.belongs("KEY", &place(Some("http://Models.Example:8080/v1"))));
        assert!(secrets.belongs("LOCAL", &place(Some("http://127.0.0.1:8900"))));
        for (name, address) in [
            ("KEY", "https://evil.example/v1"),
            ("KEY", "https://models.example.evil.example"),
            ("KEY", "https://models.example@evil.example/"),
            ("KEY", "https://evil.example/?models.example"),
            ("LOCAL", "http://127.0.0.1:8901"),
            ("OTHER", "https://models.example/v1"),
            ("ANOTHER", "https://models.example/v1"),
        ] {
            assert!(!secrets.belongs(name, &place(Some(address))), "{name} {address}");
        }
    }

    /// The default key belongs to the environment's address, not to every address in a file.
    #[test]
    fn the_usual_key_goes_to_the_environments_address_and_a_named_one_to_its_own() {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |job_type: &str, llm: Value| {
            let folder = dir.path().join(job_type);
            std::fs::create_dir(&folder).expect("the folder is new");
            let text = json!({"$extends": "creator", "llm": llm}).to_string();
            std::fs::write(folder.join("config.json"), text).expect("the folder can be written");
        };
        write("local", json!({"base_url": "http://models.local/v1"}));
        write("named", json!({"base_url": "http://named.example/v1", "api_key_env": "OPENAI_API_KEY"}));
        let configs = ConfigRegistry::load(Some(dir.path()), None).expect("the folder can be read");
        let belongs =
            |env: &ModelEnv, address: &str| Secrets::of(&configs, env).belongs(DEFAULT_KEY_ENV, &place(Some(address)));
        let env = ModelEnv { base_url: Some("https://api.example/v1".into()), ..ModelEnv::default() };
        assert!(belongs(&env, "https://api.example/v1") && belongs(&env, "http://named.example/v1"));
        assert!(!belongs(&env, "http://models.local/v1"));
        assert!(belongs(&ModelEnv::default(), "http://models.local/v1"), "without an address of the environment");
    }

    #[test]
    fn what_is_the_workers_own_is_no_secret_of_a_configuration() {
        for text in ["DATABASE_URL", "database_url@host", "PLUMBLINE_HTTP_TOKEN", "A B", "@host", "KEY@http://host"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
