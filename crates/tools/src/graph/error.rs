//! Errors of the graph client.

use plumbline_engine::{beginning, one_line};

/// Why a graph operation failed.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// No connection, or it broke.
    #[error(
        "the graph at {place} cannot be reached ({reason}); check that it runs and that `connections.neo4j.uri` names its HTTP address"
    )]
    Unreachable {
        /// The address, without credentials.
        place: String,
        /// The network error.
        reason: String,
    },
    /// The answer did not arrive in time.
    #[error("the graph at {place} did not answer within {limit_s} s; ask for less, or see what keeps it busy")]
    TimedOut {
        /// The address.
        place: String,
        /// The limit.
        limit_s: u64,
    },
    /// User name or password is wrong, or the user lacks a right.
    #[error(
        "the graph at {place} refuses the user ({message}); check `connections.neo4j.user` and the variable named by `password_env`"
    )]
    Unauthorized {
        /// The address.
        place: String,
        /// The server's message.
        message: String,
    },
    /// The database does not exist, or does not support what integration needs.
    #[error(
        "the graph at {place} cannot be used as it is configured ({code}: {message}); check `connections.neo4j.database` and what that database allows"
    )]
    Unusable {
        /// The address.
        place: String,
        /// The server's code.
        code: String,
        /// Its message.
        message: String,
    },
    /// A uniqueness constraint forbids the write.
    #[error("the graph already has such a node ({message})")]
    Constraint {
        /// The server's message.
        message: String,
    },
    /// A deadlock, an overload, a leader change, an internal error: a retry may succeed.
    #[error("the graph could not do it at this moment ({code}: {message}); the same again may work")]
    Transient {
        /// The server's code.
        code: String,
        /// Its message.
        message: String,
    },
    /// The statement is permanently refused.
    #[error("the graph refuses the statement ({code}: {message})")]
    Refused {
        /// The server's code.
        code: String,
        /// Its message.
        message: String,
    },
    /// The response is not an answer of the Query API.
    #[error(
        "the answer of {place} is none of a graph's Query API ({what}); Neo4j has it, with transactions, from version 5.26 on, at its HTTP address"
    )]
    Malformed {
        /// The address.
        place: String,
        /// What it was instead.
        what: String,
    },
    /// The response exceeds a limit.
    #[error("the graph's answer has more than {limit}; ask for fewer rows or properties")]
    TooLarge {
        /// The limit with its unit.
        limit: String,
    },
}

impl GraphError {
    /// Whether the statement itself is at fault, so that a retry gives the same. Any other error may be transient.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Constraint { .. } | Self::Refused { .. })
    }

    /// The error for a code of the server. An error that the statement did not cause must not be classified as one: a
    /// requirement whose statement is permanently refused has permanently failed.
    pub(super) fn of_code(code: &str, message: &str, place: &str) -> Self {
        let (place, code, message) = (place.to_string(), code.to_string(), shortened(message));
        if code == CONSTRAINT_FAILED {
            Self::Constraint { message }
        } else if code.starts_with("Neo.ClientError.Security.") {
            Self::Unauthorized { place, message }
        } else if UNUSABLE.iter().any(|known| code.starts_with(known)) {
            Self::Unusable { place, code, message }
        } else if PASSING.iter().any(|known| code.starts_with(known)) {
            Self::Transient { code, message }
        } else {
            Self::Refused { code, message }
        }
    }

    /// Whether the server aborted a statement because of its own time limit.
    pub fn is_too_slow(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Transient { code, .. } => code.starts_with("Neo.ClientError.Transaction.TransactionTimedOut"),
            _ => false,
        }
    }
}

/// A uniqueness constraint forbids the write.
const CONSTRAINT_FAILED: &str = "Neo.ClientError.Schema.ConstraintValidationFailed";

/// Prefixes of codes about the database, not the statement: it does not exist, it is read only, its schema does not
/// allow the constraints.
const UNUSABLE: [&str; 4] = [
    "Neo.ClientError.Database.",
    "Neo.ClientError.Schema.",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
];

/// Prefixes of codes about a transient condition. A transaction that the server no longer knows, because it took too
/// long or the request went to another member of the cluster, is an invalid request to it.
const PASSING: [&str; 6] = [
    "Neo.TransientError.",
    "Neo.DatabaseError.",
    "Neo.ClientError.Transaction.",
    "Neo.ClientError.Cluster.",
    "Neo.ClientError.Request.Invalid",
    "Neo.ClientError.Request.ResourceExhaustion",
];

/// Why a client cannot be made from a configuration.
#[derive(Debug, thiserror::Error)]
pub enum GraphConfigError {
    /// The address is invalid.
    #[error("connections.neo4j.uri `{uri}` is not a usable address ({reason}); write it like http://localhost:7474")]
    Uri {
        /// As configured.
        uri: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The HTTP client could not be set up.
    #[error("the HTTP client for the graph could not be set up ({0}); check the system's TLS certificates")]
    Http(String),
}

/// A server's message on one line, shortened; some repeat the whole statement.
fn shortened(message: &str) -> String {
    const MOST: usize = 400;
    beginning(&one_line(message), MOST)
}
