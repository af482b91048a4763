//! Decisions on the calls of one answer, in each order and of each kind; and approved calls to a server that counts, with a worker
//! that is killed at each named point between the decision and the result.

use super::{
    counting_tool::CountingTool,
    double::Served,
    scene::{self, Call},
};
use plumbline_system_tests::{PgPool, Uuid};
use serde_json::json;
use std::collections::BTreeMap;

/// How many calls the second half of this file makes; more are slower and find more.
const CALLS: &str = "PLUMBLINE_APPROVAL_CALLS";

type Scene = scene::Scene<CountingTool>;

/// Jobs whose model makes these calls in one answer, `http_pay` among them, which people decide on.
async fn scene(pool: PgPool, answer: &[Call]) -> Scene {
    let server = Served::<CountingTool>::start().await;
    let tools =
        json!({"pay": server.entry("pay", &json!({})), "look": server.entry("look", &json!({"replay": "safe"}))});
    let keys = json!({"approval": ["http_pay"], "connections": {"http_tools": tools}});
    Scene::of(pool, server, &[answer], keys).await
}

impl Scene {
    /// The ids of a job's calls, in the order of the asking.
    async fn asked(&self, job: Uuid) -> Vec<Uuid> {
        self.calls(job, "id").await.iter().map(|id| id.parse().expect("an id")).collect()
    }

    /// `state outcome` of each.
    async fn rows(&self, job: Uuid) -> Vec<String> {
        self.calls(job, "state || ' ' || coalesce(outcome, '-')").await
    }

    /// The amounts that a job paid, in the order of their arrival.
    fn paid(&self, job: Uuid) -> Vec<i64> {
        let own = format!("{job}:");
        let arrived = self.server.arrived();
        let of_job = arrived.iter().filter(|call| call.path == "/pay" && call.key.starts_with(&own));
        of_job.filter_map(|call| call.arguments["amount"].as_i64()).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    Approve,
    Reject,
    Edit,
    Expire,
}

use Decision::{Approve, Edit, Expire, Reject};

impl Decision {
    async fn on(self, scene: &Scene, call: Uuid) {
        let (statement, state) = match self {
            Approve => ("SELECT approve_call($1)", "approved"),
            Reject => ("SELECT reject_call($1, 'not this one')", "rejected"),
            Edit => ("SELECT edit_call($1, '{\"amount\": 70}')", "approved"),
            Expire => {
                let past = "UPDATE approvals SET expires_at = now() - interval '1 s' WHERE id = $1 RETURNING 'past'";
                scene.ask(past, call).await.expect("its time is over");
                ("SELECT approve_call($1)", "expired")
            }
        };
        assert_eq!(scene.ask(statement, call).await.as_deref(), Ok(state), "{self:?}");
    }

