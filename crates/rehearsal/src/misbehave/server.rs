//! Hand-written HTTP: an ordinary server library cannot send half a response.
//!
//! One request per connection, answered with `Connection: close`. This is enough for tests, and a truncated response
//! cannot affect a reused connection.

use super::{Delivery, Rate, Reaction, Turn, find};
use crate::server::wire::ChatRequest;
use crate::{answer_by_todo, server::check};
use serde_json::json;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A misbehaving model that serves in the background for as long as this handle lives.
#[derive(Debug)]
pub struct Misbehaving {
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// Turns so far, by address: jobs are counted separately.
type Turns = Arc<Mutex<HashMap<String, u64>>>;

impl Misbehaving {
    /// Serves on a free port of loopback, from a task of the current tokio runtime.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let turns = Turns::default();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let turns = turns.clone();
                // Half of the kinds make the client disconnect early.
                tokio::spawn(async move { drop(serve(stream, &turns).await) });
            }
        });
        Ok(Self { address, task })
    }

    /// The `llm.base_url` of one job. The seed distinguishes its turns from those of other jobs.
    pub fn base_url(&self, kind: &str, rate: Rate, seed: u64) -> String {
        format!("{}/{kind}/{}/{seed}/v1", self.address(), rate.as_percent())
    }

    /// How all its addresses begin.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Misbehaving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, turns: &Turns) -> io::Result<()> {
    let (path, body) = read_request(&mut stream).await?;
    let turns = turns.clone();
    let reaction =
        plumbline_bounds::blocking::unbounded(move || react(&path, &body, &turns)).await.map_err(io::Error::other)?;
    deliver(&mut stream, reaction).await
}

/// The path of a request, and its body.
async fn read_request(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let path = line.split_whitespace().nth(1).unwrap_or("/").to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).await? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await?;
    Ok((path, body))
}

fn react(path: &str, body: &[u8], turns: &Turns) -> Reaction {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let [kind, percent, seed, ..] = parts[..] else {
        return refused(404, &format!("{path} has no kind, rate and seed"));
    };
    let (Some(kind), Ok(percent), Ok(seed)) = (find(kind), percent.parse(), seed.parse()) else {
        return refused(404, &format!("{path} names no known kind, or no numbers for rate and seed"));
    };
    let request: ChatRequest = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => return refused(400, &error.to_string()),
    };
    // The requests must stay well formed, however the model misbehaves.
    if let Err(reason) = check::check(&request) {
        return refused(400, &reason);
    }
    let healthy = json!(answer_by_todo(&request));
    let number = next_turn(path, turns);
    match Rate::percent(percent).strikes(seed, number) {
        true => (kind.spoil)(&Turn { request: &request, healthy, number }),
        false => Reaction::answer(&healthy),
    }
}

fn next_turn(path: &str, turns: &Turns) -> u64 {
    let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
    let number = turns.entry(path.to_owned()).or_default();
    *number += 1;
    *number
}

fn refused(status: u16, reason: &str) -> Reaction {
    Reaction::error(status, reason, "invalid_request_error", "")
}

async fn deliver(stream: &mut TcpStream, reaction: Reaction) -> io::Result<()> {
    let head = head(&reaction);
    match reaction.delivery {
        Delivery::Whole => {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&reaction.body).await?;
        }
        Delivery::NoHead => {}
        Delivery::CutAfter(bytes) => {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&reaction.body[..bytes.min(reaction.body.len())]).await?;
        }
        Delivery::Dripping { pieces, pause } => {
            stream.write_all(head.as_bytes()).await?;
            for piece in reaction.body.chunks(reaction.body.len().div_ceil(pieces.max(1)).max(1)) {
                stream.write_all(piece).await?;
                stream.flush().await?;
                tokio::time::sleep(pause).await;
            }
        }
        Delivery::Never => {
            // Until the other side has had enough.
            let _ = stream.read_u8().await;
        }
    }
    stream.shutdown().await
}

fn head(reaction: &Reaction) -> String {
    let retry_after = reaction.retry_after.map(|wish| format!("retry-after: {wish}\r\n")).unwrap_or_default();
    format!(
        "HTTP/1.1 {} Spoilt\r\ncontent-type: {}\r\ncontent-length: {}\r\n{retry_after}connection: close\r\n\r\n",
        reaction.status,
        reaction.content_type,
        reaction.body.len()
    )
}
