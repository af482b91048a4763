//! The connections of the HTTP server: their number, and their idle time.
//!
//! Each connection holds a file descriptor before it is authenticated, and the database needs descriptors too. So there
//! is a limit in total and per client address. A connection over a limit replaces the one that has been idle longest
//! (an incomplete head, or silence between two requests); if all are being answered, the new one is closed. A client
//! that sends its request at once is therefore answered, however many others are idle.
//!
//! A limit before the accept with hyper's header timeout would be simpler, and is not enough: a client that holds as
//! many incomplete heads as permitted, and reopens each after ten seconds, occupies the whole limit, and a supervisor
//! whose `/healthz` request waits behind them kills a healthy worker
//! (`half_open_connections_stop_no_job_and_no_probe`). hyper's own header timeout is used as well.

use axum::{Router, body::HttpBody, extract::Request, response::Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tower_service::Service as _;

/// Timeout for the head of a request, from the time the connection waits for one.
const HEAD: Duration = Duration::from_secs(10);
/// Timeout for a client to receive sent data.
const UNREAD: Duration = Duration::from_secs(30);
/// Delay after a failed accept, usually for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(200);
/// Descriptors reserved for the database, the model, the mirror and documents.
const RESERVE: usize = 256;
/// Maximum connections if there are enough descriptors.
const MOST: usize = 512;
/// Minimum connections.
const LEAST: usize = 16;

/// How many connections there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    total: usize,
    of_client: usize,
}

impl Bounds {
    /// Those of this process, from its limit of open descriptors (`ulimit -n`).
    fn of_process() -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        Self::of(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX))
    }

    /// A proxy in front of the worker is one client, so a client may have most of them.
    fn of(descriptors: usize) -> Self {
        let total = (descriptors.saturating_sub(RESERVE) / 2).clamp(LEAST, MOST);
        Self { total, of_client: total * 3 / 4 }
    }
}

/// The address that a request came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) IpAddr);

/// One open connection.
struct Connection {
    client: IpAddr,
    /// Requests that are being answered.
    busy: Arc<AtomicUsize>,
    close: Arc<Notify>,
}

/// The open connections, oldest first: the oldest idle one is closed first.
#[derive(Default)]
struct Table {
    next: u64,
    open: BTreeMap<u64, Connection>,
}

impl Table {
    /// Makes room for one more connection of this client, if possible.
    fn make_room(&mut self, client: IpAddr, bounds: Bounds) -> bool {
        let of_client = self.open.values().filter(|open| open.client == client).count();
        if of_client >= bounds.of_client {
            return self.close_silent(|open| open.client == client);
        }
        self.open.len() < bounds.total || self.close_silent(|_| true)
    }

    fn close_silent(&mut self, among: impl Fn(&Connection) -> bool) -> bool {
        let silent = self.open.iter().find(|(_, open)| among(open) && open.busy.load(Ordering::Acquire) == 0);
        let Some(number) = silent.map(|(number, _)| *number) else { return false };
        if let Some(open) = self.open.remove(&number) {
            open.close.notify_one();
        }
        true
    }
}

/// Serves a router; does not return.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let (bounds, table) = (Bounds::of_process(), Arc::new(Mutex::new(Table::default())));
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => admit(stream, peer.ip().to_canonical(), bounds, &table, &router),
            Err(error) => {
                tracing::debug!(%error, "could not accept a connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn admit(stream: TcpStream, client: IpAddr, bounds: Bounds, table: &Arc<Mutex<Table>>, router: &Router) {
    let mut open = table.lock();
    if !open.make_room(client, bounds) {
        tracing::debug!(%client, "too many open connections; closed a new one");
        return;
    }
    let (busy, close) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
    let number = open.next;
    open.next += 1;
    open.open.insert(number, Connection { client, busy: Arc::clone(&busy), close: Arc::clone(&close) });
    drop(open);
    let (table, router) = (Arc::clone(table), router.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = converse(stream, client, router, busy) => {}
            () = close.notified() => {}
        }
        table.lock().open.remove(&number);
    });
}

/// One connection, until either side ends it.
async fn converse(stream: TcpStream, client: IpAddr, router: Router, busy: Arc<AtomicUsize>) {
    let _ = stream.set_nodelay(true);
    limit_unread(&stream);
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let (router, held) = (router.clone(), InFlight::new(&busy));
        async move { Ok::<_, Infallible>(answer(router, request, client, held).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::trace!(%error, %client, "connection ended with an error");
    }
}

/// Unread data ends the connection, by the kernel's timeout.
#[cfg(target_os = "linux")]
fn limit_unread(stream: &TcpStream) {
    let millis = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, millis);
}

#[cfg(not(target_os = "linux"))]
fn limit_unread(_: &TcpStream) {
    let _ = UNREAD;
}

async fn answer(
    mut router: Router,
    request: hyper::Request<Incoming>,
    client: IpAddr,
    busy: InFlight,
) -> Response<CountedBody> {
    let mut request: Request = request.map(axum::body::Body::new);
    request.extensions_mut().insert(Client(client));
    let Ok(response) = router.call(request).await;
    response.map(|body| CountedBody { body, _busy: busy })
}

/// A request that is being answered.
struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A body whose connection is busy until it is sent.
struct CountedBody {
    body: axum::body::Body,
    _busy: InFlight,
}

impl Body for CountedBody {
    type Data = <axum::body::Body as HttpBody>::Data;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(table: &mut Table, client: [u8; 4], busy: bool) -> u64 {
        let number = table.next;
        table.next += 1;
        let open =
            Connection { client: client.into(), busy: Arc::new(usize::from(busy).into()), close: Arc::default() };
        table.open.insert(number, open);
        number
    }

    #[test]
    fn descriptors_are_kept_for_the_database() {
        assert_eq!(Bounds::of(1024), Bounds { total: 384, of_client: 288 });
        assert_eq!(Bounds::of(64), Bounds { total: 16, of_client: 12 });
        assert_eq!(Bounds::of(usize::MAX).total, MOST);
    }

    #[test]
    fn the_longest_silent_one_makes_room_and_a_busy_one_does_not() {
        let bounds = Bounds { total: 3, of_client: 2 };
        let mut table = Table::default();
        let busy = opened(&mut table, [10, 0, 0, 1], true);
        let silent = opened(&mut table, [10, 0, 0, 1], false);
        let other = opened(&mut table, [10, 0, 0, 2], true);
        assert!(table.make_room([10, 0, 0, 1].into(), bounds));
        assert!(table.open.contains_key(&busy) && !table.open.contains_key(&silent));
        opened(&mut table, [10, 0, 0, 1], true);
        assert!(!table.make_room([10, 0, 0, 1].into(), bounds), "each of its own is busy");
        assert!(!table.make_room([10, 0, 0, 3].into(), bounds), "each of all is busy");
        table.open.remove(&other);
        assert!(table.make_room([10, 0, 0, 3].into(), bounds));
    }
}
