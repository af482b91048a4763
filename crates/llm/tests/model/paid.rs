//! Paid output is counted, even if it did not become an answer.

use crate::double::{APIS, Said, error_event, events};
use crate::server::Server;
use crate::talk::ask;
use plumbline_engine::{Failure, RequestRecord};
use plumbline_llm::{Api, ModelConfig};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn said() -> Said {
    Said { text: "It must not be deleted, for ten years at least.", ..Said::default() }
}

async fn failed(api: Api, status: u16, text: impl Into<String>) -> RequestRecord {
    let server = Server::saying(status, text).await;
    record_of(api, &server.base_url).await
}

async fn record_of(api: Api, base_url: &str) -> RequestRecord {
    let mut config = ModelConfig::new(base_url, "m");
    config.api = Some(api);
    let failure: Box<Failure> = ask(config).await.unwrap_err();
    failure.record
}

/// The connection ends before the length that was announced.
async fn broken_off(api: Api, text: String) -> RequestRecord {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 1 << 16];
        let mut read = 0;
        while !String::from_utf8_lossy(&request[..read]).contains("hello") {
            read += connection.read(&mut request[read..]).await.unwrap();
        }
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len() + 1000);
        connection.write_all(answer.as_bytes()).await.unwrap();
        connection.shutdown().await.unwrap();
    });
    record_of(api, &base_url).await
}

/// The events of an answer up to its end.
fn begun(api: Api) -> String {
    let all = events(api, &said());
    let end = match api {
        Api::Chat => all.find("\"finish_reason\":\"stop\""),
        Api::Responses => all.find("event: response.completed"),
        Api::Messages => all.find("event: message_delta"),
    };
    let begun = &all[..end.unwrap()];
    begun[..begun.rfind("\n\n").unwrap() + 2].to_owned()
}

#[tokio::test]
async fn an_answer_that_fails_after_it_has_begun_is_counted() {
    for api in APIS {
        for record in [
            failed(api, 200, begun(api)).await,
            broken_off(api, begun(api)).await,
            failed(api, 200, begun(api) + &error_event(api)).await,
        ] {
            assert!(record.prompt_tokens > 0, "{api:?}: {record:?}");
            // Anthropic reports the prompt's tokens in its first event.
            assert_eq!(record.estimated, api != Api::Messages, "{api:?}");
            assert!(api == Api::Responses || record.completion_tokens > 0, "{api:?}: {record:?}");
        }
    }
}

#[tokio::test]
async fn usage_that_comes_with_an_error_is_the_requests() {
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 7});
    let error = json!({"code": 502, "message": "upstream broke"});
    let chunk = |value: serde_json::Value| format!("data: {value}\n\n");
    let plain = json!({"error": error, "usage": usage}).to_string();
    let groq = json!({"error": error, "x_groq": {"usage": usage}});
    for (api, text) in [
        (Api::Chat, chunk(json!({"error": error, "choices": [], "usage": usage}))),
        (Api::Chat, chunk(groq)),
        (Api::Chat, plain.clone()),
        (Api::Responses, json!({"error": error, "usage": {"input_tokens": 20, "output_tokens": 7}}).to_string()),
        (Api::Messages, json!({"error": error, "usage": {"input_tokens": 20, "output_tokens": 7}}).to_string()),
    ] {
        let record = failed(api, 200, text.clone()).await;
        assert_eq!(
            (record.prompt_tokens, record.completion_tokens, record.estimated),
            (20, 7, false),
            "{api:?} {text}"
        );
    }
}

#[tokio::test]
async fn a_refusal_costs_nothing() {
    let error = json!({"error": {"message": "the server is overloaded"}}).to_string();
    for api in APIS {
        for status in [200, 400, 503] {
            let record = failed(api, status, error.clone()).await;
            assert_eq!((record.prompt_tokens, record.completion_tokens), (0, 0), "{api:?} {status}");
        }
        let record = failed(api, 200, "<html>a page</html>").await;
        assert_eq!(record.prompt_tokens, 0, "{api:?}");
    }
}
