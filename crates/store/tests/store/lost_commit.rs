//! A COMMIT whose answer never arrives: the connection breaks in between.

use crate::support::{column, commit, running, store};
use plumbline_store::{ConnectOptions, Error, Store};
use sqlx::{PgPool, postgres::PgConnectOptions};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
};

/// Where the connection breaks.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// The COMMIT never reaches the server.
    Before,
    /// The server has committed and its answer is lost.
    After,
}

/// Simple-query message of the protocol: type, length, text, NUL.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// Forwards connections to the server and breaks the one that first commits. Returns the proxy's port.
async fn proxy(server: PgConnectOptions, cut: Cut) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let cut = Arc::new(Mutex::new(Some(cut)));
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let once = Arc::clone(&cut);
            let host = server.get_host().to_owned();
            let socket = server.get_socket().cloned().or_else(|| host.starts_with('/').then(|| host.clone().into()));
            match socket {
                Some(folder) => {
                    let path = Path::new(&folder).join(format!(".s.PGSQL.{}", server.get_port()));
                    tokio::spawn(forward(client, UnixStream::connect(path).await.unwrap(), once));
                }
                None => {
                    let upstream = TcpStream::connect((host, server.get_port())).await.unwrap();
                    tokio::spawn(forward(client, upstream, once));
                }
            }
        }
    });
    port
}

/// Copies both ways; on a COMMIT breaks the connection as told.
async fn forward(mut client: TcpStream, mut server: impl AsyncRead + AsyncWrite + Unpin, cut: Arc<Mutex<Option<Cut>>>) {
    let (mut from_client, mut from_server) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let sent = &from_client[..read.unwrap_or(0)];
                let commits = sent.windows(COMMIT.len()).any(|window| window == COMMIT);
                let cut = if commits { cut.lock().unwrap().take() } else { None };
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

/// A store whose connection breaks at its first COMMIT.
async fn behind_proxy(pool: &PgPool, cut: Cut) -> Store {
    let server = pool.connect_options();
    let port = proxy(server.as_ref().clone(), cut).await;
    let url = format!(
        "postgres://{}@127.0.0.1:{port}/{}?sslmode=disable",
        server.get_username(),
        server.get_database().unwrap()
    );
    Store::connect(&url, ConnectOptions { max_connections: 1, ..ConnectOptions::default() }).await.unwrap()
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_commit_that_happened_is_found_by_reading_back(pool: PgPool) {
    let job = running(&store(&pool)).await;
    let shaky = behind_proxy(&pool, Cut::After).await;
    let committed = commit(&shaky, job.lease(), 0, &[]).await.unwrap();
    assert_eq!(committed.step, 1);
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("1"));
    assert_eq!(commit(&shaky, job.lease(), 1, &[]).await.unwrap().step, 2, "the run goes on");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_commit_that_did_not_happen_is_a_transient_error(pool: PgPool) {
    let job = running(&store(&pool)).await;
    let shaky = behind_proxy(&pool, Cut::Before).await;
    let error = commit(&shaky, job.lease(), 0, &[]).await.unwrap_err();
    assert!(matches!(error, Error::Database { .. }) && error.is_transient(), "{error}");
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("0"));
    assert_eq!(commit(&shaky, job.lease(), 0, &[]).await.unwrap().step, 1, "the same step is tried again");
}
