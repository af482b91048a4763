//! Rules for every call: order, overlay, unknown names, invalid arguments, unreadable rows, time.

use crate::bench::{BOUND, Bench};
use plumbline_engine::{OutsideCall, ToolCall};
use plumbline_tools::{BatchError, ToolContext, WorkspaceError};
use serde_json::{Value, json};
use std::time::Duration;

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

#[tokio::test]
async fn later_calls_see_what_earlier_ones_did() {
    let bench = Bench::with(&[("old.md", "old\n")]);
    let turn = bench
        .turn(&[
            ("write_file", json!({"path": "a.md", "content": "one\n"})),
            ("write_file", json!({"path": "a.md", "content": "two\n", "append": true})),
            ("write_file", json!({"path": "old.md", "content": "new\n", "append": true})),
            ("edit_file", json!({"path": "a.md", "old": "one", "new": "1"})),
            ("read_file", json!({"path": "a.md"})),
            ("read_file", json!({"path": "old.md"})),
            ("delete_file", json!({"path": "a.md"})),
            ("list_files", json!({})),
            ("read_file", json!({"path": "a.md"})),
            ("write_file", json!({"path": "a.md", "content": "again", "append": true})),
            ("read_file", json!({"path": "a.md"})),
        ])
        .await;
    let ids: Vec<&str> = turn.iter().map(|done| done.call_id.as_str()).collect();
    assert_eq!(ids, (0..11).map(|n| format!("call_{n}")).collect::<Vec<_>>());
    assert_eq!(turn[4].content, "[a.md: lines 1-2 of 2]\n1\ntwo\n");
    assert_eq!(turn[5].content, "[old.md: lines 1-2 of 2]\nold\nnew\n");
    assert_eq!(turn[7].content, "old.md  8");
    assert_eq!(turn[8].content, "Error: there is no file `a.md`; list_files shows the files");
    assert_eq!(turn[10].content, "[a.md: lines 1-1 of 1]\nagain");
    assert_eq!(bench.paths(), ["old.md"], "nothing is written before the commit");
}

#[tokio::test]
async fn lesson_67_each_read_of_a_turn_is_true_of_its_moment() {
    let bench = Bench::with(&[("a.md", "one\n"), ("b.md", "x\n")]);
    let read = || ("read_file", json!({"path": "a.md", "limit": 5}));
    let turn = bench
        .turn(&[
            read(),
            ("read_file", json!({"limit": 5, "path": "a.md"})),
            ("write_file", json!({"path": "b.md", "content": "y\n"})),
            read(),
            ("write_file", json!({"path": "c.md", "content": "z", "append": true})),
            ("write_file", json!({"path": "c.md", "content": "z", "append": true})),
        ])
        .await;
    assert_eq!(turn[1].content, turn[0].content, "the engine counts what repeats itself");
    assert_eq!(turn[3].content, turn[0].content);
    assert_eq!(turn[5].content, "added 2 lines to c.md, now 3 bytes", "writing twice is two writes");
}

#[tokio::test]
async fn f39_a_name_that_no_tool_has_is_answered() {
    let done = Bench::new().turn(&[("readFile", json!({}))]).await.remove(0);
    assert!(done.is_error);
    assert_eq!(done.content, "Error: there is no tool `readFile`");
}

#[tokio::test]
async fn f37_broken_arguments_are_answered_and_the_rest_runs() {
    let bench = Bench::with(&[("a.md", "one\n")]);
    let calls = [
        call("1", "read_file", "{\"path\": \"a.md"),
        call("2", "read_file", "[\"a.md\"]"),
        call("3", "read_file", ""),
        call("4", "read_file", "{\"file\": \"a.md\"}"),
        call("5", "read_file", "{\"path\": \"a.md\"}"),
    ];
    let returns = bench.run(&calls).await.unwrap();
    let contents: Vec<&str> = returns.iter().map(|done| done.content.as_str()).collect();
    assert!(contents[0].starts_with("Error: the arguments are not valid JSON (EOF while parsing a string"));
    assert_eq!(contents[1], "Error: the arguments do not fit: the whole is [\"a.md\"], expected object");
    assert!(contents[2].starts_with("Error: the arguments are not valid JSON"));
    assert_eq!(
        contents[3],
        "Error: the arguments do not fit: `file` is not a parameter, known are limit, offset, path; `path` is missing (Workspace path, e.g. chunks/chunk_001.md)"
    );
    assert_eq!(contents[4], "[a.md: lines 1-1 of 1]\none\n");
}

#[tokio::test]
async fn lesson_84_lost_rows_are_no_answer_to_the_model() {
    let mut bench = Bench::with(&[("a.md", "one\n")]);
    bench.rows.broken = true;
    let error = bench.run(&[call("1", "read_file", "{\"path\": \"a.md\"}")]).await.unwrap_err();
    let BatchError::Workspace(WorkspaceError(cause)) = error else { panic!("{error:?}") };
    assert_eq!(cause.to_string(), "connection lost");
}

#[tokio::test]
async fn lesson_62_a_call_ends_with_its_time() {
    let bench = Bench::new().document("input/a.txt", b"some text");
    let mut ctx = ToolContext::new(bench.job_id, &BOUND);
    ctx.call_timeout = Duration::ZERO;
    let extract = call("1", "extract_document_text", &json!({"file_path": "input/a.txt"}).to_string());
    let done = bench
        .runner
        .run(&[OutsideCall { call: &extract, check: None, once: false, again: false }], &bench.rows, &ctx)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        done.content,
        "Error: extract_document_text did not finish within 0 s; nothing was changed; ask for less at once"
    );
}

#[tokio::test]
async fn no_result_has_a_nul() {
    let mut bench = Bench::with(&[("a.md", "x")]);
    let refusal = bench.refused("write_file", json!({"path": "b.md", "content": "a\u{0}b"})).await;
    assert!(refusal.contains("NUL"), "{refusal}");
    let nested: Value = json!({"text": "long enough text", "tags": ["a\u{0}"]});
    bench.refused("add_requirement", nested).await;
}
