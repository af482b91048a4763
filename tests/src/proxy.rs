//! A faulty network: a relay between workers and Postgres that injects faults into its connections.

mod asked;

use asked::{Asked, contains};
use std::{
    net::Ipv4Addr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// The server's message that a transaction is committed: type `C`, the length and the tag.
const COMMITTED: &[u8] = b"C\0\0\0\x0bCOMMIT\0";

/// The treatment of connections. A command reaches every open connection, even if another command follows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Everything passes.
    Pass,
    /// Nothing is forwarded, nothing is closed.
    Stall,
    /// Open connections are reset, and so are new ones.
    Refuse,
    /// Open connections are reset.
    Reset,
    /// Open connections are half-closed: the client reads the end of the stream but can still send.
    HalfClose,
    /// Open connections fall silent for ever; later ones are forwarded.
    Forget,
}

/// The commands so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Orders {
    /// `Pass`, `Stall` or `Refuse`: the lasting state.
    now: Order,
    resets: u64,
    half_closes: u64,
    forgets: u64,
}

#[derive(Debug)]
struct Shared {
    /// The server's port on loopback.
    upstream: AtomicU16,
    orders: watch::Sender<Orders>,
    /// How many more answers to a step or a COMMIT are to be lost.
    commits_to_lose: AtomicU64,
    commits_lost: AtomicU64,
    /// The text of an answer that is to be lost.
    answer_to_lose: Mutex<Option<Vec<u8>>>,
    /// Bytes from the server until the connection that carries the last of them is reset; negative: not counted.
    bytes_left: AtomicI64,
}

/// The relay; stopped when dropped.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    /// Its address, on loopback.
    pub port: u16,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Starts one in front of a server on loopback.
    pub async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let shared = Arc::new(Shared {
            upstream: AtomicU16::new(upstream),
            orders: watch::Sender::new(Orders { now: Order::Pass, resets: 0, half_closes: 0, forgets: 0 }),
            commits_to_lose: AtomicU64::new(0),
            commits_lost: AtomicU64::new(0),
            answer_to_lose: Mutex::default(),
            bytes_left: AtomicI64::new(-1),
        });
        let task = tokio::spawn(accept(listener, shared.clone()));
        Self { shared, port, task }
    }

    /// Behaves this way from now on.
    pub fn order(&self, order: Order) {
        self.shared.orders.send_modify(|orders| match order {
            Order::Pass | Order::Stall => orders.now = order,
            Order::Refuse => {
                orders.now = order;
                orders.resets += 1;
            }
            Order::Reset => orders.resets += 1,
            Order::HalfClose => orders.half_closes += 1,
            Order::Forget => orders.forgets += 1,
        });
    }

    /// Moves the address to another server: open connections are reset, new ones lead there.
    pub fn lead_to(&self, upstream: u16) {
        self.shared.upstream.store(upstream, Ordering::SeqCst);
        self.order(Order::Reset);
    }

    /// Loses the answer to the next step or COMMIT, with its connection.
    pub fn lose_a_commit(&self) {
        self.shared.commits_to_lose.fetch_add(1, Ordering::SeqCst);
    }

    /// Loses the first answer with this text, and its connection. The text must arrive in one piece, so use a word, not
    /// a page.
    pub fn lose_answer_with(&self, words: &str) {
        *self.shared.answer_to_lose() = Some(words.as_bytes().to_owned());
    }

    /// Whether that answer was lost.
    pub fn has_lost_answer(&self) -> bool {
        self.shared.answer_to_lose().is_none()
    }

    /// How many such answers were lost.
    pub fn commits_lost(&self) -> u64 {
        self.shared.commits_lost.load(Ordering::SeqCst)
    }

    /// Resets the connection that carries the byte this far from now.
    pub fn cut_after(&self, bytes: u64) {
        self.shared.bytes_left.store(bytes as i64, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (client, _) = listener.accept().await.expect("a listening socket accepts");
        let shared = shared.clone();
        tokio::spawn(async move {
            // The far side may be gone; the near side then finds its connection closed.
            let upstream = shared.upstream.load(Ordering::SeqCst);
            if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream)).await {
                relay(client, server, &shared).await;
            }
        });
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, shared: &Shared) {
    let mut orders = shared.orders.subscribe();
    let first = *orders.borrow_and_update();
    if first.now == Order::Refuse {
        return reset(client);
    }
    let mut silent = first.now == Order::Stall;
    let mut closed = false;
    let (mut up, mut down) = (vec![0; 16_384], vec![0; 16_384]);
    let mut asked = Asked::default();
    loop {
        tokio::select! {
            changed = orders.changed() => {
                if changed.is_err() {
                    return;
                }
                let orders = *orders.borrow_and_update();
                if orders.resets > first.resets {
                    return reset(client);
                }
                if orders.forgets > first.forgets {
                    return forget(client, server).await;
                }
                if orders.half_closes > first.half_closes && !closed {
                    // The other side may have closed it already.
                    let _ = client.shutdown().await;
                    closed = true;
                }
                silent = orders.now == Order::Stall;
            }
            read = client.read(&mut up), if !silent => match read {
                Ok(n) if n > 0 && server.write_all(&up[..n]).await.is_ok() => asked.hear(&up[..n]),
                _ => return,
            },
            read = server.read(&mut down), if !silent => match read {
                Ok(n) if n > 0 => {
                    let pass = shared.passes(&down[..n], asked.answers_step(&down[..n]));
                    if !closed && client.write_all(&down[..pass]).await.is_err() {
                        return;
                    }
                    if pass < n {
                        return reset(client);
                    }
                }
                _ => return,
            },
        }
    }
}

impl Shared {
    fn answer_to_lose(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.answer_to_lose.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of these bytes from the server are forwarded. Steps are committed by a COMMIT or on their own.
    fn passes(&self, bytes: &[u8], step: bool) -> usize {
        if self.answer_to_lose().take_if(|words| contains(bytes, words)).is_some() {
            return 0;
        }
        if step || contains(bytes, COMMITTED) {
            let fewer = |left: u64| left.checked_sub(1);
            if self.commits_to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok() {
                self.commits_lost.fetch_add(1, Ordering::SeqCst);
                return 0;
            }
        }
        let count = bytes.len() as i64;
        let left = self.bytes_left.load(Ordering::SeqCst);
        if left < 0 {
            return bytes.len();
        }
        self.bytes_left.store(if left < count { -1 } else { left - count }, Ordering::SeqCst);
        left.min(count) as usize
    }
}

/// Resets a connection, as a machine does that does not know it.
fn reset(client: TcpStream) {
    // A socket without this option is closed normally, which is fault enough.
    let _ = rustix::net::sockopt::set_socket_linger(&client, Some(std::time::Duration::ZERO));
}

/// Holds both ends open silently.
async fn forget(client: TcpStream, server: TcpStream) {
    std::future::pending::<()>().await;
    drop((client, server));
}
