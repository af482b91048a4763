//! `make bill`: the requests and tokens of a creator and its validator, and their cost at the prices of three providers.
//!
//! The model is the rule-based one, so the figures are those of the messages on the wire and not of a model's habits. Every
//! requirement is judged by the model: the validator has a graph, or, where no Neo4j is installed, accepts none by rule.

mod model;

use plumbline_system_tests::{
    Uuid, World,
    graph_kit::{Engine, Server},
    jobs::NewJob,
};
use serde_json::{Value, json};
use std::{path::PathBuf, process::ExitCode};

const USAGE: &str = "the arguments are [--document FILE]";

/// The price lists, each with its source and the month of the source.
const PRICES: &str = include_str!("prices.json");

/// What a job used.
struct Used {
    requests: i64,
    input: i64,
    cached: i64,
    output: i64,
}

impl Used {
    async fn read(world: &World, job: Uuid) -> Self {
        let (requests, input, cached, output) = sqlx::query_as(
            "SELECT count(*), coalesce(sum(prompt_tokens), 0)::bigint, coalesce(sum(cached_tokens), 0)::bigint,
                    coalesce(sum(completion_tokens), 0)::bigint
             FROM llm_requests WHERE job_id = $1",
        )
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("requests can be read");
        Self { requests, input, cached, output }
    }

    /// US dollars. A token that is not served from the cache is written into it.
    fn cost(&self, prices: &Value) -> f64 {
        let price = |of: &str| prices[of].as_f64().unwrap_or_default();
        let cost = (self.input - self.cached) as f64 * price("cache_write")
            + self.cached as f64 * price("cached_input")
            + self.output as f64 * price("output");
        cost / 1e6
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/sample/record-keeping-policy.pdf");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = match arguments.as_slice() {
        [] => PathBuf::from(sample),
        [name, path] if name == "--document" => PathBuf::from(path),
        _ => return refused(USAGE),
    };
    match std::fs::read(&path) {
        Ok(document) => carry_out(&path, &document).await,
        Err(error) => refused(&format!("{} could not be read ({error}); name another file", path.display())),
    }
}

fn refused(said: &str) -> ExitCode {
    eprintln!("bill: {said}");
    ExitCode::from(2)
}

async fn carry_out(path: &std::path::Path, document: &[u8]) -> ExitCode {
    let world = World::open().await;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let model = format!("http://{}/v1", model::start().await);
    let creator = world.insert(&NewJob::with_content(&name, document)).await;
    let mut holds = ended(&world, &model, creator).await;
    let engine = Engine::start().await;
    let server = match &engine {
        Some(engine) => Some(Server::over(engine).await),
        None => None,
    };
    let config = match &server {
        Some(server) => {
            world.let_rows_set(&["connections.neo4j"], &[&server.uri]);
            json!({"connections": {"neo4j": {"uri": server.uri}}})
        }
        None => {
            world.let_rows_set(&["accept_by_rule"], &[]);
            json!({"accept_by_rule": false})
        }
    };
    let context = json!({"parent_job_id": creator});
    let validator: Uuid = sqlx::query_scalar(
        "INSERT INTO jobs (job_type, prompt, context, config) VALUES ('validator', 'Check and integrate', $1, $2) RETURNING id",
    )
    .bind(context)
    .bind(config)
    .fetch_one(&world.pool)
    .await
    .expect("a job can be inserted");
    holds &= ended(&world, &model, validator).await;
    let used = [("creator", Used::read(&world, creator).await), ("validator", Used::read(&world, validator).await)];
    world.close().await;
    print(&name, &used);
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a job to its end; says where it did not complete.
async fn ended(world: &World, model: &str, job: Uuid) -> bool {
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model);
    world.start(command).ended().await;
    let row = world.job(job).await;
    println!("{}", row.result.as_ref().map_or("", |result| result["headline"].as_str().unwrap_or_default()));
    if row.status != "completed" {
        println!("the job is {}: {}", row.status, row.error.or(row.reason).unwrap_or_default());
    }
    row.status == "completed"
}

fn print(document: &str, used: &[(&str, Used); 2]) {
    println!("\n{document:<32} {:>9} {:>12} {:>12} {:>9}", "requests", "tokens in", "cached", "out");
    for (job, Used { requests, input, cached, output }) in used {
        println!("{job:<32} {requests:>9} {input:>12} {cached:>12} {output:>9}");
    }
    println!("\n{:<32} {:>9} {:>12} {:>12}", "USD", "creator", "validator", "together");
    let lists: Value = serde_json::from_str(PRICES).expect("the prices are JSON");
    for list in lists.as_array().into_iter().flatten() {
        let text = |key: &str| list[key].as_str().unwrap_or_default();
        let [creator, validator] = [0, 1].map(|job| used[job].1.cost(list));
        let name = format!("{} ({}, {})", text("model"), text("provider"), text("date"));
        println!("{name:<32} {creator:>9.3} {validator:>12.3} {:>12.3}", creator + validator);
    }
    let [creator, validator] = [&used[0].1, &used[1].1];
    let tokens = |used: &Used| used.input + used.output;
    println!(
        "\nbill: creator {} requests, {} tokens; validator {} requests, {} tokens",
        creator.requests,
        tokens(creator),
        validator.requests,
        tokens(validator)
    );
}
