//! The configured user's rights on the server, as far as the server reports them.

use super::client::GraphClient;
use super::error::GraphError;
use super::statement::{Access, Statement};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const EDITION: &str = "CALL dbms.components() YIELD versions, edition RETURN edition, versions[0] AS version LIMIT 1";
/// The privileges of the current user.
const PRIVILEGES: &str = "SHOW USER PRIVILEGES YIELD access, action WHERE access = 'GRANTED' RETURN DISTINCT action";

/// Actions that change a graph's content.
#[rustfmt::skip]
const WRITING: &[&str] = &[
    "write", "graph_actions", "merge", "create_element", "delete_element", "set_label", "remove_label", "set_property",
];
/// Actions that let a query read files and addresses, run code with more rights than the user's, or change the server.
#[rustfmt::skip]
const BEYOND: &[&str] = &[
    "load", "load_all_data", "load_cidr", "load_url", "dbms_actions", "admin", "execute_boosted", "execute_admin",
    "user_management", "role_management", "privilege_management", "database_management", "database_actions",
    "impersonate", "transaction_management", "schema", "index", "constraint",
];

/// The server's description of itself and of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// `community`, `enterprise` or the server's own word.
    pub edition: String,
    /// Its version.
    pub version: String,
    /// The user's granted actions, in the server's words; none if the edition has no roles.
    pub actions: Option<BTreeSet<String>>,
}

impl Rights {
    /// The granted actions that change a graph.
    pub fn writing(&self) -> Vec<&str> {
        self.of(WRITING)
    }

    /// The granted actions that none of our queries needs.
    pub fn beyond(&self) -> Vec<&str> {
        self.of(BEYOND)
    }

    fn of(&self, named: &[&str]) -> Vec<&str> {
        let is_named = |action: &&str| named.iter().any(|name| action.starts_with(name));
        self.actions.iter().flatten().map(String::as_str).filter(is_named).collect()
    }
}

impl GraphClient {
    /// Queries the server's edition and, if that has roles, the user's privileges.
    ///
    /// # Errors
    /// [`GraphError`].
    pub async fn rights(&self) -> Result<Rights, GraphError> {
        let rows = self.run(&Statement::new(EDITION, json!({})), Access::Read).await?;
        let text = |at: usize| {
            let value = rows.values.first().and_then(|row| row.get(at));
            value.and_then(Value::as_str).unwrap_or("unknown").to_owned()
        };
        let (edition, version) = (text(0), text(1));
        let actions = match self.run(&Statement::new(PRIVILEGES, json!({})), Access::Read).await {
            Ok(rows) => Some(rows.values.iter().filter_map(|row| row.first()?.as_str().map(str::to_owned)).collect()),
            // An edition without roles does not support the command.
            Err(GraphError::Refused { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Rights { edition, version, actions })
    }
}
