//! A stand-in for the engine, in memory: phases, todo list, openings, and the tools in `tools`.
//!
//! It is as strict as the real one where the model could go wrong: todo lists must have 5 to 20 items, a strategic phase
//! ends only with todos staged, quotes must occur on their page, deliverables must exist.

mod tools;

use std::collections::BTreeMap;

use plumbline_rehearsal::wire::{ChatRequest, ChatResponse, ToolCall};
use plumbline_rehearsal::{answer, check};
use serde_json::{Value, json};

/// More turns than any job of the tests needs.
const MAX_TURNS: usize = 400;

/// How the double behaves where engines may differ.
#[derive(Clone, Default)]
pub(crate) struct Habits {
    /// Old tool results are cleared but for the last so many.
    pub(crate) keep_results: Option<usize>,
    /// The conversation is dropped for a summary after so many messages.
    pub(crate) compact_after: Option<usize>,
    /// The most lines of one result; more are refused with the ranges that fit.
    pub(crate) max_lines: Option<usize>,
    /// Results do not begin with a line about their range.
    pub(crate) no_headers: bool,
    /// The todo list is directly after the system prompt.
    pub(crate) todos_after_system: bool,
    /// The output limit sent along.
    pub(crate) max_tokens: Option<u64>,
    /// The documents are extracted and chunked before the first request, and the opening says so.
    pub(crate) prepared: bool,
    /// The first call of this tool is refused with this text.
    pub(crate) refuse_once: Option<(&'static str, &'static str)>,
}

/// A requirement as the tool stored it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Requirement {
    pub(crate) text: String,
    pub(crate) page: Option<u64>,
    pub(crate) args: Value,
}

/// One job.
#[derive(Default)]
pub(crate) struct Engine {
    pub(crate) habits: Habits,
    pub(crate) prompt: String,
    /// Every file of the workspace; documents hold their text with page marks.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) requirements: Vec<Requirement>,
    /// `job_complete`'s arguments, once it was accepted.
    pub(crate) result: Option<Value>,
    /// Phase names in order.
    pub(crate) phases: Vec<String>,
    /// Every answer, as bytes.
    pub(crate) answers: Vec<String>,
    /// The refusals.
    pub(crate) refusals: Vec<String>,
    strategic: bool,
    tactical: usize,
    todos: Vec<(String, bool)>,
    staged: Option<(String, Vec<String>)>,
    opening: String,
    system: String,
    conversation: Vec<Value>,
    refused_once: bool,
}

const INITIAL: &[&str] = &[
    "Explore: look at what the job has, then fill workspace.md with what must be remembered",
    "Write main_plan.md with write_plan: the goal, the approach, how completion is judged",
    "Divide the plan into phases with their steps in main_plan.md",
    "Write the todos of the first phase with todo_write",
];
const TRANSITION: &[&str] = &[
    "Summarize what the last phase produced",
    "Update workspace.md with what must be remembered",
    "Update main_plan.md: mark the finished phase, correct the rest",
    "Write the todos of the next phase with todo_write, or call job_complete if the plan is fulfilled",
];
const FINAL: &[&str] = &[
    "Verify that every deliverable exists in output/ and is complete",
    "Write what is missing: output/summary_report.md",
    "Call job_complete with the deliverables",
];
const REWOUND: &[&str] = &[
    "Reconsider the issue that stopped the last phase",
    "Update main_plan.md accordingly",
    "Write the corrected todos with todo_write",
];
const FEEDBACK: &[&str] = &[
    "Take in the feedback and note it in workspace.md",
    "Evaluate what it means for the deliverables",
    "Update main_plan.md accordingly",
    "Write corrective todos with todo_write, or call job_complete if nothing is left to do",
];

impl Engine {
    /// A job with documents, `(path, text with page marks)`.
    pub(crate) fn new(prompt: &str, documents: &[(&str, &str)], habits: Habits) -> Self {
        let files = documents.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let files = files.chain([("instructions.md".to_owned(), "Extract the requirements.\n".to_owned())]).collect();
        let mut engine = Self { habits, prompt: prompt.to_owned(), files, ..Self::default() };
        let is_prepared = engine.habits.prepared;
        for (path, _) in documents.iter().filter(|_| is_prepared) {
            engine.perform("extract_document_text", &json!({ "file_path": path }));
            engine.perform("chunk_document", &json!({ "file_path": path }));
        }
        engine.begin("Planning", INITIAL, true, "The job begins.", "");
        engine
    }

    /// Takes turns until the job is complete.
    pub(crate) fn run(&mut self) {
        self.run_until(|_| false);
    }

    /// Takes turns until the job is complete or `stop` says so.
    pub(crate) fn run_until(&mut self, stop: impl Fn(&Self) -> bool) {
        for _ in 0..MAX_TURNS {
            if self.result.is_some() || stop(self) {
                return;
            }
            self.turn();
        }
        panic!(
            "the job is not complete after {MAX_TURNS} turns; todos: {:?}; refusals: {:?}",
            self.todos, self.refusals
        );
    }

