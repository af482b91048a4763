//! All together: rows, servers and readers that each try to exhaust a worker's memory, next to a job of another login.

use crate::operations::deploy::user::{self, User};
use plumbline_system_tests::{PgPool, Uuid, World, documents, eventually, jobs::NewJob, probe::Probed};
use serde_json::{Map, Value, json};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// Maximum memory of a worker at default settings, in MiB, for any input but documents.
const MOST_MIB: u64 = 1024;
/// Maximum size of the documents that a worker takes in at once, in MiB.
const DOCUMENTS_MIB: u64 = 256;
/// Bytes of a file that is downloaded slowly.
const LARGE: i32 = 48 << 20;
const DOWNLOADS: usize = 40;
/// Jobs of each kind.
const EACH: usize = 3;

/// How often a hostile server was asked.
#[derive(Default)]
struct Hostile {
    streams: AtomicUsize,
    values: AtomicUsize,
}

/// A server whose streams do not end, in a field that is not the answer's text; below `/junk` one whose usage is made of as many
/// values as possible.
async fn hostile_model() -> (String, Arc<Hostile>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
    let hostile = Arc::<Hostile>::default();
    let counts = Arc::clone(&hostile);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, Arc::clone(&counts)));
        }
    });
    (address, hostile)
}

async fn answer(stream: TcpStream, counts: Arc<Hostile>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while stream.read_line(&mut head).await? > 2 {}
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    if head.contains("/junk/") {
        counts.values.fetch_add(1, Ordering::Relaxed);
        let junk = junk();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", junk.len());
        stream.write_all(head.as_bytes()).await?;
        return stream.write_all(junk.as_bytes()).await;
    }
    counts.streams.fetch_add(1, Ordering::Relaxed);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").await?;
    let event = json!({"choices": [{"index": 0, "delta": {"refusal": "x".repeat(60_000)}}]});
    loop {
        stream.write_all(format!("data: {event}\n\n").as_bytes()).await?;
    }
}

fn junk() -> String {
    let values = vec![r#"{"a":0}"#; 120_000].join(",");
    format!(
        r#"{{"choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"x"}}}}],
            "usage":{{"prompt_tokens":1,"completion_tokens":1,"junk":[{values}]}}}}"#
    )
}

/// Rows with different schemas: refused ones, and accepted ones of the maximum size.
fn schemas() -> Vec<Value> {
    let patterns = |count: usize, pattern: &str, seed: usize| -> Value {
        let one = |n: usize| (format!("p{n}"), json!({"pattern": format!("{pattern}{seed}_{n}")}));
        json!({"properties": (0..count).map(one).collect::<Map<_, _>>()})
    };
    let unevaluated = |seed: usize| {
        (0..40 + seed).fold(json!({}), |inner, _| json!({"unevaluatedProperties": false, "anyOf": [inner]}))
    };
    let refused = (0..EACH).map(|seed| patterns(120, r"\pL{100}x", seed)).chain((0..EACH).map(unevaluated));
    refused.chain((0..EACH).map(|seed| patterns(64, r"\d{20}x", seed))).collect()
}

/// Documents without content, as many as one job may have, with long names; and feedback of as many bytes as one job takes.
async fn full_rows(world: &World) {
    let mut transaction = world.pool.begin().await.expect("a transaction");
    for statement in [
        "INSERT INTO jobs (prompt, run_at) SELECT 'Names', now() FROM generate_series(1, 3)",
        "INSERT INTO job_documents SELECT j.id, i, repeat('n', 900) || i || '.md', ''
         FROM jobs j, generate_series(1, 1000) i WHERE j.prompt = 'Names'",
        "INSERT INTO jobs (prompt) SELECT 'Feedback' FROM generate_series(1, 3)",
        "SELECT send_feedback(j.id, repeat('x', 65536)) FROM jobs j, generate_series(1, 32) WHERE j.prompt = 'Feedback'",
    ] {
        sqlx::query(statement).execute(&mut *transaction).await.expect(statement);
    }
    transaction.commit().await.expect("rows are within their bounds");
}

