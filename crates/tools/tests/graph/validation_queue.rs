//! A validation queue in memory, and helpers that run the validator's tools against it.

use plumbline_documents::Parser;
use plumbline_engine::{Asked, HeldRequirement, KnownRequirement, Tally};
use plumbline_engine::{
    FileIndex, FileMeta, Given, GivenRow, Judgement, OutsideCall, Product, Source, ToolCall, ToolReturn, Verdict,
};
use plumbline_tools::{
    BatchError, BoxFuture, Graph, ToolContext, ToolRunner, ValidationQueue, Workspace, WorkspaceError,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Mutex};
use uuid::Uuid;

/// The text of the document that rows cite.
pub(crate) const POLICY: &str =
    "[page 3]\n\nThis is about paper. Invoices must be kept for ten years. Nothing is thrown away before.\n";

/// The rows of one creator; judged rows are no longer held.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) held: Vec<HeldRequirement>,
    pub(crate) known: Vec<KnownRequirement>,
    pub(crate) judgements: Mutex<Vec<Judgement>>,
    pub(crate) index: Mutex<FileIndex>,
    pub(crate) script: Mutex<BTreeMap<String, String>>,
    /// The number of waiting rows in the tally.
    pub(crate) waiting: u64,
    /// The presented rows, as the engine knows them: a turn has shown what earlier turns presented.
    pub(crate) given: Mutex<Given>,
    pub(crate) turns: Mutex<i64>,
    /// The released rows.
    pub(crate) released: Mutex<Vec<Uuid>>,
    /// How many more claims skip all rows, as if a concurrent transaction were changing them.
    pub(crate) passed_over: Mutex<u32>,
}

impl Rows {
    fn open(&self) -> Vec<HeldRequirement> {
        let judged = self.judgements.lock().unwrap();
        self.held.iter().filter(|row| judged.iter().all(|done| done.id != row.id)).cloned().collect()
    }

    fn commit(&self, product: &Product) {
        self.given.lock().unwrap().take(product);
        match product {
            Product::JudgeRequirement(judgement) => self.judgements.lock().unwrap().push((**judgement).clone()),
            Product::AppendFile { path, text } => {
                let mut parts = self.script.lock().unwrap();
                let script = parts.entry(path.clone()).or_default();
                script.push_str(text);
                self.index.lock().unwrap().insert(path.clone(), FileMeta::of(script.as_bytes()));
            }
            // It belongs to the job that recorded the requirements.
            Product::AddRequirement(_) => {}
            other => panic!("a validator's tool produced {other:?}"),
        }
    }

    /// A turn begins: its request contained the results of the previous turn.
    fn begin_turn(&self) -> Given {
        let mut turns = self.turns.lock().unwrap();
        let mut given = self.given.lock().unwrap();
        given.see(*turns);
        *turns += 1;
        given.clone()
    }

    /// The same after a request that showed all rows.
    pub(crate) fn shown(self) -> Self {
        let gives = self.held.iter().map(|row| GivenRow { id: row.id, whole: true }).collect();
        self.given.lock().unwrap().give(0, gives);
        self
    }

    /// The script for a person to run: the parts in order.
    pub(crate) fn script(&self) -> BTreeMap<String, String> {
        self.script.lock().unwrap().clone()
    }
}

impl ValidationQueue for Rows {
    fn claim<'a>(
        &'a self,
        count: u32,
        _: bool,
        left_out: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>> {
        let mut passed_over = self.passed_over.lock().unwrap();
        if *passed_over > 0 {
            *passed_over -= 1;
            return Box::pin(async { Ok(Vec::new()) });
        }
        let open = self.open().into_iter().filter(|row| !left_out.contains(&row.id)).take(count as usize).collect();
        Box::pin(async move { Ok(open) })
    }

    fn release<'a>(&'a self, but: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>> {
        let open = self.open().into_iter().map(|row| row.id);
        self.released.lock().unwrap().extend(open.filter(|id| !but.contains(id)));
        Box::pin(std::future::ready(Ok(())))
    }

    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>> {
        let held = self.open();
        Box::pin(async move { Ok(held) })
    }

    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>> {
        let like = |asked: &Asked<'_>| {
            self.known.iter().filter(|known| Some(known.id) != asked.before).cloned().collect::<Vec<_>>()
        };
        let known = asked.iter().map(like).collect();
        Box::pin(async move { Ok(known) })
    }

    fn text_path<'a>(&'a self, _: Uuid, document: &'a str) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>> {
        let path = (document == "input/policy.pdf").then(|| "chunks/policy.md".to_owned());
        Box::pin(std::future::ready(Ok(path)))
    }

    fn read<'a>(&'a self, _: Uuid, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        let text = (path == "chunks/policy.md").then(|| POLICY.as_bytes().to_vec());
        Box::pin(std::future::ready(Ok(text)))
    }

    fn recorded(&self, _: bool) -> BoxFuture<'_, Result<(Uuid, u64), WorkspaceError>> {
        Box::pin(std::future::ready(Ok((Uuid::nil(), self.known.len() as u64))))
    }

    fn tally(&self, _: bool) -> BoxFuture<'_, Result<Tally, WorkspaceError>> {
        let judged = self.judgements.lock().unwrap();
        let count = |verdict| judged.iter().filter(|done| done.verdict == verdict).count() as u64;
        let reasons = judged.iter().filter_map(|done| done.reason.clone()).map(|reason| (reason, 1)).collect();
        let tally = Tally {
            integrated: count(Verdict::Integrated),
            accepted: count(Verdict::Accepted),
            by_rule: judged.iter().filter(|done| done.validation_result["by"] == "rule").count() as u64,
            rejected: count(Verdict::Rejected),
            failed: count(Verdict::Failed),
            waiting: self.waiting,
            reasons,
        };
        Box::pin(async move { Ok(tally) })
    }
}

