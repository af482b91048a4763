//! A proxy that closes idle connections, like Cloudflare and load balancers (Q3, Q4), with milliseconds instead of
//! seconds.

use crate::double::{APIS, Said, body, events};
use crate::talk::ask;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, future, stream};
use plumbline_engine::{Failure, FailureClass, Reply};
use plumbline_llm::{Api, ModelConfig, Streaming};
use serde_json::Value;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// Time goes by in ticks here, which a busy machine makes longer for everybody.
const TICK: Duration = Duration::from_millis(10);
/// Ticks without a byte until the proxy cuts.
const SILENCE: u32 = 10;
/// Ticks that an answer takes: fifty times as long.
const GENERATION: u32 = 50 * SILENCE;
/// Ticks between two signs of life in a stream.
const SIGN_OF_LIFE: u32 = 3;

async fn ticks(count: u32) {
    for _ in 0..count {
        tokio::time::sleep(TICK).await;
    }
}

fn said() -> Said {
    Said { text: "At last.", calls: vec![("p1", "read_file", "{}")], ..Said::default() }
}

/// Keepalives of providers while the model thinks: Anthropic sends ping events, others comments.
fn sign_of_life(api: Api) -> &'static str {
    match api {
        Api::Chat | Api::Responses => ": keep-alive\n\n",
        Api::Messages => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    }
}

/// Thinks for that time, and answers as requested: in a stream with keepalives, or at once at the end.
async fn answer(State(api): State<Api>, request: String) -> Response {
    let request: Value = serde_json::from_str(&request).unwrap();
    if request["stream"] != true {
        ticks(GENERATION).await;
        return body(api, &said()).to_string().into_response();
    }
    let all = events(api, &said());
    // Between two events, like servers that send keepalives.
    let middle = all[..all.len() / 2].rfind("\n\n").unwrap() + 2;
    let (begun, rest) = (all[..middle].to_owned(), all[middle..].to_owned());
    let signs = stream::iter(0..GENERATION / SIGN_OF_LIFE).then(move |_| async move {
        ticks(SIGN_OF_LIFE).await;
        sign_of_life(api).to_owned()
    });
    let pieces = stream::iter([begun]).chain(signs).chain(stream::iter([rest]));
    Body::from_stream(pieces.map(|piece| Ok::<_, io::Error>(Bytes::from(piece)))).into_response()
}

async fn provider(api: Api) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback(answer).with_state(api);
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Relays, and closes a connection on which nothing came from the provider for so many ticks.
async fn proxy(provider: std::net::SocketAddr) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(relay(client, TcpStream::connect(provider).await.unwrap()));
        }
    });
    format!("http://{address}/v1")
}

async fn relay(client: TcpStream, provider: TcpStream) {
    let ((mut from_client, mut to_client), (mut from_provider, mut to_provider)) =
        (client.into_split(), provider.into_split());
    let request = tokio::spawn(async move { copy(&mut from_client, &mut to_provider).await });
    let (mut piece, mut quiet) = ([0; 4096], 0);
    while quiet < SILENCE {
        match tokio::time::timeout(TICK, from_provider.read(&mut piece)).await {
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(length)) => {
                quiet = 0;
                if to_client.write_all(&piece[..length]).await.is_err() {
                    break;
                }
            }
            Err(_) => quiet += 1,
        }
    }
    request.abort();
}

async fn asked(api: Api, stream: Streaming) -> Result<Reply, Box<Failure>> {
    let mut config = ModelConfig::new(proxy(provider(api).await).await, "m");
    (config.api, config.stream) = (Some(api), stream);
    ask(config).await
}

#[tokio::test]
async fn an_answer_fifty_times_as_long_as_the_longest_silence_arrives_streamed_and_only_so() {
    let ways = APIS.into_iter().flat_map(|api| [Streaming::Auto, Streaming::Off].map(|stream| (api, stream)));
    let answers = future::join_all(ways.map(|(api, stream)| async move { (api, stream, asked(api, stream).await) }));
    for (api, stream, answer) in answers.await {
        match stream {
            Streaming::Off => {
                let failure = answer.unwrap_err();
                assert_eq!(failure.class, FailureClass::Transient, "{api:?}: {}", failure.message);
            }
            Streaming::Auto | Streaming::On => {
                let reply = answer.unwrap_or_else(|failure| panic!("{api:?}: {}", failure.message));
                assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("At last.", 1), "{api:?}");
                assert!(reply.record.duration_ms > i64::from(40 * SILENCE) * TICK.as_millis() as i64, "{api:?}");
            }
        }
    }
}
