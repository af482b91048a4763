//! The model's knowledge: one request, parsed once.

pub(crate) mod archive;
mod behind_opening;
pub(crate) mod opening;
pub(crate) mod pages;
mod todo_list;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::{Value, json};

use crate::call::{Call, list_files};
use crate::request_view::opening::Document;
use crate::request_view::todo_list::TodoList;
use crate::server::wire::{ChatRequest, Message, Role};

static FILE: LazyLock<Regex> =
    LazyLock::new(|| pattern::own(r"^\s*(?:[-*]\s+)?(\S.*?)\s+\(?(\d+)(?:\s*(?:B|bytes))?\)?\s*$"));

/// Which of its three jobs is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No tools are bound: summarize the conversation.
    Summary,
    /// `todo_write` is bound: plan.
    Strategic,
    /// Other tools are bound: work.
    Tactical,
}

/// A call of the conversation with its result.
#[derive(Debug)]
pub(crate) struct Done<'a> {
    /// The tool.
    pub(crate) name: &'a str,
    /// Its arguments; null if they were not JSON.
    pub(crate) args: Value,
    /// The tool's result; empty if missing.
    pub(crate) result: &'a str,
}

impl Done<'_> {
    /// Whether the engine has cleared the result from the conversation to save room.
    pub(crate) fn cleared(&self) -> bool {
        self.result.starts_with("[result cleared")
    }

    /// Whether the tool refused.
    pub(crate) fn failed(&self) -> bool {
        self.result.trim_start().starts_with("Error:")
    }

    /// Whether the tool refused the call itself, which says nothing about its file.
    pub(crate) fn was_ill_formed(&self) -> bool {
        self.result.starts_with("Error: the arguments") || self.result.contains("has no text yet")
    }

    /// Whether this was the same call.
    pub(crate) fn is(&self, call: &Call) -> bool {
        self.name == call.name && self.args == call.args
    }

    /// A string argument, empty when absent.
    pub(crate) fn arg(&self, key: &str) -> &str {
        self.args.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn closes_a_todo(&self) -> bool {
        matches!(self.name, "todo_complete" | "complete_task") && !self.failed()
    }
}

/// One request, taken apart.
#[derive(Debug)]
pub(crate) struct RequestView<'a> {
    /// The original messages.
    pub(crate) messages: &'a [Message],
    /// The todo list, when there is one.
    pub(crate) todo_list: Option<TodoList>,
    /// Every call of the conversation with its result, in order.
    pub(crate) history: Vec<Done<'a>>,
    /// The index in `history` at which the work on the current todo begins.
    todo_began: usize,
    tools: Vec<&'a str>,
    /// The system prompt's text about tools on demand.
    on_demand: &'a str,
}

impl<'a> RequestView<'a> {
    /// Reads a request.
    pub(crate) fn of(request: &'a ChatRequest) -> Self {
        let history: Vec<Done<'_>> =
            behind_opening::results(&request.messages).chain(history(&request.messages)).collect();
        let switched_off = request.tool_choice.as_ref().is_some_and(|choice| choice == "none");
        let tools = match switched_off {
            true => Vec::new(),
            false => request.tools.iter().map(crate::server::wire::Tool::name).collect(),
        };
        Self {
            messages: &request.messages,
            // After the conversation by default, directly after the system prompt if so configured.
            todo_list: request
                .messages
                .iter()
                .rev()
                .filter(prepared)
                .find_map(|message| TodoList::read(&message.content)),
            todo_began: history.iter().rposition(Done::closes_a_todo).map_or(0, |at| at + 1),
            history,
            tools,
            on_demand: request.messages.first().map_or("", |first| on_demand(&first.content)),
        }
    }

    /// The requested job.
    pub(crate) fn stage(&self) -> Stage {
        match (self.tools.is_empty(), self.bound("todo_write")) {
            (true, _) => Stage::Summary,
            (false, true) => Stage::Strategic,
            (false, false) => Stage::Tactical,
        }
    }

    /// Whether a tool may be called in this turn: its definition is present, or the system prompt lists it as on
    /// demand.
    pub(crate) fn bound(&self, tool: &str) -> bool {
        let is_on_demand = || self.on_demand.lines().any(|line| line.starts_with(&format!("- {tool}: ")));
        self.tools.contains(&tool) || is_on_demand()
    }

    /// Whether there is a todo to work on.
    pub(crate) fn has_todo(&self) -> bool {
        self.todo_list.as_ref().is_some_and(|list| list.current().is_some())
    }