/// The job's own files: only the script.
struct Files(FileIndex);

impl Workspace for Files {
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

/// A valid row.
pub(crate) fn row(id: u128, text: &str) -> HeldRequirement {
    HeldRequirement {
        id: Uuid::from_u128(id),
        job_id: Uuid::from_u128(99),
        number: i32::try_from(id).ok(),
        candidate_id: Some(format!("req_{id}")),
        is_ours: true,
        text: text.into(),
        name: Some(text.trim_end_matches('.').into()),
        r#type: Some("compliance".into()),
        priority: Some("high".into()),
        source_document: Some("input/policy.pdf".into()),
        source_location: json!({"page": 4, "section": "3.1"}),
        gobd_relevant: true,
        gdpr_relevant: false,
        citations: json!([{"source": "input/policy.pdf", "page": 4, "quote": text, "verified": true}]),
        mentioned_objects: json!(["Invoices", "Spaceship"]),
        mentioned_messages: json!([]),
        reasoning: None,
        confidence: 0.9,
        tags: json!([]),
        citations_given: 1,
        citations_confirmed: 1,
    }
}

/// An existing requirement.
pub(crate) fn known(id: u128, text: &str, status: &str) -> KnownRequirement {
    KnownRequirement {
        id: Uuid::from_u128(id),
        job_id: Uuid::from_u128(98),
        number: None,
        candidate_id: Some("req_0123456789ab".into()),
        name: Some("Known".into()),
        text: text.into(),
        status: status.into(),
        graph_node_id: (status == "integrated").then(|| "R-0007".into()),
        place: None,
    }
}

/// Runs calls as one turn and commits their products.
pub(crate) async fn turn(rows: &Rows, graph: Graph<'_>, calls: &[(&str, Value)]) -> Vec<ToolReturn> {
    let done = try_turn(rows, graph, calls).await.unwrap();
    let turn = *rows.turns.lock().unwrap();
    let gives = done.iter().flat_map(|done| done.gives.clone()).collect();
    rows.given.lock().unwrap().give(turn, gives);
    done.iter().flat_map(|done| &done.products).for_each(|product| rows.commit(product));
    done
}

/// Runs calls while the graph is unavailable; returns the reason, and whether an operator is needed.
pub(crate) async fn away(rows: &Rows, graph: Graph<'_>, calls: &[(&str, Value)]) -> (String, bool) {
    match try_turn(rows, graph, calls).await {
        Err(BatchError::Unavailable(outage)) => (outage.reason, outage.needs_operator),
        other => panic!("the graph is away: {other:?}"),
    }
}

pub(crate) async fn try_turn(
    rows: &Rows,
    graph: Graph<'_>,
    calls: &[(&str, Value)],
) -> Result<Vec<ToolReturn>, BatchError> {
    let runner = ToolRunner::new(Parser::new("/nonexistent"));
    let calls: Vec<ToolCall> = (0..)
        .zip(calls)
        .map(|(place, (name, arguments))| ToolCall {
            id: format!("call_{place}"),
            name: (*name).into(),
            arguments: arguments.to_string(),
        })
        .collect();
    let given = rows.begin_turn();
    let ctx =
        ToolContext { validation_queue: Some(rows), graph, given: &given, ..ToolContext::new(Uuid::from_u128(7), &[]) };
    let files = Files(rows.index.lock().unwrap().clone());
    runner
        .run(
            &calls
                .iter()
                .map(|call| OutsideCall { call, check: None, once: call.name == "execute_cypher_query", again: false })
                .collect::<Vec<_>>(),
            &files,
            &ctx,
        )
        .await
}

/// Runs one call that succeeds.
pub(crate) async fn ok(rows: &Rows, graph: Graph<'_>, name: &str, arguments: Value) -> String {
    let done = turn(rows, graph, &[(name, arguments)]).await.remove(0);
    assert!(!done.is_error, "{name}: {}", done.content);
    done.content
}

/// Runs one call that is refused.
pub(crate) async fn refused(rows: &Rows, graph: Graph<'_>, name: &str, arguments: Value) -> String {
    let done = turn(rows, graph, &[(name, arguments)]).await.remove(0);
    assert!(done.is_error && done.products.is_empty(), "{name}: {}", done.content);
    done.content
}
