//! The example job type of the repository, as documented: from the folder to the approved result. The model follows a
//! script; everything else is real.

use plumbline_system_tests::{
    PgPool, Uuid, World,
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const FIRST: &str = "with three months' notice to the end of a quarter";
const SECOND: &str = "with six months' notice to the end of a calendar year";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/example-contract-comparison")
}

fn closed(count: usize) -> impl Iterator<Item = (&'static str, Value)> {
    (0..count).map(|_| ("todo_complete", json!({})))
}

fn answer(_: &Request, number: usize) -> Reply {
    let quote = |source: &str, quote: &str| ("cite", json!({"source": source, "quote": quote}));
    match number {
        1 => {
            let todos =
                ["Read both contracts", "Compare notice", "Compare the rest", "Write the table", "Write the JSON"];
            let todos: Vec<Value> =
                (1..).zip(todos).map(|(id, content)| json!({"id": id, "content": content})).collect();
            let plan = json!({"content": "# Plan\n\n## Phase 1: Comparison\n- [ ] both contracts\n"});
            let list = json!({"phase": "Comparison", "description": "Clause by clause", "todos": todos});
            let note = ("add_note", json!({"text": "Two contracts of one customer."}));
            Reply::calls(
                &[note, ("write_plan", plan), ("todo_write", list)].into_iter().chain(closed(4)).collect::<Vec<_>>(),
            )
        }
        2 => Reply::calls(&[
            ("extract_document_text", json!({"file_path": "input/hosting-2024.md"})),
            ("extract_document_text", json!({"file_path": "input/hosting-2026.md"})),
            ("read_file", json!({"path": "input/hosting-2024.md"})),
            ("read_file", json!({"path": "input/hosting-2026.md"})),
        ]),
        3 => Reply::calls(&[quote("input/hosting-2024.md", FIRST), quote("input/hosting-2026.md", SECOND)]),
        4 => {
            let table = format!(
                "# Differences\n\n| clause | first contract | second contract | meaning |\n|---|---|---|---|\n\
                 | 2 Notice | {FIRST} | {SECOND} | The customer is bound for longer. |\n"
            );
            let rows =
                json!([{"clause": "2 Notice", "first": FIRST, "second": SECOND, "meaning": "Bound for longer."}]);
            let files = [
                ("write_file", json!({"path": "output/differences.md", "content": table})),
                ("write_file", json!({"path": "output/differences.json", "content": rows.to_string()})),
            ];
            Reply::calls(&files.into_iter().chain(closed(5)).collect::<Vec<_>>())
        }
        _ => {
            let owed = ["output/differences.md", "output/differences.json"];
            Reply::calls(&[(
                "job_complete",
                json!({"summary": "One clause differs.", "deliverables": owed, "confidence": 0.9}),
            )])
        }
    }
}

#[sqlx::test(migrations = false)]
async fn the_contract_comparison_comes_to_an_approved_result(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(answer).await;
    let [first, second] =
        ["hosting-2024.md", "hosting-2026.md"].map(|name| example().join("contracts").join(name).display().to_string());
    let job = world
        .run(&[
            "enqueue",
            "--type",
            "contract-comparison",
            "--prompt",
            "Compare the two hosting agreements for the customer",
            "--document",
            &first,
            "--document",
            &second,
        ])
        .await;
    let id: Uuid = job.stdout.trim().parse().expect("the id alone");
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", example().join("configs")).env("OPENAI_BASE_URL", model.base_url());
    let worked = world.start(command).ended().await;
    assert_eq!(worked.code, Some(0), "{}", worked.stderr);

    let row = world.job(id).await;
    assert_eq!(row.status, "review", "{row:?}");
    let verified: i64 = sqlx::query_scalar("SELECT count(*) FROM citations WHERE job_id = $1 AND verified")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("citations can be counted");
    assert_eq!(verified, 2, "{:?}", model.seen().last());
    let file: String = sqlx::query_scalar("SELECT convert_from(workspace_file($1, 'output/differences.json'), 'UTF8')")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("the file is there");
    let rows: Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(rows[0]["second"], SECOND);
    let approved = world.run(&["approve", &id.to_string()]).await;
    assert_eq!(approved.stdout, format!("job {id} is completed\n"));
    let after: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs").fetch_one(&world.pool).await.expect("a count");
    assert_eq!(after, 1, "nothing follows it");
    world.finish().await;
}
