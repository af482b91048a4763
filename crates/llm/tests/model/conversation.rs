//! One conversation over all protocols, plain and streamed, against a provider that takes nothing that is not published.

use crate::double::{APIS, End, Said};
use crate::job::{ARGUMENTS, Job};
use plumbline_engine::FinishReason;
use plumbline_llm::{Api, ModelConfig, Streaming, ToolChoice};
use serde_json::{Value, json};

fn script() -> Vec<Said> {
    let secret = Some("s3cr3t");
    vec![
        Said {
            secret,
            text: "Grüße, I read both.",
            calls: vec![("p1", "read_file", ARGUMENTS), ("p2", "read_file", ARGUMENTS)],
            end: End::Done,
        },
        Said { secret: Some("more"), calls: vec![("p1", "todo_complete", "{}")], ..Said::default() },
        Said { text: "I will not.", end: End::Refused, ..Said::default() },
        Said { secret, calls: vec![("p1", "read_file", r#"{"path": "to"#)], end: End::Cut, ..Said::default() },
        Said { text: "It was so.", ..Said::default() },
    ]
}

/// Each protocol with and without a stream.
fn ways() -> impl Iterator<Item = (Api, Streaming)> {
    APIS.into_iter().flat_map(|api| [Streaming::Off, Streaming::On].map(|stream| (api, stream)))
}

#[tokio::test]
async fn a_conversation_in_every_protocol() {
    for (api, stream) in ways() {
        let mut job = Job::new(api, |config| config.stream = stream, script()).await;
        let first = job.turn().await;
        let calls: Vec<(&str, &str)> =
            first.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!(first.content, "Grüße, I read both.", "{api:?}");
        assert_eq!(calls, [("read_file", ARGUMENTS); 2], "{api:?}");
        let usage = first.record.usage();
        assert_eq!((usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens), (20, 12, 7), "{api:?}");
        assert!(!first.record.estimated && first.finish == FinishReason::Done, "{api:?} {:?}", first.record);

        assert_eq!(job.turn().await.tool_calls[0].name, "todo_complete", "{api:?}");
        assert!(job.last_request().to_string().contains("s3cr3t"), "{api:?}: what the provider wants back is not sent");
        let refused = job.turn().await;
        assert_eq!((refused.finish, refused.content.as_str()), (FinishReason::Refused, "I will not."), "{api:?}");
        assert!(job.last_request().to_string().contains("more"), "{api:?}");
        let cut = job.turn().await;
        assert_eq!((cut.finish, cut.tool_calls.len()), (FinishReason::Truncated, 1), "{api:?}");
        assert_eq!(job.summary().await.content, "It was so.", "{api:?}");
        assert_eq!(job.double.seen().len(), 5, "{api:?}");
    }
}

#[tokio::test]
async fn a_job_of_a_hundred_turns_in_every_protocol() {
    for api in APIS {
        let script = script().into_iter().take(2).cycle().take(100).collect();
        let mut job = Job::new(api, |_| (), script).await;
        for _ in 0..100 {
            job.turn().await;
        }
        let requests = job.double.seen();
        assert_eq!(requests.len(), 100, "{api:?}");
        for pair in requests.windows(2) {
            let same = pair[0].bytes().zip(pair[1].bytes()).take_while(|(before, now)| before == now).count();
            // The todo list, the end of the request, and the last turn with a cache mark.
            assert!(pair[0].len() - same < 1000, "{api:?}: {} of {}", pair[0].len() - same, pair[0].len());
        }
    }
}

#[tokio::test]
async fn a_model_can_be_made_to_call() {
    for (api, expected) in
        [(Api::Chat, r#""required""#), (Api::Responses, r#""required""#), (Api::Messages, r#"{"type":"any"}"#)]
    {
        let require = |config: &mut ModelConfig| config.tool_choice = ToolChoice::Required;
        let mut job = Job::new(api, require, script()).await;
        job.turn().await;
        assert_eq!(job.last_request()["tool_choice"].to_string(), expected, "{api:?}");
        job.summary().await;
        assert_ne!(job.last_request()["tool_choice"].to_string(), expected, "{api:?}: a summary calls nothing");
        // The endpoint does not know the word, or cannot both think and obey.
        let none = |config: &mut ModelConfig| {
            config.tool_choice = ToolChoice::Required;
            config.profile.tool_choices = vec!["auto".into()];
        };
        let mut job = Job::new(api, none, script()).await;
        job.turn().await;
        assert!(job.last_request().get("tool_choice").is_none(), "{api:?}");
    }
    let think = |config: &mut ModelConfig| {
        config.tool_choice = ToolChoice::Required;
        config.reasoning_level = Some("high".into());
    };
    let mut job = Job::new(Api::Messages, think, script()).await;
    job.turn().await;
    let request = job.last_request();
    assert!(request.get("tool_choice").is_none() && request["thinking"]["type"] == "adaptive", "{request}");
    assert_eq!(request["output_config"]["effort"], "high");
}

#[tokio::test]
async fn a_budget_for_thinking_is_given_where_it_is_taken() {
    let think = |config: &mut ModelConfig| config.reasoning_level = Some("2000".into());
    let mut job = Job::new(Api::Messages, think, script()).await;
    for _ in 0..2 {
        job.turn().await;
        let request = job.last_request();
        assert_eq!(request["thinking"], json!({"type": "enabled", "budget_tokens": 2000}));
        assert_eq!(request["max_tokens"], 2100, "the budget, and what may be answered");
    }
    // Calls of a model that did not think, and of whose thoughts nothing may go back.
    let mut other = Job::new(Api::Chat, |_| (), script()).await;
    other.turn().await;
    job.messages = other.messages;
    job.turn().await;
    assert!(job.last_request().get("thinking").is_none(), "{}", job.last_request());
    let mut job = Job::new(Api::Messages, |config| config.reasoning_level = Some("50".into()), script()).await;
    job.turn().await;
    assert_eq!(job.last_request()["max_tokens"], 100, "there is room for both");
}

#[tokio::test]
async fn the_todo_list_is_the_last_item_and_what_the_provider_keeps_ends_before_it() {
    for api in APIS {
        let mut job = Job::new(api, |_| (), script()).await;
        job.turn().await;
        job.turn().await;
        let request = job.last_request();
        let items = [&request["messages"], &request["input"]].into_iter().find_map(Value::as_array).unwrap();
        let last = items.last().unwrap();
        assert_eq!(last["role"], "user", "{api:?}");
        assert!(last["content"].to_string().contains("the todo list"), "{api:?}: {last}");
        if api == Api::Messages {
            let blocks = last["content"].as_array().unwrap();
            let marked: Vec<bool> = blocks.iter().map(|block| block.get("cache_control").is_some()).collect();
            assert_eq!(marked, [false, true, false], "two results and the list");
            assert!(items[0]["content"][0].get("cache_control").is_some(), "where the history ended a request ago");
            assert!(request["system"][0].get("cache_control").is_some());
        }
    }
}

#[tokio::test]
async fn what_came_from_one_endpoint_is_not_sent_to_another() {
    for from in APIS {
        let mut job = Job::new(from, |_| (), script()).await;
        job.turn().await;
        for to in APIS {
            let mut next = Job::new(to, |_| (), script()).await;
            next.messages = job.messages.clone();
            next.turn().await;
            let request = next.last_request().to_string();
            assert!(!request.contains("s3cr3t"), "{from:?} to {to:?}");
            assert!(request.contains("I read both") && request.contains("call_3_2"), "{from:?} to {to:?}");
        }
    }
}
