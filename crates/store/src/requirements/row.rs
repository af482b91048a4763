//! Rows of `requirement_cache`, their columns named once.

use crate::UserJson;
use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

/// A row with the columns of the finding, and the given ones.
macro_rules! requirement {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $column:ident: $kind:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[expect(missing_docs, reason = "the public columns, described in the interface")]
        pub struct $name {
            pub id: Uuid,
            pub candidate_id: Option<String>,
            pub text: String,
            pub name: Option<String>,
            pub r#type: Option<String>,
            pub priority: Option<String>,
            pub source_document: Option<String>,
            pub source_location: Option<UserJson>,
            pub gobd_relevant: bool,
            pub gdpr_relevant: bool,
            pub citations: UserJson,
            pub mentioned_objects: UserJson,
            pub mentioned_messages: UserJson,
            pub reasoning: Option<String>,
            pub confidence: f64,
            pub tags: UserJson,
            $($(#[$meaning])* pub $column: $kind,)*
        }
    };
}

requirement! {
    /// A requirement of a job, with its outcome.
    RequirementRow {
        research_notes: Option<String>,
        status: String,
        validation_result: Option<UserJson>,
        graph_node_id: Option<String>,
        rejection_reason: Option<String>,
        retry_count: i32,
        last_error: Option<String>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
        validated_at: Option<DateTime<Utc>>,
    }
}

requirement! {
    /// A requirement that a validator job holds.
    HeldRequirement {
        /// The job that recorded it.
        job_id: Uuid,
        /// Its number in that job.
        number: Option<i32>,
        /// Whether a step recorded it, as opposed to another producer.
        is_ours: bool,
        /// The number of citations in the row.
        citations_given: i64,
        /// How many of them the recording job has verified.
        citations_confirmed: i64,
    }
}
