//! The documented tools, read from real requests: which are offered in which phase, with which arguments, and which of
//! these are optional.

use axum::{Json, Router, body::Bytes, extract::State, routing::post};
use plumbline_rehearsal::{ChatRequest, answer};
use plumbline_system_tests::{PgPool, World, documents, jobs::NewJob};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::net::TcpListener;

/// Phases, name, arguments; a question mark means optional.
const CREATOR: &str = "
    S T read_file path offset? limit?
    S T write_file path content append?
    S T edit_file path old new
    S T list_files path?
    S T search_files query path? mode?
    S T delete_file path
    S T create_folder path
    S   write_plan content? tasks?
    S T read_plan
    S   add_task content? after? task? after_task?
    S T get_progress
    S   todo_write phase description todos
    S T todo_complete notes?
    S T todo_rewind issue
    S   archive_and_reset
    S T generate_workspace_summary
    S T add_accomplishment text
    S T add_note text
    S T close_passages passages
    S T coverage document?
    S   job_complete summary deliverables undelivered? confidence notes?
    S T search_tools query
      T extract_document_text file_path pages? lines?
      T chunk_document file_path max_tokens? overlap?
      T web_search query max_results?
      T fetch_page url
      T cite source? page? quote? passage? from? to?
    S T list_requirements document? passages? after? limit?
      T update_requirement id fields reason
      T withdraw_requirement id reason
      T query_similar_requirements text limit?";
const VALIDATOR: &str = "
      T next_requirement
      T judge_requirements
      T get_graph_schema
      T execute_cypher_query query params?
      T integrate_requirement id
      T reject_requirement id";
/// Arguments of `add_requirement` that are promised by name.
const REQUIREMENT: [&str; 8] =
    ["text", "name", "type", "priority", "source_document", "source_location", "citations", "confidence"];

/// Every request of a job, and the rehearsal model's answer.
async fn listening() -> (String, Arc<Mutex<Vec<Value>>>) {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let router = Router::new().route("/v1/chat/completions", post(work)).with_state(Arc::clone(&seen));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}/v1"), seen)
}

async fn work(State(seen): State<Arc<Mutex<Vec<Value>>>>, body: Bytes) -> Json<Value> {
    let request: ChatRequest = serde_json::from_slice(&body).expect("a chat-completions request");
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(serde_json::from_slice(&body).expect("a request is JSON"));
    Json(serde_json::to_value(answer(&request)).expect("an answer is JSON"))
}

/// By name: the phases in which a tool was offered, and its arguments.
fn offered(requests: &[Value]) -> BTreeMap<String, (BTreeSet<&'static str>, Value)> {
    let mut tools = BTreeMap::<_, (BTreeSet<_>, _)>::new();
    for request in requests {
        let system = request["messages"][0]["content"].as_str().expect("the system prompt comes first");
        let phase = if system.starts_with("# Strategic phase") { "S" } else { "T" };
        for tool in request["tools"].as_array().into_iter().flatten() {
            let function = &tool["function"];
            let name = function["name"].as_str().expect("a tool has a name").to_owned();
            let entry = tools.entry(name).or_insert_with(|| (BTreeSet::new(), function["parameters"].clone()));
            entry.0.insert(phase);
        }
    }
    tools
}

/// The names of a schema's properties, those that may be left out with a question mark.
fn arguments(schema: &Value) -> BTreeSet<String> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let names: Option<Vec<String>> = schema["properties"].as_object().map(|all| all.keys().cloned().collect());
    let mark = |name: String| if required.contains(&name.as_str()) { name } else { format!("{name}?") };
    names.unwrap_or_default().into_iter().map(mark).collect()
}

fn assert_offered(requests: &[Value], promised: &str, exactly: bool) {
    let tools = offered(requests);
    for line in promised.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace().peekable();
        let mut phases = BTreeSet::new();
        while let Some(phase) = words.next_if(|word| matches!(*word, "S" | "T")) {
            phases.insert(phase);
        }
        let name = words.next().expect("a tool has a name");
        let expected: BTreeSet<String> = words.map(str::to_owned).collect();
        let (found, schema) = tools.get(name).unwrap_or_else(|| panic!("{name} was never offered"));
        assert_eq!(*found, phases, "{name}");
        let given = arguments(schema);
        assert!(if exactly { given == expected } else { given.is_superset(&expected) }, "{name}: {given:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn every_promised_tool_is_offered_in_its_phases(pool: PgPool) {
    let world = World::new(pool).await;
    let (base_url, seen) = listening().await;
    world.let_rows_set(&["llm.base_url", "connections.web_search", "tools", "accept_by_rule"], &[&base_url]);
    let policy = documents::policy(1);
    world.import("policy.md", &policy.markdown);
    let config = json!({
        "llm": {"base_url": base_url},
        // All of them: the creator's own lists leave most on demand.
        "tools": {"workspace": ["read_file", "write_file", "edit_file", "list_files", "search_files", "delete_file", "create_folder",
                                "read_plan", "get_progress", "todo_complete", "todo_rewind", "generate_workspace_summary", "add_note",
                                "add_accomplishment"],
                  "domain": ["extract_document_text", "chunk_document", "cite", "add_requirement", "list_requirements",
                             "update_requirement", "withdraw_requirement", "query_similar_requirements"],
                  "deferred": [],
                  "strategic": ["write_plan", "todo_write", "add_task", "archive_and_reset", "job_complete", "search_tools"],
                  "tactical": ["web_search", "fetch_page", "search_tools", "write_requirement_to_db"]},
        "connections": {"web_search": {"provider": "searxng", "base_url": base_url}},
    });
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let requests = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    assert_offered(&requests, CREATOR, true);
    let tools = offered(&requests);
    for name in ["add_requirement", "write_requirement_to_db"] {
        let (phases, _) = tools.get(name).unwrap_or_else(|| panic!("{name} was never offered"));
        assert_eq!(*phases, BTreeSet::from(["T"]), "{name}");
    }
    let requirement = &tools["add_requirement"].1["properties"];
    assert!(REQUIREMENT.iter().all(|name| requirement[name].is_object()), "{requirement}");

    let validator = NewJob {
        job_type: "validator",
        prompt: "Check and integrate the requirements",
        // Every requirement reaches the model, which has to be offered the tools.
        config: Some(json!({"llm": {"base_url": base_url}, "accept_by_rule": false})),
        ..NewJob::default()
    };
    let job = world.insert(&validator).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    assert_offered(&seen.lock().unwrap_or_else(PoisonError::into_inner), VALIDATOR, false);
    world.finish().await;
}
