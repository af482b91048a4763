//! Graph clients, one per distinct connection, shared by all jobs of the process.

use super::ClientCache;
use plumbline_config::{Neo4j, Secrets};
use plumbline_job_setup::secret;
use plumbline_llm::ApiKey;
use plumbline_tools::{
    Graph,
    graph::{GraphClient, GraphConfig, Rights},
};
use std::sync::Arc;

/// The clients made so far.
pub(crate) struct Graphs {
    secrets: Arc<Secrets>,
    clients: ClientCache<JobGraph>,
}

/// A job's graph, owned; [`JobGraph::access`] lends it to the tools.
#[derive(Clone)]
pub(crate) enum JobGraph {
    Off,
    On(Arc<GraphClient>),
    Unusable(Arc<str>),
}

impl JobGraph {
    pub(crate) fn access(&self) -> Graph<'_> {
        match self {
            Self::Off => Graph::Off,
            Self::On(client) => Graph::On(client),
            Self::Unusable(reason) => Graph::Unusable(reason),
        }
    }
}

impl Graphs {
    /// No clients yet; each will get the secret of its host.
    pub(crate) fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets, clients: ClientCache::default() }
    }

    /// The graph of a configuration. An unusable graph must not be treated like a missing one in validation.
    pub(crate) fn of(&self, neo4j: Option<&Neo4j>) -> JobGraph {
        let Some(neo4j) = neo4j else { return JobGraph::Off };
        let password = match password(neo4j, &self.secrets) {
            Ok(password) => password,
            Err(reason) => return JobGraph::Unusable(reason.into()),
        };
        self.clients.get(neo4j, || connect(neo4j, password))
    }
}

/// Queries the rights of a graph's user: the graph's address, and the server's answer.
///
/// # Errors
/// Why they cannot be queried, with the remedy.
pub async fn graph_rights(neo4j: &Neo4j, secrets: &Secrets) -> Result<(String, Rights), String> {
    let client = match connect(neo4j, password(neo4j, secrets)?) {
        JobGraph::On(client) => client,
        JobGraph::Unusable(reason) => return Err(reason.to_string()),
        JobGraph::Off => return Err("no graph is configured".into()),
    };
    let rights = client.rights().await.map_err(|error| error.to_string())?;
    Ok((client.place().to_owned(), rights))
}

fn connect(neo4j: &Neo4j, password: Option<ApiKey>) -> JobGraph {
    let config = GraphConfig {
        user: neo4j.user.clone(),
        password,
        database: neo4j.database.clone(),
        allow_write: neo4j.allow_write.unwrap_or(false),
        ..GraphConfig::new(neo4j.uri.clone())
    };
    match GraphClient::new(config) {
        Ok(client) => JobGraph::On(Arc::new(client)),
        Err(error) => JobGraph::Unusable(error.to_string().into()),
    }
}

fn password(neo4j: &Neo4j, secrets: &Secrets) -> Result<Option<ApiKey>, String> {
    let Some(name) = &neo4j.password_env else { return Ok(None) };
    match secret(secrets, name, &neo4j.uri) {
        Some(password) => Ok(Some(password)),
        None => Err(format!(
            "the graph at {} cannot be used: the worker's environment variable {name}, named by \
             `connections.neo4j.password_env`, is not set, or belongs to another host",
            neo4j.uri
        )),
    }
}
