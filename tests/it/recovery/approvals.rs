//! Approvals of single calls with kills: an approved call arrives once, any other never, and a call lost between its
//! dispatch and its result is in doubt and not sent again.

use super::{
    counting_graph::{CountingGraph, QUERY},
    double::Served,
    scene::{Call, OneJob, over},
};
use plumbline_system_tests::{PgPool, Uuid};
use serde_json::{Value, json};

/// The tool that needs approval.
const TOOL: &str = "execute_cypher_query";

/// A job whose model runs queries, and whose operator wants people to decide on them.
type Scene = OneJob<CountingGraph>;

async fn scene(pool: PgPool, answers: &[&[Call]]) -> Scene {
    scene_with(pool, answers, json!({})).await
}

async fn scene_with(pool: PgPool, answers: &[&[Call]], more: Value) -> Scene {
    let graph = Served::<CountingGraph>::start().await;
    let keys = over(over(graph.keys(), &json!({"approval": ["*"]})), &more);
    Scene::of(pool, graph, answers, keys).await
}

impl Scene {
    /// The waiting calls.
    async fn waits(&self) -> Vec<Uuid> {
        let job = self.world.becomes(self.job, "review").await;
        assert!(job.reason.as_deref().is_some_and(|reason| reason.starts_with("waits for approval of ")), "{job:?}");
        let pending = "SELECT id FROM approvals WHERE job_id = $1 AND state = 'pending' ORDER BY id";
        sqlx::query_scalar(pending).bind(self.job).fetch_all(&self.world.pool).await.expect("approvals are read")
    }

    async fn column(&self, column: &str) -> Vec<String> {
        self.calls(self.job, column).await
    }
}

fn query(n: i64) -> Call {
    (TOOL, json!({"query": QUERY, "params": {"n": n}}))
}

