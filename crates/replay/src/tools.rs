//! The calls of a turn: local tools are really run; what depends on the outside, on other jobs or on the ranked index
//! is answered from the record.

use super::{ReplayContext, memory_job::MemoryJob, replayed::Stop};
use plumbline_engine::{
    EDITED, FileWrite, GivenRow, HELD_RESULT, Judgement, OutsideCall, Prepared, Product, Run, Source, ToolCall,
    ToolReturn, Verdict,
};
use plumbline_store::RecordedStep;
use plumbline_tools::{ToolContext, given_in, judged_in, row_of_name};
use serde_json::{Value, json};
use std::{borrow::Cow, collections::BTreeSet, time::Duration};
use uuid::Uuid;

/// Tools that are answered from the record, whatever their arguments.
const FROM_THE_RECORD: [&str; 9] = [
    "web_search",
    "fetch_page",
    "get_graph_schema",
    "execute_cypher_query",
    NEXT_REQUIREMENT,
    "judge_requirements",
    "integrate_requirement",
    "reject_requirement",
    "query_similar_requirements",
];
/// What begins the names of tools that somebody else's server carries out: nothing is sent.
const FOREIGN: [&str; 2] = ["http_", "mcp_"];
/// Gives requirements of another job. They are told apart by their names in results, since their rows are not on record.
const NEXT_REQUIREMENT: &str = "next_requirement";
/// Of these, those that judge requirements of another job: progress that is in none of this job's rows.
const JUDGING: [&str; 3] = ["judge_requirements", "integrate_requirement", "reject_requirement"];
/// Begins the remark that the engine puts behind a result that repeats itself; see the engine's `calls`.
const REMARK: &str = "\n\n(This is the same result for the same call, ";
/// What a ranked search says of itself; see `search_files`.
const RANKED: [&str; 3] = ["these passages come nearest", "so this is a text search)", "ranked by meaning"];
/// Begins the statements of a requirement in a script.
const REQUIREMENT: &str = "\nMERGE (c:PlumblineCounter ";
/// Files that the engine itself writes at any time, so no tool produces them.
const OF_THE_ENGINE: [&str; 6] =
    ["todos.yaml", "workspace_summary.md", "progress.md", "main_plan.md", "archive/", "tool_results/"];

