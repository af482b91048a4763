//! An operator's own tools over HTTP, with a real server: what is sent, and how each response is handled.

use crate::bench::Empty;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use plumbline_documents::Parser;
use plumbline_engine::{HttpMethod, OutsideCall, Phases, Replay, ToolCall, ToolReturn};
use plumbline_llm::ApiKey;
use plumbline_tools::http::{HttpCaller, HttpTool, Outgoing, registry};
use plumbline_tools::{ToolContext, ToolRunner};
use serde_json::json;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::net::TcpListener;
use uuid::Uuid;

const SECRET: &str = "secret-of-the-test";

/// A received request.
#[derive(Clone)]
struct Arrived {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
}

#[derive(Clone, Default)]
struct Server(Arc<Mutex<Vec<Arrived>>>);

impl Server {
    async fn start() -> (Self, SocketAddr) {
        let server = Self::default();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (server, address)
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.0.lock().unwrap().clone()
    }
}

async fn answer(State(server): State<Server>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    let count = {
        let mut arrived = server.0.lock().unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        arrived.push(Arrived { method, uri, headers, body });
        arrived.len()
    };
    match path.as_str() {
        "/ok" => "{\"paid\": true}".into_response(),
        "/echo" => format!("you sent {SECRET}").into_response(),
        "/nothing" => StatusCode::NO_CONTENT.into_response(),
        "/image" => ([(header::CONTENT_TYPE, "image/png")], vec![0x89, b'P', 0xff, 0x00]).into_response(),
        "/long" => "ü".repeat(600).into_response(),
        "/latin" => ([(header::CONTENT_TYPE, "text/plain; Charset=\"ISO-8859-1\"")], b"Pr\xfcfung bezahlt".to_vec())
            .into_response(),
        "/wide" => {
            let text: Vec<u8> = "ü".repeat(600).encode_utf16().flat_map(u16::to_le_bytes).collect();
            ([(header::CONTENT_TYPE, "text/plain;charset=utf-16le")], text).into_response()
        }
        "/moved" => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/ok")]).into_response(),
        "/wrong" => (StatusCode::UNPROCESSABLE_ENTITY, "x".repeat(5_000)).into_response(),
        "/down" => (StatusCode::SERVICE_UNAVAILABLE, "later").into_response(),
        "/shaky" if count < 3 => StatusCode::BAD_GATEWAY.into_response(),
        "/shaky" => "through".into_response(),
        // It never answers: the caller's own time limit ends the call.
        _ => std::future::pending().await,
    }
}

fn tool(url: String) -> HttpTool {
    HttpTool {
        name: "http_pay".into(),
        description: "Pay an amount.".into(),
        parameters: json!({
            "type": "object", "additionalProperties": false, "required": ["amount"],
            "properties": {"amount": {"type": "integer"}, "tags": {"type": "array"}, "note": {"type": ["string", "null"]}}
        }),
        method: HttpMethod::Post,
        url,
        headers_env: [("authorization".to_owned(), "PAY_KEY".to_owned())].into(),
        phases: Phases::Both,
        replay: Replay::Unsafe,
        timeout: Duration::from_secs(20),
        max_result_bytes: 1_000,
        allow_private: true,
    }
}

