//! A transaction: several statements, one commit.

use super::client::{GraphClient, Rows, Statement};
use super::error::GraphError;
use serde_json::json;

/// An open transaction. One that is dropped without a commit or a rollback is rolled back by the server when its time
/// is up.
#[derive(Debug)]
pub struct Transaction<'a> {
    client: &'a GraphClient,
    id: String,
    affinity: Option<String>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(client: &'a GraphClient, id: String, affinity: Option<String>) -> Self {
        Self { client, id, affinity }
    }

    /// Runs a statement. The server has rolled the transaction back when it reports an error.
    ///
    /// # Errors
    /// [`GraphError`].
    pub async fn run(&self, statement: &Statement) -> Result<Rows, GraphError> {
        self.client.post_statement(self.client.below(&["tx", &self.id]), statement, self.affinity.as_deref()).await
    }

    /// Makes it last.
    ///
    /// # Errors
    /// [`GraphError`]; whether it lasts is unknown when the answer is lost.
    pub async fn commit(self) -> Result<(), GraphError> {
        let url = self.client.below(&["tx", &self.id, "commit"]);
        self.client.post(url, &json!({}), self.affinity.as_deref()).await.map(|_| ())
    }

    /// Gives it up. The server does so by itself in the end, so it matters little whether this arrives.
    pub async fn rollback(self) {
        let url = self.client.below(&["tx", &self.id]);
        if let Err(error) = self.client.delete(url, self.affinity.as_deref()).await {
            tracing::debug!(%error, "a graph transaction was not rolled back by hand");
        }
    }
}
