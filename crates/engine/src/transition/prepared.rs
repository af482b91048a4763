//! Documents are prepared by the system: their text is taken out and cut into passages, one document a step, before the first
//! request, and whenever a document has come that nobody has prepared.

use crate::{
    Beginning, CutDocument, Intake, MessageKind, Opening, Passage, Prepare, Prepared, Product, Role, Run, Stage,
    phase::{opening, transition::NextPhase},
};
use chrono::{DateTime, Utc};

/// Documents of which the model is told what was found; the others are counted.
const MAX_NOTES: usize = 20;

impl Run {
    /// The files under `input/` that have no passages yet, but for the job's context.
    pub(crate) fn unprepared(&self) -> impl Iterator<Item = &str> {
        let given = self.files.range("input/".to_string()..).map(|(path, _)| path.as_str());
        let given = given.take_while(|path| path.starts_with("input/"));
        given.filter(|path| *path != opening::CONTEXT && !self.ledger.knows(path))
    }

    /// Whether documents are to be prepared now: at the start, or once the model had a phase of work for it.
    fn is_to_prepare(&self) -> bool {
        let now = match self.settings.prepare {
            Prepare::Start => true,
            Prepare::Model => self.state.phase.tactical > 0 && self.state.phase.kind == crate::PhaseKind::Strategic,
        };
        now && (self.unprepared().next().is_some() || self.carries_over().is_some())
    }

    /// The job's documents are at hand: they are prepared, then the first phase opens.
    pub(super) fn begin(&mut self, beginning: Beginning, now: DateTime<Utc>) {
        match self.is_to_prepare() {
            true => self.state.stage = Stage::Prepare { beginning },
            false => self.open_first_phase(beginning, now),
        }
    }

    /// The run is about to ask the model, but for documents that nobody has prepared.
    pub(crate) fn prepare_or_ask(&mut self, now: DateTime<Utc>) {
        match self.exit.is_none() && self.is_to_prepare() {
            true => self.state.stage = Stage::Prepare { beginning: Beginning::default() },
            false => self.ready_for_model(now),
        }
    }

    /// The same for a run that is about to ask the model as it is loaded: a fork at a step before its documents were cut anew
    /// has no passages of them.
    pub(crate) fn prepare_what_is_not(&mut self) {
        if matches!(self.state.stage, Stage::Model) && self.is_to_prepare() {
            self.state.stage = Stage::Prepare { beginning: Beginning::default() };
        }
    }

    pub(super) fn prepared(&mut self, prepared: Prepared, now: DateTime<Utc>) {
        let Stage::Prepare { mut beginning } = std::mem::replace(&mut self.state.stage, Stage::Model) else {
            return;
        };
        let Prepared { document, note, products } = prepared;
        for product in products {
            self.record_product(product);
        }
        if !self.ledger.knows(&document) {
            self.record_product(Product::CutDocument(Box::new(without_text(self.next_passage(), &document, &note))));
        }
        if !note.is_empty() && beginning.notes.len() < MAX_NOTES {
            beginning.notes.push(note);
        }
        self.go_on_prepared(beginning, now);
    }

    /// Goes on with what is left to prepare, and then to the model.
    pub(super) fn go_on_prepared(&mut self, beginning: Beginning, now: DateTime<Utc>) {
        if self.unprepared().next().is_some() || self.carries_over().is_some() {
            self.state.stage = Stage::Prepare { beginning };
        } else if self.state.phase.number == 0 {
            self.open_first_phase(beginning, now);
        } else {
            if !beginning.notes.is_empty() {
                let text =
                    format!("Documents were prepared that had no passages yet:\n\n{}", beginning.notes.join("\n\n"));
                self.push_message(Role::User, MessageKind::Nudge, text);
            }
            self.ready_for_model(now);
        }
    }

    fn open_first_phase(&mut self, beginning: Beginning, now: DateTime<Utc>) {
        self.beginning = beginning;
        self.open_phase(NextPhase::strategic(Opening::Initial), None, now);
        self.beginning = Beginning::default();
        self.ready_for_model(now);
    }

    fn next_passage(&self) -> i32 {
        self.ledger.all().map(|passage| passage.number).max().unwrap_or(0) + 1
    }

    /// Hands the rows of the ledger that this outcome has changed to the step.
    pub(super) fn record_coverage(&mut self) {
        let (put, dropped) = self.ledger.take_changes();
        if !dropped.is_empty() {
            self.pending.push(crate::Change::PassagesDropped(dropped));
        }
        if !put.is_empty() {
            self.pending.push(crate::Change::PassagesPut(put));
        }
    }

    /// Takes in the files of an intake.
    pub(super) fn take_files(&mut self, intake: Intake) {
        for file in intake.files {
            self.record_product(Product::WriteFile(file));
        }
        if let Some(shared) = intake.shared {
            self.record_product(Product::ShareFiles(shared));
        }
        for source in intake.sources {
            self.record_product(Product::AddSource(source));
        }
    }
}

/// A document that has no text: one passage, which cannot be read, and the reason.
fn without_text(number: i32, document: &str, reason: &str) -> CutDocument {
    let passage = Passage { reason: Some(reason.to_string()), ..Passage::unread(number, document, 1) };
    CutDocument { document: document.to_string(), passages: vec![passage] }
}
