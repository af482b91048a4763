//! Compares a replayed step with the recording. The order is that of cause and effect: messages, effects, state; so the
//! first difference is nearest to its cause.

use super::{Difference, ReplayContext, memory_job::MemoryJob, replayed::ReplayedStep, shown};
use plumbline_engine::{Change, Guards, Message, MessageKind, Product, RequirementChange, Retry, State};
use plumbline_store::RecordedStep;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The first difference between a recorded step and its replay; `rows` are those before it.
pub(crate) fn step(
    bench: &ReplayContext<'_>,
    rows: &MemoryJob,
    recorded: &RecordedStep,
    now: &ReplayedStep,
) -> Option<Difference> {
    let differs =
        |what: String, recorded_text: &str, now: &str| Some(Difference::new(recorded.step, what, recorded_text, now));
    requests(recorded, now)
        .or_else(|| messages(recorded, now))
        .or_else(|| files(rows, recorded, now))
        .or_else(|| lists("effects", &effects(recorded), &effects_now(rows, &now.changes)))
        .or_else(|| lists("citations", &texts(&recorded.citations), &citations_now(rows, &now.changes)))
        .or_else(|| lists("requirements", &texts(&recorded.requirements), &requirements_now(&now.changes)))
        .or_else(|| lists("requirements put right", &texts(&recorded.put_right), &corrections_now(&now.changes)))
        .or_else(|| lists("cleared results", &cleared(recorded), &cleared_now(&now.changes)))
        .or_else(|| state(bench, recorded, &now.state))
        .and_then(|Mismatch { what, recorded, now }| differs(what, &recorded, &now))
}

/// A pair of different values.
struct Mismatch {
    what: String,
    recorded: String,
    now: String,
}

impl Mismatch {
    fn new(what: impl Into<String>, recorded: impl Into<String>, now: impl Into<String>) -> Self {
        Self { what: what.into(), recorded: recorded.into(), now: now.into() }
    }
}

fn requests(recorded: &RecordedStep, now: &ReplayedStep) -> Option<Mismatch> {
    let (then, asked) = (recorded.ended_requests().count(), usize::from(now.request.is_some()));
    (then != asked).then(|| Mismatch::new("the number of requests", then.to_string(), asked.to_string()))
}

fn messages(recorded: &RecordedStep, now: &ReplayedStep) -> Option<Mismatch> {
    let said: Vec<&Message> = now
        .changes
        .iter()
        .filter_map(|change| if let Change::Message(message) = change { Some(message) } else { None })
        .collect();
    let pairs = recorded.messages.iter().zip(&said).find_map(|(then, now)| message(then, now));
    pairs.or_else(|| {
        let (then, now) = (recorded.messages.get(said.len()), said.get(recorded.messages.len()));
        let text = |message: Option<&Message>| {
            message.map_or_else(|| "nothing more".to_owned(), |m| format!("{}: {}", kind(m), m.content))
        };
        let seq = then.or(now.copied())?.seq;
        Some(Mismatch::new(format!("message {seq}"), text(then), text(now.copied())))
    })
}

fn message(then: &Message, now: &Message) -> Option<Mismatch> {
    let what = format!("message {} ({})", then.seq, kind(then));
    if (then.seq, then.role, then.kind) != (now.seq, now.role, now.kind) {
        return Some(Mismatch::new(what, kind(then), kind(now)));
    }
    if then.content != stored(&now.content) {
        return Some(Mismatch::new(what, &then.content, &now.content));
    }
    let rest =
        |message: &Message| serde_json::json!([message.tool_calls, message.tool_call_id, message.extra]).to_string();
    let (then, now) = (rest(then), rest(now));
    (then != stored(&now)).then(|| Mismatch::new(format!("{what}'s calls"), then, now))
}

