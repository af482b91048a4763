//! `search_files` over an index of the texts, and the embeddings endpoint.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use axum::routing::post;
use axum::{Json, Router};
use plumbline_documents::Parser;
use plumbline_engine::{FileIndex, FileMeta, OutsideCall, Source, ToolCall, ToolReturn};
use plumbline_llm::ApiKey;
use plumbline_llm::{Embedder, EmbedderSettings};
use plumbline_tools::{
    BoxFuture, Ranked, RankedSegment, Ranking, SemanticMatches, TextIndex, ToolContext, ToolRunner, Workspace,
    WorkspaceError,
};
use serde_json::{Value, json};
use uuid::Uuid;

const TEXT: &str = "Invoices are kept for ten years.\nLetters may go.\n";

/// A workspace whose files all have the same text.
struct OneText(FileIndex);

impl Workspace for OneText {
    fn index(&self) -> &FileIndex {
        &self.0
    }

    fn sources(&self) -> &[Source] {
        &[]
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(async move { Ok(self.0.contains_key(path).then(|| TEXT.as_bytes().to_vec())) })
    }
}

/// An index that finds the same in every file, and records its queries.
#[derive(Debug)]
struct Fixed {
    has_embeddings: bool,
}

impl TextIndex for Fixed {
    fn has_embeddings(&self) -> bool {
        self.has_embeddings
    }

    fn ranked<'a>(
        &'a self,
        query: &'a str,
        paths: &'a [String],
        ranking: Ranking,
        limit: usize,
    ) -> BoxFuture<'a, Result<Ranked, WorkspaceError>> {
        let segment =
            |path: &String| RankedSegment { path: path.clone(), first_line: 7, text: format!("about\n{query}") };
        let segments = paths.iter().take(limit).map(segment).collect();
        Box::pin(async move { Ok(Ranked { segments, remark: Some(format!("{ranking:?}")) }) })
    }

    fn similar_requirements<'a>(
        &'a self,
        _: Uuid,
        _: &'a str,
        _: usize,
    ) -> BoxFuture<'a, Result<SemanticMatches, WorkspaceError>> {
        Box::pin(async { Ok(SemanticMatches::default()) })
    }
}

async fn turn(index: Option<&dyn TextIndex>, calls: &[(&str, Value)]) -> Vec<ToolReturn> {
    turn_over(&["chunks/a.md"], index, calls).await
}

/// All of these files have the same text.
async fn turn_over(paths: &[&str], index: Option<&dyn TextIndex>, calls: &[(&str, Value)]) -> Vec<ToolReturn> {
    let call = |(name, arguments): &(&str, Value)| ToolCall {
        id: "call".into(),
        name: (*name).into(),
        arguments: arguments.to_string(),
    };
    let calls: Vec<ToolCall> = calls.iter().map(call).collect();
    let files = OneText(paths.iter().map(|path| ((*path).into(), FileMeta::of(TEXT.as_bytes()))).collect());
    let mut ctx = ToolContext::new(Uuid::nil(), &["search_files", "write_file"]);
    ctx.texts = index;
    let runner = ToolRunner::new(Parser::new("/nonexistent"));
    runner
        .run(
            &calls.iter().map(|call| OutsideCall { call, check: None, once: false, again: false }).collect::<Vec<_>>(),
            &files,
            &ctx,
        )
        .await
        .unwrap()
}

async fn search(index: Option<&dyn TextIndex>, arguments: Value) -> String {
    turn(index, &[("search_files", arguments)]).await.remove(0).content
}

#[tokio::test]
async fn lines_come_before_ranked_passages() {
    let index = Fixed { has_embeddings: false };
    let line = "chunks/a.md:1: Invoices are kept for ten years.";
    assert_eq!(search(Some(&index), json!({"query": "ten years"})).await, line);
    let ranked = "(no line has all of these words; these passages come nearest, the best first)\n\
                  chunks/a.md:7: about retention of letters";
    assert_eq!(search(Some(&index), json!({"query": "retention of letters"})).await, ranked);
    assert_eq!(search(None, json!({"query": "retention of letters"})).await, "(nothing found in 1 text files)");
    let regex = search(Some(&index), json!({"query": "retention", "mode": "regex"})).await;
    assert_eq!(regex, "(nothing found in 1 text files)");
    let semantic = search(Some(&index), json!({"query": "ten years", "mode": "semantic"})).await;
    assert_eq!(semantic, format!("(no embeddings are configured, so this is a text search)\n{line}"));
}

#[tokio::test]
async fn meaning_is_used_where_it_is_known() {
    let index = Fixed { has_embeddings: true };
    for (arguments, asked) in [
        (json!({"query": "ten years"}), "Both"),
        (json!({"query": "ten years", "mode": "hybrid"}), "Both"),
        (json!({"query": "ten years", "mode": "semantic"}), "Semantic"),
    ] {
        let expected = format!("({asked})\nchunks/a.md:7: about ten years");
        assert_eq!(search(Some(&index), arguments).await, expected);
    }
    let exact = search(Some(&index), json!({"query": "ten years", "mode": "text"})).await;
    assert_eq!(exact, "chunks/a.md:1: Invoices are kept for ten years.");
}

#[tokio::test]
async fn what_this_turn_has_changed_is_not_asked_of_the_index() {
    let write = ("write_file", json!({"path": "chunks/a.md", "content": "Nothing of it is left.\n"}));
    let done = turn(Some(&Fixed { has_embeddings: true }), &[write, ("search_files", json!({"query": "years"}))]).await;
    let remark = "(no file here is searched by meaning, so this is a text search)";
    assert_eq!(done[1].content, format!("{remark}\n(nothing found in 1 text files)"));
}

#[tokio::test]
async fn the_documentation_of_tools_is_searched_as_text_only() {
    let (index, paths) = (Fixed { has_embeddings: true }, ["chunks/a.md", "tools/cite.md"]);
    let search = async |arguments: Value| {
        turn_over(&paths, Some(&index), &[("search_files", arguments)]).await.remove(0).content
    };
    assert_eq!(search(json!({"query": "ten years"})).await, "(Both)\nchunks/a.md:7: about ten years");
    let documentation = search(json!({"query": "ten years", "path": "tools"})).await;
    let remark = "(no file here is searched by meaning, so this is a text search)";
    assert_eq!(documentation, format!("{remark}\ntools/cite.md:1: Invoices are kept for ten years."));
}

#[tokio::test]
async fn embeddings_are_asked_for_in_the_usual_way() {
    let app = Router::new().route(
        "/v1/embeddings",
        post(async |headers: axum::http::HeaderMap, Json(body): Json<Value>| {
            assert_eq!(headers["authorization"], "Bearer key");
            assert_eq!(body["model"], "small");
            let texts = body["input"].as_array().unwrap();
            let entry = |(index, text): (usize, &Value)| json!({"index": index, "embedding": [text.as_str().unwrap().len(), 1]});
            Json(json!({"data": texts.iter().enumerate().map(entry).rev().collect::<Vec<_>>()}))
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let settings = EmbedderSettings { base_url, model: "small".into(), api_key: ApiKey::new("key") };
    let embedder = Embedder::new(settings.clone()).unwrap();
    assert_eq!(embedder.embed(&["a", "bcd"]).await, Ok(vec![vec![1.0, 1.0], vec![3.0, 1.0]]));
    let elsewhere = EmbedderSettings { base_url: settings.base_url.replace("/v1", "/v2"), ..settings };
    let error = Embedder::new(elsewhere).unwrap().embed(&["a"]).await.expect_err("no such path").to_string();
    assert_eq!(error, "the embeddings endpoint failed: HTTP status 404");
}
