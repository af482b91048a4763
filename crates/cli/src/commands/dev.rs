//! `plumbline dev`: a complete demo without setup: a private Postgres, the migrations, a worker, a sample job, its
//! progress, its result. Uses the model of the environment, or the built-in rehearsal model.

use super::{documents, enqueue, job_summary, watch};
use crate::{
    arguments::DevArguments,
    environment,
    error::Failure,
    output::{self, short},
    signals,
};
use plumbline_config::{ConfigRegistry, ModelEnv};
use plumbline_dashboard::HttpOptions;
use plumbline_dev_postgres::{self as dev_postgres, PrivatePostgres};
use plumbline_engine::one_line;
use plumbline_rehearsal::Rehearsal;
use plumbline_store::{NewJob, RequirementRow, Store, WatchRow};
use plumbline_telemetry::LogFormat;
use plumbline_worker::{Shutdown, WorkerOptions};
use std::{
    fs, io,
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};
use tokio::{sync::watch as channel, task::JoinHandle};
use uuid::Uuid;

const SAMPLE: &[u8] = include_bytes!("../../sample/record-keeping-policy.pdf");
const SAMPLE_NAME: &str = "record-keeping-policy.pdf";
const PROMPT: &str =
    "Extract every requirement from the documents: each normative sentence with its page and a verbatim quote.";
/// Maximum number of requirements shown; SQL shows the others.
const SHOWN: usize = 20;
/// Maximum length of a requirement's text in the table, in characters.
const LONGEST: usize = 200;
/// Concurrent jobs: this is a demo, not a service.
const CONCURRENCY: usize = 4;

/// A job type to try, with its files, always with the rehearsal model.
pub(crate) struct Trial {
    pub(crate) job_type: String,
    pub(crate) configs: ConfigRegistry,
    /// The job type that judges what the job records, if that is the one to try.
    pub(crate) judge: Option<String>,
}

pub(crate) async fn run(arguments: DevArguments) -> Result<u8, Failure> {
    run_with(arguments, None).await
}

/// The same for a job type to try.
pub(crate) async fn run_with(arguments: DevArguments, trial: Option<Trial>) -> Result<u8, Failure> {
    plumbline_telemetry::start(LogFormat::Text, "warn,sqlx=error");
    let (stop_sender, stop) = signals::on_signals()?;
    let home = PathBuf::from(".plumbline");
    output::print("Starting a private Postgres under .plumbline/ …")?;
    let postgres = start_postgres(&home).await?;
    let code = with_postgres(&arguments, trial, &home, &postgres, stop_sender, stop).await;
    postgres.stop().await?;
    code
}

/// A folder that only this account can read, because it contains documents.
fn own_folder(folder: PathBuf) -> Result<PathBuf, Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot create {} ({error})", folder.display()));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    Ok(folder)
}

/// Only this command uses the private database, so the folder can be deleted.
fn of_another_version(error: plumbline_store::Error) -> Failure {
    match error.is_of_another_schema() {
        true => Failure::new(
            "the database under .plumbline/ was made by an earlier version of plumbline: delete that folder and the \
             jobs in it, or start in another folder",
        ),
        false => error.into(),
    }
}

async fn start_postgres(home: &Path) -> Result<PrivatePostgres, Failure> {
    let options = dev_postgres::Options { dir: Some(home.join("postgres")), durable: true, ..Default::default() };
    Ok(dev_postgres::start(options).await?)
}

