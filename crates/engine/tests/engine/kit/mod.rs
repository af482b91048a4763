//! The test kit.

mod dialogue;
mod executor;
mod outcomes;
mod request;
mod script;
mod settings;
mod short;
mod toy;

pub(crate) use dialogue::Dialogue;
pub(crate) use executor::prepare;
pub(crate) use outcomes::{call, failure, intake, intake_of, intake_of_four, reply, says};
pub(crate) use request::{Line, lines, validate};
pub(crate) use script::check;
pub(crate) use settings::{count, covering, settings};
pub(crate) use short::{change, effect};
