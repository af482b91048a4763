//! The system prepares documents: their text is extracted and split into passages, one document per step, before the
//! first request, and whenever a new document arrives.

use super::refuse_intake;
use crate::{
    Beginning, CutDocument, Intake, MessageKind, Opening, Passage, Prepare, Prepared, Product, Run, Source, Stage,
    ledger::Ledger,
    phase::{NextPhase, transition::open_phase},
};
use chrono::{DateTime, Utc};

/// Maximum documents whose findings the model is told; the others are counted.
const MAX_NOTES: usize = 20;
/// Maximum documents without text whose reasons are listed if no document has text.
const MAX_REASONS: usize = 3;

/// Whether documents are to be prepared now: at the start, or after the model had a phase of work to do it.
fn is_to_prepare(run: &Run) -> bool {
    let now = match run.settings.prepare {
        Prepare::Start => true,
        Prepare::Model => run.state.phase.tactical > 0 && run.state.phase.kind == crate::PhaseKind::Strategic,
    };
    now && (run.workspace.unprepared(&run.ledger).next().is_some() || run.state.carries_over().is_some())
}

/// The job's documents are available: they are prepared, then the first phase opens.
pub(super) fn begin_work(run: &mut Run, beginning: Beginning, now: DateTime<Utc>) {
    match is_to_prepare(run) {
        true => run.state.stage = Stage::Prepare { beginning },
        false => open_first_phase(run, beginning, now),
    }
}

/// The run is about to call the model, but first prepares documents that are not prepared yet.
pub(crate) fn prepare_or_ask(run: &mut Run, now: DateTime<Utc>) {
    match run.exit.is_none() && is_to_prepare(run) {
        true => run.state.stage = Stage::Prepare { beginning: Beginning::default() },
        false => run.ready_for_model(now),
    }
}

/// The same for a run that is about to call the model when it is loaded: a fork at a step before its documents were
/// cut again has no passages of them.
pub(crate) fn start_preparation(run: &mut Run) {
    if matches!(run.state.stage, Stage::Model) && is_to_prepare(run) {
        run.state.stage = Stage::Prepare { beginning: Beginning::default() };
    }
}

pub(super) fn apply(run: &mut Run, prepared: Prepared, now: DateTime<Utc>) {
    let Stage::Prepare { mut beginning } = std::mem::replace(&mut run.state.stage, Stage::Model) else {
        return;
    };
    let Prepared { document, note, products } = prepared;
    for product in products {
        run.record_product(product);
    }
    if !run.ledger.knows(&document) {
        let known = with_warning(run.workspace.sources(), &document, &note);
        known.into_iter().for_each(|source| run.record_product(Product::AddSource(source)));
        run.record_product(Product::CutDocument(Box::new(without_text(next_passage(&run.ledger), &document, &note))));
    }
    if !note.is_empty() && beginning.notes.len() < MAX_NOTES {
        beginning.notes.push(note);
    }
    go_on_prepared(run, beginning, now);
}

/// Continues with the remaining documents, then with the model.
pub(super) fn go_on_prepared(run: &mut Run, beginning: Beginning, now: DateTime<Utc>) {
    if run.workspace.unprepared(&run.ledger).next().is_some() || run.state.carries_over().is_some() {
        run.state.stage = Stage::Prepare { beginning };
    } else if run.state.phase.number == 0 {
        match without_any_text(&run.ledger, run.workspace.sources()) {
            Some(reason) => {
                // A retry takes in the documents again: they may have been replaced.
                run.state.stage = Stage::Intake;
                refuse_intake(run, reason, true);
            }
            None => open_first_phase(run, beginning, now),
        }
    } else {
        if !beginning.notes.is_empty() {
            let text = format!("Documents were prepared that had no passages yet:\n\n{}", beginning.notes.join("\n\n"));
            run.conversation.say(&mut run.step, MessageKind::Nudge, text);
        }
        run.ready_for_model(now);
    }
}

fn open_first_phase(run: &mut Run, beginning: Beginning, now: DateTime<Utc>) {
    run.beginning = beginning;
    open_phase(run, NextPhase::strategic(Opening::Initial), None, now);
    run.beginning = Beginning::default();
    run.ready_for_model(now);
}

/// Applies the files of an intake.
pub(super) fn take_files(run: &mut Run, intake: Intake) {
    for file in intake.files {
        run.record_product(Product::WriteFile(file));
    }
    if let Some(shared) = intake.shared {
        run.record_product(Product::ShareFiles(shared));
    }
    for source in intake.sources {
        run.ledger.forget_unreadable(&source.path);
        // A document that could not be obtained has no file: its passage has the reason.
        let reason = source.warnings.join(" ");
        let unread = (!reason.is_empty() && !run.workspace.files().contains_key(&source.path))
            .then(|| without_text(next_passage(&run.ledger), &source.path, &reason));
        run.record_product(Product::AddSource(source));
        if let Some(unread) = unread {
            run.record_product(Product::CutDocument(Box::new(unread)));
        }
    }
}

/// A document without text: one passage, which cannot be read, and the reason.
fn without_text(number: i32, document: &str, reason: &str) -> CutDocument {
    let passage = Passage { reason: Some(reason.to_string()), ..Passage::unread(number, document, 1) };
    CutDocument { document: document.to_string(), passages: vec![passage] }
}

/// A document that could not be read, with the reason as its warning, if it has none.
fn with_warning(sources: &[Source], document: &str, reason: &str) -> Option<Source> {
    let source = sources.iter().find(|source| source.path == document && source.warnings.is_empty())?;
    (!reason.is_empty()).then(|| Source { warnings: vec![reason.to_owned()], ..source.clone() })
}

/// Why none of a job's documents has text: then there is nothing to do, and no request is made.
fn without_any_text(ledger: &Ledger, sources: &[Source]) -> Option<String> {
    let mut passages = ledger.all().peekable();
    if passages.peek().is_none() || passages.any(Passage::has_text) {
        return None;
    }
    let why =
        |source: &Source| source.warnings.first().cloned().unwrap_or_else(|| format!("{} has no text", source.path));
    let reasons: Vec<String> = sources.iter().map(why).collect();
    let more = reasons.len().saturating_sub(MAX_REASONS);
    let named = reasons.iter().take(MAX_REASONS).map(String::as_str).collect::<Vec<_>>().join("; ");
    Some(if more > 0 { format!("{named}; and {more} more documents without text") } else { named })
}

fn next_passage(ledger: &Ledger) -> i32 {
    ledger.all().map(|passage| passage.number).max().unwrap_or(0) + 1
}
