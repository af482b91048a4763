//! The table: every stage × every outcome, with its consequences. The snapshot is the state machine's documentation.
//!
//! The stages, effects and outcomes come from the types: one without a row or column fails
//! [`every_constructor_has_its_place`].

use crate::kit::{Dialogue, call, change, failure, intake, reply, says, settings};
use plumbline_engine::{
    Autonomy, Carried, Change, CutDocument, Effect, EffectKind, FailureClass, Feedback, FileWrite, FinishReason,
    Intake, Outage, Outcome, OutcomeKind, Passage, Prepare, Prepared, Product, Reply, Settings, Source, StageKind,
    ToolReturn, Versions,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;
use strum::IntoEnumIterator;
use uuid::Uuid;

fn name_of_outcome(outcome: &Outcome) -> &'static str {
    OutcomeKind::from(outcome).into()
}

/// Every class, in order; a new one fails to compile because of the match.
fn classes() -> Vec<FailureClass> {
    use FailureClass as C;
    let after = |class: C| match class {
        C::Transient => Some(C::RateLimited),
        C::RateLimited => Some(C::Overloaded),
        C::Overloaded => Some(C::Quota),
        C::Quota => Some(C::Unauthorized),
        C::Unauthorized => Some(C::ContextTooLong),
        C::ContextTooLong => Some(C::Refused),
        C::Refused => Some(C::Malformed),
        C::Malformed => Some(C::Permanent),
        // An abandoned request is not an outcome: no adapter reports it.
        C::Permanent | C::Abandoned => None,
    };
    std::iter::successors(Some(C::Transient), |class| after(*class)).collect()
}

/// Creates a run at a stage.
type Row = (&'static str, fn() -> Dialogue);

/// Each stage, and the same stages while waiting or after leaving.
const ROWS: [Row; 11] = [
    ("intake", || Dialogue::new(settings())),
    ("prepare", preparing),
    ("prepare, with a job before", carrying),
    ("model", || Dialogue::working(settings(), 1)),
    ("model, waiting", waiting),
    ("tools", || at_tools(settings())),
    ("tools, one dispatched", dispatched),
    ("tools, in doubt", in_doubt),
    ("summary", at_summary),
    ("review, with feedback", in_review),
    ("left", left),
];

fn preparing() -> Dialogue {
    let mut dialogue = Dialogue::new(settings());
    dialogue.try_apply(intake()).expect("the job's documents are at hand");
    dialogue
}

fn waiting() -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.fails(FailureClass::Transient);
    dialogue
}

fn at_tools(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::working(settings, 1);
    let calls = ["web_search", "send_letter"].map(|name| call(name, &json!({"query": "GoBD"})));
    dialogue.apply(Outcome::ModelReplied(reply("", calls.to_vec())));
    dialogue
}

fn carrying() -> Dialogue {
    let mut dialogue = Dialogue::new(Dialogue::with(|settings| settings.prepare = Prepare::Start));
    let Outcome::IntakeDone(taken) = intake() else { panic!("the kit's intake is one") };
    let previous = Some(Uuid::from_u128(6));
    dialogue.apply(Outcome::IntakeDone(Intake { previous, ..taken }));
    dialogue
}

fn dispatched() -> Dialogue {
    let mut dialogue = at_tools(settings());
    let first = returns(&dialogue);
    dialogue.apply(Outcome::ToolsReturned(first));
    dialogue
}

fn in_doubt() -> Dialogue {
    let mut dialogue = dispatched();
    dialogue.crash();
    dialogue
}

fn at_summary() -> Dialogue {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.context_threshold_tokens = 3000), 1);
    let mut long = says(&"the policy says more. ".repeat(400));
    long.record.prompt_tokens = 3000;
    dialogue.reply(long);
    dialogue
}

fn in_review() -> Dialogue {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.autonomy = Autonomy::Review));
    dialogue.call("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."}));
    let undelivered = ["all but the first page: nothing else was asked for"];
    let result =
        json!({"summary": "Done.", "deliverables": ["output/a.md"], "undelivered": undelivered, "confidence": 1});
    dialogue.call("job_complete", result);
    dialogue.toy.feedback.push(feedback(&dialogue).remove(0));
    dialogue.resume(|_| {});
    dialogue
}

fn left() -> Dialogue {
    let mut dialogue = Dialogue::new(settings());
    dialogue.apply(Outcome::IntakeRefused { reason: "the document is missing.".into(), no_text: false });
    dialogue
}

fn feedback(dialogue: &Dialogue) -> Vec<Feedback> {
    vec![Feedback { id: 1, text: "Mind annex B.".into(), created_at: dialogue.now }]
}

fn placed() -> Intake {
    let file = FileWrite::text("input/annex.md", "Annex");
    let source = Source { path: file.path.clone(), size: 5, pages: None, text_path: None, ..Source::default() };
    Intake { files: vec![file], sources: vec![source], ..Intake::default() }
}

