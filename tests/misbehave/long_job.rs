//! A job of many turns in a small window: the context stays bounded for the whole job, nothing that the model must see
//! is lost, and the provider's prefix cache keeps hitting.

use crate::script::{Script, Seen};
use plumbline_system_tests::{
    PgPool, Uuid, World,
    jobs::{Job, NewJob},
};
use serde_json::json;

/// The window of the model, and the cap of its answers, in tokens.
const WINDOW: u32 = 32_000;
const CAP: u32 = 2_000;

#[sqlx::test(migrations = false)]
async fn a_job_of_two_thousand_turns_fits_a_small_window(pool: PgPool) {
    if std::env::var("PLUMBLINE_MISBEHAVE").as_deref() == Ok("full") {
        run(pool, 2_000).await;
    }
}

#[sqlx::test(migrations = false)]
async fn a_long_job_fits_a_small_window(pool: PgPool) {
    run(pool, 300).await;
}

async fn run(pool: PgPool, turns: u64) {
    let world = World::new(pool).await;
    let lines: Vec<String> =
        (1..=400).map(|n| format!("{n}. Invoices of kind {n} must be kept for {n} years.")).collect();
    world.import("policy.md", lines.join("\n"));
    let script = Script::start(turns).await;
    world.let_rows_set(&["llm.base_url"], &[&script.base_url()]);
    world.let_passages_be();
    let config = json!({
        "llm": {"base_url": script.base_url(), "context_window": WINDOW, "max_output_tokens": CAP},
        "limits": {"max_iterations": turns * 2, "context_threshold_tokens": WINDOW - 2 * CAP},
    });
    let worker = world.worker();
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
    let ended = ended(&world, job).await;
    assert_eq!((ended.status.as_str(), ended.error.as_deref()), ("completed", None), "{ended:?}");
    let seen = script.seen();
    report(&seen);
    hold(&seen, turns);
    // The mirror of the last step may still be on its way.
    world.finish().await;
    worker.kill().await;
}

/// Waits for the end of a job that takes longer than the usual wait limit.
async fn ended(world: &World, job: Uuid) -> Job {
    loop {
        let now = world.job(job).await;
        if now.status != "pending" && now.status != "running" {
            return now;
        }
        let step = now.step;
        world.until(job, "another step", |job| job.step > step || job.ended).await;
    }
}

fn report(seen: &Seen) {
    println!(
        "{} turns, {} phases, {} summaries, {} clearings; largest request {} tokens of {}; shared prefix {:.1} % of \
         all prompt bytes, {:.1} % outside boundaries",
        seen.turns,
        seen.phases,
        seen.summaries,
        seen.clearings,
        seen.largest,
        WINDOW - CAP,
        100.0 * seen.all.share(),
        100.0 * seen.within.share(),
    );
}

fn hold(seen: &Seen, turns: u64) {
    assert!(seen.turns >= turns, "{} turns", seen.turns);
    assert_eq!(seen.missing, Vec::<String>::new(), "every request shows the instructions and the todo list");
    assert!(seen.largest <= u64::from(WINDOW - CAP), "a request of {} tokens", seen.largest);
    assert!(seen.clearings + seen.summaries > 0, "the window was never full: the test shows nothing");
    assert!(seen.summaries_in_row <= 2, "{} compactions in a row", seen.summaries_in_row);
    assert_eq!(seen.moved, Vec::<u64>::new(), "outside boundaries a request only grows");
    assert!(seen.within.share() >= 0.9, "the shared prefix is {:.3} of the prompt bytes", seen.within.share());
}
