//! A proxy between the store and the server: it breaks a connection at a given point, and counts the traffic.

use plumbline_store::{ConnectOptions, Store};
use sqlx::{ConnectOptions as _, PgPool, postgres::PgSslMode};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
};

/// The point at which a connection breaks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cut {
    /// The client's bytes never reach the server.
    Before,
    /// The server has executed them and its answer is lost.
    After,
}

/// The state of the proxy.
#[derive(Default)]
pub(crate) struct Proxy {
    /// Breaks the connection that first sends these bytes.
    pub(crate) cut: Mutex<Option<(&'static [u8], Cut)>>,
    /// How often a client sent something: it waits for each answer, so these are round trips.
    pub(crate) sent: AtomicUsize,
    /// Connections that clients have opened.
    pub(crate) opened: AtomicUsize,
}

impl Proxy {
    /// A store whose connections go through the proxy.
    pub(crate) async fn store(self: &Arc<Self>, pool: &PgPool, max_connections: u32) -> Store {
        let server = pool.connect_options();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let through = server.as_ref().clone().host("127.0.0.1").port(port).ssl_mode(PgSslMode::Disable);
        let url = through.to_url_lossy().to_string();
        let host = server.get_host().to_owned();
        let socket = server.get_socket().cloned().or_else(|| host.starts_with('/').then(|| host.clone().into()));
        let (this, port) = (self.clone(), server.get_port());
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                this.opened.fetch_add(1, SeqCst);
                let this = this.clone();
                match &socket {
                    Some(folder) => {
                        let path = Path::new(folder).join(format!(".s.PGSQL.{port}"));
                        let server = UnixStream::connect(path).await.unwrap();
                        tokio::spawn(async move { this.forward(client, server).await });
                    }
                    None => {
                        let server = TcpStream::connect((host.clone(), port)).await.unwrap();
                        tokio::spawn(async move { this.forward(client, server).await });
                    }
                }
            }
        });
        Store::connect(&url, ConnectOptions { max_connections, ..ConnectOptions::default() }).await.unwrap()
    }

    /// Copies in both directions.
    async fn forward(&self, mut client: TcpStream, mut server: impl AsyncRead + AsyncWrite + Unpin) {
        let (mut from_client, mut from_server) = (vec![0; 65536], vec![0; 65536]);
        loop {
            tokio::select! {
                read = client.read(&mut from_client) => {
                    let sent = &from_client[..read.unwrap_or(0)];
                    self.sent.fetch_add(1, SeqCst);
                    let cut = self.cut_at(sent);
                    if sent.is_empty() || cut == Some(Cut::Before) {
                        return;
                    }
                    server.write_all(sent).await.unwrap();
                    if cut == Some(Cut::After) {
                        server.read_u8().await.unwrap();
                        return;
                    }
                }
                read = server.read(&mut from_server) => {
                    let answered = &from_server[..read.unwrap_or(0)];
                    if answered.is_empty() || client.write_all(answered).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Whether the connection must break at these bytes; only once.
    fn cut_at(&self, sent: &[u8]) -> Option<Cut> {
        let mut cut = self.cut.lock().unwrap();
        let (needle, _) = (*cut)?;
        let found = sent.windows(needle.len()).any(|window| window == needle);
        if found { cut.take().map(|(_, cut)| cut) } else { None }
    }
}
