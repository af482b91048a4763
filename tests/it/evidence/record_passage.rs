//! The requirements of a passage in one call, with the real binary: derived values, decided and open candidates.

use super::coverage::{job_type, run};
use crate::conversation::promises::{closing, opens};
use plumbline_system_tests::{
    PgPool, World,
    jobs::NewJob,
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};

const DOCUMENT: &str = "# Policy\n\nInvoices must be kept for ten years. A receipt is a paper. The operator shall:\n\n\
                        - keep a log;\n- report each breach.\n\nEntry must be signed by the guard and by the visitor.\n";

/// A wrong item first: it decides nothing. Then the rest, with an additional duty of a sentence.
fn script(request: &Request, number: usize) -> Reply {
    match number {
        1 => opens(1, "Reading"),
        2 => {
            let reads = ("extract_document_text", json!({"file_path": "input/policy.md"}));
            let shows = ("read_file", json!({"path": "chunks/chunk_001.md"}));
            Reply::calls(&[reads, shows])
        }
        3 => {
            let items = json!([{"s": "2"}, {"s": "99"}, {"s": "5", "priority": "HIGH"}]);
            Reply::calls(&[("record_passage", json!({"passage": "1", "items": items, "rest": []}))])
        }
        4 => {
            let result = request.new_results()[0].to_owned();
            let said = "Error: #2: `s` is 99, and the passage has sentences 1 to 7, no sentence 99. Of passage 1: r1 = 2, r2 = 5.";
            assert!(result.starts_with(said), "{result}");
            assert!(result.contains("2 of passage 1 are open: [6]") && result.contains("[7]"), "{result}");
            let items = json!([
                {"s": "6"}, {"s": "7", "name": "Signature of the guard"},
                {"s": "7", "text": "Entry must be signed by the visitor.", "confidence": 1}]);
            let calls = [
                ("record_passage", json!({"passage": 1, "items": items, "rest": []})),
                (
                    "write_file",
                    json!({"path": "output/summary_report.md", "content": "# Report\n\n[figures]\n\nNothing contradicts itself.\n"}),
                ),
            ];
            Reply::calls(&calls.into_iter().chain(closing(5)).collect::<Vec<_>>())
        }
        _ => {
            let deliverables = ["output/summary_report.md"];
            Reply::calls(&[(
                "job_complete",
                json!({"summary": "Done.", "deliverables": deliverables, "confidence": 1}),
            )])
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_passage_is_recorded_and_decided_in_few_words(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(script).await;
    let defaults = json!({"type": "compliance", "confidence": 0.8, "gobd": ["\\binvoice"], "gdpr": ["visitor"]});
    let config = Some(json!({"on_complete": null, "record_defaults": defaults}));
    let id = world.insert(&NewJob { config, ..NewJob::with_content("policy.md", DOCUMENT.as_bytes()) }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (job, seen) = (world.job(id).await, model.seen());
    assert_eq!((job.status.as_str(), seen.len()), ("completed", 5), "{job:?}");

    let rows = "SELECT string_agg(concat_ws('|', number, text, type, priority, confidence, gobd_relevant, gdpr_relevant), E'\n'
                                  ORDER BY number)
                FROM requirement_cache WHERE job_id = $1";
    let rows: String = sqlx::query_scalar(rows).bind(id).fetch_one(&world.pool).await.expect("rows can be read");
    assert_eq!(
        rows,
        "1|Invoices must be kept for ten years.|compliance|high|0.8|t|f\n\
         2|The operator shall: keep a log;|compliance|high|0.8|f|f\n\
         3|The operator shall: report each breach.|compliance|high|0.8|f|f\n\
         4|Entry must be signed by the guard and by the visitor.|compliance|high|0.8|f|t\n\
         5|Entry must be signed by the visitor.|compliance|high|1|f|t"
    );
    let passage =
        "SELECT jsonb_build_array(state, answered_by, candidates, candidates_cited) FROM passages WHERE job_id = $1";
    let passage: Value = sqlx::query_scalar(passage).bind(id).fetch_one(&world.pool).await.expect("it is there");
    assert_eq!(passage, json!(["answered", "recorded", 5, 5]));

    let replayed = world.run(&["replay", &id.to_string()]).await;
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
    world.finish().await;
}

/// Ten records without a quote in one answer; the same ten again; then quotes for all of them.
fn without_quotes(request: &Request, number: usize) -> Reply {
    let texts = (1..=10).map(|n| format!("Invoices must be kept for ten years, case {n}."));
    let records: Vec<(&str, Value)> = texts.map(|text| ("add_requirement", json!({"text": text}))).collect();
    match number {
        1 => opens(1, "Reading"),
        2 => Reply::calls(&[("read_file", json!({"path": "chunks/chunk_001.md"}))]),
        3 => Reply::calls(&records),
        4 => {
            let results = request.new_results();
            let is_refused =
                |result: &&str| result.contains("a requirement needs a quote") && result.contains("\"from\": 2");
            assert_eq!(results.iter().filter(|result| is_refused(result)).count(), 10, "{}", results[0]);
            Reply::calls(&records)
        }
        5 => {
            let results = request.new_results();
            let is_taken = |result: &&str| result.contains("(unverified, it has no citation)");
            assert_eq!(results.iter().filter(|result| is_taken(result)).count(), 10, "{}", results[0]);
            let add = json!({"citations": {"add": [{"passage": 1, "from": 2}]}});
            let quoted = |n: usize| {
                ("update_requirement", json!({"id": format!("r{n}"), "fields": add, "reason": "its sentence"}))
            };
            Reply::calls(&(1..=10).map(quoted).collect::<Vec<_>>())
        }
        _ => Reply::calls(&[("todo_rewind", json!({"issue": "that is all that was to be tried"}))]),
    }
}

#[sqlx::test(migrations = false)]
async fn records_without_a_quote_are_refused_once_and_get_one_later(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(without_quotes).await;
    let config = Some(json!({"limits": {"max_iterations": 6}}));
    let id = world.insert(&NewJob { config, ..NewJob::with_content("policy.md", DOCUMENT.as_bytes()) }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let rows =
        "SELECT jsonb_build_array(count(*), max(confidence), count(*) FILTER (WHERE jsonb_array_length(citations) = 1))
                FROM requirement_cache WHERE job_id = $1";
    let rows: Value = sqlx::query_scalar(rows).bind(id).fetch_one(&world.pool).await.expect("rows can be read");
    assert_eq!(rows, json!([10, 0.5, 10]));
    world.finish().await;
}

const DUTIES: &str = "# Rules\n\nInvoices must be kept. Letters must be filed. Guests must be escorted. Doors must be locked.\n\n\
                      Users must log in. Keys must be returned.\n";

/// A requirement of four sentences beside one of the last of them; then a reason for each of what is left, in one call.
fn several_reasons(_: &Request, number: usize) -> Reply {
    match number {
        1 => opens(1, "Reading"),
        2 => Reply::calls(&[("read_file", json!({"path": "chunks/chunk_001.md"}))]),
        3 => {
            let items = json!([{"s": "2-5"}, {"s": "5"}]);
            let rest = json!([{"s": "4", "in": "#1"}]);
            Reply::calls(&[("record_passage", json!({"passage": 1, "items": items, "rest": rest}))])
        }
        4 => {
            let entry = |s: i32, reason: &str| json!({"passage": 1, "s": s, "reason": reason});
            let entries = [entry(6, "a hint for those who use it"), entry(7, "said in the contract already")];
            Reply::calls(&[("close_passages", json!({ "passages": entries }))])
        }
        5 => Reply::calls(&[("todo_rewind", json!({"issue": "that is all that was to be tried"}))]),
        _ => Reply::calls(&[("read_file", json!({"path": "chunks/chunk_001.md"}))]),
    }
}

#[sqlx::test(migrations = false)]
async fn the_reasons_of_one_call_are_one_decision_and_what_it_accounts_for_is_not_called_open(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(several_reasons).await;
    let config = Some(json!({"limits": {"max_iterations": 5}}));
    let id = world.insert(&NewJob { config, ..NewJob::with_content("rules.md", DUTIES.as_bytes()) }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let seen = model.seen();
    assert_eq!(seen.len(), 5, "{:?}", world.job(id).await);
    let recorded = seen[3].new_results()[0].to_owned();
    assert!(recorded.contains("stays open over 2: [6]") && !recorded.contains("covers two"), "{recorded}");
    let said = "1 closed. passage 1 is decided, nothing of it is open. 1 of 1 passages are answered, 0 are unread.";
    assert_eq!(seen[4].new_results()[0], said);
    let passage = "SELECT jsonb_build_array(state, answered_by, jsonb_path_query_array(decisions, '$[*].why'))
                   FROM passages WHERE job_id = $1";
    let passage: Value = sqlx::query_scalar(passage).bind(id).fetch_one(&world.pool).await.expect("it is there");
    let reasons = ["a hint for those who use it", "said in the contract already"];
    assert_eq!(passage, json!(["answered", "recorded", reasons]));
    world.finish().await;
}

fn without_a_ledger(_: &Request, number: usize) -> Reply {
    let items = json!([{"s": "2"}]);
    match number {
        1 => opens(1, "Reading"),
        2 => Reply::calls(&[("read_file", json!({"path": "chunks/chunk_001.md"}))]),
        3 => Reply::calls(&[("record_passage", json!({"passage": 1, "items": items, "rest": []}))]),
        _ => Reply::calls(&[("read_file", json!({"path": "chunks/chunk_001.md"}))]),
    }
}

#[sqlx::test(migrations = false)]
async fn without_coverage_nothing_is_called_open(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(without_a_ledger).await;
    let limits = json!({"max_iterations": 4});
    let dir = job_type(&world, json!({"llm": {"base_url": model.base_url()}, "coverage": "off", "limits": limits}));
    let id = world.insert(&NewJob { job_type: "mine", ..NewJob::with_content("rules.md", DUTIES.as_bytes()) }).await;
    run(&world, &dir, &["worker", "--until-idle"]).await;
    let seen = model.seen();
    assert_eq!(seen.len(), 4, "{:?}", world.job(id).await);
    assert_eq!(seen[3].new_results()[0].trim(), "passage 1: r1 = 2.");
    world.finish().await;
}
