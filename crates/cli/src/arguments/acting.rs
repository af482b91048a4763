//! The arguments of the commands that insert, steer and delete jobs.

use crate::{duration, job_ref::JobRef, time, values};
use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args};
use std::{path::PathBuf, time::Duration};

/// The final statuses of a job.
const ENDED: [&str; 3] = ["completed", "failed", "cancelled"];

#[derive(Debug, Args)]
pub(crate) struct ControlArguments {
    /// The job's id or a unique prefix of it
    pub(crate) job: JobRef,
    /// A message that the agent reads before it continues
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) feedback: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    /// The job's id or a unique prefix of it
    pub(crate) job: JobRef,
    /// Refused, with the command to use instead: a completed job reads no messages
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide = true)]
    pub(crate) feedback: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArguments {
    /// The job's id or a unique prefix of it [default: waiting calls of all jobs]
    pub(crate) job: Option<JobRef>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FeedbackArguments {
    /// The job's id or a unique prefix of it
    pub(crate) job: JobRef,
    /// A message that the agent reads before it continues
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("failed").required(true))]
pub(crate) struct RetryArguments {
    /// The job's id or a unique prefix of it
    #[arg(group = "failed")]
    pub(crate) job: Option<JobRef>,
    /// All jobs that failed since this time, e.g. 2027-01-31, or within this age, e.g. 24h
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_age, group = "failed")]
    pub(crate) failed_since: Option<DateTime<Utc>>,
    /// Only jobs of this type
    #[arg(long = "type", value_name = "JOB_TYPE", requires = "failed_since")]
    pub(crate) job_type: Option<String>,
    /// A message that the agent reads before it continues
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) feedback: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) control: ControlArguments,
    /// Total cost budget of the job in US dollars
    #[arg(long, value_name = "USD", value_parser = values::dollars)]
    pub(crate) cost_budget: Option<f64>,
    /// Total token budget of the job
    #[arg(long, value_name = "TOKENS", value_parser = |text: &str| values::whole(text, 0_u64))]
    pub(crate) token_budget: Option<u64>,
    /// Total number of model requests of the job
    #[arg(long, value_name = "N", value_parser = |text: &str| values::whole(text, 0_u64))]
    pub(crate) max_iterations: Option<u64>,
    /// Seconds from the job's first start until it pauses
    #[arg(long, value_name = "SECONDS", value_parser = |text: &str| values::whole(text, 0_u64))]
    pub(crate) deadline: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct EnqueueArguments {
    /// The task
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = values::prompt)]
    pub(crate) prompt: String,
    /// The job type [default: PLUMBLINE_DEFAULT_JOB_TYPE, or the database's default]
    #[arg(long = "type", value_name = "JOB_TYPE", value_parser = values::job_type)]
    pub(crate) job_type: Option<String>,
    /// A document, or a folder of documents, to work on; repeat for several. Their bytes are stored in the database
    #[arg(long = "document", value_name = "FILE")]
    pub(crate) documents: Vec<PathBuf>,
    /// Additional data for the agent, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) context: Option<String>,
    /// Jobs with a larger priority run first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = |text: &str| values::between(text, i32::MIN, i32::MAX))]
    pub(crate) priority: i32,
    /// Not before this time, e.g. 2027-01-31T08:00:00+01:00, or 2027-01-31 08:00 in UTC
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) run_at: Option<DateTime<Utc>>,
    /// Idempotency key (per job type)
    #[arg(long, value_parser = values::key)]
    pub(crate) key: Option<String>,
    /// The job's own configuration, a JSON object with the keys of configs/REFERENCE.md
    #[arg(long, value_name = "JSON")]
    pub(crate) config: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Time since the job ended, e.g. 30d, 12h, 90m
    #[arg(long, value_name = "AGE", value_parser = duration::parse)]
    pub(crate) older_than: Duration,
    /// Only jobs with this final status; repeat or separate by commas for several
    #[arg(long, value_delimiter = ',', value_parser = ENDED)]
    pub(crate) status: Vec<String>,
    /// Also delete jobs whose requirements are still pending validation
    #[arg(long)]
    pub(crate) also_pending: bool,
    /// Show what would be deleted, without deleting
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
