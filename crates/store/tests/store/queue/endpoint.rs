//! Limits of models' endpoints: workers' draws by GCRA, learnt limits, and shared slots.

use crate::support::{claimed_by, execute, store, until_blocked, value, worker};
use plumbline_store::{Amount, Draw, Drawn, EndpointKey, EndpointLimits, Refusal, Slots, Store};
use sqlx::PgPool;
use std::time::Duration;
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(60);
/// Seconds that a test may take between two of its statements: all rates are so slow that this has no effect.
const SLACK: f64 = 120.0;

fn key() -> EndpointKey {
    EndpointKey { endpoint: "https://models.example".into(), key_name: "A_KEY".into(), model: "m".into() }
}

fn limits(requests: impl Into<Option<i64>>, tokens: impl Into<Option<i64>>) -> EndpointLimits {
    EndpointLimits { requests_per_minute: requests.into(), tokens_per_minute: tokens.into(), parallel: None }
}

fn tokens(tokens: f64) -> Amount {
    Amount { requests: 1.0, tokens }
}

async fn draw(store: &Store, cost: Amount, corrected: f64) -> Drawn {
    let draw = Draw { cost, corrected: Amount { requests: 0.0, tokens: corrected } };
    store.draw_from_endpoint(&key(), &draw).await.unwrap().expect("a limit is known")
}

async fn need(store: &Store, amount: f64) -> Drawn {
    draw(store, tokens(amount), 0.0).await
}

/// Advances the limits' time.
async fn pass(pool: &PgPool, seconds: u32) {
    let columns = ["requests_tat", "tokens_tat", "refused_at", "blocked_until", "updated_at"];
    let earlier = columns.map(|column| format!("{column} = {column} - interval '{seconds} s'")).join(", ");
    execute(pool, format!("UPDATE endpoint_limits SET {earlier}")).await.unwrap();
}

async fn rules(pool: &PgPool) -> String {
    let shown = "concat_ws(' ', coalesce(requests_per_minute::text, '-'), coalesce(tokens_per_minute::text, '-'), \
                 coalesce(parallel::text, '-'), source)";
    value(pool, format!("SELECT {shown} FROM endpoint_limits")).await.unwrap_or_default()
}

async fn burst(pool: &PgPool) -> String {
    value(pool, "SELECT burst_s FROM endpoint_limits").await.unwrap_or_default()
}

fn close(found: f64, expected: f64) -> bool {
    (expected - SLACK..=expected + 1.0).contains(&found)
}

