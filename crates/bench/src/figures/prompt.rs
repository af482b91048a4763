//! P11–P13: the requests as the model receives them.
//!
//! A job of many turns, each of which reads 2 KB, with the default limits and an unknown model name; and the same job
//! without clearing and summaries, for comparison.

use crate::{
    error::{During, Error},
    fixture::{Bench, Fixture, many_turns, whole_conversation},
    model::{Order, Tool, Trace},
    report::{Figure, Target},
};
use plumbline_bench::prose::prose;
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;

/// Four bytes a token, as the scripted model counts, times the default window of 128,000 tokens.
const WINDOW_BYTES: f64 = 4.0 * 128_000.0;

/// Tokens and bytes are the same in every run of one version: the margin is the cost of a changed prompt before it
/// needs a decision.
const MARGIN: f64 = 0.1;

/// Two per cent: the repeated part is nearly the whole, so a margin of a tenth would accept everything.
const PREFIX_MARGIN: f64 = 0.02;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let fixture = bench.fixture("prompt", Duration::ZERO).await?;
    let turns = bench.sizes.traced_turns;
    let (bounded, bounded_tokens) = traced(&fixture, "bounded", turns, &many_turns()).await?;
    let (whole, whole_tokens) = traced(&fixture, "whole", turns, &whole_conversation()).await?;
    bench.close(fixture).await?;
    let shared = |trace: &Trace| vec![trace.repeated as f64 * 100.0 / trace.compared as f64];
    let fixed = bounded
        .fixed_parts
        .iter()
        .map(|(tools, system)| f64::from(plumbline_tokens::count(tools) + plumbline_tokens::count(system)));
    let fixed = fixed.fold(0.0, f64::max);
    Ok(vec![
        Figure::new("P11", format!("bytes that repeat the request before, {turns} turns"), "%", shared(&bounded))
            .target(Target::AtLeast(96.5))
            .guarded(PREFIX_MARGIN),
        Figure::new("P11", "the same when nothing is cleared", "%", shared(&whole)),
        Figure::new("P11", "largest request", "bytes", vec![bounded.largest as f64])
            .floor("the window", &[WINDOW_BYTES])
            .target(Target::RatioAtMost(1.0))
            .guarded(0.0),
        Figure::new("P12", format!("prompt tokens, {turns} turns of 2 KB results"), "", vec![bounded_tokens])
            .floor("everything sent", &[whole_tokens])
            .target(Target::RatioAtMost(0.5))
            .guarded(MARGIN),
        Figure::new("P13", "fixed part of the largest phase's request", "tokens", vec![fixed])
            .target(Target::AtMost(6000.0))
            .guarded(MARGIN),
    ])
}

/// Runs the job; returns the model's data about it, and the prompt tokens of all its requests.
async fn traced(fixture: &Fixture, tag: &str, turns: u32, config: &Value) -> Result<(Trace, f64), Error> {
    let order = Order { tag: tag.to_owned(), turns, bytes: 2048, tool: Tool::Read, trace: true };
    let document = prose(turns.into(), turns as usize * 2200);
    sqlx::query(
        "INSERT INTO jobs (job_type, prompt, config, document_content, context)
         VALUES ('reading', $1, $2, $3, '{\"document_name\": \"document.txt\"}')",
    )
    .bind(order.prompt())
    .bind(config)
    .bind(document.into_bytes())
    .execute(&fixture.database.pool)
    .await?;
    let job_types = reading()?;
    let folder = job_types.path().to_string_lossy();
    let worker = fixture.worker_on(&fixture.database.url, 1, &[("PLUMBLINE_CONFIG_DIR", &folder)])?;
    fixture.completed().await?;
    worker.stop()?;
    let tokens = "SELECT sum(prompt_tokens)::float8 FROM llm_requests JOIN jobs ON jobs.id = job_id WHERE prompt = $1";
    let tokens: f64 = sqlx::query_scalar(tokens).bind(order.prompt()).fetch_one(&fixture.database.pool).await?;
    Ok((fixture.model.trace(tag).await?, tokens))
}

/// A folder with the job type `reading`: the creator's, but passages that the scripted model reads without citing do
/// not block completion.
fn reading() -> Result<TempDir, Error> {
    let folder = tempfile::tempdir().during("make a folder of job types")?;
    let job_type = folder.path().join("reading");
    std::fs::create_dir(&job_type).during("make a job type")?;
    let config = json!({"$extends": "creator", "coverage": "off"}).to_string();
    std::fs::write(job_type.join("config.json"), config).during("write a job type")?;
    Ok(folder)
}