    /// Abandons the phase, as `todo_rewind` does.
    pub(crate) fn rewind(&mut self, issue: &str) {
        let note = self.archive("rewound");
        self.begin("Re-planning", REWOUND, true, &format!("The phase before was given up: {issue}"), &note);
    }

    /// Opens the job again with feedback.
    pub(crate) fn feed_back(&mut self, text: &str) {
        self.result = None;
        let note = self.archive("completed");
        self.begin("Feedback", FEEDBACK, true, "The user gave feedback on the finished work.", &note);
        self.conversation.push(json!({"role": "user", "content": format!("Feedback from the user:\n\n{text}")}));
    }

    /// The todo being worked on.
    pub(crate) fn current(&self) -> Option<&str> {
        self.todos.iter().find(|(_, done)| !done).map(|(text, _)| text.as_str())
    }

    fn turn(&mut self) {
        let request: ChatRequest = serde_json::from_value(self.request(true)).unwrap();
        check::check(&request).unwrap();
        let response = answer(&request);
        assert_eq!(answer(&request), response, "the same conversation must give the same answer");
        let calls = response.choices[0].message.tool_calls.clone();
        assert!(
            !calls.is_empty(),
            "no tool call: {:?}; refusals: {:?}",
            response.choices[0].message.content,
            self.refusals
        );
        let bytes = serde_json::to_string(&response).unwrap();
        self.conversation.push(serde_json::from_str::<Value>(&bytes).unwrap()["choices"][0]["message"].clone());
        self.answers.push(bytes);
        let (phase, mut failed) = (self.phases.len(), false);
        for call in &calls {
            let closes = matches!(call.function.name.as_str(), "todo_complete" | "job_complete");
            let result = match failed && closes {
                true => "Error: not carried out: a call before it failed.".to_owned(),
                false => self.call(call),
            };
            failed |= result.starts_with("Error:");
            if result.starts_with("Error:") {
                self.refusals.push(format!("{}: {result}", call.function.name));
            }
            // A new phase begins a new conversation: held calls follow the opening.
            if self.phases.len() == phase {
                self.conversation.push(json!({"role": "tool", "tool_call_id": call.id, "content": result}));
            } else if call.function.name != "todo_complete" && self.result.is_none() {
                let behind = format!(
                    "Result of a call of your last answer, which stood behind the end of the phase, {}:\n\n{result}",
                    call.function.name
                );
                self.conversation.push(json!({"role": "user", "content": behind}));
            }
        }
        self.shorten();
    }

    fn request(&self, tools: bool) -> Value {
        let frame = self.frame();
        let role = if self.habits.todos_after_system { "system" } else { "user" };
        let frame = json!({"role": role, "content": frame});
        let mut messages = vec![json!({"role": "system", "content": self.system})];
        if self.habits.todos_after_system {
            messages.push(frame.clone());
        }
        messages.push(json!({"role": "user", "content": self.opening}));
        messages.extend(self.conversation.iter().cloned());
        if !self.habits.todos_after_system {
            messages.push(frame);
        }
        let bound: &[&str] = if tools { tools::bound(self.strategic) } else { &[] };
        let bound: Vec<Value> =
            bound.iter().map(|name| json!({"type": "function", "function": {"name": name}})).collect();
        json!({"model": "test", "messages": messages, "tools": bound, "max_tokens": self.habits.max_tokens})
    }

    fn frame(&self) -> String {
        let mut text = format!("══\n    ACTIVE TODO LIST\n══\n\nPhase: {} (1 of 9)\n\n", self.phases.last().unwrap());
        let current = self.todos.iter().position(|(_, done)| !done);
        for (index, (todo, done)) in self.todos.iter().enumerate() {
            let arrow = if Some(index) == current { "      ← CURRENT" } else { "" };
            text += &format!("[{}] {}. {todo}{arrow}\n", if *done { 'x' } else { ' ' }, index + 1);
        }
        text + "\nProgress: x\n\n──\nINSTRUCTION: Complete the task, then call todo_complete()\n══"
    }

    /// The note that the phase after this one opens with, in the engine's YAML.
    fn archive(&self, outcome: &str) -> String {
        let kind = if self.strategic { "strategic" } else { "tactical" };
        let mut note =
            format!("phase: {}\nnumber: 1\nkind: {kind}\noutcome: {outcome}\ntodos:\n", json!(self.phases.last()));
        for (index, (todo, done)) in self.todos.iter().enumerate() {
            let status = if *done { "completed" } else { "abandoned" };
            let notes = if *done { "    notes: \"it was done\"\n" } else { "" };
            note += &format!("  - id: {}\n    content: {}\n    status: {status}\n{notes}", index + 1, json!(todo));
        }
        format!("### Archive note of the phase before\n\n```yaml\n{note}```")
    }

