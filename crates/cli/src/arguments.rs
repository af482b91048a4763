//! The command line, as the public interface (INTERFACE section 1) has it.

use crate::{duration, job_ref::JobRef, time, with_postgres};
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
    /// Make the roles of deploy/roles.sql and give them their rights to what is there; before or after `migrate` and a restore,
    /// and again
    Roles {
        /// The database; DATABASE_URL when left out
        #[arg(long, value_name = "URL")]
        database: Option<String>,
        /// Print the statements, and carry out none
        #[arg(long, conflicts_with = "database")]
        print: bool,
    },
    /// Claim and run jobs until SIGTERM or SIGINT
    Worker(WorkerArguments),
    /// Insert a job; prints its id
    Enqueue(EnqueueArguments),
    /// All jobs, or one job with its phase, todos, cost and last error
    Status(StatusArguments),
    /// Live progress until the job ends or waits for a person; exit code 0 completed, 1 failed, 2 cancelled, 3 waiting for
    /// review, 4 paused
    Watch(WatchArguments),
    /// Cancel a job
    Cancel(ControlArguments),
    /// Pause a job at once; a request under way is given up, and counted
    Pause(ControlArguments),
    /// Go on with a paused job, or with one in review, under higher limits where some are given
    Resume(ResumeArguments),
    /// Run a failed or cancelled job again from its last checkpoint, or all that failed since a time
    Retry(RetryArguments),
    /// Complete a job that is waiting for review
    Approve(ApproveArguments),
    /// Calls that wait for a person's decision, of all jobs or of one with those decided
    Approvals(ApprovalsArguments),
    /// Approve a call that waits: it is made, once
    ApproveCall {
        /// The id that `plumbline approvals` shows
        #[arg(value_name = "ID")]
        id: Uuid,
    },
    /// Reject a call that waits
    RejectCall {
        /// The id that `plumbline approvals` shows
        #[arg(value_name = "ID")]
        id: Uuid,
        /// Why; the model reads it
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: String,
    },
    /// Approve a call that waits with other arguments
    EditCall {
        /// The id that `plumbline approvals` shows
        #[arg(value_name = "ID")]
        id: Uuid,
        /// All of the arguments, a JSON object
        #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
        arguments: String,
    },
    /// Approve the next calls of a tool in a job, those that wait first
    GrantCalls {
        /// The job's id, or its beginning
        job: JobRef,
        /// The tool's name
        tool: String,
        /// How many calls
        count: i32,
    },
    /// Send words to a job; one that is waiting for review goes back to work with them
    Feedback(FeedbackArguments),
    /// How much of its documents a job has worked through, and which passages are left
    Coverage(CoverageArguments),
    /// The conversation and effects of a job, step by step
    Trace(TraceArguments),
    /// Run a job's recorded model answers against this version and report the first request or effect that differs
    Replay(ReplayArguments),
    /// A new pending job that continues from a checkpoint of another; prints its id
    Fork {
        /// The job's id, or its beginning
        job: JobRef,
        /// The step to go on from
        #[arg(long = "at", value_name = "STEP", value_parser = clap::value_parser!(i64).range(1..))]
        step: i64,
        /// With the configuration and prompts that a new job would get, not those of the job; the system prompt from the next
        /// phase on
        #[arg(long)]
        new_config: bool,
    },
    /// List a job's files: size in bytes and path
    Files {
        /// The job's id, or its beginning
        job: JobRef,
        /// Only files whose path begins so, e.g. output/
        prefix: Option<String>,
    },
    /// Write one file of a job to stdout
    Cat {
        /// The job's id, or its beginning
        job: JobRef,
        /// The file's path, e.g. output/summary_report.md
        path: String,
    },
    /// Write a job's workspace from SQL to a folder
    Export {
        /// The job's id, or its beginning
        job: JobRef,
        /// A new or empty folder
        dir: PathBuf,
        /// Only files whose path begins so, e.g. output/
        #[arg(long, value_name = "PREFIX")]
        only: Option<String>,
    },
    /// Write a job's documents with its quotes marked in them, the requirements beside them, as one HTML file; to stdout where
    /// no file is named
    Report {
        /// The job's id, or its beginning
        job: JobRef,
        /// The file, e.g. report.html
        file: Option<PathBuf>,
    },
    /// Which sentences of a document probably state an obligation, found by their wording
    Candidates(CandidatesArguments),
    /// What runs found of what is known to be in their documents, side by side
    Eval(EvalArguments),
    /// Look at configurations
    #[command(subcommand)]
    Config(ConfigCommand),
    /// What is known of providers and models: their protocols, windows and prices
    Models(ModelsArguments),
    /// Delete ended jobs and what belongs to them, the oldest first
    Prune(PruneArguments),
    /// Write the files of a job type of one's own: configuration, JSON schema, instructions, example and README
    Init(InitArguments),
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
    /// The job's id, or its beginning
    pub(crate) job: JobRef,
    /// Words to the agent, which it reads before it goes on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) feedback: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    /// The job's id, or its beginning
    pub(crate) job: JobRef,
    /// Refused, with the command that takes it: a completed job reads nothing any more
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide = true)]
    pub(crate) feedback: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArguments {
    /// The job's id, or its beginning; all jobs, and only what waits, when left out
    pub(crate) job: Option<JobRef>,
    /// Print the rows as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FeedbackArguments {
    /// The job's id, or its beginning
    pub(crate) job: JobRef,
    /// What the agent reads before it goes on
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArguments {
    /// The job's id, or its beginning
    #[arg(required_unless_present = "failed_since", conflicts_with = "failed_since")]
    pub(crate) job: Option<JobRef>,
    /// All jobs that failed since this time, e.g. 2027-01-31, or within this age, e.g. 24h
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_age)]
    pub(crate) failed_since: Option<DateTime<Utc>>,
    /// Of those, only jobs of this type
    #[arg(long = "type", value_name = "JOB_TYPE", requires = "failed_since")]
    pub(crate) job_type: Option<String>,
    /// Words to the agent, which it reads before it goes on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) feedback: Option<String>,
}

