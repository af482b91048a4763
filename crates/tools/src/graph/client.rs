//! The client: statements and transactions over HTTP.

use super::address::query_api;
use super::error::{GraphConfigError, GraphError};
use super::statement::{Access, Rows, Statement};
use crate::graph::http::{Answer, Reply, exchange};
use crate::graph::plan::{Operator, operators};
use crate::graph::schema::CONSTRAINTS;
use plumbline_llm::ApiKey;
use reqwest::Url;
use serde::Serialize;
use serde_json::json;
use std::time::Duration;
use tokio::sync::OnceCell;

/// The default database name.
const DEFAULT_DATABASE: &str = "neo4j";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The server's code if another client has created the same constraint concurrently.
const MADE_MEANWHILE: &str = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists";
/// For one statement, including reading its answer.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The address of a graph, and the credentials.
#[derive(Clone, Debug)]
pub struct GraphConfig {
    /// Its address: HTTP, or the Bolt address of the same server.
    pub uri: String,
    /// The user; if none, no credentials are sent.
    pub user: Option<String>,
    /// The password.
    pub password: Option<ApiKey>,
    /// The database; `neo4j` if absent.
    pub database: Option<String>,
    /// Whether the model's queries may write.
    pub allow_write: bool,
    /// Time limit of one statement.
    pub timeout: Duration,
}

impl GraphConfig {
    /// A graph without credentials.
    pub fn new(uri: impl Into<String>) -> Self {
        let uri = uri.into();
        Self { uri, user: None, password: None, database: None, allow_write: false, timeout: STATEMENT_TIMEOUT }
    }
}

/// A client of one graph. Has its own connection pool; keep one per configuration and share it.
#[derive(Debug)]
pub struct GraphClient {
    http: reqwest::Client,
    api: Url,
    /// The address for messages.
    pub(super) place: String,
    user: Option<String>,
    password: Option<ApiKey>,
    allow_write: bool,
    timeout: Duration,
    constrained: OnceCell<()>,
}

impl GraphClient {
    /// Creates a client without sending anything.
    ///
    /// # Errors
    /// The address is invalid, or TLS cannot be set up.
    pub fn new(config: GraphConfig) -> Result<Self, GraphConfigError> {
        let api = query_api(&config.uri, config.database.as_deref().unwrap_or(DEFAULT_DATABASE))?;
        let http = plumbline_llm::tls::http()
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            // A redirect would send the password to another host; and this client does not retry.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .user_agent(concat!("plumbline/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| GraphConfigError::Http(error.to_string()))?;
        let place = place_of(&api);
        let GraphConfig { user, password, allow_write, timeout, .. } = config;
        Ok(Self { http, api, place, user, password, allow_write, timeout, constrained: OnceCell::new() })
    }

    /// Its address, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether the model's queries may write.
    pub fn allows_write(&self) -> bool {
        self.allow_write
    }

    /// Runs one statement in its own transaction.
    ///
    /// # Errors
    /// [`GraphError`]; nothing was written, unless the answer was lost ([`GraphError::Unreachable`],
    /// [`GraphError::TimedOut`]).
    pub async fn run(&self, statement: &Statement, access: Access) -> Result<Rows, GraphError> {
        Ok(self.post(self.api.clone(), &statement.body(Some(access)), None).await?.0.into_rows())
    }

    /// The server's plan of a statement, without running it.
    ///
    /// # Errors
    /// [`GraphError`], also if the answer has no plan.
    pub async fn explain(&self, statement: &Statement) -> Result<Vec<Operator>, GraphError> {
        let explained = Statement::new(format!("EXPLAIN {}", statement.text), statement.parameters.clone());
        let (answer, _) = self.post(self.api.clone(), &explained.body(Some(Access::Read)), None).await?;
        let plan = answer.query_plan.as_deref().ok_or_else(|| "an answer to EXPLAIN without a plan".to_owned());
        plan.and_then(operators).map_err(|what| self.malformed(&what))
    }

    /// Creates the constraints that all other statements rely on, once per client; no change if the graph has them.
    ///
    /// # Errors
    /// [`GraphError`], also if the graph has two nodes with the same id.
    pub async fn constrain(&self) -> Result<(), GraphError> {
        let create = || async {
            for statement in CONSTRAINTS {
                match self.run(&Statement::new(statement, json!({})), Access::Write).await {
                    Err(GraphError::Unusable { code, .. }) if code == MADE_MEANWHILE => {}
                    done => drop(done.map_err(|error| self.unconstrained(error))?),
                }
            }
            Ok(())
        };
        self.constrained.get_or_try_init(create).await.copied()
    }

    pub(super) fn malformed(&self, what: &str) -> GraphError {
        GraphError::Malformed { place: self.place.clone(), what: what.to_owned() }
    }

    /// Data or an index that conflicts with a constraint is for the graph's operators, not for the model.
    fn unconstrained(&self, error: GraphError) -> GraphError {
        match error {
            GraphError::Constraint { message } => {
                let place = self.place.clone();
                GraphError::Unusable { place, code: "a constraint cannot be created".into(), message }
            }
            error => error,
        }
    }

    /// Sends a statement of a transaction.
    pub(super) async fn post_statement(
        &self,
        url: Url,
        statement: &Statement,
        affinity: Option<&str>,
    ) -> Result<Rows, GraphError> {
        Ok(self.post(url, &statement.body(None), affinity).await?.0.into_rows())
    }

    pub(super) async fn post(
        &self,
        url: Url,
        body: &impl Serialize,
        affinity: Option<&str>,
    ) -> Result<(Answer, Option<String>), GraphError> {
        let reply = self.send(self.http.post(url).json(body), affinity).await?;
        Ok((reply.decode(&self.place)?, reply.affinity))
    }

    pub(super) async fn delete(&self, url: Url, affinity: Option<&str>) -> Result<(), GraphError> {
        let reply = self.send(self.http.delete(url), affinity).await?;
        if reply.is_bare_success() { Ok(()) } else { reply.decode(&self.place).map(|_| ()) }
    }

    /// The address with these path segments appended.
    pub(super) fn below(&self, segments: &[&str]) -> Url {
        let mut url = self.api.clone();
        url.path_segments_mut().expect("below: an HTTP address has a path").extend(segments);
        url
    }

    async fn send(&self, mut request: reqwest::RequestBuilder, affinity: Option<&str>) -> Result<Reply, GraphError> {
        if let Some(user) = &self.user {
            request = request.basic_auth(user, self.password.as_ref().map(ApiKey::expose));
        }
        if let Some(affinity) = affinity {
            request = request.header(crate::graph::http::AFFINITY, affinity);
        }
        exchange(request.header("Accept", "application/json"), &self.place, self.timeout).await
    }
}

fn place_of(api: &Url) -> String {
    let port = api.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}", api.scheme(), api.host_str().unwrap_or_default())
}
