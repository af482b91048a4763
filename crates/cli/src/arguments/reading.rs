//! The arguments of the commands that show jobs, replay them, or measure their results.

use crate::{job_ref::JobRef, time, values};
use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// The statuses of a job, in the order of `--help`.
const STATUSES: [&str; 7] = ["pending", "running", "paused", "review", "completed", "failed", "cancelled"];

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The job's id or a unique prefix of it [default: all jobs]
    #[arg(conflicts_with_all = ["job_type", "status", "since"])]
    pub(crate) job: Option<JobRef>,
    /// Only jobs of this type
    #[arg(long = "type", value_name = "JOB_TYPE")]
    pub(crate) job_type: Option<String>,
    /// Only jobs with this status
    #[arg(long, value_parser = STATUSES)]
    pub(crate) status: Option<String>,
    /// Only jobs inserted since this time, e.g. 2027-01-31, or within this age, e.g. 24h
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_age)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The job's id or a unique prefix of it
    pub(crate) job: JobRef,
    /// Print one JSON object per change, one per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 1 if the job completed with less coverage than this share, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub(crate) require_coverage: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct CoverageArguments {
    /// The job's id or a unique prefix of it
    pub(crate) job: JobRef,
    /// Also list passages in these states, e.g. unread,read
    #[arg(long, value_name = "STATES", value_delimiter = ',')]
    pub(crate) state: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The job's id or a unique prefix of it
    pub(crate) job: JobRef,
    /// Only this step, with complete texts
    #[arg(long, value_parser = |text: &str| values::whole(text, 1_i64))]
    pub(crate) step: Option<i64>,
    /// Print one JSON object per step, one per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a recording for `plumbline replay` to this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["step", "json"])]
    pub(crate) export: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The job's id, or files written by `plumbline trace JOB --export FILE`
    #[arg(required = true, value_name = "JOB|FILE", value_parser = values::recording)]
    pub(crate) recordings: Vec<String>,
    /// Print one JSON object per recording, one per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Use the job types of this folder, like PLUMBLINE_CONFIG_DIR, and the prompts of PLUMBLINE_PROMPTS_DIR: shows the
    /// first request that would differ, and how
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("judged").required(true))]
pub(crate) struct CandidatesArguments {
    /// A document: PDF, DOCX, ODT, EPUB, HTML, Markdown or text
    #[arg(group = "judged")]
    pub(crate) file: Option<PathBuf>,
    /// Include the patterns of this job type
    #[arg(long = "type", value_name = "JOB_TYPE")]
    pub(crate) job_type: Option<String>,
    /// Print all sentences, one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge the sentences of this file instead, one JSON object `{"text": …}` per line; the output has one line for
    /// each
    #[arg(long, value_name = "FILE", group = "judged")]
    pub(crate) sentences: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("runs").required(true).multiple(true))]
pub(crate) struct EvalArguments {
    /// The gold list, one JSON object per line: {"document", "page"?, "passage"?, "text", "id"?}
    pub(crate) gold: PathBuf,
    /// A job's id or a unique prefix of it; repeat for several
    #[arg(long = "job", value_name = "ID", group = "runs")]
    pub(crate) jobs: Vec<JobRef>,
    /// A file written by `plumbline trace JOB --export FILE`, which needs no database; repeat for several
    #[arg(long = "recording", value_name = "FILE", group = "runs")]
    pub(crate) recordings: Vec<PathBuf>,
    /// The gold list is incomplete: do not compute precision
    #[arg(long)]
    pub(crate) recall_only: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
