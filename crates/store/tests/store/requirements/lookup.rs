//! Sources, citations, requirements.

use crate::support::{self, commit, execute, running, store, value};
use plumbline_engine::{Change, Citation, Product, Requirement, Source};
use serde_json::json;
use sqlx::PgPool;

fn requirement(text: &str, key: u8) -> Requirement {
    Requirement {
        number: None,
        name: "Retention of invoices".into(),
        source_document: Some("input/policy.pdf".into()),
        source_location: json!({"page": 4, "section": "3.1"}),
        citations: json!([{"source": "input/policy.pdf", "page": 4, "quote": "must be kept", "verified": true}]),
        reasoning: Some("says \"must\" \0 twice".into()),
        tags: vec!["retention".into(), "tax".into()],
        ..support::requirement(key, text)
    }
}

fn add(requirement: Requirement) -> Change {
    Change::Product(Product::AddRequirement(Box::new(requirement)))
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_requirement_arrives_complete_for_the_validator(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[add(requirement("Invoices must be kept for ten years.", 7))]).await.unwrap();
    let rows = store.requirements_of(job.id).await.unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row.text, "Invoices must be kept for ten years.");
    assert_eq!((row.r#type.as_deref(), row.priority.as_deref()), (Some("compliance"), Some("high")));
    assert_eq!((row.status.as_str(), row.retry_count, row.confidence), ("pending", 0, 0.9));
    assert_eq!((row.gobd_relevant, row.gdpr_relevant), (true, false));
    assert_eq!(row.reasoning.as_deref(), Some("says \"must\" \u{FFFD} twice"));
    assert_eq!(*row.tags, json!(["retention", "tax"]));
    assert_eq!(row.id.get_version_num(), 7);
    // Lesson 96: arrays and objects, never strings that contain them.
    let types = "SELECT concat_ws(' ', jsonb_typeof(citations), jsonb_typeof(mentioned_objects),
                 jsonb_typeof(mentioned_messages), jsonb_typeof(tags), jsonb_typeof(source_location))
                 FROM requirement_cache";
    assert_eq!(value(&pool, types).await.as_deref(), Some("array array array array object"));
    assert_eq!(store.load(&job.lease()).await.unwrap().standing.len(), 1);
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_same_text_twice_in_a_job_is_one_row(pool: PgPool) {
    let store = store(&pool);
    let (job, other) = (running(&store).await, running(&store).await);
    let text = "Invoices must be kept for ten years.";
    let again = Requirement { name: "Again".into(), ..requirement(text, 7) };
    commit(&store, job.lease(), 0, &[add(requirement(text, 7)), add(again.clone())]).await.unwrap();
    commit(&store, job.lease(), 1, &[add(again), add(requirement("Backups must be tested.", 8))]).await.unwrap();
    commit(&store, other.lease(), 0, &[add(requirement(text, 7))]).await.unwrap();
    let rows = store.requirements_of(job.id).await.unwrap();
    let names: Vec<_> = rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(names, [text, "Backups must be tested."]);
    assert_eq!(rows[0].name.as_deref(), Some("Retention of invoices"), "the first one stays");

    let keys = [vec![7; 32], vec![8; 32]];
    let known = |n: u8| (vec![n; 32], format!("req_{n:012}"));
    assert_eq!(store.requirements_known(job.id, &keys).await.unwrap(), [known(7), known(8)]);
    assert_eq!(store.requirements_known(other.id, &keys).await.unwrap(), [known(7)]);
    // Rows of an outside producer have no key, so duplicates are allowed.
    for _ in 0..2 {
        let sql = format!("INSERT INTO requirement_cache (job_id, text) VALUES ('{}', '{text}')", job.id);
        execute(&pool, sql).await.unwrap();
    }
    assert_eq!(store.requirements_of(job.id).await.unwrap().len(), 4);
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_outside_validators_update_moves_updated_at(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[add(requirement("Invoices must be kept for ten years.", 7))]).await.unwrap();
    let claim = "UPDATE requirement_cache SET status = 'validating' WHERE id IN
                 (SELECT id FROM requirement_cache WHERE status = 'pending' ORDER BY created_at LIMIT 1
                  FOR UPDATE SKIP LOCKED)";
    assert_eq!(execute(&pool, claim).await.unwrap(), 1);
    let moved = value(&pool, "SELECT updated_at > created_at FROM requirement_cache").await;
    assert_eq!(moved.as_deref(), Some("true"));
    let summary = "SELECT concat_ws(' ', requirements, requirements_pending, requirements_validating) FROM job_summary";
    assert_eq!(value(&pool, summary).await.as_deref(), Some("1 0 1"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn sources_are_updated_and_citations_stay(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let source =
        Source { path: "input/policy.pdf".into(), size: 1000, pages: Some(12), text_path: None, ..Source::default() };
    let extracted = Source { text_path: Some("chunks/policy.md".into()), ..source.clone() };
    let cited = Citation {
        id: "cit_0a1b2c3d".into(),
        source: source.path.clone(),
        page: Some(4),
        page_to: None,
        quote: "must be kept".into(),
        verified: true,
        place: None,
        continues: Vec::new(),
        again: Vec::new(),
    };
    let changes = [
        Change::Product(Product::AddSource(source)),
        Change::Product(Product::AddSource(extracted.clone())),
        Change::Product(Product::AddCitation(cited.clone())),
        Change::Product(Product::AddCitation(cited.clone())),
    ];
    commit(&store, job.lease(), 0, &changes).await.unwrap();
    let same_words = Citation { verified: false, ..cited.clone() };
    commit(&store, job.lease(), 1, &[Change::Product(Product::AddCitation(same_words))]).await.unwrap();
    assert_eq!(store.load(&job.lease()).await.unwrap().sources, [extracted]);
    let ids = [cited.id.clone(), "cit_ffffffff".to_owned()];
    assert_eq!(store.citations_with(job.id, &ids).await.unwrap(), [cited]);
}
