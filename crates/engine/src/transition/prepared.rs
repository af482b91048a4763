//! The system prepares documents: their text is extracted and split into passages, one document per step, before the
//! first request, and whenever a new document arrives.

use super::{leave, phases::open_phase, ready_for_model, refused_intake};
use crate::{
    Beginning, CutDocument, Intake, MessageKind, NextPhase, Opening, Passage, Prepare, Prepared, Product, Run, Source,
    Stage, ledger::Ledger,
};
use chrono::{DateTime, Utc};

/// Maximum documents whose findings the model is told; the others are counted.
const MAX_NOTES: usize = 20;
/// Maximum documents without text whose reasons are listed if no document has text.
const MAX_REASONS: usize = 3;

/// Whether documents are to be prepared now: at the start, or after the model had a phase of work to do it.
pub(super) fn is_to_prepare(run: &Run) -> bool {
    let now = match run.settings().prepare {
        Prepare::Start => true,
        Prepare::Model => run.state().phase.tactical > 0 && run.state().phase.kind == crate::PhaseKind::Strategic,
    };
    now && (run.workspace().unprepared(run.ledger()).next().is_some() || run.state().carries_over().is_some())
}

/// The run is about to call the model, but first prepares documents that are not prepared yet.
pub(super) fn prepare_or_ask(run: &mut Run, now: DateTime<Utc>) {
    match run.exit().is_none() && is_to_prepare(run) {
        true => run.state_mut().stage = Stage::Prepare { beginning: Beginning::default() },
        false => ready_for_model(run, now),
    }
}

pub(super) fn apply(run: &mut Run, prepared: Prepared, now: DateTime<Utc>) {
    let Prepared { document, note, products } = prepared;
    products.into_iter().for_each(|product| run.record_product(product));
    if !run.ledger().knows(&document) {
        let known = with_warning(run.workspace().sources(), &document, &note);
        known.into_iter().for_each(|source| run.record_product(Product::AddSource(source)));
        let unread = without_text(next_passage(run.ledger()), &document, &note);
        run.record_product(Product::CutDocument(Box::new(unread)));
    }
    if let Stage::Prepare { beginning } = &mut run.state_mut().stage
        && !note.is_empty()
        && beginning.notes.len() < MAX_NOTES
    {
        beginning.notes.push(note);
    }
    go_on_prepared(run, now);
}

/// Continues with the remaining documents, then with the model.
pub(super) fn go_on_prepared(run: &mut Run, now: DateTime<Utc>) {
    if run.workspace().unprepared(run.ledger()).next().is_some() || run.state().carries_over().is_some() {
        return;
    }
    if run.state().phase.number > 0 {
        let notes = &run.state().beginning().notes;
        if !notes.is_empty() {
            let text = format!("Documents were prepared that had no passages yet:\n\n{}", notes.join("\n\n"));
            run.say(MessageKind::Nudge, text);
        }
        return ready_for_model(run, now);
    }
    match without_any_text(run.ledger(), run.workspace().sources()) {
        Some(reason) => {
            // A retry takes in the documents again: they may have been replaced.
            run.state_mut().stage = Stage::Intake;
            leave(run, refused_intake(reason, true));
        }
        None => open_first_phase(run, now),
    }
}

pub(super) fn open_first_phase(run: &mut Run, now: DateTime<Utc>) {
    open_phase(run, NextPhase::strategic(Opening::Initial), None, now);
    ready_for_model(run, now);
}

/// Applies the files of an intake.
pub(super) fn take_files(run: &mut Run, intake: Intake) {
    intake.files.into_iter().for_each(|file| run.record_product(Product::WriteFile(file)));
    intake.shared.into_iter().for_each(|shared| run.record_product(Product::ShareFiles(shared)));
    for source in intake.sources {
        run.ledger_mut().0.forget_unreadable(&source.path);
        // A document that could not be obtained has no file: its passage has the reason.
        let reason = source.warnings.join(" ");
        let unread = (!reason.is_empty() && !run.workspace().files().contains_key(&source.path))
            .then(|| without_text(next_passage(run.ledger()), &source.path, &reason));
        run.record_product(Product::AddSource(source));
        unread.into_iter().for_each(|unread| run.record_product(Product::CutDocument(Box::new(unread))));
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