/// Postgres stores no NUL characters; see the store's `bind`.
fn stored(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

fn kind(message: &Message) -> &'static str {
    match message.kind {
        MessageKind::System => "system prompt",
        MessageKind::Opening => "opening",
        MessageKind::Summary => "summary",
        MessageKind::Feedback => "feedback",
        MessageKind::Nudge => "nudge",
        MessageKind::Reply => "answer",
        MessageKind::ToolResult => "tool result",
    }
}

fn files(rows: &MemoryJob, recorded: &RecordedStep, now: &ReplayedStep) -> Option<Mismatch> {
    let changed = rows.job.file_changes(&now.changes);
    let paths: BTreeSet<&String> = recorded.files.keys().chain(changed.keys()).collect();
    paths.into_iter().find_map(|path| {
        let before = rows.job.file(path);
        let then = recorded.files.get(path).map_or(before, Option::as_deref);
        let now = changed.get(path).map_or(before, Option::as_deref);
        let differs = then != now && (path != "error.md" || without_times(then) != without_times(now));
        differs.then(|| Mismatch::new(format!("file {path}"), text(then), text(now)))
    })
}

fn text(content: Option<&[u8]>) -> String {
    content.map_or_else(|| "(no file)".to_owned(), |content| String::from_utf8_lossy(content).into_owned())
}

/// `error.md` without the times of its failures: they are the worker's clock, and no row of the steps has them.
fn without_times(content: Option<&[u8]>) -> Vec<String> {
    let is_time = |line: &&str| line.starts_with("- first_error_at: ") || line.starts_with("- last_error_at: ");
    text(content).lines().filter(|line| !is_time(line)).map(str::to_owned).collect()
}

/// Phases that opened and closed, and todos that were closed. The time at which a todo was written is not in the rows
/// of a rewritten list; it shows in the openings, the archives and `todos.yaml`.
fn effects(recorded: &RecordedStep) -> Vec<String> {
    let effects = recorded.effects.iter().filter(|effect| effect.kind != "todo written");
    sorted(effects.map(|effect| format!("{} {}", effect.kind, effect.what)))
}

fn effects_now(rows: &MemoryJob, changes: &[Change]) -> Vec<String> {
    let mut opened = std::collections::BTreeMap::new();
    let mut effects = Vec::new();
    for change in changes {
        match change {
            Change::PhaseOpened { number, kind, name } => {
                opened.insert(*number, (*kind, name.as_str()));
                effects.push(format!("phase opened {number} ({}): {name}", kind.as_str()));
            }
            Change::PhaseClosed { number, outcome } => {
                let phase = opened
                    .get(number)
                    .copied()
                    .or_else(|| rows.job.phases.get(number).map(|phase| (phase.kind, phase.name.as_str())));
                let (kind, name) = phase.map_or(("unknown", ""), |(kind, name)| (kind.as_str(), name));
                effects.push(format!("phase {} {number} ({kind}): {name}", outcome.as_str()));
            }
            _ => {}
        }
    }
    for (number, list) in rows.job.lists_after(changes) {
        let was =
            |position| rows.job.list(number).iter().find(|todo| todo.position == position).map(|todo| todo.status);
        let closed = list.iter().filter(|todo| !todo.status.is_open() && was(todo.position) != Some(todo.status));
        effects.extend(
            closed.map(|todo| format!("todo {} {number}.{} {}", todo.status.as_str(), todo.position, todo.content)),
        );
    }
    sorted(effects.into_iter())
}

fn texts(values: &[Value]) -> Vec<String> {
    sorted(values.iter().map(in_words))
}

/// A value in comparable form: Postgres stores the number 1.0 of a JSON document as 1.
fn in_words(value: &Value) -> String {
    let mut value = value.clone();
    in_one_form(&mut value);
    value.to_string()
}

