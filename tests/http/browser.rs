//! The dashboard in a real browser, where there is one: it lives, and nothing it does is against its own policy.

use crate::client::worker;
use plumbline_system_tests::{Answer, PgPool, World, browser::Browser, documents, eventually, jobs::NewJob};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A picture of a page with something on it has more bytes.
const LEAST_PICTURE: usize = 10_000;

/// The requests so far.
fn asked(noted: &Mutex<String>) -> String {
    noted.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        noted.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(&bytes[..read]));
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
    let (address, noted) = listening_in(worker).await;
    let mut browser = Browser::start(world.folder()).await;
    for (path, events) in [
        ("/".to_owned(), "/api/jobs/events".to_owned()),
        (format!("/jobs/{job}"), format!("/api/jobs/{job}/events")),
        (format!("/jobs/{job}/timeline"), format!("/api/jobs/{job}/events")),
    ] {
        let Some(browser) = &mut browser else { break };
        for (width, is_dark) in [(1280, false), (1280, true), (420, false)] {
            let follows = || asked(&noted).matches(&format!("GET {events} ")).count();
            let before = follows();
            browser.looks(width, 900, is_dark).await;
            browser.open(&format!("http://{address}{path}")).await;
            eventually(&format!("{path} to follow"), async || (follows() > before).then_some(())).await;
            let size = browser.picture().await.len();
            assert!(size > LEAST_PICTURE, "{path} is empty: {size} bytes");
        }
        // The browser keeps it for the other pages.
        assert!(asked(&noted).contains("/assets/style.css"), "{path}: {}", asked(&noted));
        assert_eq!(browser.complaints(), "", "{path}");
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
    let (address, noted) = listening_in(worker).await;
    let overview = crate::client::get(worker, &format!("/jobs/{job}")).await;
    assert!(overview.body.contains(&format!("href=\"/jobs/{job}/report\"")), "{}", overview.body);
    let mut browser = Browser::start(world.folder()).await;
    for url in [format!("file://{}", file.display()), format!("http://{address}/jobs/{job}/report")] {
        let Some(browser) = &mut browser else { break };
        browser.open(&url).await;
        let page = browser.page().await;
        assert_eq!(browser.complaints(), "", "{url}");
        assert_eq!(page.matches("<mark id=\"c-cit_").count(), policy.sentences.len(), "{url}: {page}");
        assert!(policy.sentences.iter().all(|sentence| page.contains(&format!(">{sentence}</mark>"))), "{url}: {page}");
        // The style sheet is the file's own, and it is applied.
        assert!(browser.picture().await.len() > LEAST_PICTURE, "{url} is empty");
    }
    let asked = asked(&noted);
    let mut paths: Vec<&str> = asked.lines().filter_map(|line| line.strip_prefix("GET ")).collect();
    // A browser asks for the icon by itself.
    paths.retain(|path| !path.starts_with("/favicon.ico") && !path.starts_with(&format!("/jobs/{job}/report ")));
    assert!(paths.is_empty(), "{paths:?}");
    program.stop().await;
    world.finish().await;
}

/// The narrowest window that pages are made for, in CSS pixels, and the smallest letters in it.
const NARROW: u32 = 390;
const SMALLEST_LETTERS: f64 = 11.0;

/// How many pixels the page is wider than its window, and the texts whose letters are smaller than `SMALLEST_LETTERS`, with
/// their size. Letters in a drawing are as large as it is scaled.
const MEASURE: &str = r#"(() => {
    const small = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("title, script, style")) continue;
        const drawing = element.ownerSVGElement;
        const scale = drawing ? drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width : 1;
        const size = parseFloat(getComputedStyle(element).fontSize) * scale;
        if (size < SMALLEST) small.push(`${element.tagName} in ${element.parentElement.tagName}.${element.parentElement.className}: ${walker.currentNode.data.trim().slice(0, 40)}: ${size.toFixed(1)} px`);
    }
    return {beyond: document.documentElement.scrollWidth - window.innerWidth, small: [...new Set(small)]};
})()"#;

#[sqlx::test(migrations = "../migrations")]
async fn on_a_narrow_screen_no_page_scrolls_sideways_and_no_letters_are_small(pool: PgPool) {
    let world = World::new(pool).await;
    let Some(mut browser) = Browser::start(world.folder()).await else { return world.finish().await };
    let policy = documents::policy(3);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let (program, worker) = worker(&world).await;
    let measure = MEASURE.replace("SMALLEST", &SMALLEST_LETTERS.to_string());
    let views = ["", "/plan", "/timeline", "/requirements", "/files", "/file?path=output/requirements.md", "/report"];
    let pages = views.map(|view| format!("/jobs/{job}{view}"));
    for page in ["/".to_owned()].iter().chain(&pages) {
        for (width, is_dark) in [(NARROW, false), (NARROW, true), (1280, false), (1280, true)] {
            browser.looks(width, 844, is_dark).await;
            browser.open(&format!("http://{worker}{page}")).await;
            let measured = browser.evaluate(&measure).await;
            assert_eq!(measured, serde_json::json!({"beyond": 0, "small": []}), "{page} at {width} px");
        }
    }
    program.stop().await;
    world.finish().await;
}
