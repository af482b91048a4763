//! Only data that the endpoint accepts is sent back with a conversation.

use crate::double::{APIS, Said};
use crate::job::{ARGUMENTS, Job};
use crate::server::Server;
use crate::talk::ask;
use plumbline_llm::{Api, ModelConfig, Streaming};
use serde_json::{Map, Value, json};

fn calling(name: &'static str, arguments: &'static str) -> Said {
    Said { calls: vec![("p1", name, arguments)], ..Said::default() }
}

/// The provider refuses a request with a name outside its pattern (see `double`).
#[tokio::test]
async fn a_name_that_no_tool_has_goes_back_as_one_that_is_taken() {
    const LONG: &str = "a_name_of_eighty_letters_that_is_longer_than_what_any_provider_takes_of_a_tools_name";
    for api in APIS {
        for name in ["container.exec", "browser.search", "lire le fichier", "読む", LONG] {
            let mut job = Job::new(api, |_| (), vec![calling(name, ARGUMENTS), Said::default()]).await;
            let said = job.turn().await;
            assert_eq!(said.tool_calls[0].name, name, "{api:?}: the model is told of what it called");
            job.turn().await;
            job.summary().await;
        }
    }
}

#[tokio::test]
async fn calls_in_a_wrapper_are_calls() {
    let uses = r#"{"tool_uses":[{"recipient_name":"functions.read_file","parameters":{"path":"a"}},{"recipient_name":"functions.todo_complete","parameters":{}}]}"#;
    for api in APIS {
        for (name, stream) in [("multi_tool_use.parallel", Streaming::Off), ("parallel", Streaming::On)] {
            let script = vec![calling(name, uses), Said::default()];
            let mut job = Job::new(api, |config| config.stream = stream, script).await;
            let said = job.turn().await;
            let names: Vec<&str> = said.tool_calls.iter().map(|call| &*call.name).collect();
            assert_eq!(names, ["read_file", "todo_complete"], "{api:?} {name}");
            job.turn().await;
        }
    }
}

/// The data sent back with the answer of a body.
async fn kept(api: Api, body: String) -> Map<String, Value> {
    let server = Server::saying(200, body).await;
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.api = Some(api);
    ask(config).await.unwrap().extra
}

fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// Blocks of a provider's own tools, which a gateway may add.
#[tokio::test]
async fn a_block_that_came_in_pieces_goes_back_as_it_would_have_come_whole() {
    let citation = json!({"type": "page_location", "cited_text": "x", "document_index": 0});
    let blocks = json!([
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "a"}},
        {"type": "mcp_tool_use", "id": "m1", "name": "look", "server_name": "docs", "input": {"path": "b"}},
        {"type": "compaction", "content": "what was before"},
        {"type": "text", "text": "It says x.", "citations": [citation, citation]},
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}},
    ]);
    let end = json!({"stop_reason": "tool_use", "stop_sequence": null});
    let usage = json!({"input_tokens": 8, "output_tokens": 7});
    let whole = json!({"role": "assistant", "content": blocks, "stop_reason": "tool_use", "usage": usage});
    let begin =
        |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let json_delta =
        |index: usize, piece: &str| delta(index, json!({"type": "input_json_delta", "partial_json": piece}));
    let stream = events(&[
        json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}),
        begin(0, json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
        json_delta(0, "{\"query\":"),
        json_delta(0, " \"a\"}"),
        begin(1, json!({"type": "mcp_tool_use", "id": "m1", "name": "look", "server_name": "docs", "input": {}})),
        json_delta(1, "{\"path\": \"b\"}"),
        begin(2, json!({"type": "compaction", "content": null})),
        delta(2, json!({"type": "compaction_delta", "content": "what was "})),
        delta(2, json!({"type": "compaction_delta", "content": "before"})),
        begin(3, json!({"type": "text", "text": "", "citations": []})),
        delta(3, json!({"type": "citations_delta", "citation": citation})),
        delta(3, json!({"type": "text_delta", "text": "It says x."})),
        delta(3, json!({"type": "citations_delta", "citation": citation})),
        begin(4, json!({"type": "tool_use", "id": "t1", "name": "read_file", "input": {}})),
        json!({"type": "message_delta", "delta": end, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    let (plain, streamed) = (kept(Api::Messages, whole.to_string()).await, kept(Api::Messages, stream).await);
    assert_eq!(plain["blocks"], streamed["blocks"]);
    assert_eq!(plain["blocks"][0]["input"], json!({"query": "a"}));
    assert_eq!(plain["blocks"][3]["citations"], json!([citation, citation]));
}

/// Groq says with each piece on which channel it is.
#[tokio::test]
async fn a_label_repeated_in_each_piece_is_one_label() {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let stream = events(&[
        chunk(json!({"role": "assistant", "channel": "analysis", "reasoning": "I "})),
        chunk(json!({"channel": "analysis", "reasoning": "I ", "provider_id": "p1"})),
        chunk(json!({"channel": "final", "content": "ok", "provider_id": "p1"})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    ]) + "data: [DONE]\n\n";
    let kept = kept(Api::Chat, stream).await;
    assert_eq!(
        (&kept["channel"], &kept["reasoning"], &kept["provider_id"]),
        (&json!("final"), &json!("I I "), &json!("p1"))
    );
}
