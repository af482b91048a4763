//! Signals: the first asks for a drain, the second means at once.

use crate::error::Failure;
use plumbline_worker::Shutdown;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

/// Listens for SIGTERM, SIGINT and, for a terminal that is closed, SIGHUP from now on.
///
/// # Errors
/// When the handlers cannot be installed.
pub(crate) fn on_signals() -> Result<(watch::Sender<Shutdown>, watch::Receiver<Shutdown>), Failure> {
    let install = |kind| signal(kind).map_err(|error| Failure::new(format!("signals cannot be handled: {error}")));
    let (term, interrupt) = (install(SignalKind::terminate())?, install(SignalKind::interrupt())?);
    let hangup = install(SignalKind::hangup())?;
    let (sender, receiver) = watch::channel(Shutdown::None);
    tokio::spawn(raise(sender.clone(), [term, interrupt, hangup]));
    Ok((sender, receiver))
}

async fn raise(sender: watch::Sender<Shutdown>, [mut term, mut interrupt, mut hangup]: [Signal; 3]) {
    for stop in [Shutdown::Drain, Shutdown::Immediate] {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        sender.send_replace(stop);
    }
}
