//! The command line, as the public interface (INTERFACE section 1) has it.

use crate::{age, time, with_postgres};
use chrono::{DateTime, Utc};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::{net::SocketAddr, path::PathBuf, time::Duration};
use uuid::Uuid;

/// Runs long LLM jobs to the end: one Postgres, one transaction a step.
#[derive(Debug, Parser)]
#[command(name = "plumbline", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply the embedded migrations to DATABASE_URL; safe to run by many at once and again
    Migrate,
    /// Claim and run jobs until SIGTERM or SIGINT
    Worker(WorkerArguments),
    /// Insert a job; prints its id
    Enqueue(EnqueueArguments),
    /// All jobs, or one job with its phase, todos, cost and last error
    Status(StatusArguments),
    /// Live progress until the job ends; exit code 0 completed, 1 failed, 2 cancelled, 3 waiting for review
    Watch(WatchArguments),
    /// Cancel a job
    Cancel(ControlArguments),
    /// Pause a job at its next step
    Pause(ControlArguments),
    /// Go on with a paused job, or with one in review
    Resume(ControlArguments),
    /// Run a failed or cancelled job again from its last checkpoint
    Retry(ControlArguments),
    /// Complete a job that is waiting for review
    Approve(ControlArguments),
    /// The conversation and effects of a job, step by step
    Trace(TraceArguments),
    /// Run a job's recorded model answers against this version and report the first request or effect that differs
    Replay(ReplayArguments),
    /// A new pending job that continues from a checkpoint of another; prints its id
    Fork {
        /// The job's id
        job: Uuid,
        /// The step to go on from
        #[arg(long = "at", value_name = "STEP", value_parser = clap::value_parser!(i64).range(1..))]
        step: i64,
    },
    /// Write a job's workspace from SQL to a folder
    Export {
        /// The job's id
        job: Uuid,
        /// A new or empty folder
        dir: PathBuf,
    },
    /// Look at configurations
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Delete ended jobs and what belongs to them, the oldest first
    Prune(PruneArguments),
    /// Everything on one machine with nothing set up: Postgres, worker, a sample job, its result
    Dev(DevArguments),
    /// Serve the rehearsal model: rule-based, no LLM, for trying things out and for tests
    Rehearse(RehearseArguments),
    /// Check database, schema, workspace and model; one line each
    Doctor(DoctorArguments),
    /// Write the completions of a shell to stdout
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual page to stdout; with a folder, one page per command into it
    Manual {
        /// A folder for man pages, such as /usr/local/share/man/man1
        dir: Option<PathBuf>,
    },
    /// Ask the worker on this machine whether it is alive; for a container's health check
    #[command(name = "__probe", hide = true)]
    Probe,
    /// Run a command with a throw-away Postgres of its own
    #[command(name = "__with-postgres", hide = true)]
    WithPostgres(with_postgres::Arguments),
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Most jobs at once; PLUMBLINE_CONCURRENCY or 50 when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) concurrency: Option<u32>,
    /// Only these job types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) job_types: Vec<String>,
    /// Serve probes, metrics and the dashboard here instead of 127.0.0.1:8080 or the next free port
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// Exit when nothing is running and nothing can run now
    #[arg(long)]
    pub(crate) until_idle: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ControlArguments {
    /// The job's id
    pub(crate) job: Uuid,
    /// Words to the agent, which it reads before it goes on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) feedback: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EnqueueArguments {
    /// What to do
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: String,
    /// Names a configuration
    #[arg(long = "type", value_name = "JOB_TYPE", default_value = "creator")]
    pub(crate) job_type: String,
    /// A document to work on; repeat for several
    #[arg(long = "document", value_name = "FILE")]
    pub(crate) documents: Vec<PathBuf>,
    /// Free data for the agent, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) context: Option<String>,
    /// Larger first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) priority: i32,
    /// Not before this time, e.g. 2027-01-31T08:00:00+01:00, or 2027-01-31 08:00 in UTC
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) run_at: Option<DateTime<Utc>>,
    /// With the job type, makes the insert happen once
    #[arg(long)]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The job's id; all jobs when left out
    pub(crate) job: Option<Uuid>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The job's id
    pub(crate) job: Uuid,
    /// One JSON object a change, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The job's id, or files that `plumbline trace JOB --export FILE` wrote
    #[arg(required = true, value_name = "JOB|FILE")]
    pub(crate) recordings: Vec<String>,
    /// As JSON, one object a recording, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The job's id
    pub(crate) job: Uuid,
    /// One step only, with its texts in full
    #[arg(long)]
    pub(crate) step: Option<i64>,
    /// One JSON object a step, each on a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a recording for `plumbline replay` to this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["step", "json"])]
    pub(crate) export: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Time since the job ended, e.g. 30d, 12h, 90m
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    pub(crate) older_than: Duration,
    /// Only jobs that ended like this; repeat or separate by commas for several
    #[arg(long, value_delimiter = ',', value_enum)]
    pub(crate) status: Vec<EndedStatus>,
    /// Jobs too whose requirements wait for a validator
    #[arg(long)]
    pub(crate) also_pending: bool,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EndedStatus {
    Completed,
    Failed,
    Cancelled,
}

impl EndedStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Check instead what must hold of all rows, whatever happened; reads the whole database
    #[arg(long)]
    pub(crate) invariants: bool,
    /// As JSON, one object a check, each on a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// The resolved configuration of a job type, as JSON
    Show {
        /// The job type
        job_type: String,
    },
    /// Check every configuration; with file, line and reason
    Check {
        /// A folder; PLUMBLINE_CONFIG_DIR or the built-in copies when left out
        dir: Option<PathBuf>,
        /// As JSON: {"job_types": […], "problems": […]}, no problems when all is in order
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// A document to work on instead of the sample; repeat for several
    #[arg(long = "document", value_name = "FILE")]
    pub(crate) documents: Vec<PathBuf>,
    /// What to do, instead of extracting requirements
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// Keep Postgres and the worker running after the job has ended, until Ctrl-C
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RehearseArguments {
    /// Address and port, e.g. 127.0.0.1:8900
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: SocketAddr,
    /// Time before each answer, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delay_ms: u64,
}
