//! `connections`: services besides the model. Secrets are named by their environment variable, never written down.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Services besides the model; each is absent unless configured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// The graph database.
    pub neo4j: Option<Neo4j>,
    /// The embeddings endpoint.
    pub embeddings: Option<Embeddings>,
    /// The web search service.
    pub web_search: Option<WebSearch>,
}

/// A Neo4j database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neo4j {
    /// Bolt address, e.g. `bolt://localhost:7687`.
    pub uri: String,
    /// User name.
    pub user: Option<String>,
    /// Name of the environment variable that holds the password.
    pub password_env: Option<String>,
    /// Name of the database; the server's default when absent.
    pub database: Option<String>,
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
    /// Name of the provider.
    pub provider: String,
    /// Address of its interface; the provider's usual one when absent.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the API key.
    pub api_key_env: Option<String>,
}
