//! Small documents with duties that are easily overlooked, and a model that reads all of them and records nothing: no
//! such job completes silently.

use super::coverage::{completes, job_type, plans, run};
use plumbline_system_tests::{
    PgPool, Uuid, World, documents,
    jobs::NewJob,
    scripted::{Reply, Scripted},
};
use serde_json::{Value, json};

const DOCUMENTS: [&str; 13] = [
    "fr.md",
    "zh.md",
    "nfd.md",
    "box.docx",
    "quoted.csv",
    "rules50.csv",
    "controls.pdf",
    "other-part.docx",
    "form.pdf",
    "formula.docx",
    "line-before.pdf",
    "move.docx",
    "bad-byte.txt",
];

/// Reads the passages, and closes each todo of the phase with a file that says nothing.
fn reads() -> Reply {
    let mut calls: Vec<(&str, Value)> =
        (1..=3).map(|n| ("read_file", json!({"path": format!("chunks/chunk_{n:03}.md")}))).collect();
    for n in 1..=5 {
        let path = format!("output/{}.md", if n == 1 { "report".to_owned() } else { n.to_string() });
        calls.push(("write_file", json!({"path": path, "content": format!("Part {n} was looked at.")})));
        calls.push(("todo_complete", json!({"notes": "looked at"})));
    }
    Reply::calls(&calls)
}

async fn requirements(pool: &PgPool, id: Uuid) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM requirement_cache WHERE job_id = $1")
        .bind(id)
        .fetch_one(pool)
        .await
        .expect("the rows can be read")
}

#[sqlx::test(migrations = false)]
async fn no_document_full_of_duties_is_completed_in_silence(pool: PgPool) {
    let world = World::new(pool).await;
    for name in DOCUMENTS {
        let model = Scripted::start(|_, number| match number {
            1 => plans(),
            2 => reads(),
            _ => completes(json!([])),
        })
        .await;
        let keys = json!({"llm": {"base_url": model.base_url()}, "deliverables": [], "limits": {"max_iterations": 40}});
        let dir = job_type(&world, keys);
        let content = documents::of_jobs(&format!("duties/{name}"));
        let id = world.insert(&NewJob { job_type: "mine", ..NewJob::with_content(name, &content) }).await;
        run(&world, &dir, &["worker", "--until-idle"]).await;
        let job = world.job(id).await;
        assert_eq!(requirements(&world.pool, id).await, 0, "{name}");
        let said = job.error.clone().unwrap_or_default();
        assert!(job.status == "failed" && !said.is_empty(), "{name}: {job:?}");
    }
    world.finish().await;
}
