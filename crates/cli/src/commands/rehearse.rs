//! `plumbline rehearse`.

use crate::{arguments::RehearseArguments, error::Failure, output, signals};
use plumbline_worker::Shutdown;
use std::time::Duration;
use tokio::net::TcpListener;

pub(crate) async fn run(arguments: RehearseArguments) -> Result<u8, Failure> {
    let (_sender, mut stop) = signals::on_signals()?;
    let address = arguments.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(format!("{address} cannot be listened on ({error}); choose another address or port"))
    })?;
    let bound = listener.local_addr().unwrap_or(address);
    output::print(&format!("the rehearsal model (rule-based, no LLM) listens on http://{bound}/v1"))?;
    let options = plumbline_rehearsal::Options { delay: Duration::from_millis(arguments.delay_ms) };
    let stopped = async move {
        // An error means that the stop signal is gone, which also ends the server.
        let _ = stop.wait_for(|now| *now > Shutdown::None).await;
    };
    plumbline_rehearsal::serve(listener, options, stopped)
        .await
        .map_err(|error| Failure::new(format!("the rehearsal model stopped: {error}")))?;
    Ok(0)
}
