//! The two tools over an empty workspace.

use plumbline_documents::Parser;
use plumbline_engine::{FileIndex, OutsideCall, Source, ToolCall, ToolReturn};
use plumbline_tools::web::{Fetcher, SearchAccess, SearchService, Web};
use plumbline_tools::{BoxFuture, ToolContext, ToolRunner, Workspace, WorkspaceError};
use serde_json::Value;
use std::path::Path;
use uuid::Uuid;

#[derive(Default)]
pub(crate) struct Empty(FileIndex);

impl Workspace for Empty {
    fn index(&self) -> &FileIndex {
        &self.0
    }

    fn sources(&self) -> &[Source] {
        &[]
    }

    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(async { Ok(None) })
    }
}

/// A parser with the replacement for `plumbline __extract`, which `cargo test` builds beside this test.
pub(crate) fn parser() -> Parser {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).expect("tests lie in target/<profile>/deps");
    Parser::new(folder.join("examples/document_child"))
}

/// Runs calls as one turn.
pub(crate) async fn turn(
    fetcher: Option<&Fetcher>,
    search: Option<&SearchService>,
    calls: &[(&str, Value)],
) -> Vec<ToolReturn> {
    let call = |(name, arguments): &(&str, Value)| ToolCall {
        id: format!("call_{name}"),
        name: (*name).into(),
        arguments: arguments.to_string(),
    };
    let calls: Vec<ToolCall> = calls.iter().map(call).collect();
    let mut ctx = ToolContext::new(Uuid::nil(), &["web_search", "fetch_page", "cite"]);
    ctx.web = Web { fetcher, search: search.map_or(SearchAccess::Off, SearchAccess::On), hosts: None };
    ToolRunner::new(parser())
        .run(
            &calls.iter().map(|call| OutsideCall { call, check: None, once: false, again: false }).collect::<Vec<_>>(),
            &Empty::default(),
            &ctx,
        )
        .await
        .unwrap()
}