    /// Whether closing the current todo was refused.
    pub(crate) fn was_refused(&self) -> bool {
        self.work().iter().any(|done| done.name == "todo_complete" && done.failed())
    }

    /// The open todos after the current one, in order.
    pub(crate) fn todos_behind(&self) -> impl Iterator<Item = &str> {
        let todos = self.todo_list.iter().flat_map(|list| list.behind());
        todos.map(|todo| todo.text.as_str())
    }

    /// The calls made since the current todo began.
    pub(crate) fn work(&self) -> &[Done<'a>] {
        &self.history[self.todo_began..]
    }

    /// The latest text of a file that this conversation has read completely; empty if it could not be read, `None` if
    /// it was not read, or was cleared.
    pub(crate) fn read(&self, path: &str) -> Option<&'a str> {
        let whole = json!({ "path": path });
        let of = |done: &&Done<'a>| done.name == "read_file" && done.args == whole && !done.cleared();
        let done = self.history.iter().rev().find(of)?;
        Some(if done.failed() { "" } else { pages::body(done.result).0 })
    }

    /// The texts of the passages that this conversation has.
    pub(crate) fn passages_read(&self) -> impl Iterator<Item = &'a str> {
        let read = self.history.iter().filter(|done| done.name == "read_file" && !done.failed() && !done.cleared());
        read.filter(|done| done.arg("path").starts_with("chunks/chunk_")).map(|done| pages::body(done.result).0)
    }

    /// The deliverables of this job type, except the report and those written by the system.
    pub(crate) fn owed(&self) -> Vec<opening::Owed> {
        let mut owed = opening::owed(self.system());
        owed.retain(|owed| owed.path != crate::strategic::REPORT && !owed.path.starts_with("output/requirements."));
        owed
    }

    /// Simulates these calls: their results are unknown, and a call that closes a todo is the last.
    pub(crate) fn advance(&mut self, calls: &[Call]) {
        let done = |call: &Call| Done { name: call.name, args: call.args.clone(), result: "" };
        self.history.extend(calls.iter().map(done));
        if calls.last().is_some_and(|call| call.name == "todo_complete") {
            self.todo_began = self.history.len();
            self.todo_list.iter_mut().for_each(TodoList::move_on);
        }
        // The system closes it as soon as there is a plan.
        let has_plan = calls.iter().any(|call| call.name == "write_plan" || call.text("path") == "main_plan.md");
        if has_plan && self.todo_list.as_ref().is_some_and(TodoList::is_at_dividing) {
            self.todo_list.iter_mut().for_each(TodoList::move_on);
        }
    }

    /// The latest result of this call since the current todo began; `None` if it was not made or its result was
    /// cleared, so that it must be made (again).
    pub(crate) fn result_of(&self, call: &Call) -> Option<&Done<'a>> {
        self.work().iter().rev().find(|done| done.is(call) && !done.cleared())
    }

    /// The system prompt.
    pub(crate) fn system(&self) -> &'a str {
        self.messages.iter().find(|message| message.role == Role::System).map_or("", |message| &message.content)
    }

    /// The prompt of the job.
    pub(crate) fn prompt(&self) -> &'a str {
        opening::section(self.system(), "## The job", &["## Instructions", "## workspace.md"]).unwrap_or_default()
    }

    /// The long-term memory as of the beginning of the phase or its last compaction.
    fn memory(&self) -> &'a str {
        opening::section(self.system(), "## workspace.md", &["## The job", "## Instructions"]).unwrap_or_default()
    }

    /// The latest section (`### title`) prepared by the system, because an earlier phase's opening may still be in the
    /// conversation.
    pub(crate) fn opening(&self, title: &str) -> Option<&'a str> {
        let heading = format!("### {title}");
        let messages = self.messages.iter().rev().filter(prepared);
        messages.filter_map(|message| opening::section(&message.content, &heading, &["### "])).next()
    }

    /// Why the previous phase was abandoned, in the engine's words.
    pub(crate) fn issue(&self) -> Option<&'a str> {
        let messages = self.messages.iter().rev().filter(prepared);
        let mut lines = messages.flat_map(|message| message.content.lines());
        lines.find_map(|line| line.strip_prefix("The phase before was given up: "))
    }

    /// The user's feedback, oldest first.
    pub(crate) fn feedback(&self) -> Vec<&'a str> {
        let messages = self.messages.iter().filter(|message| message.role == Role::User);
        messages.filter_map(|message| message.content.strip_prefix("Feedback from the user:")).map(str::trim).collect()
    }

    /// The documents of the job: from the opening's list, from workspace.md and from listings of input/, because a long
    /// list is truncated in the opening.
    pub(crate) fn documents(&self) -> Vec<Document> {
        let listed = self.opening("Documents").unwrap_or_default();
        let mut documents = opening::documents(&format!("{listed}\n{}", self.memory()));
        let listings = self.history.iter().filter(|done| done.name == "list_files" && done.arg("path") == "input");
        for (path, bytes) in listings.flat_map(|done| files_in(done.result)) {
            if opening::is_document(&path) && documents.iter().all(|known| known.path != path) {
                documents.push(Document { path, pages: None, bytes });
            }
        }
        documents
    }

    /// The files in a folder with their sizes, or the call that lists them. A missing folder is empty.
    pub(crate) fn files(&self, folder: &str) -> Result<Vec<(String, u64)>, Call> {
        let call = list_files(folder);
        let at = self.history.iter().rposition(|done| done.is(&call) && !done.cleared()).ok_or(call)?;
        let (listing, since) = (&self.history[at], &self.history[at + 1..]);
        let mut files = if listing.failed() { Vec::new() } else { files_in(listing.result) };
        for done in since.iter().filter(|done| !done.failed()) {
            touch(&mut files, done);
        }
        Ok(files.into_iter().filter(|(path, _)| path.starts_with(&format!("{folder}/"))).collect())
    }

    /// The documents that could not be read, with the reason: from workspace.md as of the beginning of the phase, and
    /// from attempts in this phase.
    pub(crate) fn unreadable(&self) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, String> = opening::unreadable(self.memory()).into_iter().collect();
        for done in &self.history {
            let path = done.arg("file_path");
            match done.name {
                "extract_document_text" | "chunk_document" if done.failed() && !done.was_ill_formed() => {
                    all.entry(path.to_owned()).or_insert_with(|| one_line(done.result));
                }
                "write_file" => all.extend(opening::unreadable(done.arg("content"))),
                _ => {}
            }
        }
        all.into_iter().collect()
    }
}

