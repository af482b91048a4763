//! `web_search` with each of the services.

use crate::bench::turn;
use crate::server::Server;
use plumbline_engine::Product;
use plumbline_llm::ApiKey;
use plumbline_tools::web::{Found, Provider, SearchError, SearchService, SearchSettings};
use serde_json::json;

fn service(server: &Server, provider: Provider, key: &str) -> SearchService {
    let settings = SearchSettings { provider, base_url: Some(server.url("/")), api_key: ApiKey::new(key) };
    SearchService::new(settings).unwrap()
}

#[tokio::test]
async fn each_service_is_asked_its_own_way() {
    let server = Server::start(None).await;
    let found =
        |title: &str, url: &str, excerpt: &str| Found { title: title.into(), url: url.into(), excerpt: excerpt.into() };
    for (provider, expected) in [
        (Provider::Searxng, found("Page 1", "https://example.org/1", "An excerpt")),
        (Provider::Tavily, found("Page", "https://example.org/t", "Words")),
        (Provider::Brave, found("Page", "https://example.org/b", "Some words & a company's")),
    ] {
        let service = service(&server, provider, "key");
        assert_eq!(service.search("retention", 3).await.unwrap()[0], expected, "{provider:?}");
        assert!(service.search("retention", 3).await.unwrap().len() <= 3, "{provider:?}");
        assert_eq!(service.search("nothing", 3).await, Ok(vec![]), "{provider:?}");
    }
}

#[tokio::test]
async fn lesson_59_an_error_is_never_no_results() {
    let server = Server::start(None).await;
    for provider in [Provider::Searxng, Provider::Tavily, Provider::Brave] {
        let service = service(&server, provider, "secret-key");
        let (name, quota) = (provider.name(), service.search("quota", 3).await);
        assert_eq!(quota, Err(SearchError::Quota { provider: name, status: 429 }));
        let broken = service.search("broken", 3).await.expect_err("status 500").to_string();
        assert!(broken.contains("HTTP status 500") && !broken.contains("secret-key"), "{broken}");
        let garbage = service.search("garbage", 3).await.expect_err("no JSON").to_string();
        assert!(garbage.contains("its answer is not as expected"), "{garbage}");
    }
    for provider in [Provider::Tavily, Provider::Brave] {
        let refused = service(&server, provider, "wrong").search("x", 3).await;
        assert_eq!(refused, Err(SearchError::Key { provider: provider.name(), status: 401 }));
    }
    let refused = service(&server, Provider::Brave, "invalid").search("x", 3).await;
    assert_eq!(refused, Err(SearchError::Key { provider: "Brave Search", status: 422 }));
    let searxng = service(&server, Provider::Searxng, "");
    let blocked = searxng.search("blocked", 3).await.expect_err("no engine answered").to_string();
    assert_eq!(blocked, "SearXNG could not search: no engine answered: google: too many requests");
    let forbidden = searxng.search("forbidden", 3).await.expect_err("status 403").to_string();
    assert!(forbidden.contains("`json` among `search.formats`"), "{forbidden}");
}

#[tokio::test]
async fn a_service_that_is_away_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let settings =
        SearchSettings { provider: Provider::Searxng, base_url: Some(format!("http://{address}")), api_key: None };
    let error = SearchService::new(settings).unwrap().search("x", 3).await.expect_err("nobody listens");
    assert!(matches!(error, SearchError::Failed { provider: "SearXNG", .. }), "{error}");
}

#[test]
fn unusable_configurations_are_refused_at_once() {
    for (provider, base_url, says) in [
        (Provider::Searxng, None, "SearXNG needs `base_url`"),
        (Provider::Searxng, Some("not an address"), "`base_url` not an address"),
        (Provider::Searxng, Some("ftp://localhost/"), "neither http nor https"),
        (Provider::Tavily, None, "Tavily needs a key"),
        (Provider::Brave, None, "Brave Search needs a key"),
    ] {
        let settings = SearchSettings { provider, base_url: base_url.map(str::to_owned), api_key: None };
        let error = SearchService::new(settings).expect_err(says).to_string();
        assert!(error.starts_with("`connections.web_search` is not usable: ") && error.contains(says), "{error}");
    }
}

#[tokio::test]
async fn results_are_listed_and_kept() {
    let server = Server::start(None).await;
    let service = service(&server, Provider::Searxng, "");
    let call = [("web_search", json!({"query": "retention  of invoices", "max_results": 2}))];
    let done = turn(None, Some(&service), &call).await.remove(0);
    let list = "1. Page 1\n   https://example.org/1\n   An excerpt\n2. Page 2\n   https://example.org/2\n   An excerpt";
    let (shown, path) = done.content.split_once("\nkept in: ").expect("the file is named");
    assert_eq!(shown, list);
    let [Product::WriteFile(file)] = &done.products[..] else { panic!("{:?}", done.products) };
    assert!(file.path == path && path.starts_with("web_sources/search-retention-of-invoices-"), "{path}");
    assert!(std::str::from_utf8(&file.content).unwrap().contains(list));

    let nothing = turn(None, Some(&service), &[("web_search", json!({"query": "nothing"}))]).await.remove(0);
    assert_eq!((nothing.is_error, nothing.content.as_str()), (false, "(the web search found nothing for \"nothing\")"));
    let quota = turn(None, Some(&service), &[("web_search", json!({"query": "quota"}))]).await.remove(0);
    assert!(quota.is_error && quota.products.is_empty(), "{}", quota.content);
    let off = turn(None, None, &[("web_search", json!({"query": "x"}))]).await.remove(0);
    assert!(off.is_error && off.content.contains("no web search service is configured"), "{}", off.content);
}
