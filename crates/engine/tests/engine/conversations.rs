//! A thousand random conversations with a small window: after all clearing, summarizing and cutting, layers 1 to 3, the
//! prompt and the user's feedback are in every request, no call is separated from its result, and no request exceeds
//! the window. (The kit checks for every request that each call has its result.)

use crate::kit::{Dialogue, call, reply, says};
use plumbline_engine::{Change, Effect, FailureClass, JobExit, Outcome, PhaseKind, Purpose, Settings, ToolCall};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

/// Cap of an answer, in tokens.
const CAP: u32 = 700;

/// An event.
#[derive(Clone, Debug)]
enum Event {
    /// The model reads a file of this many tokens, in this many parallel calls.
    Reads { tokens: usize, calls: usize },
    /// The model writes this many tokens of text and makes a small call.
    Talks { tokens: usize },
    /// The user writes this many words.
    Feedback { words: usize },
    /// The provider refuses the request as too long.
    TooLong,
    /// The worker dies.
    Crash,
    /// The current todo is closed.
    Closes,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (10..450_usize, 1..4_usize).prop_map(|(tokens, calls)| Event::Reads { tokens, calls }),
        4 => (10..650_usize).prop_map(|tokens| Event::Talks { tokens }),
        1 => (1..12_usize).prop_map(|words| Event::Feedback { words }),
        1 => Just(Event::TooLong),
        1 => Just(Event::Crash),
        1 => Just(Event::Closes),
    ]
}

/// The kind of the model's summary.
#[derive(Clone, Copy, Debug)]
enum Summary {
    Well,
    AtLength,
    NotAtAll,
    Fails,
}

fn summary() -> impl Strategy<Value = Summary> {
    prop_oneof![3 => Just(Summary::Well), 1 => Just(Summary::AtLength), 1 => Just(Summary::NotAtAll), 1 => Just(Summary::Fails)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(20_260_102),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_must_be_seen_is_seen_and_fits(
        events in proptest::collection::vec(event(), 12..40),
        summaries in summary(),
        threshold in prop_oneof![Just(2_600_u32), Just(3_500), Just(6_000)],
    ) {
        let mut conversation = Conversation::new(threshold, summaries);
        for event in events {
            if conversation.dialogue.run.exit().is_some() {
                break;
            }
            conversation.happens(&event);
        }
    }
}

struct Conversation {
    dialogue: Dialogue,
    summaries: Summary,
    /// The user's feedback, and where its phase began.
    words: Vec<String>,
    compactions_in_row: u32,
    files: usize,
    window: u32,
}

impl Conversation {
    fn new(threshold: u32, summaries: Summary) -> Self {
        let mut dialogue = Dialogue::working(narrow(threshold), 4);
        dialogue.counts = true;
        let window = threshold + CAP;
        Self { dialogue, summaries, words: Vec::new(), compactions_in_row: 0, files: 0, window }
    }

    fn happens(&mut self, event: &Event) {
        match event {
            Event::Reads { tokens, calls } => self.reads(*tokens, *calls),
            Event::Talks { tokens } => {
                self.files += 1;
                let note = call("add_note", &json!({"text": format!("thought {}", self.files % 3)}));
                self.answers(&"more on this. ".repeat(tokens * 4 / 14), vec![note]);
            }
            Event::Feedback { words } => {
                let text = format!("Mind annex {}: {}", self.words.len(), "please ".repeat(*words));
                self.words.push(text.clone());
                let changes = self.dialogue.feedback(&text);
                self.look(&changes);
            }
            Event::TooLong => {
                let changes = self.dialogue.fails(FailureClass::ContextTooLong);
                self.look(&changes);
            }
            Event::Crash => self.dialogue.crash(),
            Event::Closes => self.answers("", vec![call("todo_complete", &json!({}))]),
        }
        self.sums_up();
        if matches!(self.dialogue.run.next(), Effect::Wait { .. }) {
            self.dialogue.wake();
        }
    }

    fn reads(&mut self, tokens: usize, calls: usize) {
        let mut reads = Vec::new();
        for _ in 0..calls {
            self.files += 1;
            let path = format!("page_{}.md", self.files);
            self.dialogue.toy.place(path.clone(), format!("{} ", self.files).repeat(tokens).into_bytes());
            reads.push(call("read_file", &json!({ "path": path })));
        }
        self.dialogue.resume(|_| {});
        self.answers("", reads);
    }

    fn answers(&mut self, text: &str, calls: Vec<ToolCall>) {
        let changes = self.dialogue.reply(reply(text, calls));
        self.look(&changes);
    }

    /// Answers pending requests for summaries, if any.
    fn sums_up(&mut self) {
        while let Effect::CallModel(request) = self.dialogue.run.next()
            && request.purpose == Purpose::Summary
        {
            let changes = match self.summaries {
                Summary::Well => self.dialogue.apply(Outcome::ModelReplied(says("The pages were read."))),
                Summary::AtLength => self.dialogue.apply(Outcome::ModelReplied(says(&"blah ".repeat(9_000)))),
                Summary::NotAtAll => self.dialogue.apply(Outcome::ModelReplied(says(""))),
                Summary::Fails => self.dialogue.fails(FailureClass::ContextTooLong),
            };
            self.compactions_in_row += 1;
            assert!(self.compactions_in_row <= 2, "at most two compactions in a row");
            self.look(&changes);
        }
    }

    fn look(&mut self, changes: &[Change]) {
        // A restarted phase does not continue the conversation before it.
        if changes.iter().any(|change| matches!(change, Change::PhaseOpened { .. })) {
            self.words.clear();
        }
        if let Some(leave) = self.dialogue.run.exit() {
            let JobExit::Failed(error) = leave else { panic!("{leave:?}") };
            let too_long = error.details.get("class").is_some_and(|class| class == "context_too_long");
            assert!(too_long || error.details["kind"] == "stuck", "{leave:?}");
            return;
        }
        let Effect::CallModel(request) = self.dialogue.run.next() else { return };
        let purpose = request.purpose;
        let lines = self.dialogue.request();
        let tokens = self.dialogue.request_tokens();
        assert!(
            tokens + CAP <= self.window,
            "{purpose:?}: {tokens} tokens and {CAP} for the answer in {}",
            self.window
        );
        assert!(lines[0].text.contains("Record each requirement with page and quote."), "the instructions are there");
        if purpose == Purpose::Summary {
            return;
        }
        self.compactions_in_row = 0;
        for words in &self.words {
            let times = lines.iter().filter(|line| line.text.contains(words.as_str())).count();
            assert_eq!(times, 1, "the user's words: {words}");
        }
        let todos = self.dialogue.run.todos();
        let list = &lines[lines.len() - 1].text;
        assert!(todos.iter().all(|todo| list.contains(&todo.content)), "the todos are there: {list}");
        let kind = if self.dialogue.run.state().phase.kind == PhaseKind::Tactical { "You work." } else { "You plan." };
        assert!(lines[0].text.starts_with(kind), "{}", lines[0].text);
    }
}

/// A small window.
fn narrow(threshold: u32) -> Settings {
    Dialogue::with(|settings| {
        settings.limits.context_threshold_tokens = threshold;
        settings.limits.max_tool_result_tokens = 400;
        settings.model.context_window = threshold + CAP;
        settings.model.max_output_tokens = CAP;
    })
}
