//! The command line, part of the public interface.

mod acting;
mod reading;

pub(crate) use acting::{
    ApprovalsArguments, ApproveArguments, ControlArguments, EnqueueArguments, FeedbackArguments, PruneArguments,
    ResumeArguments, RetryArguments,
};
pub(crate) use reading::{
    CandidatesArguments, CoverageArguments, EvalArguments, ReplayArguments, StatusArguments, TraceArguments,
    WatchArguments,
};

use crate::{job_ref::JobRef, values, with_postgres};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::{net::SocketAddr, path::PathBuf};
use uuid::Uuid;

/// Runs LLM jobs that take minutes to days, with one transaction per step in Postgres.
#[derive(Debug, Parser)]
#[command(name = "plumbline", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// The arguments of this process.
    ///
    /// # Errors
    /// Wrong usage; help and version.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut command = values::with_signs(Self::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply the embedded migrations to DATABASE_URL; idempotent and safe to run concurrently
    Migrate,
    /// Create the roles of deploy/roles.sql and grant their rights on existing objects; idempotent, before or after
    /// `migrate` and a restore
    Roles {
        /// The database [default: DATABASE_URL]
        #[arg(long, value_name = "URL")]
        database: Option<String>,
        /// Print the statements without running them
        #[arg(long, conflicts_with = "database")]
        print: bool,
    },
    /// Claim and run jobs until SIGTERM or SIGINT
    Worker(WorkerArguments),
    /// Insert a job; prints its id
    Enqueue(EnqueueArguments),
    /// Show all jobs, or one job with its phase, todos, cost and last error
    Status(StatusArguments),
    /// Show live progress until the job ends or waits for a person; exit code 0 completed, 1 failed, 2 cancelled, 3 in
    /// review, 4 paused
    Watch(WatchArguments),
    /// Cancel a job
    Cancel(ControlArguments),
    /// Pause a job at once; a request in flight is aborted, and counted
    Pause(ControlArguments),
    /// Resume a paused or in-review job, optionally with higher limits
    Resume(ResumeArguments),
    /// Retry a failed or cancelled job from its last checkpoint, or all jobs that failed since a time
    Retry(RetryArguments),
    /// Complete a job that is in review
    Approve(ApproveArguments),
    /// List calls that wait for a person's decision, of all jobs; of one job, also the decided ones
    Approvals(ApprovalsArguments),
    /// Approve a waiting call: it is made once
    ApproveCall {
        /// The id that `plumbline approvals` shows
        #[arg(value_name = "ID", value_parser = values::call)]
        id: Uuid,
    },
    /// Reject a waiting call
    RejectCall {
        /// The id that `plumbline approvals` shows
        #[arg(value_name = "ID", value_parser = values::call)]
        id: Uuid,
        /// The reason; the model reads it
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: String,
    },
    /// Approve a waiting call with other arguments
    EditCall {
        /// The id that `plumbline approvals` shows
        #[arg(value_name = "ID", value_parser = values::call)]
        id: Uuid,
        /// The complete arguments, a JSON object
        #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
        arguments: String,
    },
    /// Approve the next calls of a tool in a job, waiting ones first
    GrantCalls {
        /// The job's id or a unique prefix of it
        job: JobRef,
        /// The tool's name
        tool: String,
        /// How many calls
        #[arg(value_parser = |text: &str| values::whole(text, 1_i32))]
        count: i32,
    },
    /// Send a message to a job; a job in review goes back to work with it
    Feedback(FeedbackArguments),
    /// Show how much of its documents a job has processed, and which passages are left
    Coverage(CoverageArguments),
    /// Show the conversation and effects of a job, step by step
    Trace(TraceArguments),
    /// Run a job's recorded model answers against this version and report the first request or effect that differs
    Replay(ReplayArguments),
    /// Create a pending job that continues from a checkpoint of another; prints its id
    Fork {
        /// The job's id or a unique prefix of it
        job: JobRef,
        /// The step to continue from
        #[arg(long = "at", value_name = "STEP", value_parser = |text: &str| values::whole(text, 1_i64))]
        step: i64,
        /// Use the configuration and prompts that a new job would get, not those of the job; the system prompt changes
        /// with the next phase
        #[arg(long)]
        new_config: bool,
    },
    /// List a job's files: size in bytes and path
    Files {
        /// The job's id or a unique prefix of it
        job: JobRef,
        /// Only files whose path has this prefix, e.g. output/
        prefix: Option<String>,
    },
    /// Write one file of a job to stdout
    Cat {
        /// The job's id or a unique prefix of it
        job: JobRef,
        /// The file's path, e.g. output/summary_report.md
        path: String,
    },
    /// Write a job's workspace from SQL to a folder
    Export {
        /// The job's id or a unique prefix of it
        job: JobRef,
        /// A new or empty folder
        dir: PathBuf,
        /// Only files whose path has this prefix, e.g. output/
        #[arg(long, value_name = "PREFIX")]
        only: Option<String>,
    },
    /// Write a job's documents with its quotes marked and the requirements beside them, as one HTML file; to stdout if
    /// no file is given
    Report {
        /// The job's id or a unique prefix of it
        job: JobRef,
        /// The file, e.g. report.html
        file: Option<PathBuf>,
    },
    /// List the sentences of a document that probably state an obligation, detected by their wording
    Candidates(CandidatesArguments),
    /// Compare what runs found with a gold list
    Eval(EvalArguments),
    /// Show and check configurations
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List known providers and models with their protocols, context windows and prices
    Models(ModelsArguments),
    /// Delete ended jobs and everything that belongs to them, oldest first
    Prune(PruneArguments),
    /// Create a new job type: configuration, JSON schema, instructions, example and README
    Init(InitArguments),
    /// Run a complete demo without setup: Postgres, a worker, a sample job and its result
    Dev(DevArguments),
    /// Serve the rehearsal model: rule-based, no LLM, for trials and tests
    Rehearse(RehearseArguments),
    /// Check database, schema, workspace and model, one line each
    Doctor(DoctorArguments),
    /// Write shell completions to stdout
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the man page to stdout, or one page per command into a folder
    Manual {
        /// A folder for man pages, such as /usr/local/share/man/man1
        dir: Option<PathBuf>,
    },
    /// Check whether the worker on this machine is alive; for a container's health check
    #[command(name = "__probe", hide = true)]
    Probe,
    /// Run a command with a temporary private Postgres
    #[command(name = "__with-postgres", hide = true)]
    WithPostgres(with_postgres::Arguments),
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Maximum number of concurrent jobs [default: PLUMBLINE_CONCURRENCY or 50]
    #[arg(long, value_name = "N", value_parser = |text: &str| values::between(text, 1_u32, 10_000))]
    pub(crate) concurrency: Option<u32>,
    /// Only these job types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = values::job_type_to_run)]
    pub(crate) job_types: Vec<String>,
    /// Address of probes, metrics and the dashboard [default: 127.0.0.1:8080 or the next free port]
    #[arg(long, value_name = "ADDR", value_parser = values::address)]
    pub(crate) http: Option<SocketAddr>,
    /// Exit when no job is running or runnable
    #[arg(long)]
    pub(crate) until_idle: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Print JSON with all known properties
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Also send each model one request with one tool, which costs a few tokens
    #[arg(long, conflicts_with = "invariants")]
    pub(crate) call: bool,
    /// Check the invariants of all rows instead; reads the whole database
    #[arg(long)]
    pub(crate) invariants: bool,
    /// Print one JSON object per check, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the resolved configuration of a job type as JSON
    Show {
        /// The job type
        job_type: String,
        /// Show the origin of each value: `{"llm.model": {"value": …, "origin": "configs/mine/config.json:4"}, …}`
        #[arg(long)]
        origin: bool,
    },
    /// Check every configuration; errors have file, line and reason
    Check {
        /// A folder [default: PLUMBLINE_CONFIG_DIR, or the built-in copies]
        dir: Option<PathBuf>,
        /// Print JSON: {"job_types": […], "problems": […], "warnings": […]}, with an empty list of problems if all is
        /// valid
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// A document to work on instead of the sample; repeat for several
    #[arg(long = "document", value_name = "FILE")]
    pub(crate) documents: Vec<PathBuf>,
    /// The task, instead of extracting requirements
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = values::prompt)]
    pub(crate) prompt: Option<String>,
    /// Keep Postgres and the worker running after the job has ended, until Ctrl-C
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Its name, which is also the name of its folder under PLUMBLINE_CONFIG_DIR, or under configs/ if that is unset
    #[arg(value_name = "TYPE")]
    pub(crate) job_type: String,
    /// The job type that it extends; `defaults` to begin with an empty one
    #[arg(long, value_name = "TYPE", default_value = "creator")]
    pub(crate) from: String,
    /// Run it over its example with the rehearsal model, like `plumbline dev`; an existing job type is run unchanged
    #[arg(long)]
    pub(crate) r#try: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RehearseArguments {
    /// Address and port, e.g. 127.0.0.1:8900
    #[arg(long, value_name = "ADDR", value_parser = values::address)]
    pub(crate) listen: SocketAddr,
    /// Delay before each answer in milliseconds
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = |text: &str| values::whole(text, 0_u64))]
    pub(crate) delay_ms: u64,
}
