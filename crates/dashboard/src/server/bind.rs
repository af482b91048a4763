//! Takes the address.

use crate::HttpOptions;
use std::{io::ErrorKind, net::SocketAddr};
use tokio::net::TcpListener;

/// Ports tried after the default one, before the system chooses.
const NEXT_PORTS: u16 = 100;

/// Binds the explicit address, or the default one or the next free port.
///
/// # Errors
/// A sentence.
pub(crate) async fn bind(options: &HttpOptions) -> Result<TcpListener, String> {
    let mut address = options.address;
    let last = address.port().saturating_add(NEXT_PORTS);
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse && !options.asked && address.port() != 0 => {
                let next = if address.port() < last { address.port() + 1 } else { 0 };
                address.set_port(next);
            }
            Err(error) => return Err(refusal(options.address, &error)),
        }
    }
}

fn refusal(address: SocketAddr, error: &std::io::Error) -> String {
    format!("the HTTP address {address} cannot be used ({error}): choose another with --http or PLUMBLINE_HTTP_ADDR")
}

#[cfg(test)]
mod tests {
    use super::{HttpOptions, bind};

    #[tokio::test]
    async fn the_next_free_port_is_taken_only_when_none_was_asked_for() {
        let first = bind(&HttpOptions { asked: false, ..HttpOptions::default() }).await.expect("a port is free");
        let taken = first.local_addr().expect("a bound socket has an address");
        let second = bind(&HttpOptions { address: taken, ..HttpOptions::default() }).await.expect("a port is free");
        assert_ne!(second.local_addr().expect("an address").port(), taken.port());
        let refused = bind(&HttpOptions::new(Some(taken), None, Vec::new())).await.expect_err("it is taken");
        assert!(refused.contains(&taken.to_string()) && refused.contains("--http"), "{refused}");
    }
}