impl ReplayContext<'_> {
    /// One return per call, in their order.
    pub(crate) async fn run_tools(
        &self,
        rows: &MemoryJob,
        run: &Run,
        step: &RecordedStep,
        calls: &[OutsideCall<'_>],
    ) -> Result<Vec<ToolReturn>, Stop> {
        let mut returns = Vec::with_capacity(calls.len());
        let recorded: Vec<bool> =
            calls.iter().map(|call| call.check.is_none() && is_recorded_returns(step, call)).collect();
        // Calls that are really run see what the calls before them produced; the runner sees to that within a group.
        let mut rows = Cow::Borrowed(rows);
        let mut at = 0;
        for group in recorded.chunk_by(|one, next| one == next) {
            let calls = &calls[at..at + group.len()];
            at += group.len();
            let given = match group.first() {
                Some(true) => self.recorded_returns(step, calls, &mut rows),
                Some(false) | None => self.really_run(&rows, run, calls).await?,
            };
            if at < recorded.len() && group.first() == Some(&false) {
                given.iter().for_each(|given| rows.to_mut().job.apply_products(&given.products));
            }
            returns.extend(given);
        }
        Ok(returns)
    }

    /// What these calls gave. Each sees what those before it wrote, so that a file is the product of one of them.
    fn recorded_returns(
        &self,
        step: &RecordedStep,
        calls: &[OutsideCall<'_>],
        rows: &mut Cow<'_, MemoryJob>,
    ) -> Vec<ToolReturn> {
        let mut returns: Vec<ToolReturn> = Vec::with_capacity(calls.len());
        for call in calls {
            let given = self.recorded_return(step, call, rows);
            if !given.products.is_empty() {
                rows.to_mut().job.apply_products(&given.products);
            }
            returns.push(given);
        }
        returns
    }

    async fn really_run(
        &self,
        rows: &MemoryJob,
        run: &Run,
        calls: &[OutsideCall<'_>],
    ) -> Result<Vec<ToolReturn>, Stop> {
        let bound: Vec<&str> = run.bound(run.state().phase.kind).map(|tool| tool.name.as_str()).collect();
        let bounds = ToolContext {
            max_result_tokens: run.settings().limits.max_tool_result_tokens,
            inspection: Some(&self.inspection),
            records_requirements: run.settings().records_requirements(),
            record_defaults: &self.record_defaults,
            ..self.tool_context(&bound)
        };
        self.runner.run(calls, rows, &bounds).await.map_err(|error| Stop::Broken(error.to_string()))
    }

    /// The text and the passages of a document, as the system made them.
    pub(crate) async fn prepare(&self, rows: &MemoryJob, document: &str) -> Result<Prepared, Stop> {
        let bounds = self.tool_context(&[]);
        self.runner.prepare(document, rows, &bounds).await.map_err(|error| Stop::Broken(error.to_string()))
    }

    fn tool_context<'t>(&'t self, bound: &'t [&'t str]) -> ToolContext<'t> {
        let config = &self.resolved.config;
        ToolContext {
            call_timeout: Duration::from_secs(config.limits.tool_timeout_s),
            retries: config.limits.tool_retries,
            scan: &self.scan,
            no_sources: config.no_sources.as_deref().unwrap_or_default(),
            ..ToolContext::new(self.recording.job.id, bound)
        }
    }

    fn recorded_return(&self, step: &RecordedStep, call: &ToolCall, rows: &MemoryJob) -> ToolReturn {
        let content = recorded_result(step, call).unwrap_or_default();
        let is_error = content.starts_with("Error: ");
        let mut products = judgements(call, &content);
        if !is_error || !products.is_empty() {
            products.extend(self.recorded_products(step, call, accepted(&products), rows));
        }
        let names = if call.name == NEXT_REQUIREMENT { given_in(&content) } else { Vec::new() };
        let gives = names.iter().map(|name| GivenRow { id: row_of_name(name), whole: true }).collect();
        ToolReturn {
            call_id: call.id.clone(),
            content,
            is_error,
            gave_up: false,
            taken_again: false,
            products,
            gives,
            untrusted: true,
        }
    }

    /// The step's files that neither the engine nor a tool that is really run writes: the call's own. A call that judges
    /// has written the statements of as many requirements as it has accepted.
    fn recorded_products(
        &self,
        step: &RecordedStep,
        call: &ToolCall,
        accepted: usize,
        rows: &MemoryJob,
    ) -> Vec<Product> {
        match call.name.as_str() {
            "web_search" | "fetch_page" => self.files(step, rows, |path| path.starts_with("web_sources/")),
            name if JUDGING.contains(&name) => {
                let scripts = self.files(step, rows, |path| path.starts_with("output/insert"));
                let mut left = accepted;
                scripts.into_iter().filter_map(|script| appended(script, &mut left, rows)).collect()
            }
            "execute_cypher_query" => self.files(step, rows, |path| path.starts_with("output/")),
            _ => Vec::new(),
        }
    }

    fn files(&self, step: &RecordedStep, rows: &MemoryJob, mine: impl Fn(&str) -> bool) -> Vec<Product> {
        let written_by_calls = written_by_other_calls(step);
        let mut products = Vec::new();
        for (path, content) in &step.files {
            let Some(content) = content else { continue };
            let engine = OF_THE_ENGINE.iter().any(|prefix| path.starts_with(prefix));
            if !mine(path) || engine || written_by_calls.contains(path) || rows.job.file(path) == Some(content) {
                continue;
            }
            products.push(Product::WriteFile(FileWrite { path: path.clone(), content: content.clone() }));
            let known = self.recording.job.sources.iter().find(|source| source.path == *path);
            products.extend(known.map(|source| Product::AddSource(Source { ..source.clone() })));
        }
        products
    }
}

