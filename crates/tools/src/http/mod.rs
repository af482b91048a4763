//! An operator's own tools over HTTP: an entry of `connections.http_tools` is a tool `http_NAME` of the job.
//!
//! ```text
//! entry ──▶ definition: name, description, schema ──▶ what the model sees (request_schema)
//!   │                                  └─────────────▶ validation of arguments, and the digest of an approval
//!   └────▶ call: address guard, secrets by name, one request ──▶ 2xx is the result, all else an error
//! ```
//!
//! A call carries `Idempotency-Key: JOB:CALL` and `traceparent`. Redirects are not followed: the operator trusts the
//! configured address, not one that its server names. The entry's `replay` says whether a call may be sent again; the
//! engine and the runner use it as for any other tool.

mod call;
mod definition;
mod request_schema;
mod settings;
mod unfit;

pub use call::{HttpCaller, Outgoing, SecretOf};
pub use definition::{check, registry};
pub use settings::{HttpTool, literal_private_address, may_be_sent};
pub use unfit::Unfit;