fn in_one_form(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15) {
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(in_one_form),
        Value::Object(fields) => fields.values_mut().for_each(in_one_form),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The same citation twice in a job is one row.
fn citations_now(rows: &MemoryJob, changes: &[Change]) -> Vec<String> {
    let mut new = BTreeSet::new();
    sorted(changes.iter().filter_map(|change| match change {
        Change::Product(Product::AddCitation(citation))
            if !rows.has_citation(&citation.id) && new.insert(&citation.id) =>
        {
            serde_json::to_value(citation).ok().map(|value| value.to_string())
        }
        _ => None,
    }))
}

fn requirements_now(changes: &[Change]) -> Vec<String> {
    sorted(changes.iter().filter_map(|change| {
        let Change::Product(Product::AddRequirement(requirement)) = change else { return None };
        let mut value = serde_json::to_value(requirement).ok()?;
        value.as_object_mut()?.remove("content_key");
        Some(in_words(&value))
    }))
}

fn corrections_now(changes: &[Change]) -> Vec<String> {
    sorted(changes.iter().filter_map(|change| {
        let Change::Product(Product::ChangeRequirement(change)) = change else { return None };
        let RequirementChange { candidate_id, reason, fields, .. } = &**change;
        let value = json!({"candidate_id": candidate_id, "kind": change.kind(), "reason": reason, "fields": fields});
        Some(in_words(&value))
    }))
}

fn cleared(recorded: &RecordedStep) -> Vec<String> {
    sorted(recorded.cleared.iter().map(i64::to_string))
}

fn cleared_now(changes: &[Change]) -> Vec<String> {
    sorted(changes.iter().flat_map(|change| match change {
        Change::ResultsCleared(seqs) => seqs.iter().map(i64::to_string).collect(),
        Change::Message(message) if message.cleared => vec![message.seq.to_string()],
        _ => Vec::new(),
    }))
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    // The same citation twice in a step is one row.
    texts.collect::<BTreeSet<_>>().into_iter().collect()
}

fn lists(what: &str, then: &[String], now: &[String]) -> Option<Mismatch> {
    let only = |one: &[String], other: &[String]| one.iter().find(|text| !other.contains(text)).cloned();
    let (gone, new) = (only(then, now), only(now, then));
    (gone.is_some() || new.is_some()).then(|| {
        let none = || "(nothing)".to_owned();
        Mismatch::new(what, gone.unwrap_or_else(none), new.unwrap_or_else(none))
    })
}

/// Requirements of other jobs have their names here, not their ids: of those that were given and not judged, how many there are is
/// compared.
fn count_given(state: &mut Value) {
    let Some(given) = state.get_mut("given") else { return };
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    for result in given["results"].as_array_mut().into_iter().flatten() {
        result["rows"] = count(&result["rows"]).into();
    }
    if let Some(shown) = given.get_mut("shown") {
        *shown = shown.as_object().map_or(0, serde_json::Map::len).into();
    }
}

/// A checkpoint without times and the count of consecutive failures, which depend on the clock, and without a server's
/// counts that were too small: the rows have our own count in their place.
fn repeatable(bench: &ReplayContext<'_>, state: &State) -> State {
    let guards = Guards { small_counts: Default::default(), ..state.guards.clone() };
    State { retry: Retry::default(), started_at: bench.recording.job.started_at, guards, ..state.clone() }
}

/// The checkpoint, if it was kept.
fn state(bench: &ReplayContext<'_>, recorded: &RecordedStep, now: &State) -> Option<Mismatch> {
    let then: State = match serde_json::from_value(recorded.state.clone()?) {
        Ok(state) => state,
        Err(error) => return Some(Mismatch::new("the checkpoint", format!("unreadable: {error}"), "readable")),
    };
    let plain = |state: &State| serde_json::to_value(repeatable(bench, state)).ok();
    let (mut then, mut now) = (plain(&then)?, plain(now)?);
    [&mut then, &mut now].into_iter().for_each(count_given);
    let (then, now) = (then.as_object()?, now.as_object()?);
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    keys.into_iter().find(|key| then.get(*key) != now.get(*key)).map(|key| {
        let part = |map: &serde_json::Map<String, Value>| map.get(key).map(shown).unwrap_or_default();
        Mismatch::new(format!("the checkpoint's `{key}`"), part(then), part(now))
    })
}