/// A script as its tool writes it: behind what there was, the statements of the next requirements, as many as are left.
fn appended(script: Product, left: &mut usize, rows: &MemoryJob) -> Option<Product> {
    let Product::WriteFile(file) = &script else { return Some(script) };
    let before = rows.job.file(&file.path).unwrap_or_default();
    let Some(text) = file.content.strip_prefix(before).map(String::from_utf8_lossy) else { return Some(script) };
    let mut begins = text.match_indices(REQUIREMENT).map(|(at, _)| at);
    let end = begins.nth(*left).unwrap_or(text.len());
    let text = text[..end].to_owned();
    *left = left.saturating_sub(text.matches(REQUIREMENT).count());
    (!text.is_empty()).then(|| Product::AppendFile { path: file.path.clone(), text })
}

/// How many requirements a call has accepted.
fn accepted(products: &[Product]) -> usize {
    let is_accepted = |product: &&Product| matches!(product, Product::JudgeRequirement(judged) if judged.verdict == Verdict::Accepted);
    products.iter().filter(is_accepted).count()
}

fn is_recorded_returns(step: &RecordedStep, call: &ToolCall) -> bool {
    let ranked = || {
        let mode = serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
        let by_meaning = mode["mode"] == json!("semantic") || mode["mode"] == json!("hybrid");
        let result = recorded_result(step, call).unwrap_or_default();
        by_meaning || RANKED.iter().any(|words| result.contains(words))
    };
    let is_foreign = FOREIGN.iter().any(|prefix| call.name.starts_with(prefix));
    is_foreign || FROM_THE_RECORD.contains(&call.name.as_str()) || (call.name == "search_files" && ranked())
}

/// What a call gave, before the engine moved a large result to a file, remarked on a repeated one or said who changed its
/// arguments.
fn recorded_result(step: &RecordedStep, call: &ToolCall) -> Option<String> {
    let own = |text: &str| text.rsplit_once(&format!("\n{EDITED}")).map_or(text, |(own, _)| own).to_owned();
    let moved = step.files.get(&format!("tool_results/{}.md", call.id)).and_then(Option::as_ref);
    if let Some(whole) = moved {
        return Some(own(&String::from_utf8_lossy(whole)));
    }
    // A held call has a second message, with its result, behind the opening of the next phase.
    let message = step.messages.iter().rfind(|message| message.tool_call_id.as_ref() == Some(&call.id))?;
    let content = message.content.split(REMARK).next().unwrap_or(&message.content);
    let held = content.strip_prefix(HELD_RESULT).and_then(|rest| rest.split_once(":\n\n"));
    Some(own(held.map_or(content, |(_, result)| result)))
}

/// Files that the answer's other calls name as theirs.
fn written_by_other_calls(step: &RecordedStep) -> BTreeSet<String> {
    let calls = step.messages.iter().flat_map(|message| &message.tool_calls);
    calls
        .filter(|call| !FROM_THE_RECORD.contains(&call.name.as_str()))
        .filter_map(|call| serde_json::from_str::<Value>(&call.arguments).ok()?["path"].as_str().map(str::to_owned))
        .collect()
}

/// Stand for the judgements of a call, whose rows belong to another job: they count as progress and are written nowhere.
fn judgements(call: &ToolCall, content: &str) -> Vec<Product> {
    if !JUDGING.contains(&call.name.as_str()) {
        return Vec::new();
    }
    judged_in(content)
        .into_iter()
        .map(|(verdict, name)| a_judgement(row_of_name(&name), verdict, Value::Null))
        .collect()
}

/// Stands for a judgement by rule.
pub(crate) fn judged_by_rule() -> Product {
    a_judgement(Uuid::nil(), Verdict::Accepted, json!({"by": "rule"}))
}

fn a_judgement(id: Uuid, verdict: Verdict, validation_result: Value) -> Product {
    Product::JudgeRequirement(Box::new(Judgement { id, verdict, reason: None, graph_node_id: None, validation_result }))
}
