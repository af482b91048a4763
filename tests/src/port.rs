//! Ports for servers that cannot be handed a socket, and for those that close and reopen.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::atomic::{AtomicU32, Ordering},
};

/// The ports to choose from: below the kernel's ephemeral range, so that no process is given one of them between the
/// check and the server's start.
const FIRST: u32 = 20_000;
const PORTS: u32 = 12_000;

/// A free port on loopback, a different one each time.
///
/// # Panics
/// When all are taken.
pub fn free() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Test programs that run concurrently begin at different ports.
    let begin = std::process::id().wrapping_mul(97);
    let ports = std::iter::repeat_with(|| FIRST + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS);
    let ports = ports.take(PORTS as usize).filter_map(|port| u16::try_from(port).ok());
    let mut free = ports.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.next().expect("loopback has a free port")
}
