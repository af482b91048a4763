//! A job's handling of its records, and the system's deliverables for them, with the real binary.

use crate::conversation::promises::{closing, opens};
use plumbline_system_tests::{
    PgPool, World,
    jobs::NewJob,
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use std::sync::Mutex;

const DOCUMENT: &str = "# Policy\n\n## Records\n\nInvoices must be kept for ten years. Receipts may be thrown away.\n";
const SENTENCES: [&str; 2] = ["Invoices must be kept for ten years.", "Receipts may be thrown away."];

fn records(quote: &str) -> (&'static str, Value) {
    let citation = json!({"source": "input/policy.md", "quote": quote});
    let place = json!({"section": "Records"});
    ("add_requirement", json!({"name": quote, "priority": "high", "source_location": place, "citations": [citation]}))
}

/// The ids that the results of the last answer gave.
fn ids(request: &Request) -> Vec<String> {
    let words = request.new_results().into_iter().filter_map(|result| result.strip_prefix("recorded "));
    words.filter_map(|rest| rest.split(':').next()).map(str::to_owned).collect()
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": content}))
}

fn completes(deliverables: &[&str]) -> (&'static str, Value) {
    ("job_complete", json!({"summary": "Done.", "deliverables": deliverables, "confidence": 0.5}))
}

/// Two records, one corrected and one withdrawn; then a completion with an unknown id, and one without.
fn script() -> impl Fn(&Request, usize) -> Reply + Send + Sync + 'static {
    let known = Mutex::new(Vec::new());
    move |request, number| {
        let mut known = known.lock().expect("no turn panics");
        match number {
            1 => opens(1, "Reading"),
            2 => {
                let reads = ("extract_document_text", json!({"file_path": "input/policy.md"}));
                let shows = ("read_file", json!({"path": "chunks/chunk_001.md"}));
                Reply::calls(&[reads, shows, records(SENTENCES[0]), records(SENTENCES[1])])
            }
            3 => {
                *known = ids(request);
                let [first, second] = &known[..] else { panic!("two were recorded: {:?}", request.new_results()) };
                let (fields, why) = (json!({"priority": "low", "research_notes": "HGB 257"}), "as the law says");
                let calls = [
                    ("update_requirement", json!({"id": first, "fields": fields, "reason": why})),
                    ("withdraw_requirement", json!({"id": second, "reason": "a permission"})),
                    ("list_requirements", json!({})),
                    (
                        "close_passages",
                        json!({"passages": [{"passage": 1, "reason": "what is left of it are permissions"}]}),
                    ),
                    write("output/summary_report.md", "# Report\n\n[figures]\n\nNothing contradicts itself.\n"),
                ];
                Reply::calls(&calls.into_iter().chain(closing(5)).collect::<Vec<_>>())
            }
            4 => Reply::calls(&[
                write("output/answer.md", "The one that matters most is req_0123456789ab."),
                completes(&["output/answer.md"]),
            ]),
            _ => Reply::calls(&[completes(&["output/requirements.md", "output/summary_report.md"])]),
        }
    }
}

#[sqlx::test(migrations = false)]
async fn rows_are_corrected_and_delivered(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(script()).await;
    let config = Some(json!({"on_complete": null}));
    let id = world.insert(&NewJob { config, ..NewJob::with_content("policy.md", DOCUMENT.as_bytes()) }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (job, seen) = (world.job(id).await, model.seen());
    assert_eq!((job.status.as_str(), seen.len()), ("completed", 5), "{job:?}");

    let listed = seen[3].texts().find(|text| text.starts_with("1 recorded, 1 withdrawn")).unwrap_or_default();
    assert!(listed.is_empty(), "a phase begins with a clean conversation");
    let refusal = seen[4].new_results()[1].to_owned();
    assert!(refusal.contains("output/answer.md names req_0123456789ab, which this job never recorded"), "{refusal}");

    let rows = "SELECT string_agg(concat_ws('|', status, priority, research_notes), ', ' ORDER BY id)
                FROM requirement_cache WHERE job_id = $1";
    let rows: String = sqlx::query_scalar(rows).bind(id).fetch_one(&world.pool).await.expect("rows can be read");
    assert_eq!(rows, "pending|low|HGB 257, withdrawn|high");
    let kept = "SELECT string_agg(concat_ws('|', kind, reason, former ->> 'priority'), ', ' ORDER BY step, position)
                FROM requirement_changes WHERE job_id = $1";
    let kept: String = sqlx::query_scalar(kept).bind(id).fetch_one(&world.pool).await.expect("changes can be read");
    assert_eq!(kept, "updated|as the law says|high, withdrawn|a permission|high");

    let summary =
        "SELECT jsonb_build_object('done', phases_done, 'total', phases_total, 'percent', percent, 'result', result,
                   'checked', requirements_checked, 'validator', validator_status) FROM job_summary WHERE id = $1";
    let summary: Value = sqlx::query_scalar(summary).bind(id).fetch_one(&world.pool).await.expect("the line is there");
    let [done, total, percent] = ["done", "total", "percent"].map(|key| summary[key].as_i64());
    assert_eq!((done, total, percent), (Some(1), Some(1), Some(100)), "{summary}");
    assert_eq!((&summary["checked"], &summary["validator"]), (&json!(0), &Value::Null), "{summary}");
    let page = format!("requirements/{}.md", seen_id(&seen));
    let deliverables = summary["result"]["deliverables"].as_array().cloned().unwrap_or_default();
    for path in ["output/requirements.json", "output/requirements.csv", "output/requirements.md", "requirements/"] {
        assert!(deliverables.iter().any(|listed| listed == path), "{path} in {deliverables:?}");
    }

    let file = |path: String| {
        let pool = world.pool.clone();
        async move {
            let read = "SELECT convert_from(workspace_file($1, $2), 'UTF8')";
            let text: Option<String> =
                sqlx::query_scalar(read).bind(id).bind(&path).fetch_one(&pool).await.expect("files can be read");
            text.unwrap_or_else(|| panic!("{path} is not there"))
        }
    };
    let list: Value = serde_json::from_str(&file("output/requirements.json".into()).await).expect("JSON");
    assert_eq!((list.as_array().map(Vec::len), &list[0]["priority"]), (Some(1), &json!("low")), "{list}");
    let report = file("output/summary_report.md".into()).await;
    assert!(report.contains("| requirements | 1 |") && report.contains("| withdrawn | 1 |"), "{report}");
    assert!(report.ends_with("Nothing contradicts itself.\n"), "{report}");
    assert!(file(page).await.contains("HGB 257"));
    let markdown = file("output/requirements.md".into()).await;
    assert!(markdown.contains("### Records") && !markdown.contains(SENTENCES[1]), "{markdown}");

    let candidates = file("candidates/candidates.md".into()).await;
    let rows: Vec<&str> = candidates.lines().filter(|line| line.starts_with("| 1:")).collect();
    assert!(rows.iter().any(|row| row.contains(SENTENCES[0]) && row.ends_with("| r1 |")), "{candidates}");
    assert!(rows.iter().all(|row| !row.ends_with("| r2 |")), "r2 was withdrawn: {candidates}");

    let replayed = world.run(&["replay", &id.to_string()]).await;
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
    world.finish().await;
}

/// The id of the corrected requirement.
fn seen_id(seen: &[Request]) -> String {
    ids(&seen[2]).swap_remove(0)
}