fn dollars(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "it must be a number of US dollars, e.g. 2.50".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) control: ControlArguments,
    /// What this job may cost in all, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) cost_budget: Option<f64>,
    /// How many tokens this job may use in all
    #[arg(long, value_name = "TOKENS")]
    pub(crate) token_budget: Option<u64>,
    /// How many requests this job may make in all
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<u64>,
    /// Seconds from the job's first start until it pauses
    #[arg(long, value_name = "SECONDS")]
    pub(crate) deadline: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct EnqueueArguments {
    /// What to do
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: String,
    /// Names a configuration; PLUMBLINE_DEFAULT_JOB_TYPE, or the database's default, when left out
    #[arg(long = "type", value_name = "JOB_TYPE")]
    pub(crate) job_type: Option<String>,
    /// A document to work on, or a folder of them; repeat for several. Their bytes go into the database
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
    /// What the job's own configuration says, a JSON object as in configs/REFERENCE.md
    #[arg(long, value_name = "JSON")]
    pub(crate) config: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The job's id, or its beginning; all jobs when left out
    #[arg(conflicts_with_all = ["job_type", "status", "since"])]
    pub(crate) job: Option<JobRef>,
    /// Only jobs of this type
    #[arg(long = "type", value_name = "JOB_TYPE")]
    pub(crate) job_type: Option<String>,
    /// Only jobs with this status
    #[arg(long, value_enum)]
    pub(crate) status: Option<JobStatus>,
    /// Only jobs inserted since this time, e.g. 2027-01-31, or so long ago, e.g. 24h
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_age)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The job's id, or its beginning
    pub(crate) job: JobRef,
    /// One JSON object a change, each on a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit code 1 for a job that completed with less of its documents answered for: a share from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) require_coverage: Option<f64>,
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a share from 0 to 1, e.g. 0.95".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The job's id, or files that `plumbline trace JOB --export FILE` wrote
    #[arg(required = true, value_name = "JOB|FILE")]
    pub(crate) recordings: Vec<String>,
    /// As JSON, one object a recording, each on a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Under the job types of this folder, as PLUMBLINE_CONFIG_DIR has them, and the prompts of PLUMBLINE_PROMPTS_DIR: shows
    /// the first request that would be another one, and in what
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CandidatesArguments {
    /// A document: PDF, DOCX, ODT, EPUB, HTML, Markdown or text
    #[arg(required_unless_present = "sentences")]
    pub(crate) file: Option<PathBuf>,
    /// With the patterns of this job type
    #[arg(long = "type", value_name = "JOB_TYPE")]
    pub(crate) job_type: Option<String>,
    /// All sentences, one JSON object each on a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge the sentences of this file instead, one JSON object `{"text": …}` a line; the answer has a line for each
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) sentences: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArguments {
    /// What is known to be there, a JSON object a line: {"document", "page"?, "passage"?, "text", "id"?}
    pub(crate) gold: PathBuf,
    /// A job's id, or its beginning; repeat for several
    #[arg(long = "job", value_name = "ID", required_unless_present = "recordings")]
    pub(crate) jobs: Vec<JobRef>,
    /// A file that `plumbline trace JOB --export FILE` wrote, for which no database is needed; repeat for several
    #[arg(long = "recording", value_name = "FILE")]
    pub(crate) recordings: Vec<PathBuf>,
    /// The gold does not name everything: no precision
    #[arg(long)]
    pub(crate) recall_only: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CoverageArguments {
    /// The job's id, or its beginning
    pub(crate) job: JobRef,
    /// Its passages in these states as well, e.g. unread,read
    #[arg(long, value_name = "STATES", value_delimiter = ',')]
    pub(crate) state: Vec<String>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The job's id, or its beginning
    pub(crate) job: JobRef,
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
    #[arg(long, value_name = "AGE", value_parser = duration::parse)]
    pub(crate) older_than: Duration,
    /// Only jobs that ended like this; repeat or separate by commas for several
    #[arg(long, value_delimiter = ',', value_enum)]
    pub(crate) status: Vec<EndedStatus>,
    /// Jobs too whose requirements no validator has judged
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
pub(crate) enum JobStatus {
    Pending,
    Running,
    Paused,
    Review,
    Completed,
    Failed,
    Cancelled,
}

impl JobStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Review => "review",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
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
pub(crate) struct ModelsArguments {
    /// As JSON, with everything that is known
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Send each model one request with one tool, too; it costs a few tokens
    #[arg(long, conflicts_with = "invariants")]
    pub(crate) call: bool,
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
        /// Where each value comes from: `{"llm.model": {"value": …, "origin": "configs/mine/config.json:4"}, …}`
        #[arg(long)]
        origin: bool,
    },
    /// Check every configuration; with file, line and reason
    Check {
        /// A folder; PLUMBLINE_CONFIG_DIR or the built-in copies when left out
        dir: Option<PathBuf>,
        /// As JSON: {"job_types": […], "problems": […], "warnings": […]}, no problems when all is in order
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
pub(crate) struct InitArguments {
    /// Its name, which is the name of the folder under PLUMBLINE_CONFIG_DIR, or under configs/ where that is not set
    #[arg(value_name = "TYPE")]
    pub(crate) job_type: String,
    /// The job type that it extends; `defaults` for one that begins with nothing
    #[arg(long, value_name = "TYPE", default_value = "creator")]
    pub(crate) from: String,
    /// Run it over its example with the rehearsal model, as `plumbline dev` does; one that is there already is tried as it is
    #[arg(long)]
    pub(crate) r#try: bool,
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
