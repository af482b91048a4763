//! HTTP to the model, and a proxy in front of Postgres that counts.

use crate::error::{During, Error};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
};

/// A client for loopback.
pub(crate) fn client() -> Result<reqwest::Client, Error> {
    plumbline_llm::tls::install();
    reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().during("set up the HTTP client")
}

/// Counts the requests of a Postgres client from outside. The client waits for an answer to each `Sync` or simple
/// query: a round trip.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

/// Sums since the start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    round_trips: AtomicU64,
    statements: AtomicU64,
    open: AtomicU64,
}

impl Counts {
    pub(crate) fn round_trips(&self) -> u64 {
        self.round_trips.load(Relaxed)
    }

    /// Executed statements: fewer than round trips, which include preparing and keepalives.
    pub(crate) fn statements(&self) -> u64 {
        self.statements.load(Relaxed)
    }

    /// Connections open now.
    pub(crate) fn connections(&self) -> u64 {
        self.open.load(Relaxed)
    }
}

impl Proxy {
    /// Listens on a free port and forwards everything to this address.
    pub(crate) async fn start(server: String) -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").await.during("listen for the worker's connections")?;
        let port = listener.local_addr()?.port();
        let counts = Arc::new(Counts::default());
        let shared = counts.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server.clone(), shared.clone()));
            }
        });
        Ok(Self { port, counts, task })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(client: TcpStream, server: String, counts: Arc<Counts>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    // Disables Nagle's algorithm, so that small answers are not delayed.
    let quick = client.set_nodelay(true).and_then(|()| server.set_nodelay(true));
    if quick.is_err() {
        return;
    }
    counts.open.fetch_add(1, Relaxed);
    let (from_client, mut to_client) = client.into_split();
    let (mut from_server, to_server) = server.into_split();
    tokio::select! {
        _ = count(from_client, to_server, &counts) => {}
        _ = copy(&mut from_server, &mut to_client) => {}
    }
    counts.open.fetch_sub(1, Relaxed);
}

/// Forwards a client's messages. All except the first begin with a letter and a length.
async fn count(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, counts: &Counts) -> std::io::Result<()> {
    let mut messages = Messages::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        let (round_trips, statements) = messages.take(&buffer[..read]);
        counts.round_trips.fetch_add(round_trips, Relaxed);
        counts.statements.fetch_add(statements, Relaxed);
        to.write_all(&buffer[..read]).await?;
    }
}

/// Finds message boundaries in a stream that is split at any position.
#[derive(Debug, Default)]
struct Messages {
    /// An incomplete header.
    header: Vec<u8>,
    /// Bytes of the current message that are still to come.
    rest: usize,
    started: bool,
}

impl Messages {
    /// How many round trips and statements begin in the next piece.
    fn take(&mut self, mut bytes: &[u8]) -> (u64, u64) {
        let (mut round_trips, mut statements) = (0, 0);
        while !bytes.is_empty() {
            let skipped = self.rest.min(bytes.len());
            self.rest -= skipped;
            bytes = &bytes[skipped..];
            let Some((&byte, after)) = bytes.split_first() else { break };
            self.header.push(byte);
            bytes = after;
            // The first messages of a connection have no letter.
            let letter = usize::from(self.started);
            if self.header.len() == 4 + letter {
                let length = self.header[letter..].iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
                round_trips += u64::from(self.started && matches!(self.header[0], b'S' | b'Q'));
                statements += u64::from(self.started && matches!(self.header[0], b'E' | b'Q'));
                self.rest = length.saturating_sub(4);
                self.header.clear();
                // A message of eight bytes requests encryption; the startup message follows.
                self.started |= length != 8;
            }
        }
        (round_trips, statements)
    }
}

#[cfg(test)]
mod tests {
    use super::Messages;

    #[test]
    fn round_trips_are_counted_wherever_the_stream_is_cut() {
        let mut stream = vec![0, 0, 0, 8, 4, 210, 22, 47];
        stream.extend([0, 0, 0, 9, 1, 2, 3, 4, 5]);
        stream.extend(b"P\0\0\0\x08abSQ");
        stream.extend(b"E\0\0\0\x05\0S\0\0\0\x04");
        stream.extend(b"Q\0\0\0\x06S\0");
        for cut in 0..stream.len() {
            let mut messages = Messages::default();
            let (before, after) = (messages.take(&stream[..cut]), messages.take(&stream[cut..]));
            assert_eq!((before.0 + after.0, before.1 + after.1), (2, 2), "cut at {cut}");
        }
    }
}
