//! What a collector gets: one trace a claim, linked to the job's earlier ones, in the GenAI conventions' names.

use crate::collector::{Collector, attribute, deaf, down};
use opentelemetry_proto::tonic::trace::v1::Span;
use plumbline_system_tests::{Answer, PgPool, Program, Uuid, World, documents, jobs::NewJob};
use std::{collections::HashMap, net::SocketAddr};

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
    for (kind, parent) in [
        ("invoke_agent", "invoke_workflow"),
        ("chat", "invoke_agent"),
        ("execute_tool", "invoke_agent"),
        ("commit", "invoke_agent"),
        ("mirror", "invoke_workflow"),
    ] {
        let spans = tree.named(kind);
        assert!(spans.len() > 3, "{} spans {kind}", spans.len());
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
    let tools = tree.named("execute_tool");
    assert!(
        tools.iter().any(|span| attribute(&span.attributes, "gen_ai.tool.name").as_deref() == Some("add_requirement"))
    );
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
async fn a_collector_that_is_dead_costs_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    let (collector, deaf, down) = (Collector::start().await, deaf().await, down().await);
    let mut took = Vec::new();
    for address in [collector.address, deaf, down] {
        let job = insert(&world).await;
        let ended = worker(&world, address, &["--until-idle"], &[]).ended().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        world.becomes(job, "completed").await;
        let seconds: f64 =
            sqlx::query_scalar("SELECT extract(epoch FROM completed_at - started_at)::float8 FROM jobs WHERE id = $1")
                .bind(job)
                .fetch_one(&world.pool)
                .await
                .expect("a completed job has its times");
        took.push(seconds);
    }
    let [live, deaf, down] = took[..] else { panic!("three jobs") };
    println!("a job took {live:.2} s with a collector, {deaf:.2} s with a deaf one, {down:.2} s without");
    // Far above the noise of a busy machine, far below one time-out of an export (10 s).
    assert!(deaf < live * 2.0 + 3.0 && down < live * 2.0 + 3.0, "{took:?}");
    world.finish().await;
}
