//! Signals: the first starts a drain, the second ends the process at once. A dedicated thread handles them, so that the
//! process ends even if all other threads are blocked.

use crate::{environment, error::Failure};
use plumbline_worker::Shutdown;
use std::{process, sync::mpsc, thread, time::Duration};
use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    time::timeout,
};

/// How long the process may live beyond the drain time after the first signal, and how long after the second.
const GRACE: Duration = Duration::from_secs(20);
/// How long the end waits for work on blocking threads, whose results are no longer needed.
const LINGER: Duration = Duration::from_secs(2);

/// Listens for SIGTERM, SIGINT and, for a closed terminal, SIGHUP.
///
/// # Errors
/// If the handlers cannot be installed.
pub(crate) fn on_signals() -> Result<(watch::Sender<Shutdown>, watch::Receiver<Shutdown>), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("signals cannot be handled: {error}"));
    let drain = environment::timing()?.drain;
    let (sender, receiver) = watch::channel(Shutdown::None);
    let (installed, is_installed) = mpsc::channel();
    let raised = sender.clone();
    let listen = move || {
        let runtime = match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(installed.send(Err(error))),
        };
        runtime.block_on(async move {
            let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
            match kinds.map(signal) {
                [Ok(term), Ok(interrupt), Ok(hangup)] => {
                    let _ = installed.send(Ok(()));
                    raise(raised, [term, interrupt, hangup], drain).await;
                }
                [Err(error), ..] | [_, Err(error), _] | [.., Err(error)] => drop(installed.send(Err(error))),
            }
        });
    };
    thread::Builder::new().name("plumbline-signals".into()).spawn(listen).map_err(|error| failed(&error))?;
    match is_installed.recv() {
        Ok(Ok(())) => Ok((sender, receiver)),
        Ok(Err(error)) => Err(failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}

async fn raise(sender: watch::Sender<Shutdown>, mut signals: [Signal; 3], drain: Duration) {
    any(&mut signals).await;
    sender.send_replace(Shutdown::Drain);
    // A second signal ends it at once; without one, the drain has its time.
    if timeout(drain + GRACE, any(&mut signals)).await.is_ok() {
        sender.send_replace(Shutdown::Immediate);
        tokio::time::sleep(GRACE).await;
    }
    // The process did not stop in time: its leases expire, and another worker takes its jobs.
    eprintln!("plumbline did not stop in time after a signal; exiting now, another worker takes its jobs");
    process::exit(1);
}

async fn any([term, interrupt, hangup]: &mut [Signal; 3]) {
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Ends a runtime without waiting for work that may never end.
pub(crate) fn end(runtime: tokio::runtime::Runtime) {
    runtime.shutdown_timeout(LINGER);
}
