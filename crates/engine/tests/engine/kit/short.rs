//! Changes and effects in one line each, for snapshots.

use plumbline_engine::{ApprovalChange, Change, Effect, JobExit, Message, Product, RequestMessage};

/// A change in one line.
pub(crate) fn change(change: &Change) -> String {
    match change {
        Change::Message(message) => format!("message {}", said(message)),
        Change::ResultsCleared(seqs) => format!("results cleared: {seqs:?}"),
        Change::PhaseOpened { number, kind, name } => format!("phase {number} opens: {}, '{name}'", kind.as_str()),
        Change::PhaseClosed { number, outcome } => format!("phase {number} closes: {}", outcome.as_str()),
        Change::TodosPut { phase_number, todos } => format!("todos of phase {phase_number}: {}", todos.len()),
        Change::TodoMoved { phase_number, position, status, notes } => {
            let notes = notes.as_deref().map(|notes| format!(" ({notes})")).unwrap_or_default();
            format!("todo {position} of phase {phase_number}: {}{notes}", status.as_str())
        }
        Change::TodoUnevidenced { phase_number, position } => format!("todo {phase_number}.{position} is unevidenced"),
        Change::PassagesPut(passages) => format!("{} passages put", passages.len()),
        Change::PassagesDropped(numbers) => format!("passages dropped: {numbers:?}"),
        Change::Product(product) => produced(product),
        Change::Request(record) => match &record.error {
            Some(error) => format!("request failed: {error}"),
            None => format!("request of {} + {} tokens", record.prompt_tokens, record.completion_tokens),
        },
        Change::FeedbackTaken(ids) => format!("feedback taken: {ids:?}"),
        Change::Approval(change) => approval(change),
        Change::Exited(leave) => leaves(leave),
    }
}

fn said(message: &Message) -> String {
    let calls: Vec<String> =
        message.tool_calls.iter().map(|call| format!(" → {} {}", call.name, call.arguments)).collect();
    format!("{} {:?}: {}{}", message.seq, message.kind, clip(&message.content), clip(&calls.concat()))
}

fn produced(product: &Product) -> String {
    match product {
        Product::WriteFile(file) => format!("file {} written", file.path),
        Product::ShareFiles(shared) => format!("{} shared files", shared.files.len()),
        Product::AppendFile { path, text } => format!("file {path} + {text:?}"),
        Product::DeleteFile { path } => format!("file {path} deleted"),
        Product::AddSource(source) => format!("source {}", source.path),
        Product::CutDocument(cut) => format!("{} cut", cut.document),
        Product::DeliverQuotes(touched) => format!("quotes at {} places delivered", touched.len()),
        Product::DecidePassage(decision) => format!("passage {} decided", decision.passage),
        Product::AddCitation(citation) => format!("citation {}", citation.id),
        Product::AddRequirement(requirement) => format!("requirement {:?}", requirement.text),
        Product::ChangeRequirement(change) => format!("requirement {} {}", change.candidate_id, change.kind()),
        Product::JudgeRequirement(judgement) => format!("requirement {} {:?}", judgement.id, judgement.verdict),
    }
}

fn approval(change: &ApprovalChange) -> String {
    match change {
        ApprovalChange::Asked { calls, .. } => {
            let calls: Vec<String> = calls.iter().map(|call| format!("{} {}", call.tool, call.shown)).collect();
            format!("asked for: {}", calls.join(", "))
        }
        ApprovalChange::Executed { call_id, .. } => format!("{call_id} leaves, as approved"),
        ApprovalChange::Closed { call_id, reason } => format!("the approval of {call_id} is over: {}", clip(reason)),
        ApprovalChange::Answered { call_id, outcome } => format!("{call_id} came out: {outcome:?}"),
    }
}

fn leaves(leave: &JobExit) -> String {
    match leave {
        JobExit::Completed { result } => format!("job completed: {}", result["summary"]),
        JobExit::Review { reason, .. } => format!("job in review: {reason}"),
        JobExit::AwaitsDecision { calls } => format!("job waits for decisions on {calls} calls"),
        JobExit::Failed(error) => format!("job failed: {} ({})", error.message, error.details["kind"]),
        JobExit::Paused { reason } => format!("job paused: {reason}"),
        JobExit::Parked { until, reason } => format!("job parked until {}: {reason}", until.format("%H:%M:%S")),
    }
}

/// The next effect in one line.
pub(crate) fn effect(effect: &Effect<'_>) -> String {
    match effect {
        Effect::Intake => "take in the documents".into(),
        Effect::Carry { previous } => format!("carry over from {previous}"),
        Effect::Prepare { document } => format!("prepare {document}"),
        Effect::CallModel(request) => {
            let list = request.messages.iter().find_map(|message| match message {
                RequestMessage::User(text) | RequestMessage::System(text) => Some(text),
                RequestMessage::Stored(_) => None,
            });
            let current = list.and_then(|list| list.lines().find(|line| line.contains("← CURRENT")));
            let todo = current
                .map(|line| format!(", at {}", line.trim_end_matches(" ← CURRENT").trim_end()))
                .unwrap_or_default();
            let attempt = if request.attempt > 1 { format!(", attempt {}", request.attempt) } else { String::new() };
            format!("call the model ({}, {} messages{attempt}{todo})", request.purpose.as_str(), request.messages.len())
        }
        Effect::RunTools { calls, .. } => {
            let verb = if calls.iter().any(|call| call.check.is_some()) { "look at" } else { "run" };
            let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
            format!("{verb} [{}]", names.join(", "))
        }
        Effect::Wait { until } => format!("wait until {}", until.format("%H:%M:%S")),
        Effect::Exit(leave) => leaves(leave),
    }
}

/// One line of at most a hundred characters.
fn clip(text: &str) -> String {
    let line = text.replace('\n', "⏎");
    if line.chars().count() <= 100 { line } else { line.chars().take(100).chain(['…']).collect() }
}
