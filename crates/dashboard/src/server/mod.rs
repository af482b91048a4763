//! The server: shared state of requests, routes, and its lifetime within the worker.
//!
//! It has its own threads, so that the probes answer and report it if everything else is blocked.

pub(crate) mod access;
pub(crate) mod bind;
pub(crate) mod connections;
pub(crate) mod large;
pub(crate) mod session;
pub(crate) mod streams;

use super::{HttpOptions, error::HttpError, health::WorkerHealth};
use super::{api, health, pages};
use crate::{
    api::events,
    pages::{assets, render::Renderer},
    server::{bind::bind, large::LargeAnswers, streams::Streams},
};
use axum::{Router, middleware, routing::get};
use plumbline_store::{ConnectOptions, Store};
use std::{io, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    task::JoinHandle,
};
use tracing::{info, warn};

/// Database connections of the HTTP server, separate from those of the steps.
const CONNECTIONS: u32 = 2;
/// Statement timeout of a page.
const STATEMENT: Duration = Duration::from_secs(10);

/// Threads of the HTTP server, so that a slow page does not delay a probe.
const THREADS: usize = 2;

/// Shared state of all requests.
pub(crate) struct AppState {
    pub(crate) store: Store,
    pub(crate) health: Arc<dyn WorkerHealth>,
    pub(crate) renderer: Renderer,
    pub(crate) streams: Arc<Streams>,
    pub(crate) large: LargeAnswers,
}

/// A handler's access to it.
pub(crate) type Shared = axum::extract::State<Arc<AppState>>;

/// The running server; dropping it stops the server.
pub struct Server {
    /// Present until the drop.
    runtime: Option<Runtime>,
    counting: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting for requests in flight would block the dropping thread.
            runtime.shutdown_background();
        }
        self.counting.abort();
    }
}

/// Starts to serve.
///
/// # Errors
/// [`HttpError::Options`]: the address cannot be used, or others could reach it without a token.
pub async fn start(
    options: &HttpOptions,
    database_url: &str,
    health: Arc<dyn WorkerHealth>,
) -> Result<Server, HttpError> {
    options.validate().map_err(HttpError::Options)?;
    if options.is_weak() {
        warn!("PLUMBLINE_HTTP_TOKEN is short and could be guessed; set a longer secret");
    }
    let name = ConnectOptions {
        max_connections: CONNECTIONS,
        application_name: "plumbline http".into(),
        statement_timeout: Some(STATEMENT),
    };
    let store = Store::connect(database_url, name).await?;
    let listener = bind(options).await.map_err(HttpError::Options)?;
    let address =
        listener.local_addr().map_err(|error| HttpError::Options(format!("the HTTP address is unknown: {error}")))?;
    let counting = tokio::spawn(plumbline_telemetry::queue::keep_counting(store.clone()));
    let state = Arc::new(AppState {
        store,
        health,
        renderer: Renderer::new(),
        streams: Arc::default(),
        large: LargeAnswers::default(),
    });
    let app = router(state, &access::Access::new(options));
    let runtime = serve_apart(listener, app)
        .map_err(|error| HttpError::Options(format!("the HTTP server could not be started ({error})")))?;
    info!(http.address = %address, "dashboard at http://{address}/");
    if let Some(announce) = options.announce {
        announce(address);
    }
    Ok(Server { runtime: Some(runtime), counting })
}

/// Serves on dedicated threads, which poll the listener themselves.
fn serve_apart(listener: TcpListener, app: Router) -> io::Result<Runtime> {
    let listener = listener.into_std()?;
    let runtime =
        Builder::new_multi_thread().worker_threads(THREADS).thread_name("plumbline-http").enable_all().build()?;
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener)?
    };
    runtime.spawn(connections::serve(listener, app));
    Ok(runtime)
}

fn router(state: Arc<AppState>, guard: &access::Access) -> Router {
    let guard = Arc::new(guard.clone());
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/assets/{name}", get(assets::serve))
        .route("/favicon.ico", get(assets::icon))
        .route("/", get(pages::list::show))
        .route("/jobs/{id}", get(pages::overview::show))
        .route("/jobs/{id}/timeline", get(pages::timeline::show))
        .route("/jobs/{id}/plan", get(pages::plan::show))
        .route("/jobs/{id}/files", get(pages::files::list))
        .route("/jobs/{id}/file", get(pages::files::view))
        .route("/jobs/{id}/raw", get(pages::files::download))
        .route("/jobs/{id}/report", get(pages::report::show))
        .route("/jobs/{id}/requirements", get(pages::requirements::list))
        .route("/jobs/{id}/requirements/{requirement}", get(pages::requirements::view))
        .route("/api/jobs", get(api::jobs))
        .route("/api/jobs/events", get(events::of_all))
        .route("/api/jobs/{id}", get(api::job))
        .route("/api/jobs/{id}/events", get(events::of_job))
        .fallback(pages::nothing_here)
        .with_state(state)
        .layer(middleware::from_fn(pages::error::in_usual_form))
        .layer(middleware::from_fn_with_state(guard, access::check))
}
