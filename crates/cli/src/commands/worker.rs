//! `plumbline worker`.

use crate::{arguments::WorkerArguments, environment, error::Failure, signals};
use plumbline_telemetry::LogFormat;
use plumbline_worker::WorkerOptions;

pub(crate) async fn run(arguments: WorkerArguments) -> Result<u8, Failure> {
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    plumbline_telemetry::start(if terminal { LogFormat::Text } else { LogFormat::Json }, "info,sqlx=warn");
    let (_sender, stop) = signals::on_signals()?;
    // Spawned on the runtime, so that the task continues on the thread that received a notification or an answer. The
    // main thread would have to be woken for each of them.
    match tokio::spawn(plumbline_worker::run(options(arguments)?, stop)).await {
        Ok(ended) => ended?,
        Err(died) => std::panic::resume_unwind(died.into_panic()),
    }
    Ok(0)
}

fn options(arguments: WorkerArguments) -> Result<WorkerOptions, Failure> {
    Ok(WorkerOptions {
        database_url: environment::database_url()?,
        concurrency: environment::concurrency(arguments.concurrency)?,
        job_types: (!arguments.job_types.is_empty()).then_some(arguments.job_types),
        until_idle: arguments.until_idle,
        workspace_dir: environment::workspace_dir(),
        configs: environment::configs()?,
        model_env: environment::model_env()?,
        program: environment::program()?,
        timing: environment::timing()?,
        http: environment::http(arguments.http)?,
    })
}