#[sqlx::test(migrations = false)]
async fn a_job_waits_for_its_calls_and_makes_those_that_were_approved(pool: PgPool) {
    let note = ("write_file", json!({"path": "work/note.md", "content": "What the first query gave."}));
    let scene = scene(pool, &[&[query(1), note, query(2)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    assert_eq!(waiting.len(), 2);
    let reason = scene.world.job(scene.job).await.reason.expect("it says what it waits for");
    assert!(reason.contains(TOOL) && reason.ends_with(" and 1 more"), "{reason}");
    assert_eq!(scene.server.runs(), 0);
    let summary = "SELECT waiting_calls::text FROM job_summary WHERE id = $1";
    assert_eq!(scene.ask(summary, scene.job).await.as_deref(), Ok("2"));

    assert_eq!(scene.ask("SELECT approve_call($1)", waiting[0]).await.as_deref(), Ok("approved"));
    let reason = scene.world.becomes(scene.job, "review").await.reason.expect("it still waits");
    assert!(!reason.contains("more"), "{reason}");
    let again = scene.ask("SELECT approve_call($1)", waiting[0]).await.expect_err("it is decided");
    assert!(again.contains(&scene.job.to_string()) && again.contains("is approved"), "{again}");
    assert_eq!(scene.ask("SELECT reject_call($1, 'twice is enough')", waiting[1]).await.as_deref(), Ok("rejected"));
    assert_eq!(scene.world.job(scene.job).await.status, "pending");

    scene.work().await;
    assert_eq!((scene.server.runs(), scene.server.given()), (1, vec![json!({"n": 1})]));
    assert!(scene.is_told("twice is enough"), "the model reads why");
    assert_eq!(scene.column("state").await, ["executed", "rejected"]);
    assert_eq!(scene.column("outcome").await, ["ok", "-"]);
    assert_eq!(scene.column("decided_via").await, ["sql", "sql"]);
    assert_eq!(scene.column("decided_by = session_user").await, ["true", "true"]);
    let commands = "SELECT string_agg(command, ' ' ORDER BY at) FROM job_commands WHERE job_id = $1";
    assert_eq!(scene.ask(commands, scene.job).await.as_deref(), Ok("approve_call reject_call"));
    assert_eq!(scene.world.job(scene.job).await.claims, 2, "one claim a round");
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn of_two_concurrent_approvals_one_is_refused_as_already_done(pool: PgPool) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    let approve = || scene.ask("SELECT approve_call($1)", waiting[0]);
    let (one, other) = tokio::join!(approve(), approve());
    let refused = [&one, &other].into_iter().filter_map(|answer| answer.as_ref().err()).collect::<Vec<_>>();
    assert_eq!(refused.len(), 1, "{one:?} {other:?}");
    assert!(refused[0].contains("is approved"), "{refused:?}");
    scene.work().await;
    assert_eq!(scene.server.runs(), 1);
    scene.finish().await;
}

/// A kill before the dispatch is committed: the call is still approved, and made once by the next claim.
async fn killed_before_the_dispatch(pool: PgPool, place: &str) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    scene.ask("SELECT approve_call($1)", waiting[0]).await.expect("it is approved");
    scene.dies_at(place).await;
    assert_eq!((scene.server.runs(), scene.column("state").await), (0, vec!["approved".to_owned()]));
    scene.work().await;
    assert_eq!((scene.server.runs(), scene.column("outcome").await), (1, vec!["ok".to_owned()]));
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_kill_before_the_dispatch_is_committed_leaves_an_approved_call_that_is_made_once(pool: PgPool) {
    killed_before_the_dispatch(pool, "before_commit/tactical=crash").await;
}

#[sqlx::test(migrations = false)]
async fn so_does_a_kill_when_the_job_is_loaded(pool: PgPool) {
    killed_before_the_dispatch(pool, "loaded/tactical=crash").await;
}

#[sqlx::test(migrations = false)]
async fn so_does_a_kill_within_the_transaction_of_the_dispatch(pool: PgPool) {
    killed_before_the_dispatch(pool, "written/tactical=crash").await;
}

/// A kill after the dispatch: the call is in doubt. The claim first commits the dispatch, before any tool.
async fn killed_behind_the_dispatch(pool: PgPool, place: &str, arrived: usize) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    scene.ask("SELECT approve_call($1)", waiting[0]).await.expect("it is approved");
    scene.dies_at(place).await;
    assert_eq!(scene.column("state").await, ["executed"]);
    scene.work().await;
    assert_eq!((scene.server.runs(), scene.column("outcome").await), (arrived, vec!["in doubt".to_owned()]));
    assert!(scene.is_told("outcome unknown"));
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_kill_after_the_dispatch_leaves_a_call_in_doubt_that_is_not_sent_again(pool: PgPool) {
    killed_behind_the_dispatch(pool, "before_tools/tactical=crash@2", 0).await;
}

#[sqlx::test(migrations = false)]
async fn so_does_a_kill_that_loses_its_result(pool: PgPool) {
    killed_behind_the_dispatch(pool, "after_tools/tactical=crash@2", 1).await;
}

/// A row is changed between the approval and the claim.
async fn changed_once_approved(pool: PgPool, change: &'static str, state: &str, told: &str) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    scene.ask("SELECT approve_call($1)", waiting[0]).await.expect("it is approved");
    scene.execute(change).await;
    scene.work().await;
    assert_eq!((scene.server.runs(), scene.column("state").await), (0, vec![state.to_owned()]));
    assert!(scene.is_told(told));
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn what_is_not_as_it_was_approved_does_not_arrive(pool: PgPool) {
    let change = "UPDATE approvals SET arguments_sha256 = sha256('x')";
    changed_once_approved(pool, change, "void", "are not those that were approved").await;
}

#[sqlx::test(migrations = false)]
async fn nor_does_a_call_of_another_tool(pool: PgPool) {
    let change = "UPDATE approvals SET tool_sha256 = sha256('x')";
    changed_once_approved(pool, change, "void", "are not those that were approved").await;
}

#[sqlx::test(migrations = false)]
async fn nor_does_a_call_whose_approval_has_expired(pool: PgPool) {
    let change = "UPDATE approvals SET expires_at = now() - interval '1 s'";
    changed_once_approved(pool, change, "expired", "its time was over").await;
}

/// The sweep may come between the load and the commit of the dispatch, which is then refused. Earlier results are kept.
#[sqlx::test(migrations = false)]
async fn an_approval_that_expires_before_the_dispatch_is_committed_takes_no_result_with_it(pool: PgPool) {
    let scene = scene(pool, &[&[query(1), query(2)]]).await;
    scene.work().await;
    for call in scene.waits().await {
        scene.ask("SELECT approve_call($1)", call).await.expect("it is approved");
    }
    scene.server.keep_silent(true);
    let worker = scene.world.start(scene.command(&["worker", "--until-idle"]));
    scene.server.arrived(1).await;
    scene.execute("UPDATE approvals SET expires_at = now() - interval '1 s' WHERE state = 'approved'").await;
    scene.server.keep_silent(false);
    let ended = worker.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        (scene.server.runs(), scene.column("state").await),
        (1, vec!["executed".to_owned(), "expired".to_owned()])
    );
    assert_eq!(scene.column("outcome").await, ["ok", "-"]);
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_continues_when_all_its_calls_have_expired(pool: PgPool) {
    let limits = json!({"limits": {"approval_expires_s": 5000}});
    let scene = scene_with(pool, &[&[query(1), query(2)]], limits).await;
    scene.work().await;
    assert_eq!(scene.waits().await.len(), 2);
    let lasts = scene.column("extract(epoch FROM expires_at - requested_at)::int").await;
    assert_eq!(lasts, ["5000", "5000"]);
    scene.execute("UPDATE approvals SET expires_at = now() - interval '1 s'").await;
    scene.work().await;
    scene.world.becomes(scene.job, "completed").await;
    assert_eq!((scene.server.runs(), scene.column("state").await), (0, vec!["expired".to_owned(); 2]));
    assert!(scene.is_told("its time was over"));
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_call_that_was_rejected_is_asked_for_once(pool: PgPool) {
    let scene = scene(pool, &[&[query(1)], &[query(1)], &[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    scene.ask("SELECT reject_call($1, 'no')", waiting[0]).await.expect("it is rejected");
    scene.work().await;
    assert_eq!((scene.server.runs(), scene.column("state").await), (0, vec!["rejected".to_owned()]));
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn changed_arguments_are_sent_where_they_fit_and_asked_for_again_where_they_do_not(pool: PgPool) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    let wrong = scene.ask("SELECT edit_call($1, '[1]')", waiting[0]).await.expect_err("they are no object");
    assert!(wrong.contains("are no object"), "{wrong}");
    let misfit = r#"SELECT edit_call($1, '{"query": "RETURN 1", "parameters": {}}')"#;
    assert_eq!(scene.ask(misfit, waiting[0]).await.as_deref(), Ok("approved"));
    scene.work().await;
    let again = scene.waits().await;
    assert_eq!(scene.column("state").await, ["void", "pending"]);
    let reasons = scene.column("reason").await;
    assert!(reasons[1].contains("`parameters` is not a parameter"), "{reasons:?}");

    let id = again[0].to_string();
    let refused = scene.run(&["edit-call", &id, "--arguments", r#"{"parameters": {}}"#]).await;
    assert_eq!(refused.code, Some(2), "the command asks the schema first: {}", refused.stderr);
    let edited = json!({"query": QUERY, "params": {"n": 7}}).to_string();
    let changed = scene.run(&["edit-call", &id, "--arguments", &edited]).await;
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    scene.work().await;
    assert_eq!(scene.server.given(), [json!({"n": 7})]);
    assert!(scene.is_told("The arguments of this call were changed by"), "the model is told");
    assert_eq!(scene.column("decided_via").await, ["sql", "command"]);
    assert_eq!(scene.column("edited_sha256 IS NOT NULL").await, ["false", "true"]);
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_grant_of_three_approves_three_calls_and_the_fourth_is_asked_for(pool: PgPool) {
    let scene = scene(pool, &[&[query(1), query(2)], &[query(3)], &[query(4)]]).await;
    scene.work().await;
    assert_eq!(scene.waits().await.len(), 2);
    let granted = "SELECT grant_calls($1, 'execute_cypher_query', 3)";
    assert_eq!(scene.ask(granted, scene.job).await.as_deref(), Ok("pending"));
    scene.work().await;
    let waiting = scene.waits().await;
    assert_eq!((scene.server.runs(), waiting.len()), (3, 1));
    assert_eq!(scene.column("decided_via").await, ["grant", "grant", "grant", "-"]);
    let approved = scene.run(&["approve-call", &waiting[0].to_string()]).await;
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    scene.work().await;
    assert_eq!(scene.server.runs(), 4);
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn feedback_from_before_the_park_waits_for_the_end_of_the_answer(pool: PgPool) {
    let scene = scene(pool, &[&[query(1)]]).await;
    let mut command = scene.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_FAIL_POINTS", "before_commit/tactical=delay:3000@2");
    let worker = scene.world.start(command);
    scene.world.until(scene.job, "works", |job| job.step >= 2).await;
    let words = "SELECT send_feedback($1, 'Mind the annex.')";
    scene.ask(words, scene.job).await.expect("it runs");
    let ended = worker.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let waiting = scene.waits().await;
    assert_eq!(scene.world.job(scene.job).await.claims, 1, "it is no loop");
    scene.ask("SELECT approve_call($1)", waiting[0]).await.expect("it is approved");
    scene.work().await;
    assert!(scene.is_told("Mind the annex."));
    assert_eq!(scene.world.job(scene.job).await.claims, 2);
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_with_a_pending_call_continues_only_by_the_decision(pool: PgPool) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    let waiting = scene.waits().await;
    for statement in [
        "SELECT approve_job($1)",
        "SELECT resume_job($1)",
        "SELECT send_feedback($1, 'Go on.')",
        "UPDATE jobs SET status = 'pending' WHERE id = $1 RETURNING status",
    ] {
        let refused = scene.ask(statement, scene.job).await.expect_err(statement);
        assert!(refused.contains("waits for approval of execute_cypher_query (call "), "{statement}: {refused}");
    }
    scene.ask("SELECT cancel_job($1)", scene.job).await.expect("a job that waits can be cancelled");
    assert_eq!(scene.column("state").await, ["void"]);
    let late = scene.ask("SELECT approve_call($1)", waiting[0]).await.expect_err("its job has ended");
    assert!(late.contains("is void") && late.contains("cancelled"), "{late}");

    scene.ask("SELECT retry_job($1)", scene.job).await.expect("a cancelled job is retried");
    scene.work().await;
    assert_eq!((scene.waits().await.len(), scene.server.runs()), (1, 0), "a retry asks anew");
    let waited = scene.ask("SELECT (waited_s >= 1)::text FROM jobs WHERE id = $1", scene.job).await;
    assert_eq!(waited.as_deref(), Ok("true"), "the time in review is on record");
    let forked = "SELECT fork_job(id, step)::text FROM jobs WHERE id = $1";
    let fork: Uuid = scene.ask(forked, scene.job).await.expect("it forks").parse().expect("an id");
    scene.work().await;
    scene.world.becomes(fork, "review").await;
    let rows = "SELECT count(*)::text FROM approvals WHERE job_id = $1 AND state = 'pending'";
    assert_eq!(scene.ask(rows, fork).await.as_deref(), Ok("1"), "a fork asks anew");
    scene.end().await;
}

#[sqlx::test(migrations = false)]
async fn a_number_that_no_double_holds_is_an_error_and_no_question(pool: PgPool) {
    let scene = scene(pool, &[&[query(9_007_199_254_740_993)]]).await;
    scene.work().await;
    assert!(scene.is_told("which a 64-bit floating point number does not hold exactly"));
    assert_eq!((scene.server.runs(), scene.column("state").await.len()), (0, 0));
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_that_is_cancelled_while_it_waits_is_replayed(pool: PgPool) {
    let scene = scene(pool, &[&[query(1)]]).await;
    scene.work().await;
    scene.waits().await;
    assert_eq!(scene.ask("SELECT cancel_job($1)", scene.job).await.as_deref(), Ok("cancelled"));
    scene.replays(scene.job).await;
    scene.end().await;
}

#[sqlx::test(migrations = false)]
async fn a_row_adds_names_and_takes_none_away(pool: PgPool) {
    let scene = scene_with(pool, &[&[query(1)]], json!({"approval": ["fetch_page"]})).await;
    scene.execute("DELETE FROM jobs").await;
    let less = scene.insert_with_document(Some(json!({"approval": [TOOL]}))).await;
    let more = scene.insert_with_document(Some(json!({"approval": ["fetch_page", TOOL]}))).await;
    scene.work().await;
    let refused = scene.world.becomes(less, "failed").await;
    assert_eq!(refused.details.expect("it says why")["key"], "approval");
    scene.world.becomes(more, "review").await;
    // The operator's files are read at each claim, and a removed name does not release a waiting row.
    scene.set(&over(scene.server.keys(), &json!({"approval": []})));
    scene.work().await;
    scene.world.becomes(more, "review").await;
    scene.end().await;
}
