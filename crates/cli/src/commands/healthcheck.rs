//! `plumbline __probe`: checks whether the worker on this machine is alive, for images without another HTTP client. It
//! reads `PLUMBLINE_HTTP_ADDR` like the worker, so set it in the container's environment.

use crate::{environment, error::Failure, output};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// A worker that takes longer is not alive.
const ANSWER: Duration = Duration::from_secs(4);

/// Exit code 0 if `/healthz` succeeds.
pub(crate) async fn run() -> Result<u8, Failure> {
    let address = reachable(environment::http(None)?.address);
    let asked = timeout(ANSWER, ask(address)).await;
    let answer = match asked {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(silent(address, &error.to_string())),
        Err(_) => return Err(silent(address, &format!("no answer within {} s", ANSWER.as_secs()))),
    };
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    output::print(body)?;
    Ok(u8::from(answer.split(' ').nth(1) != Some("200")))
}

fn silent(address: SocketAddr, reason: &str) -> Failure {
    Failure::new(format!(
        "the worker at {address} does not answer ({reason}); check its log, or set PLUMBLINE_HTTP_ADDR to the \
         worker's address"
    ))
}

/// The destination for a local address: a wildcard address is not a valid destination on all systems.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
