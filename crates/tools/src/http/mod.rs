//! Tools of an operator's own, over HTTP: an entry of `connections.http_tools` is a tool `http_NAME` of the job.
//!
//! ```text
//! entry ──▶ definition: name, description, schema ──▶ what the model sees (request_schema)
//!   │                                  └─────────────▶ what arguments are held against, and the digest of an approval
//!   └────▶ call: address guard, secrets by name, one request ──▶ 2xx is the result, all else an error
//! ```
//!
//! A call carries `Idempotency-Key: JOB:CALL` and `traceparent`. No redirect is followed: the operator wrote the address, and
//! a server that names another one is not asked to speak for it. Whether a call may be sent again is the entry's `replay`,
//! which the engine and the runner go by as with any other tool.

mod call;
mod definition;
mod request_schema;
mod settings;

pub use call::{HttpCaller, Outgoing, SecretOf};
pub use definition::{Unfit, check, registry};
pub use settings::{HttpMethod, HttpTool, literal_private_address, may_be_sent};