/// Applies a call's effect to an earlier listing.
fn touch(files: &mut Vec<(String, u64)>, done: &Done<'_>) {
    let path = done.arg("path");
    match done.name {
        "delete_file" => files.retain(|(known, _)| known != path),
        "write_file" => {
            let size = done.arg("content").len() as u64;
            match files.iter_mut().find(|(known, _)| known == path) {
                Some(known) if done.args["append"] == true => known.1 += size,
                Some(known) => known.1 = size,
                None => files.push((path.to_owned(), size)),
            }
        }
        _ => {}
    }
}

/// The lines `path  size` of a listing.
fn files_in(listing: &str) -> Vec<(String, u64)> {
    let found = listing.lines().filter_map(|line| FILE.captures(line));
    found.map(|found| (found[1].to_owned(), found[2].parse().unwrap_or_default())).collect()
}

/// A tool's message on one line of at most 300 characters, for a list.
pub(crate) fn one_line(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(300) {
        None => joined,
        Some((at, _)) => format!("{}…", &joined[..at]),
    }
}

/// The lines of a system prompt that name tools on demand.
fn on_demand(system: &str) -> &str {
    let listed = system.split_once("\n\nFurther tools on demand").map_or("", |(_, rest)| rest);
    listed.split_once("\n\n## ").map_or(listed, |(lines, _)| lines)
}

/// Whether this message was written by the system or the engine, not by the model or a tool.
fn prepared(message: &&Message) -> bool {
    matches!(message.role, Role::User | Role::System | Role::Developer)
}

fn history(messages: &[Message]) -> Vec<Done<'_>> {
    let mut results: BTreeMap<&str, &str> = BTreeMap::new();
    for message in messages.iter().filter(|message| message.role == Role::Tool) {
        results.insert(message.tool_call_id.as_deref().unwrap_or_default(), &message.content);
    }
    let calls = messages.iter().flat_map(|message| &message.tool_calls);
    calls
        .map(|call| Done {
            name: &call.function.name,
            args: serde_json::from_str(&call.function.arguments).unwrap_or_default(),
            result: results.get(call.id.as_str()).copied().unwrap_or_default(),
        })
        .filter(|done| NOT_RUN.iter().all(|start| !done.result.starts_with(start)))
        .collect()
}

/// Prefixes of results of calls that were not run and must be repeated.
const NOT_RUN: [&str; 4] = ["Error: Your answer was cut off", "Error: not carried out", "Error: interrupted", "held: "];
