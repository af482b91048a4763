//! `fetch_page` and the fetcher.

use crate::bench::{parser, turn};
use crate::server::Server;
use plumbline_engine::Product;
use plumbline_tools::web::{FetchError, Fetcher, FetcherOptions};
use serde_json::json;
use std::time::Duration;

/// A fetcher that may reach these servers besides the public internet, with a small size limit.
fn fetcher(servers: &[&Server]) -> Fetcher {
    fetcher_within(Duration::from_secs(60), servers)
}

/// The same with this time limit per page.
fn fetcher_within(total: Duration, servers: &[&Server]) -> Fetcher {
    let also_allowed = servers.iter().map(|server| server.address).collect();
    Fetcher::new(FetcherOptions { total, max_bytes: 100 << 10, max_redirects: 3, also_allowed }).unwrap()
}

#[tokio::test]
async fn a_page_becomes_a_source_that_can_be_cited() {
    let server = Server::start(None).await;
    let url = server.url("/here");
    let quote = "The period begins anew when an entry is changed.";
    let source = |text: &str| text.lines().find_map(|line| line.strip_prefix("text: ")).unwrap().to_owned();
    let fetched = turn(Some(&fetcher(&[&server])), None, &[("fetch_page", json!({"url": url}))]).await.remove(0);
    assert!(!fetched.is_error, "{}", fetched.content);
    let path = source(&fetched.content);
    assert!(path.starts_with("web_sources/127-0-0-1-") && path.ends_with(".md"), "{path}");
    assert!(fetched.content.contains("title: Retention periods\n"), "{}", fetched.content);
    let Product::WriteFile(file) = &fetched.products[0] else { panic!("{:?}", fetched.products) };
    let text = std::str::from_utf8(&file.content).unwrap();
    assert!(text.starts_with("# Retention periods\n\n- source: http://127.0.0.1:"), "{text}");
    assert!(text.contains("/page\n- fetched: 20") && text.contains(quote), "the last address counts: {text}");
    assert!(!text.contains("alert") && !text.contains("Home"), "{text}");

    let calls = [("fetch_page", json!({"url": url})), ("cite", json!({"source": path, "quote": quote}))];
    let cited = turn(Some(&fetcher(&[&server])), None, &calls).await.remove(1);
    assert!(!cited.is_error && cited.content.contains(&path), "{}", cited.content);
}

#[tokio::test]
async fn text_cannot_forge_page_marks() {
    let server = Server::start(None).await;
    let fetched = fetcher(&[&server]).fetch(&server.url("/note.txt")).await.unwrap();
    assert_eq!((fetched.content_type.as_str(), fetched.body.len()), ("text/plain", 25));
    assert_eq!(fetched.read(&parser()).await.unwrap().text, "Kept ten years.\n\\[page 9]\n");
}

#[tokio::test]
async fn what_cannot_be_had_is_an_error_in_one_sentence() {
    let server = Server::start(None).await;
    let (fetcher, host) = (fetcher(&[&server]), "127.0.0.1".to_owned());
    let type_of = |content_type: &str| FetchError::ContentType { content_type: content_type.to_owned() };
    for (path, expected) in [
        ("/missing", FetchError::Status { host: host.clone(), status: 404 }),
        ("/gone", FetchError::Status { host: host.clone(), status: 410 }),
        ("/image", type_of("image/png")),
        ("/large", FetchError::TooLarge { limit: 100 << 10 }),
        ("/round", FetchError::Redirects { host: host.clone(), what: "again and again" }),
        ("/nowhere", FetchError::Redirects { host: host.clone(), what: "to nowhere" }),
    ] {
        let error = fetcher.fetch(&server.url(path)).await.expect_err(path);
        assert_eq!(error, expected, "{path}");
        assert!(!error.to_string().contains('\n'));
    }
    let short = fetcher_within(Duration::from_secs(1), &[&server]);
    let error = short.fetch(&server.url("/endless")).await.expect_err("a page without an end");
    assert_eq!(error, FetchError::OutOfTime { host, seconds: 1 });
    let nobody = turn(Some(&fetcher), None, &[("fetch_page", json!({"url": server.url("/empty")}))]).await.remove(0);
    assert!(
        nobody.is_error && nobody.content.contains("has no text") && nobody.products.is_empty(),
        "{}",
        nobody.content
    );
}

#[tokio::test]
async fn f67_nothing_leads_to_a_machine_that_is_not_public() {
    let hidden = Server::start(None).await;
    let server = Server::start(Some(hidden.address)).await;
    let fetcher = fetcher(&[&server]);
    for path in ["/away", "/metadata", "/file"] {
        let error = fetcher.fetch(&server.url(path)).await.expect_err(path);
        assert!(matches!(error, FetchError::Forbidden { .. } | FetchError::Address { .. }), "{path}: {error}");
    }
    let ordinary = Fetcher::new(FetcherOptions::default()).unwrap();
    for address in ["http://localhost:8080/", "http://localhost.:8080/", "https://ip6-localhost/", "http://localhost/"]
    {
        let error = ordinary.fetch(address).await.expect_err(address);
        // A machine that cannot resolve the name does not reach it either.
        assert!(matches!(error, FetchError::Forbidden { .. } | FetchError::Network { .. }), "{address}: {error}");
    }
    assert_eq!(
        ordinary.fetch("http://localhost:8080/").await.expect_err("loopback"),
        FetchError::Forbidden { host: "localhost".to_owned() }
    );
    assert!(ordinary.fetch(&hidden.url("/page")).await.is_err());
    assert_eq!(hidden.hits(), 0, "nobody came");
}

#[tokio::test]
async fn a_job_that_may_not_fetch_gets_an_error() {
    let refused = turn(None, None, &[("fetch_page", json!({"url": "https://example.org/"}))]).await.remove(0);
    assert_eq!(refused.content, "Error: web pages are not fetched in this job");
}