/// Makes one call, as the engine passes it.
async fn call(tool: HttpTool, arguments: &str) -> ToolReturn {
    let secret_of = |name: &str, _: &str| (name == "PAY_KEY").then(|| ApiKey::new(SECRET)).flatten();
    let caller = HttpCaller::new(Arc::new(secret_of)).unwrap();
    let once = tool.replay == Replay::Unsafe;
    let tools = registry([tool].into_iter());
    let traceparent = || "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned();
    let http = Some(Outgoing { caller: &caller, traceparent: &traceparent });
    let context = ToolContext { tools: &tools, http, retries: 2, ..ToolContext::new(Uuid::from_u128(7), &[]) };
    let call = ToolCall { id: "call_3_1".into(), name: "http_pay".into(), arguments: arguments.into() };
    let calls = [OutsideCall { call: &call, check: None, once, again: false }];
    let runner = ToolRunner::new(Parser::new("/no/such/program"));
    runner.run(&calls, &Empty::default(), &context).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_call_is_one_request_with_its_key_its_trace_and_its_secret() {
    let (server, address) = Server::start().await;
    let arguments = r#"{"amount": 3, "tags": ["a", {"b": 1}], "note": null}"#;
    let paid = call(tool(format!("http://{address}/ok")), arguments).await;
    assert_eq!((paid.content.as_str(), paid.is_error), ("{\"paid\": true}", false));
    let get = HttpTool { method: HttpMethod::Get, ..tool(format!("http://{address}/ok?v=1")) };
    call(get, r#"{"amount": 3, "tags": ["a", {"b": 1}]}"#).await;
    let arrived = server.arrived();
    assert_eq!(arrived.len(), 2);
    assert_eq!((arrived[0].method.as_str(), arrived[1].method.as_str()), ("POST", "GET"));
    let sent: serde_json::Value = serde_json::from_str(&arrived[0].body).unwrap();
    assert_eq!(sent, json!({"amount": 3, "tags": ["a", {"b": 1}], "note": null}));
    assert_eq!(arrived[1].uri.query(), Some("v=1&amount=3&tags=a&tags=%7B%22b%22%3A1%7D"));
    assert_eq!(arrived[1].body, "");
    for one in &arrived {
        let header = |name: &str| one.headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("idempotency-key"), format!("{}:call_3_1", Uuid::from_u128(7)));
        assert_eq!(header("traceparent"), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        assert_eq!(header("authorization"), SECRET);
    }
}

#[tokio::test]
async fn what_does_not_fit_the_entrys_own_schema_is_not_sent() {
    let (server, address) = Server::start().await;
    let refused = call(tool(format!("http://{address}/ok")), r#"{"amount": "three"}"#).await;
    assert_eq!(refused.content, "Error: the arguments do not fit: `amount` is \"three\", expected integer");
    assert!(server.arrived().is_empty());
}

#[tokio::test]
async fn a_2xx_is_the_result_as_far_as_it_is_read() {
    let (_, address) = Server::start().await;
    let result = async |path: &str| {
        let done = call(tool(format!("http://{address}/{path}")), r#"{"amount": 1}"#).await;
        assert!(!done.is_error, "{}", done.content);
        done.content
    };
    assert_eq!(result("nothing").await, "(HTTP status 204, nothing in the answer)");
    assert_eq!(result("image").await, "(HTTP status 200, 4 bytes of image/png, which is no text)");
    assert_eq!(result("echo").await, "you sent [key]");
    assert_eq!(result("latin").await, "Prüfung bezahlt");
    let wide = result("wide").await;
    assert!(wide.starts_with(&format!("{}\n", "ü".repeat(500))) && wide.ends_with("read to 1000 bytes.)"), "{wide}");
    let long = result("long").await;
    assert!(long.starts_with(&"ü".repeat(500)) && long.ends_with("(The answer is longer: it was read to 1000 bytes.)"));
}

#[tokio::test]
async fn all_else_is_an_error_with_the_status_and_the_first_2_kib() {
    let (server, address) = Server::start().await;
    let error = async |path: &str| {
        let done = call(tool(format!("http://{address}/{path}")), r#"{"amount": 1}"#).await;
        assert!(done.is_error, "{}", done.content);
        done.content
    };
    let moved = error("moved").await;
    assert_eq!(moved, "Error: http_pay answered with HTTP status 307; redirects are not followed");
    let wrong = error("wrong").await;
    assert_eq!(wrong, format!("Error: http_pay answered with HTTP status 422: {}", "x".repeat(2 << 10)));
    assert_eq!(error("down").await, "Error: http_pay answered with HTTP status 503: later");
    assert_eq!(server.arrived().len(), 3, "each is sent once");
}

#[tokio::test]
async fn only_what_is_safe_or_keyed_is_sent_again() {
    for (replay, requests, content) in [
        (Replay::Safe, 3, "through"),
        (Replay::Keyed, 3, "through"),
        (Replay::Unsafe, 1, "Error: http_pay answered with HTTP status 502"),
    ] {
        let (server, address) = Server::start().await;
        let done = call(HttpTool { replay, ..tool(format!("http://{address}/shaky")) }, r#"{"amount": 1}"#).await;
        assert_eq!((done.content.as_str(), server.arrived().len()), (content, requests), "{replay:?}");
        let keys: Vec<_> = server.arrived().iter().map(|one| one.headers["idempotency-key"].clone()).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "the same key each time");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_leaves_the_outcome_unknown() {
    let (server, address) = Server::start().await;
    let slow = HttpTool { timeout: Duration::from_millis(300), ..tool(format!("http://{address}/hangs")) };
    let late = call(slow, r#"{"amount": 1}"#).await;
    assert_eq!(
        late.content,
        "Error: http_pay gave no answer: there was no whole answer within 0.3 s; whether it was carried out is not known: find \
         that out before you call it again"
    );
    assert!(late.gave_up && server.arrived().len() == 1);
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap().local_addr().unwrap();
    let away = call(tool(format!("http://{closed}/ok")), r#"{"amount": 1}"#).await;
    assert!(
        away.content.starts_with("Error: http_pay gave no answer: ") && !away.content.contains("not known"),
        "{}",
        away.content
    );
}

#[tokio::test]
async fn addresses_outside_the_public_internet_need_leave() {
    let (server, address) = Server::start().await;
    let port = address.port();
    for host in ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "169.254.169.254"] {
        let kept = HttpTool { allow_private: false, ..tool(format!("http://{host}:{port}/ok")) };
        let refused = call(kept, r#"{"amount": 1}"#).await;
        assert!(
            refused.content.contains("is not called: its address is not on the public internet"),
            "{host}: {}",
            refused.content
        );
    }
    assert!(server.arrived().is_empty());
}

#[tokio::test]
async fn a_secret_that_is_not_there_keeps_the_call_back() {
    let (server, address) = Server::start().await;
    let headers_env = [("authorization".to_owned(), "OTHER_KEY".to_owned())].into();
    let refused = call(HttpTool { headers_env, ..tool(format!("http://{address}/ok")) }, r#"{"amount": 1}"#).await;
    assert!(refused.content.contains("environment variable OTHER_KEY"), "{}", refused.content);
    assert!(server.arrived().is_empty());
}