#[sqlx::test(migrations = "../../migrations")]
async fn where_no_limit_is_known_nothing_is_drawn(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    assert_eq!(store.draw_from_endpoint(&key(), &Draw::default()).await.unwrap(), None);
    assert_eq!(store.hold_endpoint_slots(&key(), worker, LEASE, 1, 0).await.unwrap(), None);
    assert!(store.known_endpoints().await.unwrap().is_empty());
    store.learn_endpoint_limits(&key(), None, Some(1000)).await.unwrap();
    assert_eq!(store.known_endpoints().await.unwrap(), [key()]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_draw_moves_the_tat_by_its_cost_and_a_pause_moves_it_no_further_than_now(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(None, 60), true).await.unwrap();
    let first = need(&store, 1_000.0).await;
    // 60 a minute with a burst of ten seconds: fifty seconds of each minute are left for the rate.
    assert!((first.period_s.tokens - 1.2).abs() < 1e-9 && first.burst_s == 10.0, "{first:?}");
    assert!(close(first.tat_s.tokens, 0.0), "nothing was drawn before: {first:?}");
    let second = need(&store, 5_000.0).await;
    assert!(close(second.tat_s.tokens, 1_200.0), "{second:?}");
    let third = draw(&store, tokens(1.0), -1_000.0).await;
    assert!(close(third.tat_s.tokens, 6_000.0), "a thousand came back: {third:?}");
    pass(&pool, 100_000).await;
    let fourth = need(&store, 1.0).await;
    assert!(close(fourth.tat_s.tokens, 0.0), "no more than the burst is saved up: {fourth:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn burst_and_rate_together_stay_within_the_limit_of_a_minute(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(600, None), true).await.unwrap();
    for burst_s in [0.5, 1.0, 5.0, 10.0, 30.0] {
        execute(&pool, format!("UPDATE endpoint_limits SET burst_s = {burst_s}")).await.unwrap();
        let period = need(&store, 1.0).await.period_s.requests;
        let minute = burst_s * 600.0 / 60.0 + 60.0 / period;
        assert!((540.0 - 1e-6..=600.0 + 1e-6).contains(&minute), "{burst_s}: {minute} in a minute");
    }
    let refused = execute(&pool, "UPDATE endpoint_limits SET burst_s = 60").await;
    assert!(refused.is_err(), "nothing would be left for the rate");
}

#[sqlx::test(migrations = "../../migrations")]
async fn draws_of_two_workers_are_in_line(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(1, None), true).await.unwrap();
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM endpoint_limits FOR UPDATE").execute(&mut *holder).await.unwrap();
    let draws = [100.0, 100.0].map(|requests| {
        let store = store.clone();
        tokio::spawn(async move { draw(&store, Amount { requests, tokens: 0.0 }, 0.0).await })
    });
    until_blocked(&pool).await;
    holder.commit().await.unwrap();
    let mut tats = Vec::new();
    for draw in draws {
        tats.push(draw.await.unwrap().tat_s.requests);
    }
    tats.sort_by(f64::total_cmp);
    assert!(close(tats[0], 0.0) && close(tats[1], 100.0 * 72.0), "{tats:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_refusal_blocks_all_workers_and_takes_what_was_saved_up(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(None, 60_000), true).await.unwrap();
    need(&store, 100.0).await;
    let wait = Some(Duration::from_secs(3_000));
    let refusal = Refusal { wait, sent_ago: Duration::ZERO, names_limits: true };
    store.block_endpoint(&key(), &refusal).await.unwrap();
    let drawn = need(&store, 100.0).await;
    assert_eq!(burst(&pool).await, "5", "the provider refused what was within the limit");
    assert!(close(drawn.tat_s.tokens, 3_005.0), "a block, and no burst behind it: {drawn:?}");
    assert_eq!(rules(&pool).await, "- 60000 - set", "the provider names its limit itself");
    pass(&pool, 3_200).await;
    assert_eq!(need(&store, 100.0).await.tat_s.tokens, 0.0);
}

/// A person blocks an endpoint, for ever or for long, and lets it go on: what was drawn meanwhile keeps its order, and
/// waits for the block no more.
#[sqlx::test(migrations = "../../migrations")]
async fn a_block_that_is_taken_away_holds_nothing_up(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(None, 6_000), true).await.unwrap();
    for until in ["'infinity'", "'2999-01-01'", "now() + interval '1 hour'"] {
        let block = format!("UPDATE endpoint_limits SET burst_s = 10, tokens_tat = now(), blocked_until = {until}");
        execute(&pool, block).await.unwrap();
        let (first, second) = (need(&store, 60_000.0).await, need(&store, 1.0).await);
        assert!(first.tat_s.tokens > 3_000.0, "{until}: {first:?}");
        let period = first.period_s.tokens;
        assert!(close(second.tat_s.tokens - first.tat_s.tokens, 60_000.0 * period), "{until}: {second:?}");
        execute(&pool, "UPDATE endpoint_limits SET blocked_until = NULL").await.unwrap();
        let third = need(&store, 1.0).await;
        assert!(close(third.tat_s.tokens, 60_001.0 * period + 10.0), "{until}: {third:?}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_provider_that_refuses_without_a_word_allows_less_than_was_thought(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(None, 60_000), true).await.unwrap();
    let refusal = |sent_ago| Refusal { wait: None, sent_ago: Duration::from_secs(sent_ago), names_limits: false };
    store.block_endpoint(&key(), &refusal(0)).await.unwrap();
    assert_eq!((rules(&pool).await.as_str(), burst(&pool).await.as_str()), ("- 42000 - learnt", "5"));
    store.block_endpoint(&key(), &refusal(3_000)).await.unwrap();
    assert_eq!(rules(&pool).await, "- 42000 - learnt", "a request that was under way says nothing new");
    // It rises by a twentieth per minute while requests have to wait, up to the set limit.
    pass(&pool, 61).await;
    need(&store, 10_000_000.0).await;
    assert_eq!(rules(&pool).await, "- 42000 - learnt", "nothing had to wait in this minute");
    let mut risen = Vec::new();
    for _ in 0..8 {
        pass(&pool, 61).await;
        need(&store, 10_000_000.0).await;
        risen.push(rules(&pool).await);
    }
    assert_eq!((risen[0].as_str(), risen[7].as_str()), ("- 44100 - learnt", "- 60000 - set"));
    assert!(risen[..7].iter().all(|rules| rules.ends_with("learnt")), "{risen:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn refusals_in_a_row_are_waited_for_twice_as_long_each(pool: PgPool) {
    let store = store(&pool);
    store.set_endpoint_limits(&key(), limits(None, 60_000), true).await.unwrap();
    let refusal = Refusal { wait: None, sent_ago: Duration::ZERO, names_limits: true };
    let mut waits = Vec::new();
    for _ in 0..5 {
        store.block_endpoint(&key(), &refusal).await.unwrap();
        let wait = "SELECT round(extract(epoch FROM blocked_until - refused_at)) FROM endpoint_limits";
        waits.push(value(&pool, wait).await.unwrap());
        // The next request is sent when the block has just ended.
        let over = "UPDATE endpoint_limits SET (refused_at, blocked_until) = \
                    (refused_at - blocked_until + now() - interval '1 ms', now() - interval '1 ms')";
        execute(&pool, over).await.unwrap();
    }
    assert_eq!(waits, ["1", "2", "4", "8", "8"]);
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
    // An operator's change.
    execute(&pool, "UPDATE endpoint_limits SET tokens_per_minute = 20000").await.unwrap();
    store.learn_endpoint_limits(&key(), None, Some(30_000)).await.unwrap();
    assert_eq!(rules(&pool).await, "450 20000 4 set");
}

/// Requests slots for this many requests, after some have ended.
async fn slots(store: &Store, worker: Uuid, wanted: i32, ended: i32) -> (i32, bool) {
    let held = store.hold_endpoint_slots(&key(), worker, LEASE, wanted, ended).await.unwrap();
    let Slots { granted, contested } = held.expect("there is a limit");
    (granted, contested)
}

async fn parallel(store: &Store, parallel: i32) {
    let limits = EndpointLimits { parallel: Some(parallel), ..EndpointLimits::default() };
    store.set_endpoint_limits(&key(), limits, true).await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn slots_go_to_requests_in_the_order_in_which_they_came(pool: PgPool) {
    let store = store(&pool);
    parallel(&store, 2).await;
    let [a, b, c] = [worker(&store).await, worker(&store).await, worker(&store).await];
    assert_eq!(slots(&store, a, 3, 0).await, (2, false), "no other worker wants them");
    assert_eq!(slots(&store, b, 1, 0).await, (0, true));
    assert_eq!(slots(&store, c, 1, 0).await, (0, true));
    assert_eq!(slots(&store, a, 2, 1).await, (2, true), "its third request came before those of the others");
    assert_eq!(slots(&store, a, 1, 1).await, (1, true), "one ended, and none waits");
    assert_eq!(slots(&store, b, 1, 0).await, (1, true));
    assert_eq!(slots(&store, a, 2, 0).await, (1, true), "a new one is behind that of c");
    assert_eq!(slots(&store, b, 0, 1).await, (0, true), "the new one of a waits for that of c");
    assert_eq!(slots(&store, c, 1, 0).await, (1, true));
    assert_eq!(slots(&store, c, 0, 1).await, (0, false));
    assert_eq!(slots(&store, a, 2, 0).await, (2, false));
}

#[sqlx::test(migrations = "../../migrations")]
async fn slots_of_a_lost_worker_expire_and_those_of_one_that_ends_come_back(pool: PgPool) {
    let store = store(&pool);
    parallel(&store, 3).await;
    let (dead, gone, live) = (worker(&store).await, worker(&store).await, worker(&store).await);
    assert_eq!(slots(&store, dead, 1, 0).await.0, 1);
    assert_eq!(slots(&store, gone, 2, 0).await.0, 2);
    assert_eq!(slots(&store, live, 9, 0).await.0, 0);
    let lost = format!("UPDATE endpoint_slots SET expires_at = now() - interval '1 s' WHERE worker_id = '{dead}'");
    execute(&pool, lost).await.unwrap();
    assert_eq!(slots(&store, live, 9, 0).await.0, 1);
    store.unregister_worker(gone).await.unwrap();
    assert_eq!(slots(&store, live, 9, 0).await.0, 3);
}

#[sqlx::test(migrations = "../../migrations")]
async fn rivals_together_never_have_more_slots_than_there_are(pool: PgPool) {
    let store = store(&pool);
    parallel(&store, 5).await;
    let mut rivals = Vec::new();
    for _ in 0..8 {
        let (store, worker) = (store.clone(), worker(&store).await);
        rivals.push(tokio::spawn(async move {
            let (mut had, mut ended, mut asked) = (0, 0, 0);
            while had < 20 && asked < 5_000 {
                ended = slots(&store, worker, 2, ended).await.0;
                had += ended;
                asked += 1;
            }
            slots(&store, worker, 0, 2).await;
            had
        }));
    }
    for rival in rivals {
        assert!(rival.await.unwrap() >= 20, "each has its turns");
    }
    // A later request never gets a slot before an earlier one that waits: so it is enough that the slots granted at any
    // one time are within the limit, which the rows show.
    let store = &store;
    let mut granted = 0;
    for _ in 0..4 {
        granted += slots(store, worker(store).await, 2, 0).await.0;
    }
    assert_eq!(granted, 5);
}

#[sqlx::test(migrations = "../../migrations")]
async fn jobs_that_wait_say_so_and_only_their_own_run_does(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    let jobs = claimed_by(&store, worker, 2).await;
    let (one, other) = (jobs[0].lease(), jobs[1].lease());
    let stale = plumbline_store::Lease { epoch: other.epoch - 1, ..other };
    let said = store.say_waits_for_limit(&[(one, true), (stale, true)]).await.unwrap();
    assert_eq!(said, [one.job_id]);
    let reasons = "SELECT string_agg(coalesce(status_reason, '-'), ', ' ORDER BY status_reason) FROM jobs";
    assert_eq!(value(&pool, reasons).await.unwrap(), "waits for its model's limit, -");
    assert!(store.say_waits_for_limit(&[(one, true), (other, false)]).await.unwrap().is_empty(), "nothing new");
    assert_eq!(store.say_waits_for_limit(&[(one, false)]).await.unwrap(), [one.job_id]);
    assert_eq!(value(&pool, reasons).await.unwrap(), "-, -");
}
