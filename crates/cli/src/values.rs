//! Values on the command line, and what is said of wrong ones.

use clap::{Arg, Command};
use std::{any::TypeId, fmt::Display, net::SocketAddr, path::PathBuf, str::FromStr};
use uuid::Uuid;

/// A value that begins with `-` belongs to the option before it, whose own error then says what it takes; otherwise it
/// would be an unknown option. A text could swallow the next option by mistake, so of texts only numbers do.
pub(crate) fn with_signs(command: Command) -> Command {
    let signed = |arg: Arg| {
        let kind = arg.get_value_parser().type_id();
        let is_text = [TypeId::of::<String>(), TypeId::of::<PathBuf>()].into_iter().any(|text| kind == text);
        match arg.get_action().takes_values() {
            true if is_text || arg.is_positional() => arg.allow_negative_numbers(true),
            true => arg.allow_hyphen_values(true),
            false => arg,
        }
    };
    command.mut_args(signed).mut_subcommands(with_signs)
}

/// A whole number.
pub(crate) fn whole<T: FromStr + PartialOrd + Display>(text: &str, least: T) -> Result<T, String> {
    let number = text.trim().parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("it must be a whole number from {least}"))
}

/// A whole number within bounds.
pub(crate) fn between<T: FromStr + PartialOrd + Display>(text: &str, least: T, most: T) -> Result<T, String> {
    let number = text.trim().parse().ok().filter(|number| *number >= least && *number <= most);
    number.ok_or_else(|| format!("it must be a whole number from {least} to {most}"))
}

/// The name of a job type to enqueue. No worker serves a type without a name.
pub(crate) fn job_type(text: &str) -> Result<String, String> {
    not_blank(text, "it must be the name of a job type; leave --type out for the default one")
}

/// A job type of `--job-types`. A worker that is asked for a type without a name would claim nothing.
pub(crate) fn job_type_to_run(text: &str) -> Result<String, String> {
    let name = text.trim();
    not_blank(name, "it must be names of job types with commas between them; leave --job-types out for all types")
}

/// The task of a job, which must say something.
pub(crate) fn prompt(text: &str) -> Result<String, String> {
    not_blank(text, "it must say what is to be done")
}

/// An idempotency key. With an empty one, as from an unset variable, each job would be taken for the one before.
pub(crate) fn key(text: &str) -> Result<String, String> {
    not_blank(text, "it must be a key; leave --key out to insert a job in any case")
}

/// A recorded job.
pub(crate) fn recording(text: &str) -> Result<String, String> {
    not_blank(text, "it must be a job's id, or a file that `plumbline trace JOB --export FILE` wrote")
}

fn not_blank(text: &str, otherwise: &str) -> Result<String, String> {
    Some(text.to_owned()).filter(|text| !text.trim().is_empty()).ok_or_else(|| otherwise.to_owned())
}

/// The id of a call.
pub(crate) fn call(text: &str) -> Result<Uuid, String> {
    text.trim().parse().map_err(|_| "it must be the id of a call, as `plumbline approvals` shows it".to_owned())
}

/// An address of this machine.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.trim().parse().map_err(|_| "it must be an address and port, e.g. 127.0.0.1:8080".to_owned())
}

/// A sum of money.
pub(crate) fn dollars(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "it must be a number of US dollars from 0, e.g. 2.50".to_owned())
}

/// A share from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a share from 0 to 1, e.g. 0.95".to_owned())
}
