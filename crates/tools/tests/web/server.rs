//! A server of pages and of search results.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A running server, stopped with the test's runtime.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    hits: Arc<AtomicUsize>,
}

impl Server {
    /// Serves on a free port; redirects to another host lead to `elsewhere`.
    pub(crate) async fn start(elsewhere: Option<SocketAddr>) -> Self {
        let hits = Arc::new(AtomicUsize::new(0));
        let counter = hits.clone();
        let count = axum::middleware::from_fn(move |request, next: axum::middleware::Next| {
            counter.fetch_add(1, Ordering::Relaxed);
            next.run(request)
        });
        let elsewhere = elsewhere.map_or_else(String::new, |address| format!("http://{address}/page"));
        let app = Router::new()
            .route("/page", get(page))
            .route(
                "/note.txt",
                get(async || ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], "Kept ten years.\n[page 9]\n")),
            )
            .route("/image", get(async || ([(header::CONTENT_TYPE, "image/png")], "no text")))
            .route("/empty", get(async || ([(header::CONTENT_TYPE, "text/html")], "<html></html>")))
            .route("/gone", get(async || (StatusCode::GONE, "gone")))
            .route("/here", get(async || Redirect::temporary("/page")))
            .route("/round", get(async || Redirect::permanent("/round")))
            .route("/nowhere", get(async || StatusCode::FOUND))
            .route("/metadata", get(async || Redirect::temporary("http://169.254.169.254/latest/meta-data/")))
            .route("/file", get(async || (StatusCode::FOUND, [(header::LOCATION, "file:///etc/passwd")])))
            .route("/away", get(async move || Redirect::temporary(&elsewhere)))
            .route("/to", get(redirect))
            .route("/large", get(large))
            .route("/endless", get(async || std::future::pending::<Response>().await))
            .route("/res/v1/web/search", get(brave))
            .route("/search", post(tavily).get(searxng))
            .layer(count);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, hits }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Requests so far.
    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }
}

async fn page() -> impl IntoResponse {
    let paragraph = "<p>Invoices must be kept for ten years after the end of the calendar year in which they were made, \
                     and letters for six. The period begins anew when an entry is changed.</p>";
    let html = format!(
        "<html><head><title>Retention periods</title></head><body><nav><a href='/'>Home</a></nav><article><h1>Retention \
         periods</h1>{}</article><script>alert(1)</script></body></html>",
        paragraph.repeat(5)
    );
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html)
}

/// More than the test's limit, without a content length.
async fn large() -> impl IntoResponse {
    let pieces = futures_util::stream::iter((0..64).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 16 << 10])));
    ([(header::CONTENT_TYPE, "text/plain")], Body::from_stream(pieces))
}

/// Redirects to the address in the query, verbatim.
async fn redirect(query: Query) -> impl IntoResponse {
    (StatusCode::FOUND, [(header::LOCATION, query["address"].clone())])
}

/// Performs the service behaviour that the query requests.
fn act(query: &str, key: &str, good: Value, none: Value) -> Response {
    match query {
        _ if key == "wrong" => (StatusCode::UNAUTHORIZED, "bad key").into_response(),
        "quota" => (StatusCode::TOO_MANY_REQUESTS, "slow down").into_response(),
        "broken" => (StatusCode::INTERNAL_SERVER_ERROR, format!("stack trace with {key}")).into_response(),
        "garbage" => "<html>".into_response(),
        "nothing" => axum::Json(none).into_response(),
        _ => axum::Json(good).into_response(),
    }
}

type Query = axum::extract::Query<std::collections::HashMap<String, String>>;

async fn searxng(query: Query) -> Response {
    let entry = |n: usize| json!({"title": format!("Page {n}"), "url": format!("https://example.org/{n}"), "content": "An\nexcerpt"});
    match query["q"].as_str() {
        "forbidden" => StatusCode::FORBIDDEN.into_response(),
        "blocked" => axum::Json(json!({"results": [], "unresponsive_engines": [["google", "too many requests"]]}))
            .into_response(),
        asked => {
            assert_eq!(query["format"], "json");
            act(asked, "", json!({"results": (1..=30).map(entry).collect::<Vec<_>>()}), json!({"results": []}))
        }
    }
}

async fn tavily(headers: HeaderMap, axum::Json(body): axum::Json<Value>) -> Response {
    let key = headers[header::AUTHORIZATION].to_str().unwrap().trim_start_matches("Bearer ");
    let good =
        json!({"results": [{"title": "Page", "url": "https://example.org/t", "content": "Words", "score": 0.9}]});
    act(body["query"].as_str().unwrap(), key, good, json!({"results": []}))
}

async fn brave(headers: HeaderMap, query: Query) -> Response {
    let key = headers["x-subscription-token"].to_str().unwrap();
    if key == "invalid" {
        let error = json!({"type": "ErrorResponse", "error": {"status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID"}});
        return (StatusCode::UNPROCESSABLE_ENTITY, axum::Json(error)).into_response();
    }
    let description = "Some <strong>words</strong> &amp; a company&#x27;s";
    let good = json!({"type": "search", "web": {"results": [
        {"title": "<strong>Page</strong>", "url": "https://example.org/b", "description": description},
        {"title": null, "url": "https://example.org/c", "description": null}
    ]}});
    act(&query["q"], key, good, json!({"type": "search"}))
}
