//! A transaction: several statements, one commit.

use super::client::GraphClient;
use super::error::GraphError;
use super::statement::{Access, Rows, Statement};
use serde_json::json;

/// An open transaction. If it is dropped without a commit or a rollback, the server rolls it back after its timeout.
#[derive(Debug)]
pub struct Transaction<'a> {
    client: &'a GraphClient,
    id: String,
    affinity: Option<String>,
}

impl GraphClient {
    /// Opens a transaction with its first statement, which saves a round trip.
    ///
    /// # Errors
    /// [`GraphError`].
    pub async fn begin(&self, first: &Statement) -> Result<(Transaction<'_>, Rows), GraphError> {
        let (answer, affinity) = self.post(self.below(&["tx"]), &first.body(Some(Access::Write)), None).await?;
        let (rows, opened) = answer.into_parts();
        let opened = opened.ok_or_else(|| self.malformed("a new transaction has no id"))?;
        Ok((Transaction { client: self, id: opened.id, affinity }, rows))
    }
}

impl Transaction<'_> {
    pub(super) fn malformed(&self, what: &str) -> GraphError {
        self.client.malformed(what)
    }

    /// Runs a statement. If the server reports an error, it has rolled the transaction back.
    ///
    /// # Errors
    /// [`GraphError`].
    pub async fn run(&self, statement: &Statement) -> Result<Rows, GraphError> {
        self.client.post_statement(self.client.below(&["tx", &self.id]), statement, self.affinity.as_deref()).await
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// [`GraphError`]; if the answer is lost, the outcome is unknown.
    pub async fn commit(self) -> Result<(), GraphError> {
        let url = self.client.below(&["tx", &self.id, "commit"]);
        self.client.post(url, &json!({}), self.affinity.as_deref()).await.map(|_| ())
    }

    /// Rolls back. The server does so after its timeout anyway, so it matters little whether this arrives.
    pub async fn rollback(self) {
        let url = self.client.below(&["tx", &self.id]);
        if let Err(error) = self.client.delete(url, self.affinity.as_deref()).await {
            tracing::debug!(%error, "could not roll back a graph transaction; the server ends it by timeout");
        }
    }
}
