//! `make pictures`: the two pictures of the README, taken of the real pages in a real browser.

use plumbline_system_tests::{World, browser::Browser, documents, eventually, jobs::NewJob, port};
use std::{net::TcpStream, path::Path, process::ExitCode};

/// The window, in CSS pixels, and how many points of the picture each has: GitHub shows a picture about 700 pixels wide.
const WINDOW: (u32, u32) = (760, 460);
const SCALE: u32 = 2;
/// In bytes.
const LARGEST: usize = 300_000;

/// A paragraph with several quotes, in the middle of the window.
const TO_THE_MARKS: &str = "document.querySelectorAll('mark[id]')[14].scrollIntoView({block: 'center'})";

#[tokio::main]
async fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("pictures: the argument is the folder to write to");
        return ExitCode::from(2);
    };
    let world = World::open().await;
    let (document, name) = (documents::sample("pdf"), "record-keeping-policy.pdf");
    let job = world.insert(&NewJob::with_content(name, &document)).await;
    world.work_until_idle().await;
    let address = format!("127.0.0.1:{}", port::free());
    let worker = world.start(world.command(&["worker", "--http", &address]));
    eventually("the worker to listen", async || TcpStream::connect(&address).ok()).await;
    let Some(mut browser) = Browser::start(world.folder()).await else { return ExitCode::FAILURE };
    browser.looks_at_scale(WINDOW.0, WINDOW.1, SCALE, false).await;
    let mut code = ExitCode::SUCCESS;
    for (file, path, then) in
        [("report.png", format!("/jobs/{job}/report"), TO_THE_MARKS), ("dashboard.png", format!("/jobs/{job}"), "0")]
    {
        browser.open(&format!("http://{address}{path}")).await;
        browser.evaluate(then).await;
        let picture = browser.picture().await;
        let path = Path::new(&folder).join(file);
        std::fs::write(&path, &picture).expect("the folder can be written to");
        println!("pictures: {} of {} bytes", path.display(), picture.len());
        if picture.len() > LARGEST {
            eprintln!("pictures: {} is larger than {LARGEST} bytes", path.display());
            code = ExitCode::FAILURE;
        }
    }
    worker.stop().await;
    world.finish().await;
    code
}
