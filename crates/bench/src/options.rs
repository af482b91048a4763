//! The command line.

use crate::{child::Plumbline, error::Error, instructed, model, report::Figure, sizes::Sizes};
use std::path::PathBuf;

/// Measures Plumbline against its targets.
#[derive(Debug, clap::Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Serve the scripted model that the measured workers talk to
    /// Serve the scripted model that the measured workers talk to
    Model(model::Arguments),
    /// Run one operation whose instructions are counted from outside
    #[command(hide = true)]
    Instructed(instructed::Task),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The server to measure on; databases are created in it and dropped again
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// The program to measure [default: the one beside this program]
    #[arg(long)]
    plumbline: Option<PathBuf>,
    /// Small sizes, one run: checks that everything works
    #[arg(long, env = "PLUMBLINE_BENCH_QUICK", conflicts_with = "full")]
    quick: bool,
    /// The exact sizes of the targets: 10 million ended jobs, a snapshot open for 10 minutes
    #[arg(long)]
    full: bool,
    /// Runs of each figure
    #[arg(long)]
    runs: Option<usize>,
    /// Only these figures, separated by commas, e.g. P1,P5
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// JSON output file
    #[arg(long, default_value = "target/bench.json")]
    pub(crate) json: PathBuf,
    /// A PDF for the document figures [default: the sample of the repository]
    #[arg(long, env = "PLUMBLINE_BENCH_PDF")]
    pdf: Option<PathBuf>,
    /// Exit with 1 when a target is missed
    #[arg(long)]
    strict: bool,
    /// For continuous integration: one run of the machine-independent ratios and counts; exit with 1 if one misses its
    /// target by more than its margin
    #[arg(long, conflicts_with_all = ["quick", "full", "only", "strict"])]
    guard: bool,
}

/// The groups measured by the guard.
const GUARDED: [&str; 10] = ["P3", "P4", "P5", "P11", "P12", "P13", "P14", "I1", "I2", "I3"];

impl Options {
    /// Whether a figure is selected.
    pub(crate) fn wants(&self, id: &str) -> bool {
        let among = |ids: &[&str]| ids.iter().any(|only| only.eq_ignore_ascii_case(id));
        match self.guard {
            true => among(&GUARDED),
            false => self.only.is_empty() || among(&self.only.iter().map(String::as_str).collect::<Vec<_>>()),
        }
    }

    /// Whether a figure makes the whole run fail.
    pub(crate) fn fails(&self, figure: &Figure) -> bool {
        match self.guard {
            true => figure.passes_guard() == Some(false),
            false => self.strict && figure.met() == Some(false),
        }
    }

    /// Whether a figure that could not be measured makes the whole run fail.
    pub(crate) fn needs_all(&self) -> bool {
        self.strict || self.guard
    }

    pub(crate) fn sizes(&self) -> Sizes {
        let sizes = match (self.quick, self.full) {
            (true, _) => Sizes::quick(),
            (_, true) => Sizes::full(),
            _ if self.guard => Sizes::guard(),
            _ => Sizes::standard(),
        };
        Sizes { runs: self.runs.unwrap_or(sizes.runs).max(1), ..sizes }
    }

    pub(crate) fn sizes_name(&self) -> &'static str {
        match (self.quick, self.full) {
            (true, _) => "quick (the figures say little)",
            (_, true) => "full",
            _ if self.guard => "guard",
            _ => "standard",
        }
    }

    pub(crate) fn database_url(&self) -> Result<&str, Error> {
        let missing =
            "no Postgres is named: run `make bench`, or set DATABASE_URL to a server whose role may create databases";
        self.database_url.as_deref().ok_or_else(|| Error::new(missing))
    }

    pub(crate) fn plumbline(&self) -> Result<Plumbline, Error> {
        let path = match &self.plumbline {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("plumbline"),
        };
        if !path.is_file() {
            let shown = path.display();
            return Err(Error::new(format!("{shown} is missing: run `cargo build --release -p plumbline` first")));
        }
        // Workers are started in other folders.
        Ok(Plumbline { path: path.canonicalize()? })
    }

    pub(crate) fn pdf(&self) -> PathBuf {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/sample/record-keeping-policy.pdf");
        self.pdf.clone().unwrap_or_else(|| PathBuf::from(sample))
    }
}
