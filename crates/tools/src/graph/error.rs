//! Errors of the graph client.

/// Why the graph did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// No connection, or it broke.
    #[error(
        "the graph at {place} cannot be reached ({reason}); check that it runs and that `connections.neo4j.uri` names its HTTP address"
    )]
    Unreachable {
        /// The address, without credentials.
        place: String,
        /// What the network said.
        reason: String,
    },
    /// It did not answer in time.
    #[error("the graph at {place} did not answer within {limit_s} s; ask for less, or see what keeps it busy")]
    TimedOut {
        /// The address.
        place: String,
        /// The limit.
        limit_s: u64,
    },
    /// User name or password is wrong, or the user may not do this.
    #[error(
        "the graph at {place} refuses the user ({message}); check `connections.neo4j.user` and the variable named by `password_env`"
    )]
    Unauthorized {
        /// The address.
        place: String,
        /// The server's words.
        message: String,
    },
    /// The database is not there, or does not take what integration needs.
    #[error(
        "the graph at {place} cannot be used as it is configured ({code}: {message}); check `connections.neo4j.database` and what that database allows"
    )]
    Unusable {
        /// The address.
        place: String,
        /// The server's code.
        code: String,
        /// Its words.
        message: String,
    },
    /// A uniqueness constraint forbids the write.
    #[error("the graph already has such a node ({message})")]
    Constraint {
        /// The server's words.
        message: String,
    },
    /// A deadlock, an overload, a change of leader, a fault inside: the same again may work.
    #[error("the graph could not do it at this moment ({code}: {message}); the same again may work")]
    Transient {
        /// The server's code.
        code: String,
        /// Its words.
        message: String,
    },
    /// The statement is refused for good.
    #[error("the graph refuses the statement ({code}: {message})")]
    Refused {
        /// The server's code.
        code: String,
        /// Its words.
        message: String,
    },
    /// What came back is no answer of the Query API.
    #[error(
        "the answer of {place} is none of a graph's Query API ({what}); Neo4j has it, with transactions, from version 5.26 on, at its HTTP address"
    )]
    Malformed {
        /// The address.
        place: String,
        /// What it was instead.
        what: String,
    },
    /// More than is read.
    #[error("the graph's answer has more than {limit}; ask for fewer rows or properties")]
    TooLarge {
        /// The limit with its unit.
        limit: String,
    },
}

impl GraphError {
    /// Whether the statement itself is at fault, so that sending it again gives the same. Everything else may pass.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Constraint { .. } | Self::Refused { .. })
    }

    /// The error for a code of the server. What is no fault of the statement must not be taken for one: a requirement
    /// whose statement is refused for good has failed for good.
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

    /// Whether the server gave up on a statement that took longer than it allows.
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

/// Beginnings of codes that say something of the database, not of the statement: it is not there, it is read only, its
/// schema does not take the constraints.
const UNUSABLE: [&str; 4] = [
    "Neo.ClientError.Database.",
    "Neo.ClientError.Schema.",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
];

/// Beginnings of codes that say something of the moment. A transaction that the server no longer knows, because it took
/// too long or another member of the cluster was asked, is an invalid request to it.
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
    /// The address is not one.
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

/// A server's message on one line; some repeat the whole statement.
fn shortened(message: &str) -> String {
    const MOST: usize = 400;
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
