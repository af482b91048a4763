//! The HTTP server: routes, limits and OpenAI's error format. The logic is in [`crate::answer`].

pub mod check;
mod dialect;
mod embedding;
mod stream;
pub mod wire;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Json, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::server::dialect::{messages, responses};
use crate::server::wire::{ChatRequest, ChatResponse};
use crate::{DISCLAIMER, MODEL, answer, answer_by_todo};

/// Maximum request body in bytes: far above any context window.
pub const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// How the server behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Delay before every answer, to simulate a model's time; zero by default.
    pub delay: Duration,
}

/// Serves the rehearsal model on `listener` until `shutdown` resolves; requests in flight are finished first.
///
/// Answers `POST` to any path that ends in `/chat/completions`, `/responses`, `/messages` or `/embeddings` and `GET` to any
/// that ends in `/models`.
pub async fn serve(
    listener: TcpListener,
    options: Options,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let router = Router::new().fallback(route).with_state(options);
    axum::serve(listener, router).with_graceful_shutdown(shutdown).await
}

/// A rehearsal model that serves in the background for as long as this handle lives.
#[derive(Debug)]
pub struct Rehearsal {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<io::Result<()>>,
}

impl Rehearsal {
    /// Binds `address` (port 0 takes a free port) and serves from a task of the current tokio runtime.
    pub async fn start(address: SocketAddr, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        // A dropped sender resolves the receiver as well, which is how dropping the handle stops the server.
        let task = tokio::spawn(serve(listener, options, async move { drop(stopped.await) }));
        Ok(Self { address, stop: Some(stop), task })
    }

    /// Where it listens; the port is the real one.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to put into `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Stops serving and waits for requests in flight.
    pub async fn shutdown(mut self) -> io::Result<()> {
        drop(self.stop.take());
        (&mut self.task).await.map_err(io::Error::other)?
    }
}

async fn route(State(options): State<Options>, request: Request) -> Response {
    let path = request.uri().path().trim_end_matches('/');
    if let Some(think) = answering(path).filter(|_| request.method() == Method::POST) {
        return after_thought(options, request.into_body(), think).await;
    }
    if path.ends_with("/chat/completions") {
        return error(StatusCode::METHOD_NOT_ALLOWED, "use POST for chat/completions");
    }
    if path.ends_with("/embeddings") {
        return match *request.method() {
            Method::POST => after_thought(options, request.into_body(), embed).await,
            _ => error(StatusCode::METHOD_NOT_ALLOWED, "use POST for embeddings"),
        };
    }
    if path.ends_with("/models") {
        return match *request.method() {
            Method::GET => models(),
            _ => error(StatusCode::METHOD_NOT_ALLOWED, "use GET for models"),
        };
    }
    let message = format!(
        "nothing is served at {path}; use POST /v1/chat/completions, /v1/responses, /v1/messages or \
                 /v1/embeddings, or GET /v1/models"
    );
    error(StatusCode::NOT_FOUND, &message)
}

/// A function from a request's body to an answer.
pub type Answering = fn(&Bytes) -> Response;

/// What answers the body of a request, in the protocol of its path.
pub fn answering(path: &str) -> Option<Answering> {
    of_path(path, [|body| complete(body, answer), |body| respond(body, answer), |body| converse(body, answer)])
}

/// The same with [`answer_by_todo`].
pub fn answering_by_todo(path: &str) -> Option<Answering> {
    of_path(
        path,
        [
            |body| complete(body, answer_by_todo),
            |body| respond(body, answer_by_todo),
            |body| converse(body, answer_by_todo),
        ],
    )
}

fn of_path(path: &str, [complete, respond, converse]: [Answering; 3]) -> Option<Answering> {
    let answers = |end: &str| path.ends_with(end);
    match path {
        _ if answers("/chat/completions") => Some(complete),
        _ if answers("/responses") => Some(respond),
        _ if answers("/messages") => Some(converse),
        _ => None,
    }
}

/// What the model makes of a request.
type Think = fn(&ChatRequest) -> ChatResponse;

/// Reads the body, waits for the configured delay, and returns the result of `think`.
async fn after_thought(options: Options, body: Body, think: fn(&Bytes) -> Response) -> Response {
    let Ok(body) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        let message = format!("the request body was cut off or is larger than {MAX_REQUEST_BYTES} bytes; send less");
        return error(StatusCode::PAYLOAD_TOO_LARGE, &message);
    };
    if !options.delay.is_zero() {
        tokio::time::sleep(options.delay).await;
    }
    // A long conversation takes milliseconds to read: off the runtime's threads, which others share.
    match plumbline_bounds::blocking::unbounded(move || think(&body)).await {
        Ok(response) => response,
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the rehearsal model failed on this request; see its log"),
    }
}

fn embed(body: &Bytes) -> Response {
    let request = serde_json::from_slice(body).map_err(|_| {
        "the request body is not an embeddings request: it needs a model, and a text or texts as input".into()
    });
    match request.and_then(embedding::answer) {
        Ok(answer) => Json(answer).into_response(),
        Err(message) => error(StatusCode::BAD_REQUEST, &message),
    }
}

fn complete(body: &Bytes, think: Think) -> Response {
    let request: ChatRequest = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(reason) => {
            let message = format!("the request body is not a chat-completions request: {reason}");
            return error(StatusCode::BAD_REQUEST, &message);
        }
    };
    let usage = request.stream_options.is_some_and(|options| options.include_usage);
    let (plain, streamed) = (|answer: &ChatResponse| json!(answer), |answer: &_| stream::events(answer, usage));
    answered(think, &request, plain, streamed)
}

fn respond(body: &Bytes, think: Think) -> Response {
    match read(body, responses::request) {
        Ok(request) => answered(think, &request, responses::body, responses::events),
        Err(message) => error(StatusCode::BAD_REQUEST, &message),
    }
}

fn converse(body: &Bytes, think: Think) -> Response {
    match read(body, messages::request) {
        Ok(request) => answered(think, &request, messages::body, messages::events),
        Err(message) => error(StatusCode::BAD_REQUEST, &message),
    }
}

fn read(body: &Bytes, request: fn(&Value) -> Result<ChatRequest, String>) -> Result<ChatRequest, String> {
    let body = serde_json::from_slice(body).map_err(|reason| format!("the request body is not JSON: {reason}"))?;
    request(&body)
}

/// The answer in the protocol's form, as a stream where one is asked for.
fn answered(
    think: Think,
    request: &ChatRequest,
    plain: impl Fn(&ChatResponse) -> Value,
    streamed: impl Fn(&ChatResponse) -> String,
) -> Response {
    if let Err(message) = check::check(request) {
        tracing::warn!(error = %message, "refused a request");
        return error(StatusCode::BAD_REQUEST, &message);
    }
    let answer = think(request);
    match request.stream {
        true => ([(CONTENT_TYPE, "text/event-stream")], streamed(&answer)).into_response(),
        false => Json(plain(&answer)).into_response(),
    }
}

fn models() -> Response {
    let model =
        json!({"id": MODEL, "object": "model", "created": 0, "owned_by": "plumbline", "description": DISCLAIMER});
    Json(json!({"object": "list", "data": [model]})).into_response()
}

fn error(status: StatusCode, message: &str) -> Response {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    let body = json!({"error": {"message": message, "type": kind, "param": null, "code": null}});
    (status, Json(body)).into_response()
}
