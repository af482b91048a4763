//! Validators that die, share and are stopped: every requirement is in the graph once, and none is lost.

use plumbline_system_tests::{
    Answer, PgPool, Uuid, World, eventually,
    graph_kit::Moment,
    handover::{Graph, all, assert_statuses, by_model, created, insert_validator, policy, statuses},
    seed::Seed,
};
use serde_json::{Value, json};

/// Kills within the integration.
const KILLS: usize = 8;

/// Rows of the creator that two validators share. The rehearsal model claims forty at a time, so one claim cannot take all.
const SHARED: i64 = 52;
const BATCH: i64 = 40;

#[sqlx::test(migrations = false)]
async fn killed_while_it_integrates_at_seeded_moments(pool: PgPool) {
    let Some(graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let before = graph.server.seen().len();
    let calm = created(&world, &policy(3, 1)).await;
    let validator = insert_validator(&world, calm, &graph.config(&world)).await;
    world.work_until_idle().await;
    let requests = world.becomes(validator, "completed").await.requests;
    let asked = graph.server.seen().len() - before;
    let mut seed = Seed::of_run(11);
    for round in 2..KILLS + 2 {
        let creator = created(&world, &policy(3, round)).await;
        let (after, moment) = match round {
            // The worst case: the first commit was carried out, and its answer lost.
            2 => (position_of_first_commit(&graph), Moment::After),
            _ => (seed.below(asked as u64) as usize, [Moment::Before, Moment::After][seed.below(2) as usize]),
        };
        graph.server.fall_silent(after, moment);
        let validator = insert_validator(&world, creator, &graph.config(&world)).await;
        let worker = world.worker();
        graph.server.silence().await;
        worker.kill().await;
        let what = format!("killed at graph request {after}, {moment:?} it");
        assert_eq!(statuses(&world.pool, creator).await.values().sum::<i64>(), 6, "{what}");
        world.age_workers().await;
        world.work_until_idle().await;
        let row = world.becomes(validator, "completed").await;
        assert_eq!(row.requests, requests, "{what}: a model call that was recorded was made again");
        assert_statuses(&world.pool, creator, [("integrated", 6)], &what).await;
        graph.assert_holds_the_integrated_rows(&world.pool).await;
    }
    let numbers: Vec<String> = graph.integrated().await.into_iter().map(|(_, rid)| rid).collect();
    let expected: Vec<String> = (1..=6 * (KILLS + 1)).map(|n| format!("R-{n:04}")).collect();
    assert_eq!(numbers, expected, "no number is lost by a kill");
    world.finish().await;
}

/// How many graph requests of a validator come before its first commit.
fn position_of_first_commit(graph: &Graph) -> usize {
    let seen = graph.server.seen();
    let first = seen.iter().position(|seen| seen.line.ends_with("/commit"));
    first.expect("a first validator has committed")
}

#[sqlx::test(migrations = false)]
async fn two_at_once_share_the_rows(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(26, 1)).await;
    let held = validate_by_two(&world, creator, &by_model(&world)).await;
    // Without a graph accepted rows stay pending, with the result of their judge.
    assert_statuses(&world.pool, creator, [("pending", SHARED)], "the rows").await;
    assert_eq!(shares(&world.pool, creator).await, held, "each judged what it held");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn two_at_once_fill_one_graph(pool: PgPool) {
    let Some(graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let creator = created(&world, &policy(26, 1)).await;
    validate_by_two(&world, creator, &graph.config(&world)).await;
    assert_statuses(&world.pool, creator, [("integrated", SHARED)], "the rows").await;
    graph.assert_holds_the_integrated_rows(&world.pool).await;
    world.finish().await;
}

/// Runs two validators at once to their end; both have claimed rows before either judges any. Returns how many rows
/// each held, the fewest first.
async fn validate_by_two(world: &World, creator: Uuid, config: &Value) -> Vec<i64> {
    // The length of a row's view depends on the state of similar rows; it must not be truncated, because the rehearsal
    // model cannot read a truncated requirement.
    let mut config = config.clone();
    config["limits"] = json!({"max_tool_result_tokens": 12_000});
    let before = world.model.requests();
    world.model.hold_from(before + 1);
    let validators = [insert_validator(world, creator, &config).await, insert_validator(world, creator, &config).await];
    let start = || world.start(world.command(&["worker", "--concurrency", "1"]));
    let workers = [start(), start()];
    let held = side_by_side_until_rows_are_held(world, before, creator).await;
    world.model.answers(Answer::Work);
    for validator in validators {
        world.becomes(validator, "completed").await;
    }
    for worker in workers {
        worker.stop().await;
    }
    held
}

/// Lets two jobs continue request by request until they have claimed rows: no request of either is answered before the
/// other also waits for an answer. Each runs on a worker with one job at a time, so neither can run ahead.
/// Two claims at the same instant divide the rows anywhere between 12 to 40 and half each: each skips what the other
/// has locked so far.
async fn side_by_side_until_rows_are_held(world: &World, before: u64, creator: Uuid) -> Vec<i64> {
    let mut asked = before;
    loop {
        asked += 2;
        world.model.arrived(asked).await;
        let shares = shares(&world.pool, creator).await;
        if !shares.is_empty() {
            assert_eq!((shares.len(), shares.iter().sum()), (2, SHARED), "each holds a batch of its own: {shares:?}");
            assert!(shares[1] <= BATCH, "no claim is larger than a batch: {shares:?}");
            return shares;
        }
        world.model.hold_from(asked + 1);
    }
}

/// How many of a job's rows each validator has claimed, the fewest first.
async fn shares(pool: &PgPool, creator: Uuid) -> Vec<i64> {
    let claimed = "SELECT count(*) FROM requirement_cache WHERE job_id = $1 AND validator_job_id IS NOT NULL
                   GROUP BY validator_job_id ORDER BY 1";
    sqlx::query_scalar(claimed).bind(creator).fetch_all(pool).await.expect("requirement_cache can be read")
}

/// Waits until the validator holds rows.
async fn holds_rows(pool: &PgPool, validator: Uuid) {
    eventually("the validator to hold rows", async || {
        let held = "SELECT count(*) > 0 FROM requirement_cache WHERE validator_job_id = $1 AND status = 'validating'";
        let holds: bool = sqlx::query_scalar(held).bind(validator).fetch_one(pool).await.expect("rows");
        holds.then_some(())
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn rows_outlive_their_validators_worker_and_are_free_again_when_it_is_cancelled(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(3, 1)).await;
    let config = by_model(&world);
    let first = insert_validator(&world, creator, &config).await;
    let before = world.model.requests();
    // Its every call is held from the first one on that can have claimed rows.
    world.model.hold_from(before + 2);
    let worker = world.worker();
    let mut held = before;
    while statuses(&world.pool, creator).await != all([("validating", 6)]) {
        held += 1;
        world.model.hold_from(held + 1);
        world.model.arrived(held).await;
        world.until(first, "makes a step", |job| job.requests >= (held - before) as i64 || job.ended).await;
    }
    holds_rows(&world.pool, first).await;
    worker.kill().await;
    world.age_workers().await;
    assert_statuses(&world.pool, creator, [("validating", 6)], "they are its job's, not its worker's").await;

    let status = world.call("SELECT cancel_job($1)", first).await.expect("it can be cancelled");
    assert_eq!(status, "cancelled");
    assert_statuses(&world.pool, creator, [("pending", 6)], "the rows").await;
    world.model.answers(Answer::Work);
    let second = insert_validator(&world, creator, &config).await;
    world.work_until_idle().await;
    world.becomes(second, "completed").await;
    let accepted: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM requirement_cache WHERE validator_job_id = $1 AND validation_result IS NOT NULL",
    )
    .bind(second)
    .fetch_one(&world.pool)
    .await
    .expect("requirement_cache can be read");
    assert_eq!(accepted, 6);
    world.finish().await;
}