/// Every outcome, in the variants that have different consequences.
fn columns(dialogue: &Dialogue) -> Vec<(String, Outcome)> {
    let engine_call = call("get_progress", &json!({}));
    let local_call = call("write_file", &json!({"path": "a.md", "content": "x"}));
    let cut = Reply { finish: FinishReason::Truncated, ..reply("", vec![local_call.clone()]) };
    let withheld = Reply { finish: FinishReason::Refused, ..says("") };
    let mut columns = vec![
        ("documents".to_string(), intake()),
        ("reason".into(), Outcome::IntakeRefused { reason: "the document is missing.".into(), no_text: false }),
        ("policy".into(), Outcome::Prepared(prepared())),
        ("a scan".into(), Outcome::Prepared(without_text("input/policy.pdf"))),
        ("no such document".into(), Outcome::Prepared(without_text("input/none.pdf"))),
        (
            "of a job before".into(),
            Outcome::Carried(Carried { passages: Vec::new(), versions: Versions::default(), products: Vec::new() }),
        ),
        ("text".into(), Outcome::ModelReplied(says("Two requirements."))),
        ("own tool".into(), Outcome::ModelReplied(reply("", vec![engine_call]))),
        ("local tool".into(), Outcome::ModelReplied(reply("", vec![local_call]))),
        ("cut".into(), Outcome::ModelReplied(cut)),
        ("withheld".into(), Outcome::ModelReplied(withheld)),
        ("unfinished".into(), Outcome::ModelReplied(Reply { finish: FinishReason::Unfinished, ..says("Two") })),
    ];
    columns.extend(classes().into_iter().map(|class| (format!("{class:?}"), Outcome::ModelFailed(failure(class)))));
    columns.extend([
        ("as asked".into(), Outcome::ToolsReturned(returns(dialogue))),
        ("of another call".into(), Outcome::ToolsReturned(vec![ToolReturn::ok("call_99_1", "?", Vec::new())])),
        ("for a while".into(), Outcome::ToolsUnavailable(outage(false))),
        ("for good".into(), Outcome::ToolsUnavailable(outage(true))),
        ("its approval is over".into(), Outcome::DispatchRefused),
        ("time".into(), Outcome::Woken),
        ("one row".into(), Outcome::FeedbackReceived(feedback(dialogue))),
        ("one file".into(), Outcome::FilesPlaced(placed())),
    ]);
    columns
}

/// A document of one passage.
fn prepared() -> Prepared {
    let (document, chunk_path) = ("input/policy.pdf".to_string(), Some("chunks/chunk_001.md".into()));
    let passages = vec![Passage { chunk_path, ..Passage::unread(1, &document, 1) }];
    let cut = Product::CutDocument(Box::new(CutDocument { document: document.clone(), passages }));
    Prepared { document, note: "1 passage".into(), products: vec![cut] }
}

/// A document that has no text.
fn without_text(document: &str) -> Prepared {
    Prepared { document: document.into(), note: "it has no text".into(), products: Vec::new() }
}

fn outage(needs_operator: bool) -> Outage {
    Outage { returns: Vec::new(), reason: "the graph cannot be reached".into(), needs_operator, jitter: 1.0 }
}

fn returns(dialogue: &Dialogue) -> Vec<ToolReturn> {
    match dialogue.run.next() {
        Effect::RunTools { calls, .. } => {
            calls.iter().map(|call| ToolReturn::ok(&call.id, "Done.", Vec::new())).collect()
        }
        Effect::Intake
        | Effect::Prepare { .. }
        | Effect::Carry { .. }
        | Effect::CallModel(_)
        | Effect::Wait { .. }
        | Effect::Exit(_) => Vec::new(),
    }
}

#[test]
fn every_stage_meets_every_outcome() {
    let mut table = String::new();
    for (name, make) in ROWS {
        let row = make();
        writeln!(table, "# {name}: {}\n", row.effect()).expect("writing to a String cannot fail");
        for (form, outcome) in columns(&row) {
            let cell = meet(make(), outcome.clone());
            writeln!(table, "{} ({form}) → {cell}", name_of_outcome(&outcome))
                .expect("writing to a String cannot fail");
        }
        table.push('\n');
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("table", table);
    });
}

/// The consequences of an outcome; a new run each time. An illegal one leaves the run unchanged.
fn meet(mut dialogue: Dialogue, outcome: Outcome) -> String {
    if let (Outcome::FeedbackReceived(rows), true) = (&outcome, dialogue.toy.feedback.is_empty()) {
        dialogue.toy.feedback.clone_from(rows);
    }
    let (before, name) = (format!("{:?}", dialogue.run), name_of_outcome(&outcome));
    match dialogue.try_apply(outcome) {
        Ok(changes) => {
            let changes: Vec<String> = changes.iter().map(short).collect();
            format!("{}\n    {}", dialogue.effect(), changes.join("\n    ")).trim_end().to_string()
        }
        Err(illegal) => {
            assert_eq!(before, format!("{:?}", dialogue.run), "an illegal outcome leaves the run untouched");
            assert_eq!(illegal.outcome, name);
            "Illegal".into()
        }
    }
}

/// Shorter than in dialogues, which show the texts.
fn short(told: &Change) -> String {
    match told {
        Change::Message(message) => format!("message {} {:?}", message.seq, message.kind),
        other @ (Change::ResultsCleared(_)
        | Change::PhaseOpened { .. }
        | Change::PhaseClosed { .. }
        | Change::TodosPut { .. }
        | Change::TodoMoved { .. }
        | Change::TodoUnevidenced { .. }
        | Change::PassagesPut(_)
        | Change::PassagesDropped(_)
        | Change::Product(_)
        | Change::Request(_)
        | Change::FeedbackTaken(_)
        | Change::Approval(_)
        | Change::Exited(_)) => change(other),
    }
}

#[test]
fn every_constructor_has_its_place() {
    let stages: BTreeSet<StageKind> = ROWS.iter().map(|(_, make)| (&make().run.state().stage).into()).collect();
    assert_eq!(stages, StageKind::iter().collect());
    let effects: BTreeSet<EffectKind> = ROWS.iter().map(|(_, make)| (&make().run.next()).into()).collect();
    assert_eq!(effects, EffectKind::iter().collect());
    let dialogue = Dialogue::new(settings());
    let outcomes: BTreeSet<OutcomeKind> = columns(&dialogue).iter().map(|(_, outcome)| outcome.into()).collect();
    assert_eq!(outcomes, OutcomeKind::iter().collect());
}