async fn with_postgres(
    arguments: &DevArguments,
    trial: Option<Trial>,
    home: &Path,
    postgres: &PrivatePostgres,
    stop_sender: channel::Sender<Shutdown>,
    mut stop: channel::Receiver<Shutdown>,
) -> Result<u8, Failure> {
    let url = postgres.url();
    let store = environment::connect(&url).await?;
    store.migrate().await.map_err(of_another_version)?;
    let workspace_dir = environment::var("PLUMBLINE_WORKSPACE_DIR")
        .map_or_else(|| own_folder(home.join("workspace")), |dir| Ok(dir.into()))?;
    let model = Model::choose(trial.is_some()).await?;
    output::print(&format!(
        "Database  {} (password in {})\nModel     {}",
        postgres.address(),
        postgres.password_file().display(),
        model.description
    ))?;
    let job = insert_job(&store, arguments, trial.as_ref()).await?;
    output::print(&format!("Job       {job}\n"))?;
    let configs = trial.map_or_else(environment::configs, |trial| Ok(trial.configs))?;
    let worker = start_worker(url.clone(), workspace_dir.clone(), configs, &model, &stop)?;

    let followed = tokio::select! {
        followed = follow(&store, job) => Some(followed?),
        _ = stop.wait_for(|now| *now > Shutdown::None) => None,
    };
    let code = match &followed {
        Some((row, validator)) => {
            report(&store, job, row, &workspace_dir, postgres).await?;
            validator.iter().try_for_each(|(_, row)| watch::say_headline(row))?;
            job_summary::print(&store, job, validator.as_ref().map(|(id, _)| *id)).await?;
            // A failure of the validator fails the command: the demo covers the path to the graph.
            validator.iter().map(|(_, row)| watch::exit_code(row)).fold(watch::exit_code(row), u8::max)
        }
        None => {
            output::print("Stopping; the next `plumbline dev` resumes the job from its last step.")?;
            2
        }
    };
    if arguments.keep && followed.is_some() {
        output::print("\nPostgres and the worker keep running; insert more jobs, or press Ctrl-C to stop.")?;
        // An error means that the sender is gone, which also ends the command.
        let _ = stop.wait_for(|now| *now > Shutdown::None).await;
    }
    stop_sender.send_if_modified(|now| {
        let first = *now == Shutdown::None;
        *now = (*now).max(Shutdown::Drain);
        first
    });
    worker.await.map_err(|error| Failure::new(format!("the worker stopped unexpectedly: {error}")))??;
    Ok(code)
}

/// Shows the job's progress to its end, then that of the validator job which its completion enqueued.
async fn follow(store: &Store, job: Uuid) -> Result<(WatchRow, Option<(Uuid, WatchRow)>), Failure> {
    let row = watch::follow(store, job).await?;
    let validator = match store.child_job(job).await? {
        Some(id) => {
            output::print(&format!("\nValidator {id}\n"))?;
            Some((id, watch::follow(store, id).await?))
        }
        None => None,
    };
    Ok((row, validator))
}

/// The model of the environment, or the rehearsal model for as long as this lives.
struct Model {
    env: ModelEnv,
    description: String,
    _rehearsal: Option<Rehearsal>,
}

impl Model {
    async fn choose(rehearses: bool) -> Result<Self, Failure> {
        let mut env = environment::model_env()?;
        if let (false, Some(base_url), Some(model)) = (rehearses, &env.base_url, &env.model) {
            let description = format!("{model} at {base_url}");
            return Ok(Self { env, description, _rehearsal: None });
        }
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let rehearsal = Rehearsal::start(address, plumbline_rehearsal::Options::default())
            .await
            .map_err(|error| Failure::new(format!("the rehearsal model could not be started: {error}")))?;
        env.base_url = Some(rehearsal.base_url());
        env.model = Some(plumbline_rehearsal::MODEL.into());
        let description = "the built-in rehearsal model: rule-based, no LLM (set OPENAI_BASE_URL, OPENAI_API_KEY and \
                           PLUMBLINE_MODEL to use yours)";
        Ok(Self { env, description: description.into(), _rehearsal: Some(rehearsal) })
    }
}

async fn insert_job(store: &Store, arguments: &DevArguments, trial: Option<&Trial>) -> Result<Uuid, Failure> {
    let mut job = NewJob::new(arguments.prompt.as_deref().unwrap_or(PROMPT));
    if let Some(job_type) = trial.map(|trial| trial.job_type.clone()).or_else(environment::default_job_type) {
        job.job_type = job_type;
    }
    if let Some(judge) = trial.and_then(|trial| trial.judge.as_ref()) {
        job.config = serde_json::json!({"on_complete": {"enqueue": judge}});
    }
    if arguments.documents.is_empty() && arguments.prompt.is_none() {
        job.document_name = Some(SAMPLE_NAME.into());
        job.document_content = Some(SAMPLE.to_vec());
    } else {
        documents::attach(&mut job, &arguments.documents)?;
    }
    enqueue::insert(store, &job).await
}

/// Where to look further; a failed write to the terminal is ignored.
fn announce(address: SocketAddr) {
    let _ = output::print(&format!("Dashboard http://{address}/\n"));
}

fn start_worker(
    database_url: String,
    workspace_dir: PathBuf,
    configs: ConfigRegistry,
    model: &Model,
    stop: &channel::Receiver<Shutdown>,
) -> Result<JoinHandle<Result<(), plumbline_worker::Error>>, Failure> {
    let options = WorkerOptions {
        database_url,
        concurrency: CONCURRENCY,
        job_types: None,
        until_idle: false,
        workspace_dir,
        configs,
        model_env: model.env.clone(),
        program: environment::program()?,
        timing: environment::timing()?,
        http: HttpOptions { announce: Some(announce), ..environment::http(None)? },
    };
    Ok(tokio::spawn(plumbline_worker::run(options, stop.clone())))
}

