//! Documents outside a job's row.

use crate::support::{execute, running, store, value};
use plumbline_store::{NewDocument, NewJob};
use sqlx::{AssertSqlSafe, PgPool};
use uuid::Uuid;

/// A document that is read in more than one piece.
const LARGE: usize = (16 << 20) + 5;

#[sqlx::test(migrations = "../../migrations")]
async fn several_documents_are_stored_in_order_and_read_back(pool: PgPool) {
    let store = store(&pool);
    let document = |name: &str, content: Vec<u8>| NewDocument { name: name.into(), content };
    let large: Vec<u8> = (0..LARGE).map(|n| n as u8).collect();
    let documents = vec![document("b.pdf", large.clone()), document("annex/a.md", b"words".to_vec())];
    let job = NewJob { documents, idempotency_key: Some("once".into()), ..NewJob::new("Compare") };
    let id = store.enqueue(&job).await.unwrap();
    assert_eq!(store.enqueue(&job).await.unwrap(), id, "a known key adds nothing");
    let listed = store.job_documents(id).await.unwrap();
    let names: Vec<(&str, i64)> = listed.iter().map(|one| (one.name.as_str(), one.bytes)).collect();
    assert_eq!(names, [("b.pdf", LARGE as i64), ("annex/a.md", 5)]);
    assert_eq!(store.job_document(id, &listed[0]).await.unwrap(), Some(large));
    assert_eq!(store.job_document(id, &listed[1]).await.unwrap().as_deref(), Some(b"words".as_slice()));
    let input = store.job_input(id).await.unwrap().unwrap().unwrap();
    assert_eq!((input.documents_count, input.documents_bytes), (2, LARGE as i64 + 5));

    execute(&pool, format!("DELETE FROM jobs WHERE id = '{id}'")).await.unwrap();
    assert_eq!(value(&pool, "SELECT count(*) FROM job_documents").await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn enqueue_job_takes_documents_a_path_and_a_configuration(pool: PgPool) {
    let id: Uuid = sqlx::query_scalar(
        "SELECT enqueue_job('Compare', 'comparison', config => '{\"limits\": {\"max_iterations\": 7}}', document_path => 'a',
             documents => '[{\"name\": \"x.md\", \"content\": \"d29yZHM=\"}, {\"name\": \"y.md\", \"content\": \"d29y\\nZHM=\"}]')",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let row = "SELECT concat_ws(' ', job_type, config, document_path,
                      (SELECT string_agg(name || '=' || convert_from(content, 'UTF8'), ',' ORDER BY position)
                       FROM job_documents d WHERE d.job_id = j.id)) FROM jobs j";
    let expected = r#"comparison {"limits": {"max_iterations": 7}} a x.md=words,y.md=words"#;
    assert_eq!(value(&pool, row).await.as_deref(), Some(expected), "{id}");
    execute(&pool, "ALTER TABLE jobs ALTER COLUMN job_type SET DEFAULT 'comparison'").await.unwrap();
    let plain = "SELECT job_type FROM jobs WHERE id = enqueue_job('Say what records are')";
    let id = value(&pool, "SELECT enqueue_job('Say what records are')::text").await.unwrap();
    let typed = format!("SELECT job_type FROM jobs WHERE id = '{id}'");
    assert_eq!(value(&pool, &typed).await.as_deref(), Some("comparison"), "{plain}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn wrong_documents_are_refused_with_a_sentence(pool: PgPool) {
    let store = store(&pool);
    for (documents, words) in [
        (r#"{"name": "a"}"#, "documents is no array"),
        (r#"["a.pdf"]"#, "item 1 of documents is no object"),
        (r#"[{"name": "a", "content": "d29y"}, {"content": "d29y"}]"#, "item 2 of documents has no name"),
        (r#"[{"name": " ", "content": "d29y"}]"#, "has an empty name"),
        (r#"[{"name": "a.md"}]"#, "has no content"),
        (r#"[{"name": "a.md", "content": "%%%"}]"#, "content of item 1 of documents (a.md) is not base64"),
        (r#"[{"name": "a.md", "content": ""}, {"name": "A.md", "content": ""}]"#, "two documents are called `A.md`"),
    ] {
        let enqueue = format!("SELECT enqueue_job('Compare', documents => '{documents}')");
        let refused = sqlx::query(AssertSqlSafe(enqueue)).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains(words), "{documents}: {refused}");
    }
    let long = format!(r#"[{{"name": "{}", "content": ""}}]"#, "n".repeat(1025));
    let refused = sqlx::query("SELECT enqueue_job('Compare', documents => $1::text::jsonb)")
        .bind(long)
        .execute(&pool)
        .await
        .unwrap_err();
    let constraint = refused.as_database_error().and_then(|error| error.constraint().map(str::to_owned));
    assert_eq!(constraint.as_deref(), Some("jobs_documents_name_at_most_1_kib"));
    assert_eq!(value(&pool, "SELECT count(*) FROM jobs").await.as_deref(), Some("0"), "nothing is half inserted");

    let begun = running(&store).await;
    let late = format!("INSERT INTO job_documents VALUES ('{}', 1, 'a.md', 'x')", begun.id);
    let refused = execute(&pool, late).await.unwrap_err().to_string();
    assert!(refused.contains("has begun"), "{refused}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn documents_are_bounded_together(pool: PgPool) {
    let id =
        value(&pool, "SELECT enqueue_job('Compare', document_content => decode(repeat('00', 200 << 20), 'hex'))::text");
    let id = id.await.unwrap();
    let add = |position: u32, mebibytes: u32| {
        format!(
            "INSERT INTO job_documents SELECT '{id}', {position}, 'd{position}', decode(repeat('00', {mebibytes} << 20), 'hex')"
        )
    };
    execute(&pool, add(1, 56)).await.unwrap();
    let refused = sqlx::query(AssertSqlSafe(format!("INSERT INTO job_documents VALUES ('{id}', 2, 'd', 'x')")))
        .execute(&pool)
        .await
        .unwrap_err();
    let constraint = refused.as_database_error().and_then(|error| error.constraint().map(str::to_owned));
    assert_eq!(constraint.as_deref(), Some("jobs_documents_at_most_256_mib"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_context_that_is_no_object_is_kept_as_it_is_and_takes_no_document_name(pool: PgPool) {
    for (given, kept) in [("[1]", "[1]"), ("5", "5"), ("null", "{}")] {
        let id = value(&pool, &format!("SELECT enqueue_job('x', context => '{given}')::text")).await.unwrap();
        let found = value(&pool, &format!("SELECT context::text FROM jobs WHERE id = '{id}'")).await;
        assert_eq!(found.as_deref(), Some(kept), "{given}");
    }
    let named = "SELECT enqueue_job('x', context => '[1]', document_name => 'a.md', document_content => 'x')";
    let refused = sqlx::query(named).execute(&pool).await.unwrap_err().to_string();
    assert!(refused.contains("context is no object"), "{refused}");
}
