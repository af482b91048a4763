//! The collector's data: one trace per claim, linked to the job's earlier ones, in the GenAI conventions' names.

use crate::{
    client::{get, serving, value},
    collector::{Collector, attribute, deaf, down, kind},
};
use opentelemetry_proto::tonic::trace::v1::Span;
use plumbline_system_tests::{Answer, PgPool, Program, Uuid, World, documents, eventually, jobs::NewJob};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::SocketAddr,
};

fn worker(world: &World, collector: SocketAddr, arguments: &[&str], variables: &[(&str, &str)]) -> Program {
    let mut command = world.command(&[&["worker"], arguments].concat());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}")).env("PLUMBLINE_DRAIN_SECS", "1");
    command.envs(variables.iter().copied());
    world.start(command)
}

async fn insert(world: &World) -> Uuid {
    let policy = documents::policy(2);
    world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await
}

fn count(names: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    names.fold(BTreeMap::new(), |mut counts, name| {
        *counts.entry(name).or_default() += 1;
        counts
    })
}

/// Spans by name up to the first space, and every span by its id.
struct Tree {
    spans: Vec<Span>,
    by_id: HashMap<Vec<u8>, Span>,
}

impl Tree {
    fn of(spans: Vec<Span>) -> Self {
        let by_id = spans.iter().map(|span| (span.span_id.clone(), span.clone())).collect();
        Self { spans, by_id }
    }

    fn named(&self, kind: &str) -> Vec<&Span> {
        self.spans.iter().filter(|span| span.name.split(' ').next() == Some(kind)).collect()
    }

