//! Tools unlike any shipped one: they panic, or never finish.

use super::*;
use crate::arguments::ArgumentsSchema;
use crate::error::{Output, ToolResult};
use crate::tool::{Registry, Run, TimeLimit};
use crate::{BoxFuture, WorkspaceError};
use plumbline_engine::{FileIndex, Handler, OutsideCall, Phases, Replay, Source, ToolSpec};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use uuid::Uuid;

/// Rows without content.
#[derive(Default)]
struct Nothing(FileIndex, Option<Arc<AllAway>>);

/// An outage for as long as a call runs, which ends when the runner has looked at it for the fourth time.
struct AllAway {
    since: std::time::Instant,
    looks: AtomicU32,
    over: tokio::sync::Notify,
}

impl Workspace for Nothing {
    fn index(&self) -> &FileIndex {
        &self.0
    }

    fn sources(&self) -> &[Source] {
        &[]
    }

    fn lost_time(&self) -> Duration {
        let Some(outage) = &self.1 else { return Duration::ZERO };
        if outage.looks.fetch_add(1, Ordering::SeqCst) == 3 {
            outage.over.notify_one();
        }
        outage.since.elapsed()
    }

    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(async { Ok(None) })
    }
}

/// A tool that is known only at run time.
fn odd(timeout_factor: u32, carrier: impl Run + 'static) -> Tool {
    let name = ["o", "dd"].concat();
    let schema = json!({"type": "object"});
    let spec = ToolSpec {
        name,
        phases: Phases::Both,
        description: String::new(),
        parameters: schema.clone().into(),
        documentation: String::new(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    };
    let time_limit = TimeLimit::Times(timeout_factor);
    Tool {
        spec,
        schema: ArgumentsSchema::new(schema),
        time_limit,
        shows_untrusted: |_, _| false,
        reaches_out: |_, _| false,
        digest: None,
        carrier: Box::new(carrier),
    }
}

struct Panics;

impl Run for Panics {
    fn run<'a>(&'a self, _: &'a ToolEnv<'a>, _: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async { panic!("a defect") })
    }
}

struct PanicsElsewhere;

impl Run for PanicsElsewhere {
    fn run<'a>(&'a self, _: &'a ToolEnv<'a>, _: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async { crate::run_blocking(|_| -> ToolResult { panic!("a defect") }).await })
    }
}

struct Hangs;

impl Run for Hangs {
    fn run<'a>(&'a self, _: &'a ToolEnv<'a>, _: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::pending())
    }
}

/// Fails at its first and third attempt.
struct Shaky(Arc<AtomicU32>);

impl Run for Shaky {
    fn run<'a>(&'a self, _: &'a ToolEnv<'a>, _: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0 | 2 => Err(ToolError::Transient("the line was busy".into())),
                _ => Ok(Output::text("through")),
            }
        })
    }
}

/// Ends when the outage is over.
struct Delayed(Arc<AllAway>);

impl Run for Delayed {
    fn run<'a>(&'a self, _: &'a ToolEnv<'a>, _: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async {
            self.0.over.notified().await;
            Ok(Output::text("through"))
        })
    }
}

fn runner() -> ToolRunner {
    ToolRunner::new(Parser::new("/no/such/program"))
}

#[tokio::test]
async fn what_may_pass_is_tried_again_as_often_as_configured() {
    let (runner, tries) = (runner(), Arc::new(AtomicU32::new(0)));
    let tools = Registry::from_iter([odd(1, Shaky(tries.clone()))]);
    let call = ToolCall { id: "1".into(), name: "odd".into(), arguments: "{}".into() };
    let mut ctx = ToolContext { retries: 1, tools: &tools, ..ToolContext::new(Uuid::nil(), &[]) };
    let returns = runner.run(&[outside(&call)], &Nothing::default(), &ctx).await.unwrap();
    assert_eq!(returns, [ToolReturn::ok("1", "through", Vec::new())]);
    ctx.retries = 0;
    let returns = runner.run(&[outside(&call)], &Nothing::default(), &ctx).await.unwrap();
    assert_eq!(returns, [ToolReturn::gave_up("1", "the line was busy")]);
    assert_eq!(tries.load(Ordering::SeqCst), 3);
}

fn outside(call: &ToolCall) -> OutsideCall<'_> {
    OutsideCall { call, check: None, once: false, again: false }
}

async fn check(tool: Tool, patience: Duration, expected: &str) {
    let (runner, tools) = (runner(), Registry::from_iter([tool]));
    let ctx = ToolContext { call_timeout: patience, tools: &tools, ..ToolContext::new(Uuid::nil(), &[]) };
    let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() };
    let (odd, after) = (call("1", "odd"), call("2", "list_files"));
    let returns = runner.run(&[outside(&odd), outside(&after)], &Nothing::default(), &ctx).await.unwrap();
    assert_eq!(returns[0], ToolReturn::gave_up("1", expected));
    assert_eq!(returns[1], ToolReturn::ok("2", "(no files in the workspace)", Vec::new()), "the next call runs");
}

#[tokio::test]
async fn f49_a_panic_is_the_tool_s_error() {
    let ample = Duration::from_secs(60);
    check(odd(1, Panics), ample, "odd failed inside; nothing was changed; try another way").await;
    check(odd(1, PanicsElsewhere), ample, "odd failed inside; nothing was changed; try another way").await;
}

#[tokio::test]
async fn f48_a_tool_that_hangs_times_out() {
    check(
        odd(2, Hangs),
        Duration::from_millis(25),
        "odd did not finish within 0.05 s; nothing was changed; ask for less at once",
    )
    .await;
}

#[tokio::test]
async fn the_time_of_an_outage_counts_against_no_call() {
    let outage =
        AllAway { since: std::time::Instant::now(), looks: AtomicU32::new(0), over: tokio::sync::Notify::new() };
    let outage = Arc::new(outage);
    let (runner, tools) = (runner(), Registry::from_iter([odd(1, Delayed(outage.clone()))]));
    let call = ToolCall { id: "1".into(), name: "odd".into(), arguments: "{}".into() };
    let call_timeout = Duration::from_millis(25);
    let ctx = ToolContext { call_timeout, tools: &tools, ..ToolContext::new(Uuid::nil(), &[]) };
    let rows = Nothing(FileIndex::default(), Some(outage));
    let returns = runner.run(&[outside(&call)], &rows, &ctx).await.unwrap();
    assert_eq!(returns, [ToolReturn::ok("1", "through", Vec::new())]);
}

#[tokio::test]
async fn of_a_tool_that_reaches_out_and_hangs_it_is_not_known_whether_it_was_carried_out() {
    let mut tool = odd(1, Hangs);
    tool.spec.replay = Replay::Unsafe;
    let said = "odd did not finish within 0.025 s; whether it was carried out is not known: find that out before you call \
                it again";
    check(tool, Duration::from_millis(25), said).await;
}

#[test]
fn running_a_batch_can_move_between_threads() {
    fn assert_send<T: Send>(_: T) {}
    let runner = ToolRunner::new(Parser::new("x"));
    let ctx = ToolContext::new(Uuid::nil(), &[]);
    assert_send(runner.run(&[], &Nothing::default(), &ctx));
}
