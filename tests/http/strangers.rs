//! Clients that connect without a request, use another host name, or request too much.

use crate::client::{Answer, ask, get, serving, worker};
use plumbline_system_tests::{PgPool, World, documents, eventually, jobs::NewJob};
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

const TOKEN: &str = "a-token-that-is-long-enough";

/// More than the worker may open.
const HALF_OPEN: usize = 1_100;

/// The same command with a lower limit of open descriptors.
fn with_descriptors(command: &Command, limit: usize) -> Command {
    let inner = command.as_std();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]).arg(inner.get_program());
    limited.args(inner.get_args()).env_clear();
    limited.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(inner.get_current_dir().expect("a world's command has a folder"));
    limited
}

/// A connection with an incomplete request.
async fn half_open(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("the worker listens");
    // The worker may already have closed it, which is the expected behaviour.
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: half").await;
    stream
}

#[sqlx::test(migrations = "../migrations")]
async fn half_open_connections_stop_no_job_and_no_probe(pool: PgPool) {
    let world = World::new(pool).await;
    let command = with_descriptors(&world.command(&["worker", "--http", "127.0.0.1:0"]), 1_024);
    let (program, address) = serving(world.start(command)).await;
    let mut strangers = Vec::with_capacity(HALF_OPEN);
    for _ in 0..HALF_OPEN {
        strangers.push(half_open(address).await);
    }
    let policy = documents::policy(2);
    let jobs = [
        world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await,
        world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await,
    ];
    for job in jobs {
        for probe in ["/healthz", "/readyz"] {
            // Each is answered; a slow database is acceptable here.
            eventually(probe, async || (get(address, probe).await.status == 200).then_some(())).await;
        }
        world.becomes(job, "completed").await;
    }
    let log = program.stderr();
    assert!(!log.contains("Too many open files"), "{log}");
    let mut rest = Vec::new();
    // It ended, in any way.
    let _ = strangers[0].read_to_end(&mut rest).await;
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_head_that_does_not_come_and_a_silent_connection_are_closed(pool: PgPool) {
    let world = World::new(pool).await;
    let (program, address) = worker(&world).await;
    let mut never = half_open(address).await;
    let mut silent = TcpStream::connect(address).await.expect("the worker listens");
    silent.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("a request can be sent");
    for stream in [&mut never, &mut silent] {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
    }
    assert_eq!(get(address, "/healthz").await.status, 200);
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_session_is_for_the_names_of_this_worker(pool: PgPool) {
    let world = World::new(pool).await;
    let mut command = world.command(&["worker", "--http", "127.0.0.1:0"]);
    command.env("PLUMBLINE_HTTP_TOKEN", TOKEN).env("PLUMBLINE_HTTP_HOSTS", "plumbline.example, second.example");
    let (program, address) = serving(world.start(command)).await;
    let entered = get(address, &format!("/jobs/?token={TOKEN}")).await;
    let cookie = entered.header("set-cookie").expect("a cookie for the session");
    assert!(cookie.contains("Max-Age=43200") && !cookie.contains("Secure"), "{cookie}");
    let pair = cookie.split(';').next().expect("a pair").to_owned();
    let asked = async |host: &str, more: &str, path: &str| -> Answer {
        ask(address, "GET", path, &format!("Host: {host}\r\n{more}\r\n")).await
    };
    let session = format!("Cookie: {pair}");
    let bearer = format!("Authorization: Bearer {TOKEN}");
    for host in ["plumbline.example", "SECOND.example:80", "localhost", "10.1.2.3:8080", "[::1]"] {
        assert_eq!(asked(host, &session, "/api/jobs").await.status, 200, "{host}");
    }
    for host in ["attacker.example", "plumbline.example.attacker.example", ""] {
        assert_eq!(asked(host, &session, "/api/jobs").await.status, 403, "{host}");
        assert_eq!(asked(host, "X-None: 1", &format!("/?token={TOKEN}")).await.status, 403, "{host}");
        assert_eq!(asked(host, &bearer, "/api/jobs").await.status, 200, "{host}: whoever sets a header is no browser");
        assert_eq!(asked(host, "X-None: 1", "/healthz").await.status, 200, "{host}");
    }
    let prolonged = format!(
        "{}9{}",
        &session[..session.find('=').expect("a pair") + 1],
        &pair[pair.find('=').expect("a pair") + 2..]
    );
    assert_eq!(asked("localhost", &prolonged, "/api/jobs").await.status, 401, "its end is part of what is proved");
    let behind_tls = asked("localhost", "X-Forwarded-Proto: https", &format!("/?token={TOKEN}")).await;
    assert!(behind_tls.header("set-cookie").is_some_and(|cookie| cookie.ends_with("; Secure")), "{}", behind_tls.head);
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn the_token_leads_to_no_other_host(pool: PgPool) {
    let world = World::new(pool).await;
    let mut command = world.command(&["worker", "--http", "127.0.0.1:0"]);
    command.env("PLUMBLINE_HTTP_TOKEN", TOKEN);
    let (program, address) = serving(world.start(command)).await;
    for (path, leads_to) in
        [("//evil.example/", "/evil.example/"), ("///evil.example", "/evil.example"), ("/jobs", "/jobs")]
    {
        let answer = get(address, &format!("{path}?token={TOKEN}")).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some(leads_to)), "{path}");
    }
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_client_has_its_share_of_the_event_streams(pool: PgPool) {
    let world = World::new(pool).await;
    let (program, address) = worker(&world).await;
    let request = b"GET /api/jobs/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(address).await.expect("the worker listens");
        stream.write_all(request).await.expect("a request can be sent");
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).await.expect("an answer begins");
        assert_eq!(&begun, b"HTTP/1.1 200");
        open.push(stream);
    }
    let refused = get(address, "/api/jobs/events").await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.body.contains("your address"), "{}", refused.body);
    assert_eq!(get(address, "/").await.status, 200, "pages go on");
    program.stop().await;
    world.finish().await;
}
