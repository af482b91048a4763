//! `connections`: services besides the model. Secrets are named by their environment variable, never written down.

use super::http_tools::HttpTool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Services other than the model; each is absent unless configured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// The graph database.
    pub neo4j: Option<Neo4j>,
    /// The embeddings endpoint.
    pub embeddings: Option<Embeddings>,
    /// The web search service.
    pub web_search: Option<WebSearch>,
    /// What jobs may reach on the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebAccess>,
    /// Your own tools over HTTP, by a name of lower-case letters and digits; the model calls `http_NAME`. Required are
    /// `description`, `parameters` and `url`; optional are `method`, `headers_env`, `phases`, `replay`, `timeout_s`,
    /// `max_result_bytes` and `allow_private`: docs/http-tools.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_tools: Option<BTreeMap<String, HttpTool>>,
}

/// A Neo4j database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neo4j {
    /// Address of its HTTP Query API, e.g. `http://localhost:7474`. A Bolt address (`bolt://localhost:7687`,
    /// `neo4j+s://…`) means the Query API of the same host at its default port.
    pub uri: String,
    /// User name.
    pub user: Option<String>,
    /// Name of the environment variable that holds the password.
    pub password_env: Option<String>,
    /// Name of the database; `neo4j` when absent.
    pub database: Option<String>,
    /// Whether `execute_cypher_query` may add to the graph (MERGE, CREATE, SET); read-only when absent.
    pub allow_write: Option<bool>,
}

/// An OpenAI-compatible embeddings endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Embeddings {
    /// Address up to, not including, `/embeddings`.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// Name of the environment variable that holds the API key.
    pub api_key_env: Option<String>,
}

/// A web search service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearch {
    /// Name of the provider: `searxng`, `tavily` or `brave`.
    pub provider: String,
    /// Address of its API; the provider's default when absent.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the API key.
    pub api_key_env: Option<String>,
}

/// Web access of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebAccess {
    /// Hosts that `web_search` and `fetch_page` may reach even if `untrusted` restricts the job.
    pub allowed_hosts: Vec<String>,
}
