//! Limits of models' endpoints: what workers draw from a bucket, what they learn, and the slots that they share.

use crate::support::{claimed_by, execute, store, until_blocked, value, worker};
use plumbline_store::{Amount, Draw, Drawn, EndpointKey, EndpointLimits, Refusal, Store};
use sqlx::PgPool;
use std::time::Duration;
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(60);

fn key() -> EndpointKey {
    EndpointKey { endpoint: "https://models.example".into(), key_name: "A_KEY".into(), model: "m".into() }
}

fn limits(requests: impl Into<Option<i64>>, tokens: impl Into<Option<i64>>) -> EndpointLimits {
    EndpointLimits { requests_per_minute: requests.into(), tokens_per_minute: tokens.into(), parallel: None }
}

fn tokens(tokens: f64) -> Amount {
    Amount { requests: 1.0, tokens }
}

async fn draw(store: &Store, worker: Uuid, draw: Draw) -> Drawn {
    store.draw_from_endpoint(&key(), worker, LEASE, &draw).await.unwrap().expect("a limit is known")
}

async fn need(store: &Store, worker: Uuid, amount: f64) -> Drawn {
    draw(store, worker, Draw { needed: tokens(amount), ..Draw::default() }).await
}

/// How many tokens are missing until the last one drawn may be used.
fn missing(drawn: &Drawn) -> f64 {
    drawn.position.tokens - drawn.released.tokens
}

/// Lets so much time pass for the bucket.
async fn pass(pool: &PgPool, seconds: u32) {
    let columns = ["refilled_at", "used_at", "refused_at", "blocked_until", "updated_at"];
    let earlier = columns.map(|column| format!("{column} = {column} - interval '{seconds} s'")).join(", ");
    execute(pool, format!("UPDATE endpoint_limits SET {earlier}")).await.unwrap();
}

async fn rules(pool: &PgPool) -> String {
    let shown = "concat_ws(' ', coalesce(requests_per_minute::text, '-'), coalesce(tokens_per_minute::text, '-'), \
                 coalesce(parallel::text, '-'), source)";
    value(pool, format!("SELECT {shown} FROM endpoint_limits")).await.unwrap_or_default()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.005 * expected.abs().max(400.0)
}

