//! The dashboard in a real browser, where there is one: it lives, and nothing it does is against its own policy.

use crate::client::worker;
use plumbline_system_tests::{Answer, PgPool, World, documents, jobs::NewJob};
use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::Command,
    time::timeout,
};

/// Quiet, without a sandbox of its own (tests may run as root), and without talk to the outside.
const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--hide-scrollbars",
];

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.is_file())
}

/// What a browser makes of a page after a few seconds, and what it complained about.
async fn browse(world: &World, arguments: &[&str], url: &str) -> Option<(String, String)> {
    let Some(program) = chromium() else {
        plumbline_system_tests::skipped("no chromium was found", ".ci/prepare programs");
        return None;
    };
    let profile = world.folder().join(format!("browser-{}", plumbline_system_tests::Uuid::now_v7()));
    let mut command = Command::new(program);
    command
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(url)
        .kill_on_drop(true);
    let ended = timeout(Duration::from_secs(60), command.output()).await.expect("a browser ends").expect("it starts");
    Some((String::from_utf8_lossy(&ended.stdout).into(), String::from_utf8_lossy(&ended.stderr).into()))
}

/// Passes everything on to the worker, and notes what a browser asks for.
async fn listening_in(worker: SocketAddr) -> (SocketAddr, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    let asked = Arc::new(Mutex::new(String::new()));
    let noted = asked.clone();
    tokio::spawn(async move {
        while let Ok((browser, _)) = listener.accept().await {
            tokio::spawn(pass_on(browser, worker, noted.clone()));
        }
    });
    (address, asked)
}

async fn pass_on(browser: TcpStream, worker: SocketAddr, noted: Arc<Mutex<String>>) -> std::io::Result<()> {
    let (mut from_worker, mut to_worker) = TcpStream::connect(worker).await?.into_split();
    let (mut from_browser, mut to_browser) = browser.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_worker, &mut to_browser).await });
    let mut bytes = [0; 8192];
    loop {
        let read = from_browser.read(&mut bytes).await?;
        if read == 0 {
            return Ok(());
        }
        noted.lock().expect("no test panics while it notes").push_str(&String::from_utf8_lossy(&bytes[..read]));
        to_worker.write_all(&bytes[..read]).await?;
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_page_follows_its_job_and_keeps_to_its_policy(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(5);
    let (program, worker) = worker(&world).await;
    world.model.arrived(5).await;
    let (address, asked) = listening_in(worker).await;
    for (path, events) in [
        ("/".to_owned(), "/api/jobs/events".to_owned()),
        (format!("/jobs/{job}"), format!("/api/jobs/{job}/events")),
        (format!("/jobs/{job}/timeline"), format!("/api/jobs/{job}/events")),
    ] {
        for look in ["--window-size=1280,900", "--force-dark-mode", "--window-size=420,900"] {
            let file = world.folder().join("page.png");
            let shot = format!("--screenshot={}", file.display());
            asked.lock().expect("no test panics while it notes").clear();
            let url = format!("http://{address}{path}");
            let Some((_, said)) = browse(&world, &["--timeout=3000", look, &shot], &url).await else {
                break;
            };
            assert!(!said.contains("Content Security Policy") && !said.contains("Uncaught"), "{path}: {said}");
            let size = std::fs::metadata(&file).expect("a screenshot was taken").len();
            assert!(size > 10_000, "{path} is empty: {size} bytes");
            let asked = asked.lock().expect("no test panics while it notes").clone();
            assert!(asked.contains("/assets/style.css"), "{path}: {asked}");
            assert!(asked.contains(&format!("GET {events} ")), "{path} does not follow: {asked}");
        }
    }
    world.model.answers(Answer::Work);
    world.becomes(job, "completed").await;
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_report_opens_and_asks_for_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(3);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let file = world.folder().join("report.html");
    let written = world.run(&["report", &job.to_string(), &file.display().to_string()]).await;
    assert_eq!(written.code, Some(0), "{written:?}");
    let (program, worker) = worker(&world).await;
    let (address, asked) = listening_in(worker).await;
    let overview = crate::client::get(worker, &format!("/jobs/{job}")).await;
    assert!(overview.body.contains(&format!("href=\"/jobs/{job}/report\"")), "{}", overview.body);
    for url in [format!("file://{}", file.display()), format!("http://{address}/jobs/{job}/report")] {
        let Some((page, said)) = browse(&world, &["--timeout=3000", "--dump-dom"], &url).await else { break };
        assert!(!said.contains("Content Security Policy") && !said.contains("Refused"), "{url}: {said}");
        assert_eq!(page.matches("<mark id=\"c-cit_").count(), policy.sentences.len(), "{url}: {page}");
        assert!(policy.sentences.iter().all(|sentence| page.contains(&format!(">{sentence}</mark>"))), "{url}: {page}");
        // The style sheet is the file's own, and it is applied.
        let shot = world.folder().join("report.png");
        let look = format!("--screenshot={}", shot.display());
        browse(&world, &["--timeout=3000", &look], &url).await.expect("there was a browser just now");
        assert!(std::fs::metadata(&shot).expect("a screenshot was taken").len() > 10_000);
    }
    let asked = asked.lock().expect("no test panics while it notes").clone();
    let mut paths: Vec<&str> = asked.lines().filter_map(|line| line.strip_prefix("GET ")).collect();
    // A browser asks for the icon by itself.
    paths.retain(|path| !path.starts_with("/favicon.ico") && !path.starts_with(&format!("/jobs/{job}/report ")));
    assert!(paths.is_empty(), "{paths:?}");
    program.stop().await;
    world.finish().await;
}