    /// How often a call of this amount arrives, and its final row.
    fn leads_to(self, amount: i64) -> (Option<i64>, &'static str) {
        match self {
            Approve => (Some(amount), "executed ok"),
            Edit => (Some(70), "executed ok"),
            Reject => (None, "rejected -"),
            Expire => (None, "expired -"),
        }
    }
}

#[sqlx::test(migrations = false)]
async fn each_order_of_decisions_makes_the_calls_that_were_approved_in_one_claim_a_round(pool: PgPool) {
    let note = json!({"path": "work/note.md", "content": "What the first payment gave."});
    let amount = |amount: i64| json!({ "amount": amount });
    let scene = scene(
        pool,
        &[
            ("http_look", amount(0)),
            ("http_pay", amount(1)),
            ("write_file", note),
            ("http_pay", amount(2)),
            ("todo_complete", json!({})),
        ],
    )
    .await;
    let all = [Approve, Reject, Edit, Expire];
    let pairs = all.into_iter().flat_map(|one| all.into_iter().map(move |other| (one, other)));
    let cases: Vec<(Decision, Decision, bool)> =
        pairs.flat_map(|(one, other)| [(one, other, false), (one, other, true)]).collect();
    let mut jobs = BTreeMap::new();
    for case in &cases {
        jobs.insert(scene.insert().await, *case);
    }
    scene.work().await;
    let has_file = "SELECT count(*)::text FROM workspace_files WHERE job_id = $1 AND path = 'work/note.md'";
    for (job, (one, other, is_reversed)) in &jobs {
        let case = format!("{one:?} {other:?}, reversed: {is_reversed}");
        let asked = scene.asked(*job).await;
        assert_eq!(asked.len(), 2, "{case}");
        assert_eq!(scene.ask(has_file, *job).await.as_deref(), Ok("0"), "it is written in its turn: {case}");
        let mut decisions = vec![(*one, asked[0]), (*other, asked[1])];
        if *is_reversed {
            decisions.reverse();
        }
        for (place, (decision, call)) in decisions.into_iter().enumerate() {
            decision.on(&scene, call).await;
            let status = scene.world.job(*job).await.status;
            assert_eq!(status, ["review", "pending"][place], "{case}");
        }
    }
    scene.work().await;
    for (job, (one, other, is_reversed)) in &jobs {
        let case = format!("{one:?} {other:?}, reversed: {is_reversed}");
        let ended = scene.world.becomes(*job, "completed").await;
        assert_eq!(ended.claims, 2, "{case}");
        let [(first, first_row), (second, second_row)] = [one.leads_to(1), other.leads_to(2)];
        assert_eq!(scene.paid(*job), first.into_iter().chain(second).collect::<Vec<_>>(), "{case}");
        assert_eq!(scene.rows(*job).await, [first_row, second_row], "{case}");
        assert_eq!(scene.ask(has_file, *job).await.as_deref(), Ok("1"), "{case}");
    }
    let arrived = scene.server.arrived().len();
    for (job, _) in jobs.iter().step_by(5) {
        scene.replays(*job).await;
    }
    assert_eq!(scene.server.arrived().len(), arrived, "a replay sends nothing");
    scene.world.finish().await;
}

/// How many calls there are: a few, unless the environment wants more.
fn calls() -> usize {
    std::env::var(CALLS).ok().and_then(|text| text.parse().ok()).unwrap_or(8).max(4)
}

/// A change to a call between its approval and the claim that would execute it.
const CHANGES: [&str; 4] = [
    "UPDATE approvals SET arguments_sha256 = sha256('x') WHERE job_id = $1 RETURNING 'done'",
    "UPDATE approvals SET tool_sha256 = sha256('x') WHERE job_id = $1 RETURNING 'done'",
    "UPDATE approvals SET expires_at = now() - interval '1 s' WHERE job_id = $1 RETURNING 'done'",
    "SELECT cancel_job($1) || retry_job($1)",
];

#[sqlx::test(migrations = false)]
async fn of_calls_that_are_not_as_they_were_approved_none_arrives(pool: PgPool) {
    let scene = scene(pool, &[("http_pay", json!({"amount": 1}))]).await;
    let mut jobs = Vec::new();
    for _ in 0..calls() / 2 {
        jobs.push(scene.insert().await);
    }
    scene.work().await;
    for (job, change) in jobs.iter().zip(CHANGES.iter().cycle()) {
        Approve.on(&scene, scene.asked(*job).await[0]).await;
        scene.ask(change, *job).await.expect(change);
    }
    scene.work().await;
    for (job, change) in jobs.iter().zip(CHANGES.iter().cycle()) {
        assert_eq!(scene.paid(*job), [0; 0], "{change}");
        let expected = if change.contains("retry_job") { "review" } else { "completed" };
        scene.world.becomes(*job, expected).await;
    }
    scene.world.finish().await;
}

/// Calls whose worker is killed at each of these places, and the final state of each: how often it arrived, and its
/// outcome.
async fn killed(pool: PgPool, places: &[&str], by_two: bool) -> Vec<(usize, String)> {
    let scene = scene(pool, &[("http_pay", json!({"amount": 1}))]).await;
    let mut jobs = Vec::new();
    for _ in 0..(calls() / 4).max(places.len()) {
        jobs.push(scene.insert().await);
    }
    scene.work().await;
    for ((number, job), place) in jobs.iter().enumerate().zip(places.iter().cycle()) {
        let call = scene.asked(*job).await[0];
        if by_two && number % 2 == 0 {
            let approve = || scene.ask("SELECT approve_call($1)", call);
            let (one, other) = tokio::join!(approve(), approve());
            assert_eq!(usize::from(one.is_err()) + usize::from(other.is_err()), 1, "{one:?} {other:?}");
        } else {
            Approve.on(&scene, call).await;
        }
        // No other job can run: earlier ones are done, later ones wait for a decision.
        scene.dies_at(place).await;
        scene.work().await;
    }
    let mut known = Vec::new();
    for job in &jobs {
        scene.world.becomes(*job, "completed").await;
        known.push((scene.paid(*job).len(), scene.rows(*job).await.join(", ")));
    }
    scene.world.finish().await;
    known
}

#[sqlx::test(migrations = false)]
async fn a_call_whose_worker_dies_before_the_dispatch_is_committed_arrives_once(pool: PgPool) {
    let places =
        ["claimed/claim=crash", "loaded/tactical=crash", "before_commit/tactical=crash", "written/tactical=crash"];
    for (arrived, row) in killed(pool, &places, true).await {
        assert_eq!((arrived, row.as_str()), (1, "executed ok"));
    }
}

#[sqlx::test(migrations = false)]
async fn a_call_whose_worker_dies_after_the_dispatch_arrives_at_most_once_and_is_in_doubt(pool: PgPool) {
    let places = ["before_tools/tactical=crash@2", "after_tools/tactical=crash@2"];
    for (place, (arrived, row)) in places.iter().cycle().zip(killed(pool, &places, false).await) {
        assert_eq!((arrived, row.as_str()), (usize::from(place.starts_with("after")), "executed in doubt"), "{place}");
    }
}