    fn begin(&mut self, name: &str, todos: &[&str], strategic: bool, headline: &str, note: &str) {
        self.phases.push(name.to_owned());
        self.todos = todos.iter().map(|todo| ((*todo).to_owned(), false)).collect();
        self.strategic = strategic;
        for path in ["workspace_summary.md", "progress.md"] {
            self.files.insert(path.into(), format!("# What the system has on record\n\nPhase {name}\n"));
        }
        self.tactical += usize::from(!strategic);
        self.conversation.clear();
        self.system = self.system_prompt();
        self.opening = format!("Phase 1 begins: {name}\n\n{headline}\n\n{}\n\n{note}", self.bearings());
    }

    fn system_prompt(&self) -> String {
        format!(
            "You are a creator.\n\n## Instructions\n\nFollow them.\n\n## The job\n\n{}\n\n## workspace.md\n\n{}",
            self.prompt,
            self.files.get("workspace.md").map_or("(empty)", String::as_str)
        )
    }

    fn bearings(&self) -> String {
        let documents = self.files.iter().filter(|(path, _)| path.starts_with("input/"));
        let documents: String = documents
            .map(|(path, text)| match text.matches("[page ").count() {
                0 => format!("- {path} ({} bytes)\n", text.len()),
                pages => format!("- {path} ({pages} pages, {} bytes)\n", text.len()),
            })
            .collect();
        let plan = self.files.get("main_plan.md").map_or("", String::as_str);
        let prepared = if self.habits.prepared { self.prepared() } else { String::new() };
        format!("### Documents\n\n{documents}\n{prepared}### main_plan.md\n\n{plan}")
    }

    /// The opening's text about prepared documents; tests need only one.
    fn prepared(&self) -> String {
        let count = self.files.keys().filter(|path| path.starts_with("chunks/chunk_")).count();
        let document = self.files.keys().find(|path| path.starts_with("input/")).map_or("", String::as_str);
        format!(
            "### Coverage\n\n- {document}: {count} passages (1-{count}): all unread\n\n### What was prepared\n\ncut\n\n"
        )
    }

    /// Closes the current todo; after the last one the next phase begins.
    fn close_todo(&mut self) -> String {
        let open = self.todos.iter().filter(|(_, done)| !done).count();
        if open == 1 && self.strategic && self.staged.is_none() {
            return "Error: no todos are staged; call todo_write first.".to_owned();
        }
        let Some((_, done)) = self.todos.iter_mut().find(|(_, done)| !done) else {
            return "Error: every todo is done.".to_owned();
        };
        *done = true;
        let is_divided =
            self.strategic && self.files.get("main_plan.md").is_some_and(|plan| plan.contains("## Phase 1"));
        let next = self.todos.iter_mut().find(|(_, done)| !done);
        if let Some((_, done)) = next.filter(|(todo, _)| is_divided && todo.starts_with("Divide")) {
            *done = true;
        }
        if open > 1 {
            return format!("marked complete. {} tasks remaining.", open - 1);
        }
        let note = self.archive("completed");
        match self.staged.take() {
            Some((name, todos)) => {
                let todos: Vec<&str> = todos.iter().map(String::as_str).collect();
                self.begin(&name, &todos, false, "", &note);
            }
            None => {
                // As the engine does: after as many tactical phases as the plan has, the end is offered.
                let last = self.tactical >= self.files["main_plan.md"].matches("\n## Phase ").count();
                let todos = if last { FINAL } else { TRANSITION };
                self.begin(if last { "Completion" } else { "Review and next phase" }, todos, true, "", &note);
            }
        }
        "marked complete.".to_owned()
    }

    /// Clears old results and compacts, as the engine does to save room.
    fn shorten(&mut self) {
        if self.habits.compact_after.is_some_and(|limit| self.conversation.len() > limit) {
            let request: ChatRequest = serde_json::from_value(self.request(false)).unwrap();
            let summary: ChatResponse = answer(&request);
            let text = summary.choices[0].message.content.clone().unwrap();
            assert!(text.len() < self.conversation.iter().map(|message| message.to_string().len()).sum());
            self.system = self.system_prompt();
            self.opening = format!("Summary of earlier work\n\n{text}\n\n{}", self.bearings());
            self.conversation.clear();
        }
        let Some(keep) = self.habits.keep_results else { return };
        let results: Vec<usize> =
            (0..self.conversation.len()).filter(|index| self.conversation[*index]["role"] == "tool").collect();
        for index in results.iter().rev().skip(keep) {
            self.conversation[*index]["content"] = json!("[result cleared to save room]");
        }
    }

    fn call(&mut self, call: &ToolCall) -> String {
        let args: Value = serde_json::from_str(&call.function.arguments).unwrap();
        let name = call.function.name.as_str();
        assert!(tools::bound(self.strategic).contains(&name), "{name} is not bound in this phase");
        if let Some((tool, refusal)) = self.habits.refuse_once
            && tool == name
            && !self.refused_once
        {
            self.refused_once = true;
            return refusal.to_owned();
        }
        self.perform(name, &args)
    }
}