#[sqlx::test(migrations = "../../migrations")]
async fn where_no_limit_is_known_nothing_is_drawn(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    let drawn = store.draw_from_endpoint(&key(), worker, LEASE, &Draw::default()).await.unwrap();
    assert_eq!(drawn, None);
    assert!(store.known_endpoints().await.unwrap().is_empty());
    store.learn_endpoint_limits(&key(), None, Some(1000)).await.unwrap();
    assert_eq!(store.known_endpoints().await.unwrap(), [key()]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_bucket_holds_a_second_and_is_refilled_by_nine_tenths_of_the_limit(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    // So slow that the time that the test itself takes does not count.
    store.set_endpoint_limits(&key(), limits(None, 60), true).await.unwrap();
    let first = need(&store, worker, 1.0).await;
    assert!(close(missing(&first), 1.0 - 0.9), "{first:?}");
    let second = need(&store, worker, 5_000.0).await;
    assert!(close(missing(&second), 5_001.0 - 0.9), "debt is waited for: {second:?}");
    pass(&pool, 1_000).await;
    let third = need(&store, worker, 100.0).await;
    assert!(close(missing(&third), 5_101.0 - 0.9 - 900.0), "{third:?}");
    pass(&pool, 100_000).await;
    let fourth = need(&store, worker, 1.0).await;
    assert!(close(missing(&fourth), 1.0 - 0.9), "no more than its capacity is saved up: {fourth:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn spare_is_given_of_what_is_there_and_comes_back(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    store.set_endpoint_limits(&key(), limits(6_000, 60_000), true).await.unwrap();
    let spare = Amount { requests: 8.0, tokens: 8_000.0 };
    let first = draw(&store, worker, Draw { needed: tokens(100.0), spare, ..Draw::default() }).await;
    assert_eq!(first.given.requests, 8.0);
    assert_eq!(first.given.tokens, 200.0, "a quarter of the rest: {first:?}");
    let back = Amount { requests: -8.0, tokens: -first.given.tokens };
    let second = draw(&store, worker, Draw { corrected: back, ..Draw::default() }).await;
    assert!((-900.0..=-800.0).contains(&missing(&second)), "{second:?}");
    let beyond = draw(&store, worker, Draw { needed: tokens(9_000.0), spare, ..Draw::default() }).await;
    assert_eq!((beyond.given.tokens, beyond.given.requests), (0.0, 8.0));
}

#[sqlx::test(migrations = "../../migrations")]
async fn draws_of_two_workers_stand_in_line(pool: PgPool) {
    let store = store(&pool);
    let (one, other) = (worker(&store).await, worker(&store).await);
    store.set_endpoint_limits(&key(), limits(60, None), true).await.unwrap();
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM endpoint_limits FOR UPDATE").execute(&mut *holder).await.unwrap();
    let draws = [one, other].map(|worker| {
        let store = store.clone();
        tokio::spawn(async move { need(&store, worker, 0.0).await })
    });
    until_blocked(&pool).await;
    holder.commit().await.unwrap();
    let mut positions = Vec::new();
    for draw in draws {
        positions.push(draw.await.unwrap().position.requests);
    }
    positions.sort_by(f64::total_cmp);
    assert_eq!(positions, [1.0, 2.0]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_refusal_blocks_everybody_and_nothing_is_refilled_meanwhile(pool: PgPool) {
    let store = store(&pool);
    let (one, other) = (worker(&store).await, worker(&store).await);
    store.set_endpoint_limits(&key(), limits(None, 60_000), true).await.unwrap();
    need(&store, one, 100.0).await;
    let wait = Some(Duration::from_secs(30));
    let refusal = Refusal { wait, sent_ago: Duration::ZERO, names_limits: true };
    store.block_endpoint(&key(), &refusal).await.unwrap();
    let drawn = need(&store, other, 100.0).await;
    assert!(drawn.refilled_in > Duration::from_secs(28), "{drawn:?}");
    assert!(close(missing(&drawn), 100.0), "what was saved up is gone: {drawn:?}");
    assert_eq!(rules(&pool).await, "- 60000 - set", "the provider names its limit itself");
    pass(&pool, 31).await;
    let drawn = need(&store, other, 100.0).await;
    assert_eq!(drawn.refilled_in, Duration::ZERO);
    assert!(missing(&drawn) <= 0.0, "what comes after the block is there: {drawn:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_provider_that_refuses_without_a_word_allows_less_than_was_thought(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    store.set_endpoint_limits(&key(), limits(None, 60_000), true).await.unwrap();
    draw(&store, worker, Draw { spent: tokens(50_000.0), ..Draw::default() }).await;
    let refusal = |sent_ago| Refusal { wait: None, sent_ago, names_limits: false };
    store.block_endpoint(&key(), &refusal(Duration::ZERO)).await.unwrap();
    let lowered = rules(&pool).await;
    let tokens_now: i64 = lowered.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap();
    assert!((33_000..=35_000).contains(&tokens_now) && lowered.ends_with("learnt"), "{lowered}");
    store.block_endpoint(&key(), &refusal(Duration::from_secs(3))).await.unwrap();
    assert_eq!(rules(&pool).await, lowered, "a request that was under way says nothing new");
    // It rises by a twentieth a minute while it is used, up to what was set.
    let mut risen = Vec::new();
    for _ in 0..14 {
        pass(&pool, 61).await;
        draw(&store, worker, Draw { spent: tokens(60_000.0), ..Draw::default() }).await;
        risen.push(rules(&pool).await);
    }
    assert_eq!(risen[0], format!("- {} - learnt", (tokens_now as f64 * 1.05).ceil()));
    assert_eq!(risen[13], "- 60000 - set");
    assert!(risen.iter().take(9).all(|rules| rules.ends_with("learnt")), "{risen:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_set_is_a_ceiling_and_what_is_learnt_below_it_rules(pool: PgPool) {
    let store = store(&pool);
    store.learn_endpoint_limits(&key(), Some(500), Some(90_000)).await.unwrap();
    assert_eq!(rules(&pool).await, "500 90000 - learnt");
    let set = |requests: i64, tokens: i64| EndpointLimits { parallel: Some(4), ..limits(requests, tokens) };
    for (setting, rule) in [
        (set(600, 60_000), "500 60000 4 learnt"),
        (set(400, 60_000), "400 60000 4 set"),
        (set(450, 70_000), "450 70000 4 set"),
    ] {
        store.set_endpoint_limits(&key(), setting, true).await.unwrap();
        assert_eq!(rules(&pool).await, rule);
    }
    for (requests, tokens, rule) in [
        (Some(500), Some(80_000), "450 70000 4 set"),
        (None, Some(30_000), "450 30000 4 learnt"),
        (None, Some(35_000), "450 35000 4 learnt"),
        (Some(100), None, "100 35000 4 learnt"),
        (Some(900), Some(900_000), "450 70000 4 set"),
    ] {
        store.learn_endpoint_limits(&key(), requests, tokens).await.unwrap();
        assert_eq!(rules(&pool).await, rule);
    }
    store.set_endpoint_limits(&key(), set(10, 10), false).await.unwrap();
    assert_eq!(rules(&pool).await, "450 70000 4 set", "a job that began earlier changes nothing");
    // By hand.
    execute(&pool, "UPDATE endpoint_limits SET tokens_per_minute = 20000").await.unwrap();
    store.learn_endpoint_limits(&key(), None, Some(30_000)).await.unwrap();
    assert_eq!(rules(&pool).await, "450 20000 4 set");
}

/// Asks for slots: so many in use, so many wanted with those; what was lent.
async fn slots(store: &Store, worker: Uuid, in_use: i32, asked: i32) -> (i32, bool) {
    let drawn = draw(store, worker, Draw { slots_in_use: in_use, slots_asked: asked, ..Draw::default() }).await;
    (drawn.slots.unwrap(), drawn.contested)
}

async fn parallel(store: &Store, parallel: i32) {
    let limits = EndpointLimits { parallel: Some(parallel), ..EndpointLimits::default() };
    store.set_endpoint_limits(&key(), limits, true).await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn slots_are_shared_fairly_and_in_turn(pool: PgPool) {
    let store = store(&pool);
    parallel(&store, 2).await;
    let [a, b, c] = [worker(&store).await, worker(&store).await, worker(&store).await];
    assert_eq!(slots(&store, a, 0, 5).await, (2, false), "nobody else wants them");
    assert_eq!(slots(&store, b, 0, 5).await, (0, true));
    assert_eq!(slots(&store, c, 0, 5).await, (0, true));
    assert_eq!(slots(&store, a, 1, 5).await, (1, true), "what it does not use, it gives back to who waits");
    assert_eq!(slots(&store, c, 0, 5).await, (0, true), "b has waited longer");
    assert_eq!(slots(&store, b, 0, 5).await, (1, true));
    assert_eq!(slots(&store, a, 0, 5).await, (0, true));
    assert_eq!(slots(&store, b, 1, 5).await, (1, true));
    assert_eq!(slots(&store, c, 0, 5).await, (1, true));
    assert_eq!(slots(&store, b, 0, 0).await, (0, true));
    assert_eq!(slots(&store, a, 0, 5).await, (1, true));
    assert_eq!(slots(&store, c, 0, 0).await, (0, true));
    assert_eq!(slots(&store, a, 1, 5).await, (2, false));
}

#[sqlx::test(migrations = "../../migrations")]
async fn slots_of_a_dead_worker_come_back(pool: PgPool) {
    let store = store(&pool);
    parallel(&store, 3).await;
    let (dead, gone, live) = (worker(&store).await, worker(&store).await, worker(&store).await);
    assert_eq!(slots(&store, dead, 0, 1).await.0, 1);
    assert_eq!(slots(&store, gone, 0, 2).await.0, 2);
    assert_eq!(slots(&store, live, 0, 9).await.0, 0);
    execute(&pool, format!("UPDATE workers SET heartbeat_at = now() - interval '2 min' WHERE id = '{dead}'"))
        .await
        .unwrap();
    assert_eq!(slots(&store, live, 0, 9).await.0, 1);
    store.unregister_worker(gone).await.unwrap();
    assert_eq!(slots(&store, live, 1, 9).await.0, 3);
}

#[sqlx::test(migrations = "../../migrations")]
async fn rivals_together_never_have_more_slots_than_there_are(pool: PgPool) {
    let store = store(&pool);
    parallel(&store, 5).await;
    let mut rivals = Vec::new();
    for _ in 0..8 {
        let (store, worker) = (store.clone(), worker(&store).await);
        rivals.push(tokio::spawn(async move {
            let (mut had, mut in_use, mut asked) = (0, 0, 0);
            while had < 20 && asked < 5_000 {
                in_use = slots(&store, worker, in_use, 4).await.0;
                had += in_use;
                asked += 1;
                in_use = (in_use - 1).max(0);
            }
            slots(&store, worker, 0, 0).await;
            had
        }));
    }
    let watched = async {
        while !rivals.iter().all(tokio::task::JoinHandle::is_finished) {
            let lent = value(&pool, "SELECT coalesce(sum(slots), 0) FROM endpoint_slots").await.unwrap();
            assert!(lent.parse::<i32>().unwrap() <= 5, "{lent} slots are lent");
        }
    };
    watched.await;
    for rival in rivals {
        assert!(rival.await.unwrap() >= 20, "each has its turns");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn jobs_that_wait_say_so_and_only_their_own_run_does(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    let jobs = claimed_by(&store, worker, 2).await;
    let (one, other) = (jobs[0].lease(), jobs[1].lease());
    let stale = plumbline_store::Lease { epoch: other.epoch - 1, ..other };
    let told = store.say_waits_for_limit(&[(one, true), (stale, true)]).await.unwrap();
    assert_eq!(told, [one.job_id]);
    let reasons = "SELECT string_agg(coalesce(status_reason, '-'), ', ' ORDER BY status_reason) FROM jobs";
    assert_eq!(value(&pool, reasons).await.unwrap(), "waits for its model's limit, -");
    assert!(store.say_waits_for_limit(&[(one, true), (other, false)]).await.unwrap().is_empty(), "nothing new");
    assert_eq!(store.say_waits_for_limit(&[(one, false)]).await.unwrap(), [one.job_id]);
    assert_eq!(value(&pool, reasons).await.unwrap(), "-, -");
}
