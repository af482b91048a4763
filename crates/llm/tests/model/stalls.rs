//! Servers that stall, drip, end early or never stop.

use crate::server::Server;
use crate::talk::{ask, completion};
use axum::body::Bytes;
use futures_util::{StreamExt, stream};
use plumbline_engine::{Failure, FailureClass};
use plumbline_llm::{ModelConfig, Timeouts};
use serde_json::json;
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Long enough never to be met by accident.
const AMPLE: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);
/// Timeout after which a connection attempt counts as waiting in a full backlog.
const QUEUED: Duration = Duration::from_secs(2);

fn ample() -> Timeouts {
    Timeouts { connect: AMPLE, first_byte: AMPLE, idle: AMPLE, total: AMPLE }
}

async fn fails(base_url: &str, timeouts: Timeouts) -> Failure {
    let mut config = ModelConfig::new(base_url, "m");
    config.timeouts = timeouts;
    *ask(config).await.unwrap_err()
}

fn check(failure: &Failure, class: FailureClass, says: &str) {
    assert_eq!(failure.class, class, "{}", failure.message);
    assert!(failure.message.contains(says), "{}", failure.message);
}

fn piece(text: &str) -> Result<Bytes, io::Error> {
    Ok(Bytes::copy_from_slice(text.as_bytes()))
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = fails(&format!("http://user:pass@{address}/v1"), ample()).await;
    check(&failure, FailureClass::Transient, &format!("no connection to http://{address}/v1: "));
    assert!(failure.hint.unwrap().contains("check that the model server runs"));
}

#[tokio::test]
async fn an_unknown_host_is_worth_another_try() {
    check(&fails("http://no-such-host.invalid/v1", ample()).await, FailureClass::Transient, "no connection");
}

#[tokio::test]
async fn a_connection_that_is_never_established() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // No accept: once the backlog is full, the kernel lets further connections wait.
    let mut waiting = Vec::new();
    while let Ok(stream) = tokio::time::timeout(QUEUED, TcpStream::connect(address)).await {
        waiting.push(stream.unwrap());
    }
    let timeouts = Timeouts { connect: SHORT, ..ample() };
    let failure = fails(&format!("http://{address}/v1"), timeouts).await;
    check(&failure, FailureClass::Transient, "no connection to");
    assert!(failure.message.ends_with("within 0.2 s"), "{}", failure.message);
}

#[tokio::test]
async fn no_first_byte() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let _held = listener.accept().await;
        std::future::pending::<()>().await;
    });
    // Both timeouts, like the worker's, or the shorter one: the reported cause is the same.
    for timeouts in [
        Timeouts { first_byte: SHORT, ..ample() },
        Timeouts { total: SHORT, first_byte: SHORT, ..ample() },
        Timeouts { total: SHORT, ..ample() },
    ] {
        let failure = fails(&format!("http://{address}/v1"), timeouts).await;
        check(&failure, FailureClass::Transient, "did not begin to answer within 0.2 s");
        assert!(failure.record.duration_ms >= 200, "{:?}", failure.record);
    }
}

#[tokio::test]
async fn a_body_that_stops() {
    let server = Server::streaming(|| stream::iter([piece("{\"choices\": ")]).chain(stream::pending())).await;
    let failure = fails(&server.base_url, Timeouts { idle: SHORT, ..ample() }).await;
    check(&failure, FailureClass::Transient, "stopped for 0.2 s");
}

#[tokio::test]
async fn a_drip_that_never_idles_ends_by_the_total() {
    let server = Server::streaming(|| {
        stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some((piece(" "), ()))
        })
    })
    .await;
    let failure = fails(&server.base_url, Timeouts { idle: AMPLE, total: Duration::from_secs(2), ..ample() }).await;
    check(&failure, FailureClass::Transient, "was not complete within 2 s");
}

#[tokio::test]
async fn f35_a_cut_at_any_byte_is_transient() {
    let body =
        completion(json!({"content": "Grüße", "tool_calls": [{"function": {"name": "t", "arguments": "{}"}}]}), "stop")
            .to_string();
    for cut in (0..body.len()).step_by(7) {
        let part = body.as_bytes()[..cut].to_vec();
        let server =
            Server::streaming(move || stream::iter([Ok(Bytes::from(part.clone())), Err(io::Error::other("cut"))]))
                .await;
        check(&fails(&server.base_url, ample()).await, FailureClass::Transient, "ended before the answer was complete");
    }
}

#[tokio::test]
async fn json_that_ends_early_is_a_cut_too() {
    let body = completion(json!({"content": "Grüße"}), "stop").to_string();
    for cut in [1, 20, body.find("Gr").unwrap() + 3, body.len() - 1] {
        let part = Bytes::copy_from_slice(&body.as_bytes()[..cut]);
        let server = Server::streaming(move || stream::iter([Ok(part.clone())])).await;
        check(&fails(&server.base_url, ample()).await, FailureClass::Transient, "ends in the middle");
    }
}

#[tokio::test]
async fn an_endless_answer_is_aborted() {
    let server = Server::streaming(|| stream::repeat_with(|| Ok(Bytes::from(vec![b' '; 1 << 20])))).await;
    check(&fails(&server.base_url, ample()).await, FailureClass::Malformed, "larger than 1030 KiB");
}

#[tokio::test]
async fn invalid_utf8_is_malformed() {
    let server = Server::streaming(|| stream::iter([Ok(Bytes::from_static(b"{\"choices\": \"\xff\xfe\"}"))])).await;
    check(&fails(&server.base_url, ample()).await, FailureClass::Malformed, "not JSON");
}
