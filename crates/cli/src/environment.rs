//! The environment variables of the public interface (docs/environment.md), read in one place.

use crate::error::Failure;
use plumbline_config::{ConfigRegistry, ModelEnv};
use plumbline_dashboard::HttpOptions;
use plumbline_job_setup as job_setup;
use plumbline_store::{AddressSource, ConnectOptions, Store};
use plumbline_worker::Timing;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

/// Default number of concurrent jobs.
const CONCURRENCY: u32 = 50;

/// Maximum number of seconds that a job may wait for a worker that knows its type; 0 means forever.
const LONGEST_WAIT: u64 = 10 * 366 * 86_400;

/// A variable; empty counts as unset.
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// A number; the error names the variable.
fn number<T: FromStr>(name: &str, default: T) -> Result<T, Failure> {
    match var(name) {
        None => Ok(default),
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| Failure::usage(format!("{name} is `{text}`; set it to a whole number or leave it unset"))),
    }
}

/// The flag, or `PLUMBLINE_CONCURRENCY`.
pub(crate) fn concurrency(flag: Option<u32>) -> Result<usize, Failure> {
    let asked = match flag {
        Some(asked) => asked,
        None => number("PLUMBLINE_CONCURRENCY", CONCURRENCY)?,
    };
    match asked {
        1..=10_000 => Ok(asked as usize),
        _ => Err(Failure::usage(format!("PLUMBLINE_CONCURRENCY is `{asked}`; set it to a number from 1 to 10000"))),
    }
}

/// `DATABASE_URL`.
pub(crate) fn database_url() -> Result<String, Failure> {
    var("DATABASE_URL").ok_or_else(|| {
        Failure::usage("DATABASE_URL is not set; set it to your Postgres, e.g. postgres://user@localhost/plumbline, or try `plumbline dev`")
    })
}

/// A connection for a command, with a schema that this version understands.
pub(crate) async fn store() -> Result<Store, Failure> {
    let store = connect(&database_url()?).await?;
    store.check_schema().await?;
    Ok(store)
}

/// A connection for a command.
pub(crate) async fn connect(url: &str) -> Result<Store, Failure> {
    connect_from(url, AddressSource::Environment).await
}

/// The same, with an address from elsewhere.
pub(crate) async fn connect_from(url: &str, source: AddressSource) -> Result<Store, Failure> {
    let options = ConnectOptions {
        max_connections: 2,
        application_name: "plumbline command".into(),
        ..ConnectOptions::default()
    };
    Ok(Store::connect_from(url, options, source).await?)
}

/// `PLUMBLINE_WORKSPACE_DIR`.
pub(crate) fn workspace_dir() -> PathBuf {
    var("PLUMBLINE_WORKSPACE_DIR").map_or_else(|| PathBuf::from("workspace"), PathBuf::from)
}

/// `PLUMBLINE_CONFIG_DIR` and `PLUMBLINE_PROMPTS_DIR` over the built-in copies.
pub(crate) fn configs() -> Result<ConfigRegistry, Failure> {
    let dir = |name| var(name).map(PathBuf::from);
    let (configs, prompts) = (dir("PLUMBLINE_CONFIG_DIR"), dir("PLUMBLINE_PROMPTS_DIR"));
    Ok(job_setup::configs(configs.as_deref(), prompts.as_deref())?)
}

/// A folder as `PLUMBLINE_CONFIG_DIR`, with the prompts of `PLUMBLINE_PROMPTS_DIR`.
pub(crate) fn configs_of(dir: &Path) -> Result<ConfigRegistry, Failure> {
    Ok(job_setup::configs(Some(dir), var("PLUMBLINE_PROMPTS_DIR").map(PathBuf::from).as_deref())?)
}

/// `PLUMBLINE_MODEL`, `OPENAI_BASE_URL`, `PLUMBLINE_MAX_ITERATIONS`.
pub(crate) fn model_env() -> Result<ModelEnv, Failure> {
    ModelEnv::from_lookup(var).map_err(|error| Failure::usage(error.to_string()))
}