    fn parent(&self, span: &Span) -> &Span {
        self.by_id.get(&span.parent_span_id).unwrap_or_else(|| panic!("{} has no parent here", span.name))
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn each_claim_is_a_trace_that_links_to_the_one_before(pool: PgPool) {
    let (world, collector) = (World::new(pool).await, Collector::start().await);
    let job = insert(&world).await;
    world.model.hold_from(8);
    let first = worker(&world, collector.address, &[], &[]);
    world.model.arrived(8).await;
    first.stop().await;
    world.model.answers(Answer::Work);
    let ended = worker(&world, collector.address, &["--until-idle"], &[]).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    world.becomes(job, "completed").await;

    let tree = Tree::of(collector.spans());
    let mut claims = tree.named("invoke_workflow");
    claims.sort_by_key(|span| span.start_time_unix_nano);
    claims.retain(|span| attribute(&span.attributes, "plumbline.job.id") == Some(job.to_string()));
    let [one, two] = &claims[..] else { panic!("two claims, not {claims:#?}") };
    assert_eq!(one.name, "invoke_workflow creator");
    assert!(one.parent_span_id.is_empty() && two.parent_span_id.is_empty() && one.links.is_empty());
    assert_ne!(one.trace_id, two.trace_id);
    let linked: Vec<_> = two.links.iter().map(|link| (&link.trace_id, &link.span_id)).collect();
    assert_eq!(linked, [(&one.trace_id, &one.span_id)]);
    for claim in [one, two] {
        assert_eq!(attribute(&claim.attributes, "gen_ai.conversation.id"), Some(job.to_string()));
        assert_eq!(attribute(&claim.attributes, "gen_ai.operation.name").as_deref(), Some("invoke_workflow"));
    }
    for claim in [one, two] {
        let tokens =
            |span: &Span| attribute(&span.attributes, "gen_ai.usage.input_tokens").and_then(|sum| sum.parse().ok());
        let calls = tree.named("chat").into_iter().filter(|call| call.trace_id == claim.trace_id);
        let sum: u64 = calls.filter_map(tokens).sum();
        assert_eq!(tokens(claim), Some(sum), "a claim's tokens are those of its requests");
        assert!(sum > 0);
    }
    for (kind, parent) in [
        ("invoke_agent", "invoke_workflow"),
        ("chat", "invoke_agent"),
        ("execute_tool", "invoke_agent"),
        ("commit", "invoke_agent"),
        ("mirror", "invoke_workflow"),
    ] {
        let spans = tree.named(kind);
        // Steps that follow each other fast are shown together.
        let least = if kind == "mirror" { 1 } else { 4 };
        assert!(spans.len() >= least, "{} spans {kind}", spans.len());
        for span in spans.iter().filter(|span| claims.iter().any(|claim| claim.trace_id == span.trace_id)) {
            assert_eq!(tree.parent(span).name.split(' ').next(), Some(parent), "{}", span.name);
        }
    }
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_request_is_described_and_its_content_is_not(pool: PgPool) {
    let (world, collector) = (World::new(pool).await, Collector::start().await);
    let job = insert(&world).await;
    let ended = worker(&world, collector.address, &["--until-idle"], &[]).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    world.becomes(job, "completed").await;
    let tree = Tree::of(collector.spans());
    let requests: i64 = world.job(job).await.requests;
    let chats: Vec<&Span> = tree
        .named("chat")
        .into_iter()
        .filter(|span| attribute(&span.attributes, "gen_ai.conversation.id") == Some(job.to_string()))
        .collect();
    assert_eq!(chats.len() as i64, requests, "a span a request");
    let sum: i64 = chats
        .iter()
        .filter_map(|span| attribute(&span.attributes, "gen_ai.usage.output_tokens")?.parse::<i64>().ok())
        .sum();
    let stored: i64 = sqlx::query_scalar("SELECT sum(completion_tokens)::bigint FROM llm_requests WHERE job_id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the requests can be summed up");
    assert_eq!(sum, stored);
    let model = plumbline_rehearsal::MODEL;
    for (key, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.model", model),
        ("gen_ai.provider.name", "openai_compatible"),
        ("server.address", "127.0.0.1"),
    ] {
        assert_eq!(attribute(&chats[0].attributes, key).as_deref(), Some(value), "{key}");
    }
    // The engine's own tools and those that the outside runs, each once.
    let told: BTreeMap<String, usize> = count(tree.named("execute_tool").into_iter().filter_map(|span| {
        assert_eq!(tree.parent(span).name.split(' ').next(), Some("invoke_agent"), "{}", span.name);
        attribute(&span.attributes, "gen_ai.tool.name")
    }));
    let called: Vec<String> = sqlx::query_scalar(
        "SELECT call ->> 'name' FROM messages CROSS JOIN LATERAL json_array_elements(tool_calls) AS call
         WHERE job_id = $1 AND tool_calls IS NOT NULL",
    )
    .bind(job)
    .fetch_all(&world.pool)
    .await
    .expect("calls can be listed");
    assert_eq!(told, count(called.into_iter()));
    assert!(told.contains_key("todo_complete") && told.contains_key("record_passage"), "{told:?}");
    for span in &tree.spans {
        for content in
            ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"]
        {
            assert_eq!(attribute(&span.attributes, content), None, "{} tells {content}", span.name);
        }
    }
    let metrics = collector.metrics();
    for name in
        ["gen_ai.client.operation.duration", "gen_ai.client.token.usage", "plumbline.commit.duration", "plumbline.jobs"]
    {
        assert!(metrics.iter().any(|found| found == name), "{name} is not in {metrics:?}");
    }
    world.finish().await;
}

/// Every attribute of the GenAI conventions (0.1.0) that a span of ours carries, the content included: its name, its type, and
/// the spans that have it, by the conventions' sections. A workflow's span follows the table of `invoke_agent`.
const EMITTED: [(&str, &str, &[&str]); 18] = [
    ("gen_ai.agent.name", "string", &["invoke_workflow", "invoke_agent"]),
    ("gen_ai.conversation.id", "string", &["invoke_workflow", "invoke_agent", "chat"]),
    ("gen_ai.input.messages", "string", &["chat"]),
    ("gen_ai.operation.name", "string", &["invoke_workflow", "invoke_agent", "chat", "execute_tool"]),
    ("gen_ai.output.messages", "string", &["chat"]),
    ("gen_ai.provider.name", "string", &["chat"]),
    ("gen_ai.request.max_tokens", "int", &["chat"]),
    ("gen_ai.request.model", "string", &["chat"]),
    ("gen_ai.response.finish_reasons", "string[]", &["chat"]),
    ("gen_ai.tool.call.id", "string", &["execute_tool"]),
    ("gen_ai.tool.name", "string", &["execute_tool"]),
    ("gen_ai.tool.type", "string", &["execute_tool"]),
    ("gen_ai.usage.cache_read.input_tokens", "int", &["invoke_workflow", "chat"]),
    ("gen_ai.usage.input_tokens", "int", &["invoke_workflow", "chat"]),
    ("gen_ai.usage.output_tokens", "int", &["invoke_workflow", "chat"]),
    ("gen_ai.usage.reasoning.output_tokens", "int", &["invoke_workflow", "chat"]),
    ("server.address", "string", &["chat"]),
    ("server.port", "int", &["chat"]),
];

/// The spans' attributes of the conventions, ordered by name.
fn emitted(tree: &Tree) -> BTreeMap<(String, &'static str), BTreeSet<String>> {
    let mut found: BTreeMap<(String, &'static str), BTreeSet<String>> = BTreeMap::new();
    for span in &tree.spans {
        let section = span.name.split(' ').next().unwrap_or_default();
        let theirs = |key: &str| key.starts_with("gen_ai.") || key.starts_with("server.");
        for attribute in span.attributes.iter().filter(|attribute| theirs(&attribute.key)) {
            found.entry((attribute.key.clone(), kind(attribute))).or_default().insert(section.to_owned());
        }
    }
    found
}

#[sqlx::test(migrations = "../migrations")]
async fn the_latest_names_and_the_content_are_sent_to_who_asks(pool: PgPool) {
    let (world, collector) = (World::new(pool).await, Collector::start().await);
    let job = insert(&world).await;
    let asked = [
        ("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ];
    let ended = worker(&world, collector.address, &["--until-idle"], &asked).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    world.becomes(job, "completed").await;
    let tree = Tree::of(collector.spans());
    let table = EMITTED.map(|(name, kind, sections)| {
        ((name.to_owned(), kind), sections.iter().map(|section| (*section).to_owned()).collect())
    });
    assert_eq!(emitted(&tree), BTreeMap::from(table));
    let chats = tree.named("chat");
    assert!(
        attribute(&chats[0].attributes, "gen_ai.input.messages")
            .is_some_and(|text| text.contains("\"role\":\"system\""))
    );
    assert!(attribute(&chats[0].attributes, "gen_ai.output.messages").is_some_and(|text| text.contains("tool_call")));
    let metrics = collector.metrics();
    assert!(metrics.iter().any(|name| name == "gen_ai.client.inference.duration"), "{metrics:?}");
    assert!(metrics.iter().all(|name| name != "gen_ai.client.operation.duration"), "{metrics:?}");
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_commit_that_was_tried_again_says_so(pool: PgPool) {
    let (world, collector) = (World::new(pool).await, Collector::start().await);
    let job = insert(&world).await;
    world.model.hold_from(4);
    let (program, address) = serving(worker(&world, collector.address, &["--http", "127.0.0.1:0"], &[])).await;
    world.model.arrived(4).await;
    // The commit waits for the row, and its connection breaks while it waits.
    let mut ours = world.pool.begin().await.expect("a transaction can be begun");
    sqlx::query("SELECT FROM jobs WHERE id = $1 FOR UPDATE").bind(job).execute(&mut *ours).await.expect("a lock");
    world.model.answers(Answer::Work);
    let cut: bool = eventually("the commit to wait", async || {
        sqlx::query_scalar(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'plumbline worker' AND wait_event_type = 'Lock'",
        )
        .fetch_optional(&world.pool)
        .await
        .expect("sessions can be listed")
    })
    .await;
    assert!(cut);
    ours.rollback().await.expect("a lock can be given back");
    world.becomes(job, "completed").await;
    let metrics = get(address, "/metrics").await.body;
    let retries = value(&metrics, "plumbline_commit_retries_total");
    assert!(retries >= 1.0, "{metrics}");
    program.stop().await;
    let tree = Tree::of(collector.spans());
    let told: f64 = tree
        .named("commit")
        .into_iter()
        .filter_map(|span| attribute(&span.attributes, "plumbline.commit.retries")?.parse::<f64>().ok())
        .sum();
    assert_eq!(told, retries);
    world.finish().await;
}

/// Jobs that run with a collector.
const JOBS: usize = 8;

#[sqlx::test(migrations = "../migrations")]
async fn a_collector_that_is_dead_costs_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    let (collector, deaf, down) = (Collector::start().await, deaf().await, down().await);
    let (mut times, mut steps) = (Vec::new(), Vec::new());
    for address in [collector.address, deaf, down] {
        let mut jobs = Vec::new();
        for _ in 0..JOBS {
            jobs.push(insert(&world).await);
        }
        let (program, http) = serving(worker(&world, address, &["--http", "127.0.0.1:0"], &[])).await;
        for job in &jobs {
            world.becomes(*job, "completed").await;
        }
        let (seconds, committed): (f64, i64) = sqlx::query_as(
            "SELECT extract(epoch FROM max(completed_at) - min(started_at))::float8, sum(step)::bigint
             FROM jobs WHERE id = ANY ($1)",
        )
        .bind(&jobs)
        .fetch_one(&world.pool)
        .await
        .expect("completed jobs have their times");
        times.push(seconds);
        steps.push(committed);
        let metrics = get(http, "/metrics").await.body;
        assert!(value(&metrics, "plumbline_spans_ended_total") > committed as f64, "{metrics}");
        if address != collector.address {
            assert_eq!(value(&metrics, "plumbline_spans_sent_total"), 0.0, "{metrics}");
        }
        program.stop().await;
    }
    let [live, deaf, down] = times[..] else { panic!("three rounds") };
    println!("{JOBS} jobs took {live:.1} s with a collector, {deaf:.1} s with a deaf one, {down:.1} s with none");
    assert!(steps.iter().all(|committed| *committed == steps[0]), "{steps:?}");
    // Far above the noise of a busy machine, far below the 10 s a step that steps would take if they waited for exports.
    let most = 3.0 * live + 30.0;
    assert!(deaf < most && down < most, "{times:?}");
    world.finish().await;
}
