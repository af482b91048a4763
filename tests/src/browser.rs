//! A browser controlled by a test over the DevTools protocol's pipe: each message is a JSON text terminated by NUL. The
//! test waits for the browser's reports, never for a fixed time.

use crate::wait::CEILING;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use std::{path::Path, path::PathBuf, process::Stdio};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// Without its own sandbox (tests may run as root), and without access to the outside.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

/// Events that report an error on a page, or only a console message.
const SAYINGS: [&str; 3] = ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"];

/// A running browser with one page; it ends when dropped.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
    session: String,
    /// Events that arrived while waiting for another one.
    events: Vec<Value>,
}

fn program() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.is_file())
}

impl Browser {
    /// Starts it with an empty page and its profile in this folder; `None`, with a printed line, if there is no
    /// browser.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(folder: &Path) -> Option<Self> {
        let Some(program) = program() else {
            crate::skipped("no chromium was found", ".ci/prepare programs");
            return None;
        };
        // It reads descriptor 3 and writes descriptor 4.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec 3<&0 4>&1 </dev/null >/dev/null; exec \"$@\"", "sh"])
            .arg(program)
            .args(FLAGS)
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", folder.join("browser").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("a shell starts");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let from = BufReader::new(from);
        let mut browser = Self { child, to, from, asked: 0, session: String::new(), events: Vec::new() };
        let page = browser.ask("Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.ask("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().expect("a session has an id").to_owned();
        for domain in ["Page.enable", "Log.enable", "Runtime.enable"] {
            browser.ask(domain, json!({})).await;
        }
        Some(browser)
    }

    /// The size of its window, and whether its user prefers a dark colour scheme.
    ///
    /// # Panics
    /// As [`Browser::open`].
    pub async fn looks(&mut self, width: u32, height: u32, is_dark: bool) {
        self.looks_at_scale(width, height, 1, is_dark).await;
    }

    /// The same on a screen with this many points per pixel of the page.
    ///
    /// # Panics
    /// As [`Browser::open`].
    pub async fn looks_at_scale(&mut self, width: u32, height: u32, scale: u32, is_dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", size).await;
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.ask("Emulation.setEmulatedMedia", media).await;
    }

    /// Opens an address and waits until the page is loaded.
    ///
    /// # Panics
    /// When the browser cannot, or ends.
    pub async fn open(&mut self, url: &str) {
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
        let opened = self.ask("Page.navigate", json!({"url": url})).await;
        assert!(opened["errorText"].is_null(), "{url}: {opened}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.message().await;
            self.events.push(event);
        }
    }

    /// The page as it is now.
    ///
    /// # Panics
    /// As [`Browser::open`].
    pub async fn page(&mut self) -> String {
        self.evaluate("document.documentElement.outerHTML").await.as_str().expect("a page is text").to_owned()
    }

    /// The value of a JavaScript expression on the page.
    ///
    /// # Panics
    /// As [`Browser::open`], and when the expression throws.
    pub async fn evaluate(&mut self, expression: &str) -> Value {
        let mut said = self.ask("Runtime.evaluate", json!({"expression": expression, "returnByValue": true})).await;
        assert!(said["exceptionDetails"].is_null(), "{said}");
        said["result"]["value"].take()
    }

    /// A screenshot of its window, as PNG.
    ///
    /// # Panics
    /// As [`Browser::open`].
    pub async fn picture(&mut self) -> Vec<u8> {
        let taken = self.ask("Page.captureScreenshot", json!({})).await;
        BASE64_STANDARD.decode(taken["data"].as_str().expect("a picture is text")).expect("a picture is base64")
    }

    /// Its complaints so far, one line each.
    pub fn complaints(&self) -> String {
        let said = self.events.iter().filter(|event| event["method"].as_str().is_some_and(|it| SAYINGS.contains(&it)));
        said.map(|event| format!("{}: {}\n", event["method"], event["params"])).collect()
    }

    /// Sends a command and waits until it is done.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut request = json!({"id": self.asked, "method": method, "params": params});
        if !self.session.is_empty() {
            request["sessionId"] = self.session.as_str().into();
        }
        let request = format!("{request}\0");
        self.to.write_all(request.as_bytes()).await.expect("the browser listens");
        loop {
            let mut message = self.message().await;
            if message["id"] == self.asked {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    async fn message(&mut self) -> Value {
        let mut text = Vec::new();
        let read = timeout(CEILING, self.from.read_until(0, &mut text)).await;
        read.expect("the browser says something").expect("the browser's pipe can be read");
        text.pop();
        let ended = || format!("the browser ended: {:?}", self.child.id());
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}, {}", ended()))
    }
}