async fn report(
    store: &Store,
    job: Uuid,
    row: &WatchRow,
    workspace_dir: &Path,
    postgres: &PrivatePostgres,
) -> Result<(), Failure> {
    let requirements = store.requirements_of(job).await?;
    if !requirements.is_empty() {
        output::print(&requirement_table(&requirements))?;
    }
    let reason = row.error_message.as_ref().or(row.status_reason.as_ref());
    let ending = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    output::print(&format!(
        "\nJob {}{ending}. {} requirements, {} citations verified, {} steps, {} model requests.",
        row.status,
        requirements.len(),
        requirements.iter().map(job_summary::verified).sum::<usize>(),
        row.step,
        row.total_requests
    ))?;
    watch::say_headline(row)?;
    let folder = workspace_dir.join(format!("job_{job}"));
    output::print(&format!(
        "\nIts files   {}\nQuery       PGPASSWORD=$(cat '{}') psql {} -c \"SELECT name, source_location->>'page' AS \
         page, citations->0->>'quote' \
         FROM requirement_cache WHERE job_id = '{job}'\"\n           (the database runs while `plumbline dev --keep` does; `make db` opens it again)",
        folder.display(),
        postgres.password_file().display(),
        postgres.address()
    ))
}

fn requirement_table(requirements: &[RequirementRow]) -> String {
    let mut table = output::table(&["#", "page", "priority", "requirement"]);
    for (at, requirement) in requirements.iter().take(SHOWN).enumerate() {
        let citation = requirement.citations.get(0);
        let text_of = |key: &str| citation.and_then(|c| c.get(key)).map(plain).unwrap_or_default();
        table.add_row([
            (at + 1).to_string(),
            text_of("page"),
            requirement.priority.clone().unwrap_or_default(),
            short(&said(requirement.name.as_deref().unwrap_or_default(), &text_of("quote")), LONGEST),
        ]);
    }
    let rest = requirements.len().saturating_sub(SHOWN);
    if rest > 0 { format!("{table}\n… and {rest} more in requirement_cache") } else { table.to_string() }
}

/// A requirement's name with its quote, or only the quote if it begins with the name: most names are prefixes of it.
fn said(name: &str, quote: &str) -> String {
    let (name, quote) = (one_line(name), one_line(quote));
    match quote.starts_with(name.trim_end_matches(['.', '…', ' '])) {
        true => quote,
        false if quote.is_empty() => name,
        false => format!("{name}: “{quote}”"),
    }
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::said;
    use crate::output;

    #[test]
    fn a_database_of_another_version_is_reported_with_its_folder() {
        let error = plumbline_store::Error::SchemaEdited(20_261_125_000_100);
        assert!(super::of_another_version(error).to_string().contains("delete that folder"));
        let other = super::of_another_version(plumbline_store::Error::TransactionPooler).to_string();
        assert!(other.contains("pooler"), "{other}");
    }

    #[test]
    fn a_requirement_is_said_once() {
        let quote = "The Records Manager shall keep a register of all systems.";
        for (name, expected) in [
            ("The Records Manager shall keep a…", quote),
            ("The Records Manager shall keep a register of all systems", quote),
            ("", quote),
        ] {
            assert_eq!(said(name, quote), expected);
        }
        assert_eq!(said("Register", quote), format!("Register: “{quote}”"));
        assert_eq!(said("Register", ""), "Register");
    }

    #[test]
    fn rows_are_aligned_without_rules_and_use_the_available_width() {
        let mut table = output::table(&["#", "requirement"]);
        let long = "Records shall be kept. ".repeat(8);
        table.add_row(["1", long.trim()]).add_row(["2", "Short."]).set_width(80);
        let lines: Vec<String> = table.to_string().lines().map(str::to_owned).collect();
        let ruled = lines.iter().filter(|line| line.contains('─')).count();
        let widest = lines.iter().map(|line| line.trim_end().chars().count()).max();
        assert_eq!(ruled, 1, "{lines:#?}");
        assert!(widest.is_some_and(|widest| widest > 70 && widest <= 80), "{lines:#?}");
        assert_eq!(lines.len(), 2 + 3 + 1, "{lines:#?}");
    }
}
