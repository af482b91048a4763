//! Judging many requirements at once: which were shown, which are left, which are named wrongly.

use crate::kit::{Engine, Moment, Server};
use crate::validation_queue::{Rows, known, ok, refused, row, turn};
use plumbline_engine::HeldRequirement;
use plumbline_engine::{Product, Verdict};
use plumbline_tools::Graph;
use plumbline_tools::graph::{Access, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

const TEXTS: [&str; 5] = [
    "Invoices must be kept for ten years.",
    "Backups must be tested.",
    "Doors must be closed at night.",
    "Visitors have to wear a badge.",
    "Scanners shall be calibrated.",
];

fn five() -> Rows {
    Rows { held: (1..).zip(TEXTS).map(|(n, text)| row(n, text)).collect(), ..Rows::default() }
}

fn ids(claimed: &str) -> Vec<String> {
    let claimed: Value = serde_json::from_str(claimed).unwrap();
    claimed["requirements"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

async fn next(rows: &Rows, arguments: Value) -> Vec<String> {
    ids(&ok(rows, Graph::Off, "next_requirement", arguments).await)
}

fn verdicts(rows: &Rows) -> Vec<(u128, Verdict)> {
    rows.judgements.lock().unwrap().iter().map(|done| (done.id.as_u128(), done.verdict)).collect()
}

#[tokio::test]
async fn a_row_is_given_once_unless_it_is_asked_for_again() {
    let rows = five();
    let calls = ["next_requirement"; 2].map(|name| (name, json!({"count": 2})));
    let given: Vec<Vec<String>> = turn(&rows, Graph::Off, &calls).await.iter().map(|done| ids(&done.content)).collect();
    assert_eq!(given, [["r1", "r2"], ["r3", "r4"]], "within one answer too");
    assert_eq!(next(&rows, json!({"count": 40})).await, ["r5"]);
    let said = ok(&rows, Graph::Off, "next_requirement", json!({"count": 40})).await;
    assert_eq!(
        said,
        "every requirement has been given; held and not judged: r1-r5. Judge them; again: true shows them once more."
    );
    let again = ["next_requirement"; 2].map(|name| (name, json!({"count": 3, "again": true})));
    let given: Vec<Vec<String>> = turn(&rows, Graph::Off, &again).await.iter().map(|done| ids(&done.content)).collect();
    assert_eq!(given, [vec!["r1", "r2", "r3"], vec!["r4", "r5"]]);
}

#[tokio::test]
async fn the_rest_is_what_a_request_has_shown_whole_and_the_call_does_not_name() {
    let rows = five();
    let rest = json!({"accept": "rest"});
    let said = refused(&rows, Graph::Off, "judge_requirements", rest.clone()).await;
    assert!(said.contains("\"rest\" is none: no requirement is held, was shown whole by a request"), "{said}");
    let both = [("next_requirement", json!({"count": 3})), ("judge_requirements", rest.clone())];
    let done = turn(&rows, Graph::Off, &both).await;
    assert!(done[1].is_error && done[1].products.is_empty(), "what this answer claims nobody has read: {done:?}");

    let call = json!({"accept": "rest", "reject": [{"id": "r2", "reason": "It binds nobody."}]});
    let said = ok(&rows, Graph::Off, "judge_requirements", call).await;
    assert_eq!(said, "accepted 2: r1, r3\nrejected 1: r2");
    let expected = [(1, Verdict::Accepted), (3, Verdict::Accepted), (2, Verdict::Rejected)];
    assert_eq!(verdicts(&rows), expected);
    let script = rows.script().remove("output/insert.cypher").expect("there is a script");
    assert_eq!(script.matches("CREATE CONSTRAINT requirement_rid").count(), 1, "{script}");
    assert_eq!(script.matches("MERGE (r:Requirement").count(), 2);
    assert!(rows.judgements.lock().unwrap().iter().all(|done| done.validation_result["by"] == "model"));
    refused(&rows, Graph::Off, "judge_requirements", rest).await;
}

#[tokio::test]
async fn wrong_ids_are_reported_and_the_others_are_judged() {
    let mut rows = five();
    rows.held[4].name = None;
    next(&rows, json!({"count": 3})).await;
    turn(&rows, Graph::Off, &[]).await;
    let call = json!({
        "accept": ["r1", "r9", "r4", "r2", "req_3"],
        "reject": [{"id": "r2", "reason": "It binds nobody."}],
        "relations": [
            {"id": "r1", "type": "RELATES_TO_OBJECT", "target": "Invoice"},
            {"id": "r2", "type": "RELATES_TO_OBJECT", "target": "Invoice"},
        ],
    });
    let done = turn(&rows, Graph::Off, &[("judge_requirements", call)]).await.remove(0);
    assert!(done.is_error, "the call counts as failed");
    for said in [
        "r9 is not held by this job",
        "r4 has not been shown by a request yet",
        "r2 is named twice",
        "the relation of r2 leads nowhere: this call does not accept r2",
        "The others are judged: accepted 2: r1, r3",
    ] {
        assert!(done.content.contains(said), "{said}: {}", done.content);
    }
    assert_eq!(verdicts(&rows), [(1, Verdict::Accepted), (3, Verdict::Accepted)]);
    assert!(rows.script()["output/insert.cypher"].contains("RELATES_TO_OBJECT"));

    next(&rows, json!({"count": 3})).await;
    turn(&rows, Graph::Off, &[]).await;
    let done = turn(&rows, Graph::Off, &[("judge_requirements", json!({"accept": "rest"}))]).await.remove(0);
    assert!(done.is_error && done.content.contains("r5 has to be rejected: it has no name"), "{}", done.content);
    assert_eq!(verdicts(&rows).last(), Some(&(4, Verdict::Accepted)));
    let failed = json!({"failed": [{"id": "r5", "reason": "Nobody can tell what it is."}]});
    assert_eq!(ok(&rows, Graph::Off, "judge_requirements", failed).await, "failed 1: r5");
    let said = refused(&rows, Graph::Off, "judge_requirements", json!({})).await;
    assert!(said.contains("the call names no requirement"), "{said}");
}

/// A requirement shown only in part may be named, but is not included in "rest".
#[tokio::test]
async fn a_row_that_no_result_can_hold_is_judged_by_its_name() {
    let long = "Invoices must be kept in the archive of the house. ".repeat(1_000);
    let mut rows = Rows { held: vec![HeldRequirement { citations_given: 0, ..row(1, &long) }], ..Rows::default() };
    rows.held[0].citations = json!([]);
    let shown = ok(&rows, Graph::Off, "next_requirement", json!({})).await;
    assert!(shown.contains("characters in all") && shown.contains("its text has"), "{shown}");
    turn(&rows, Graph::Off, &[]).await;
    refused(&rows, Graph::Off, "judge_requirements", json!({"accept": "rest"})).await;
    let call = json!({"reject": [{"id": "r1", "reason": "It is a whole chapter."}]});
    assert_eq!(ok(&rows, Graph::Off, "judge_requirements", call).await, "rejected 1: r1");
}

#[tokio::test]
async fn rows_of_several_jobs_or_without_a_number_are_named_by_their_ids() {
    let of_another = HeldRequirement { job_id: Uuid::from_u128(98), ..row(2, TEXTS[1]) };
    let without_number = HeldRequirement { number: None, ..row(2, TEXTS[1]) };
    for other in [of_another, without_number] {
        let rows = Rows { held: vec![row(1, TEXTS[0]), other], ..Rows::default() };
        assert_eq!(next(&rows, json!({"count": 40})).await, ["req_1", "req_2"]);
        turn(&rows, Graph::Off, &[]).await;
        let said = ok(&rows, Graph::Off, "judge_requirements", json!({"accept": ["req_1", "req_2"]})).await;
        assert_eq!(said, "accepted 2: req_1, req_2");
    }
}

#[tokio::test]
async fn more_are_not_claimed_than_can_be_held() {
    let rows =
        Rows { held: (1..=100).map(|n| row(n, &format!("Door {n} must be closed."))).collect(), ..Rows::default() };
    let mut given = 0;
    while given < 100 {
        given += next(&rows, json!({"count": 40})).await.len();
    }
    let said = refused(&rows, Graph::Off, "next_requirement", json!({"count": 40})).await;
    assert!(said.contains("100 requirements are held and not judged, which is the most"), "{said}");
}

#[tokio::test]
async fn a_batch_goes_into_the_graph() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    let create = Statement::new("CREATE (:BusinessObject {boid: 'BO-1', name: 'Invoice'})", json!({}));
    client.run(&create, Access::Write).await.unwrap();
    let rows = five();
    ok(&rows, Graph::On(&client), "next_requirement", json!({"count": 40})).await;
    turn(&rows, Graph::On(&client), &[]).await;
    let related = |id: &str, target: &str| json!({"id": id, "type": "RELATES_TO_OBJECT", "target": target});
    let call = json!({"accept": "rest", "relations": [related("r1", "Invoice"), related("r2", "Spaceship")]});
    let done = turn(&rows, Graph::On(&client), &[("judge_requirements", call)]).await.remove(0);
    assert!(done.is_error, "{}", done.content);
    assert!(
        done.content.contains("r2 is not integrated, relations[0]: the graph has no BusinessObject named `Spaceship`"),
        "{}",
        done.content
    );
    assert!(done.content.contains("integrated 4: r1, r3-r5 as R-0001-R-0004"), "{}", done.content);
    let found = ok(
        &rows,
        Graph::On(&client),
        "execute_cypher_query",
        json!({"query": "MATCH (r:Requirement) RETURN count(r) AS n"}),
    )
    .await;
    assert_eq!(found, r#"{"n":4}"#);
}

/// Requirements already in the graph when it becomes unreachable are kept; the rest is named, stays held, and waits
/// for the graph when it is judged again.
#[tokio::test]
async fn a_batch_in_whose_middle_the_graph_goes_away_keeps_what_is_done() {
    let Some(engine) = Engine::start().await else { return };
    let mut server = Server::over(&engine).await;
    let client = server.client();
    let rows = five();
    ok(&rows, Graph::On(&client), "next_requirement", json!({"count": 40})).await;
    turn(&rows, Graph::On(&client), &[]).await;
    let calls = [("judge_requirements", json!({"accept": "rest"}))];
    // A requirement takes at least one exchange to read and one to write.
    server.fall_silent(12, Moment::After);
    let (done, ()) = tokio::join!(turn(&rows, Graph::On(&client), &calls), async {
        server.silence().await;
        server.close();
    });
    let done = &done[0];
    assert!(
        done.is_error && done.content.contains("not judged and still held, judge them again: "),
        "{}",
        done.content
    );
    assert!(done.content.contains("The others are judged: integrated "), "{}", done.content);
    let integrated = verdicts(&rows);
    assert!((1..5).contains(&integrated.len()), "{integrated:?}");
    assert!(integrated.iter().all(|(_, verdict)| *verdict == Verdict::Integrated), "{integrated:?}");
    server.open().await;
    let again = turn(&rows, Graph::On(&client), &calls).await.remove(0);
    assert!(!again.is_error, "{}", again.content);
    assert_eq!(verdicts(&rows).len(), 5, "each once");
}

/// Requirements without faults, remarks and similar ones are judged by rule; the rest is released for the model.
#[tokio::test]
async fn rules_accept_what_the_checks_say_nothing_of() {
    let mut rows = five();
    rows.held[1].tags = json!(["needs_look"]);
    rows.held[2].tags = json!(["translated"]);
    rows.held[3].citations_given = 2;
    rows.held[4].name = None;
    let products = plumbline_tools::accept_by_rule(&rows, Uuid::from_u128(7)).await.unwrap();
    let judged: Vec<_> = products
        .iter()
        .filter_map(|product| if let Product::JudgeRequirement(judged) = product { Some(judged) } else { None })
        .collect();
    assert_eq!(judged.iter().map(|judged| judged.id.as_u128()).collect::<Vec<_>>(), [1]);
    assert_eq!((judged[0].verdict, &judged[0].validation_result["by"]), (Verdict::Accepted, &json!("rule")));
    assert!(matches!(&products[0], Product::AppendFile { path, text }
        if path == "output/insert.cypher" && text.contains("RELATES_TO_OBJECT")));
    let released: Vec<u128> = rows.released.lock().unwrap().iter().map(Uuid::as_u128).collect();
    assert_eq!(released, [2, 3, 4, 5]);

    let mut alike = five();
    alike.known = vec![known(50, "Invoices must be kept for six years.", "pending")];
    let products = plumbline_tools::accept_by_rule(&alike, Uuid::from_u128(7)).await.unwrap();
    let released: Vec<u128> = alike.released.lock().unwrap().iter().map(Uuid::as_u128).collect();
    assert_eq!((released, products.len()), (vec![1], 5), "one that is like another is for the model");

    let mut turned = five();
    turned.held[1].text = "Backups should be tested.".into();
    turned.held[2].text = "Doors must avoid to be closed at night.".into();
    plumbline_tools::accept_by_rule(&turned, Uuid::from_u128(7)).await.unwrap();
    let released: Vec<u128> = turned.released.lock().unwrap().iter().map(Uuid::as_u128).collect();
    assert_eq!(released, [2, 3], "a text of another force than its quotes is for the model");

    let mut other = five();
    other.held[0].text = "Invoices must be kept for ten months.".into();
    other.held[2].text = "Closing of the doors".into();
    other.held[2].citations[0]["quote"] = "Closing of the doors".into();
    plumbline_tools::accept_by_rule(&other, Uuid::from_u128(7)).await.unwrap();
    let released: Vec<u128> = other.released.lock().unwrap().iter().map(Uuid::as_u128).collect();
    assert_eq!(released, [1, 3], "a text that says something else than its quote, and a heading, are for the model");
}
