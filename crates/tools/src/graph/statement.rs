//! A statement and its result.

use serde::Serialize;
use serde_json::Value;

/// The access mode of a statement; in read mode the server refuses to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Access {
    /// Only reads.
    Read,
    /// May write.
    Write,
}

/// A statement with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Cypher.
    pub text: String,
    /// An object.
    pub parameters: Value,
}

impl Statement {
    /// A statement; `parameters` is an object.
    pub fn new(text: impl Into<String>, parameters: Value) -> Self {
        Self { text: text.into(), parameters }
    }

    pub(super) fn body(&self, access: Option<Access>) -> Body<'_> {
        Body { statement: &self.text, parameters: &self.parameters, access_mode: access }
    }
}

/// A request with a statement, its members in the order of the API's documentation: servers before 2026.08 require it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    statement: &'a str,
    parameters: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_mode: Option<Access>,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Names of the columns.
    pub fields: Vec<String>,
    /// The rows.
    pub values: Vec<Vec<Value>>,
}

impl Rows {
    /// The first value of the first row.
    pub fn first(&self) -> Option<&Value> {
        self.values.first()?.first()
    }
}
