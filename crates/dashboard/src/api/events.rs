//! Server-sent events for changes.
//!
//! Each open stream polls its job's row once a second and sends an event only if the row differs. Steps send no
//! notifications (NOTIFY serializes the commits of the whole server), so polling is the only complete source. A poll is
//! one read by primary key; the number of streams is bounded.

use crate::{
    api,
    pages::error::ApiError,
    server::{Shared, connections::Client, streams::Slot},
};
use axum::{
    Extension,
    extract::{Path, State},
    response::{
        Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{Stream, stream};
use plumbline_store::{Error, JobsPulse, Store, WatchRow};
use std::{
    convert::Infallible,
    time::{Duration, Instant},
};
use tokio::time::{Interval, MissedTickBehavior, interval};
use uuid::Uuid;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Delay before a browser reconnects.
const RETRY: Duration = Duration::from_secs(3);
/// Lifetime of a stream; a browser reopens it by itself, and abandoned streams do not stay forever.
const LIFE: Duration = Duration::from_secs(3600);

/// `/api/jobs/{id}/events`: an event `job` for each change of the row, `end` after the last one.
pub(crate) async fn of_job(
    State(state): Shared,
    Extension(Client(client)): Extension<Client>,
    Path(id): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let slot = state.streams.admit(client)?;
    let job = api::find(&state, &id).await?;
    let source = JobEvents { store: state.store.clone(), id: job.id, last: None, ended: false };
    Ok(serve(source, slot))
}

/// `/api/jobs/events`: an event `jobs` whenever the list of jobs has changed.
pub(crate) async fn of_all(
    State(state): Shared,
    Extension(Client(client)): Extension<Client>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let slot = state.streams.admit(client)?;
    Ok(serve(JobListEvents { store: state.store.clone(), last: None }, slot))
}

/// The subject of a stream.
trait EventSource: Send + 'static {
    /// The event for changes since the last poll, if any; `Err` if no more will come.
    fn poll(&mut self) -> impl Future<Output = Result<Option<Event>, Ended>> + Send;
}

/// No more events will come.
struct Ended;

struct JobEvents {
    store: Store,
    id: Uuid,
    last: Option<WatchRow>,
    ended: bool,
}

impl EventSource for JobEvents {
    async fn poll(&mut self) -> Result<Option<Event>, Ended> {
        if self.ended {
            return Err(Ended);
        }
        let row = match self.store.watch(self.id).await {
            Ok(Some(row)) => row,
            // The job was pruned.
            Ok(None) => return Ok(Some(self.end())),
            Err(error) => return Ok(trouble(&error)),
        };
        if self.last.as_ref() == Some(&row) {
            let ended = matches!(row.status.as_str(), "completed" | "failed" | "cancelled");
            return Ok(ended.then(|| self.end()));
        }
        let event = Event::default().event("job").id(row.step.to_string()).json_data(&row);
        self.last = Some(row);
        Ok(event.ok())
    }
}

impl JobEvents {
    fn end(&mut self) -> Event {
        self.ended = true;
        let status = self.last.as_ref().map_or("gone", |row| row.status.as_str());
        Event::default().event("end").data(status)
    }
}

struct JobListEvents {
    store: Store,
    last: Option<JobsPulse>,
}

impl EventSource for JobListEvents {
    async fn poll(&mut self) -> Result<Option<Event>, Ended> {
        let pulse = match self.store.jobs_pulse().await {
            Ok(pulse) => pulse,
            Err(error) => return Ok(trouble(&error)),
        };
        if self.last == Some(pulse) {
            return Ok(None);
        }
        self.last = Some(pulse);
        Ok(Event::default().event("jobs").json_data(pulse).ok())
    }
}

/// The stream survives database errors; a comment tells the client why it is quiet.
fn trouble(error: &Error) -> Option<Event> {
    tracing::debug!(%error, "an event stream could not read the rows");
    Some(Event::default().comment("the database does not answer; retrying"))
}

struct Polling<L> {
    source: L,
    clock: Interval,
    ends: Instant,
    _slot: Slot,
}

fn serve<L: EventSource>(source: L, slot: Slot) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut clock = interval(LOOK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let first = stream::iter([Ok(Event::default().retry(RETRY))]);
    let later =
        stream::unfold(Polling { source, clock, ends: Instant::now() + LIFE, _slot: slot }, |mut polling| async move {
            while Instant::now() < polling.ends {
                polling.clock.tick().await;
                match polling.source.poll().await {
                    Ok(Some(event)) => return Some((Ok(event), polling)),
                    Ok(None) => {}
                    Err(Ended) => return None,
                }
            }
            None
        });
    Sse::new(futures_util::StreamExt::chain(first, later))
        .keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}