/// `PLUMBLINE_DEFAULT_JOB_TYPE`: the type of jobs that are enqueued without one.
pub(crate) fn default_job_type() -> Option<String> {
    var("PLUMBLINE_DEFAULT_JOB_TYPE").map(|name| name.trim().to_owned())
}

/// `PLUMBLINE_LEASE_SECS`, `PLUMBLINE_HEARTBEAT_SECS`, `PLUMBLINE_POLL_MS`, `PLUMBLINE_DRAIN_SECS`,
/// `PLUMBLINE_UNKNOWN_TYPE_SECS`, `PLUMBLINE_GIVE_UP_SECS`.
pub(crate) fn timing() -> Result<Timing, Failure> {
    let default = Timing::default();
    let seconds =
        |name, default: Duration| Ok::<_, Failure>(Duration::from_secs(within_a_day(name, default.as_secs(), 1)?));
    let timing = Timing {
        lease: seconds("PLUMBLINE_LEASE_SECS", default.lease)?,
        heartbeat: seconds("PLUMBLINE_HEARTBEAT_SECS", default.heartbeat)?,
        poll: Duration::from_millis(within_a_day("PLUMBLINE_POLL_MS", default.poll.as_millis() as u64, 1_000)?),
        drain: seconds("PLUMBLINE_DRAIN_SECS", default.drain)?,
        unknown_type: within("PLUMBLINE_UNKNOWN_TYPE_SECS", default.unknown_type.as_secs(), LONGEST_WAIT, "ten years")
            .map(Duration::from_secs)?,
        give_up: within("PLUMBLINE_GIVE_UP_SECS", default.give_up.as_secs(), LONGEST_WAIT, "ten years")
            .map(Duration::from_secs)?,
    };
    timing.validate().map_err(Failure::usage)?;
    Ok(timing)
}

/// A number of units, given per second, of at most a day, so that sums of times do not overflow.
fn within_a_day(name: &str, default: u64, to_a_second: u64) -> Result<u64, Failure> {
    within(name, default, 86_400 * to_a_second, "a day")
}

fn within(name: &str, default: u64, most: u64, which_is: &str) -> Result<u64, Failure> {
    match number(name, default)? {
        given if given <= most => Ok(given),
        given => Err(Failure::usage(format!("{name} is `{given}`; set it to at most {most}, which is {which_is}"))),
    }
}

/// The flag or `PLUMBLINE_HTTP_ADDR`, `PLUMBLINE_HTTP_TOKEN` and `PLUMBLINE_HTTP_HOSTS`.
pub(crate) fn http(flag: Option<SocketAddr>) -> Result<HttpOptions, Failure> {
    let asked = match (flag, var("PLUMBLINE_HTTP_ADDR")) {
        (Some(address), _) => Some(address),
        (None, None) => None,
        (None, Some(text)) => Some(text.trim().parse().map_err(|_| {
            Failure::usage(format!(
                "PLUMBLINE_HTTP_ADDR is `{text}`; set it to an address and port like 127.0.0.1:8080"
            ))
        })?),
    };
    Ok(HttpOptions::new(asked, var("PLUMBLINE_HTTP_TOKEN"), http_hosts()?))
}

/// `PLUMBLINE_HTTP_HOSTS`: names without ports, separated by commas.
fn http_hosts() -> Result<Vec<String>, Failure> {
    let text = var("PLUMBLINE_HTTP_HOSTS").unwrap_or_default();
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let host = |name: &str| match name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')) {
        true => Ok(name.to_owned()),
        false => Err(Failure::usage(format!(
            "PLUMBLINE_HTTP_HOSTS names `{name}`; give names alone, without scheme and port, like plumbline.example.com"
        ))),
    };
    names.map(host).collect()
}

/// This program, for its parser child.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::new(format!("the path of this program could not be found ({error}); start it by its full path"))
    })
}