/// Readers of a large file that take the first bytes of it and no more.
async fn slow_readers(world: &World, worker: &Probed) -> Vec<TcpStream> {
    let job = world.insert(&NewJob { prompt: "Wait", in_seconds: 1e6, ..NewJob::default() }).await;
    let file = "WITH content AS (SELECT convert_to(repeat('0123456789abcdef', $2 / 16), 'UTF8') AS bytes),
                     kept AS (INSERT INTO blobs (job_id, sha256, content) SELECT $1, sha256(bytes), bytes FROM content RETURNING sha256)
                INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
                SELECT $1, 'output/large.txt', 0, sha256, $2, false FROM kept";
    sqlx::query(file).bind(job).bind(LARGE).execute(&world.pool).await.expect("rows can be written");
    let address = worker.address();
    let mut readers = Vec::new();
    for _ in 0..DOWNLOADS {
        let mut stream = TcpStream::connect(address).await.expect("the worker listens");
        let request = format!("GET /jobs/{job}/raw?path=output/large.txt HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("a request can be sent");
        stream.read_exact(&mut [0; 16]).await.expect("an answer begins");
        readers.push(stream);
    }
    readers
}

/// Documents nearly of the size that a job may have, and none a PDF: they are read, and then refused.
async fn large_documents(world: &World) {
    let insert = "INSERT INTO jobs (prompt, document_content, context)
                  SELECT 'Extract', decode(repeat(encode(gen_random_uuid()::text::bytea, 'hex'), 7000000), 'hex'),
                         '{\"document_name\": \"large.pdf\"}'
                  FROM generate_series(1, 3)";
    sqlx::query(insert).execute(&world.pool).await.expect("rows can be inserted");
}

/// A job of another login with a document: its requests, and the seconds that it took.
async fn paced(world: &World, login: &User) -> (i64, f64) {
    let began = Instant::now();
    let policy = documents::policy(2);
    let insert = "SELECT enqueue_job('Extract the requirements', 'creator', document_name => 'policy.md', document_content => $1)";
    let insert = sqlx::query_scalar(insert).bind(policy.markdown.as_bytes());
    let job: Uuid = insert.fetch_one(&login.pool).await.expect("the login may insert a job");
    let done = world.becomes(job, "completed").await;
    (done.requests, began.elapsed().as_secs_f64())
}

async fn ended(world: &World, jobs: &[Uuid]) -> usize {
    let count = "SELECT count(*) FROM jobs WHERE id = ANY ($1) AND status IN ('completed', 'failed')";
    let ended: i64 = sqlx::query_scalar(count).bind(jobs).fetch_one(&world.pool).await.expect("jobs can be read");
    usize::try_from(ended).expect("a count")
}

#[sqlx::test(migrations = false)]
async fn a_worker_stays_small_under_all_of_them_together_and_another_job_keeps_its_pace(pool: PgPool) {
    all_together(pool, false).await;
}

#[sqlx::test(migrations = false)]
async fn large_documents_add_to_them_as_much_as_may_be_taken_in_at_once(pool: PgPool) {
    all_together(pool, true).await;
}

async fn all_together(pool: PgPool, with_documents: bool) {
    let world = user::world(pool).await;
    let login = User::of(&world, "enqueue").await;
    let (address, hostile) = hostile_model().await;
    let [endless, junk] = ["endless", "junk"].map(|path| format!("{address}/{path}/v1"));
    world.let_rows_set(&["llm.base_url"], &[&endless, &junk]);
    let worker = Probed::start(&world, world.command(&["worker"])).await;
    let (requests, alone) = paced(&world, &login).await;
    let readers = slow_readers(&world, &worker).await;
    let text = "# Archive\n\nInvoices must be kept for ten years.\n";
    let mut costly = Vec::new();
    for schema in schemas() {
        let config = json!({"deliverables": [{"path": "output/a.json", "json_schema": schema}]});
        let row = NewJob { config: Some(config), ..NewJob::with_content("archive.md", text.as_bytes()) };
        costly.push(world.insert(&row).await);
    }
    full_rows(&world).await;
    if with_documents {
        large_documents(&world).await;
    }
    let mut served = Vec::new();
    for base_url in [&endless, &junk].into_iter().cycle().take(2 * EACH) {
        let config = Some(json!({"llm": {"base_url": base_url}}));
        served.push(world.insert(&NewJob { prompt: "Say much", config, ..NewJob::default() }).await);
    }
    let asked = async || {
        let [streams, values] = [&hostile.streams, &hostile.values].map(|count| count.load(Ordering::Relaxed));
        (streams >= EACH && values >= EACH).then_some(())
    };
    eventually("each hostile server to be asked", asked).await;
    let (requests_beside, beside) = paced(&world, &login).await;
    let ended = ended(&world, &served).await;
    assert!(ended < served.len(), "the job ended only when all jobs of the hostile servers had");
    assert_eq!(requests_beside, requests, "the same job takes the same requests");
    let (status, said) = worker.ask("/healthz").await;
    assert_eq!(status, 200, "{said}");
    // The first ones are refused; the test does not wait for their ends, only for further requests to the servers.
    for refused in &costly[..2 * EACH] {
        world.becomes(*refused, "failed").await;
    }
    let again = async || (hostile.streams.load(Ordering::Relaxed) >= 2 * EACH).then_some(());
    eventually("streams that were given up to be asked for again", again).await;
    let peak = worker.program.peak_memory_mib();
    let most = MOST_MIB + if with_documents { DOCUMENTS_MIB } else { 0 };
    println!(
        "together: the worker had {peak} MiB at most, {most} are allowed; {ended} hostile jobs of {} ended before another \
         login's, which took {requests} requests, and {:.1} times its time alone",
        served.len(),
        beside / alone
    );
    assert!(peak < most, "the worker had {peak} MiB at most");
    drop(readers);
    worker.program.stop().await;
    login.leave(&world).await;
    world.finish().await;
}
