//! Signals: the first asks for a drain, the second means at once. They are listened for on a thread of their own, which looks at
//! nothing else: a process whose other threads all stand still ends all the same.

use crate::{environment, error::Failure};
use plumbline_worker::Shutdown;
use std::{process, sync::mpsc, thread, time::Duration};
use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    time::timeout,
};

/// How much longer than a drain may take the process lives on after the first signal, and how long after the second.
const GRACE: Duration = Duration::from_secs(20);
/// How long work on blocking threads is waited for at the end. What it does is not wanted any more.
const LINGER: Duration = Duration::from_secs(2);

/// Listens for SIGTERM, SIGINT and, for a terminal that is closed, SIGHUP from now on.
///
/// # Errors
/// When the handlers cannot be installed.
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
    // A second one means at once; without it, the drain has its time.
    if timeout(drain + GRACE, any(&mut signals)).await.is_ok() {
        sender.send_replace(Shutdown::Immediate);
        tokio::time::sleep(GRACE).await;
    }
    // The process was asked to stop and has not: its leases run out, and another worker takes its jobs.
    eprintln!("plumbline did not stop within its time after a signal; it ends now, its jobs go to another worker");
    process::exit(1);
}

async fn any([term, interrupt, hangup]: &mut [Signal; 3]) {
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Ends a runtime without waiting for work that may take for ever.
pub(crate) fn end(runtime: tokio::runtime::Runtime) {
    runtime.shutdown_timeout(LINGER);
}
