//! Large answers are sent a part at a time: clients that read slowly take no memory, and only so many are served at once.

use crate::client::{get, worker};
use plumbline_system_tests::{PgPool, Uuid, World, eventually, jobs::NewJob};
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Bytes of the file, more than a connection's buffers hold.
const SIZE: i32 = 48 << 20;
const CLIENTS: usize = 40;
/// Maximum memory of all of them: a few parts each.
const MOST_MIB: u64 = 128;

/// A job that waits, with a large file in its workspace.
async fn large_file(world: &World) -> Uuid {
    let job = world.insert(&NewJob { prompt: "Wait", in_seconds: 1e6, ..NewJob::default() }).await;
    let file = "WITH content AS (SELECT convert_to(repeat('0123456789abcdef', $2 / 16), 'UTF8') AS bytes),
                     kept AS (INSERT INTO blobs (job_id, sha256, content) SELECT $1, sha256(bytes), bytes FROM content RETURNING sha256)
                INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
                SELECT $1, 'output/large.txt', 0, sha256, $2, false FROM kept";
    sqlx::query(file).bind(job).bind(SIZE).execute(&world.pool).await.expect("rows can be written");
    job
}

/// A connection whose answer has begun, with its status; nothing more of it is read.
async fn begun(address: SocketAddr, path: &str) -> (TcpStream, u16) {
    let mut stream = TcpStream::connect(address).await.expect("the worker listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("a request can be sent");
    let mut first = [0; 16];
    stream.read_exact(&mut first).await.expect("an answer begins");
    let status = std::str::from_utf8(&first[9..12]).expect("a status").parse().expect("a number");
    (stream, status)
}

#[sqlx::test(migrations = "../migrations")]
async fn slow_downloads_take_little_memory_and_are_bounded(pool: PgPool) {
    let world = World::new(pool).await;
    let job = large_file(&world).await;
    let (program, address) = worker(&world).await;
    let path = format!("/jobs/{job}/raw?path=output/large.txt");
    let before = program.peak_memory_mib();
    let mut served = Vec::new();
    let mut refused = 0;
    for _ in 0..CLIENTS {
        match begun(address, &path).await {
            (stream, 200) => served.push(stream),
            (_, 503) => refused += 1,
            (_, status) => panic!("status {status}"),
        }
    }
    assert!(served.len() >= 16 && refused > 0, "{} served, {refused} refused", served.len());
    let grown = program.peak_memory_mib().saturating_sub(before);
    assert!(grown < MOST_MIB, "{} slow downloads took {grown} MiB", served.len());
    assert_eq!(get(address, "/healthz").await.status, 200);
    let said = get(address, &path).await;
    assert!(said.status == 503 && said.body.contains("is already sending"), "{}", said.body);
    // The report takes a permit as well.
    assert_eq!(get(address, &format!("/jobs/{job}/report")).await.status, 503);
    // A client that continues gets everything, and the end of the others releases their permits.
    let mut first = served.swap_remove(0);
    drop(served);
    let mut whole = Vec::new();
    while whole.len() < SIZE as usize {
        let read = first.read_buf(&mut whole).await.expect("it goes on");
        assert!(read > 0, "it ended after {} bytes", whole.len());
    }
    drop(first);
    eventually("a permit", async || (get(address, &path).await.status == 200).then_some(())).await;
    program.stop().await;
    world.finish().await;
}
