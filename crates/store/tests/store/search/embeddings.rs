//! Finding requirements by meaning, with pgvector if the server has it, and without.

use crate::support::{execute, running, sentence, store, value};
use plumbline_store::{NearRequirement, Store};
use sqlx::PgPool;
use uuid::Uuid;

/// The direction of a text's embedding: replaces an embeddings model.
fn towards(text: &str) -> Vec<f32> {
    let directions: [(&str, [f32; 3]); 4] = [
        ("north-east", [1.0, 1.0, 0.0]),
        ("east", [1.0, 0.0, 0.0]),
        ("north", [0.0, 1.0, 0.0]),
        ("up", [0.0, 0.0, 1.0]),
    ];
    let known = directions.iter().find(|(word, _)| text.contains(word));
    known.unwrap_or_else(|| panic!("{text} has no direction")).1.to_vec()
}

/// Embeds missing requirements; returns their number.
async fn embed(store: &Store, job: Uuid) -> usize {
    let missing = store.unembedded_requirements(job, "compass", 100).await.unwrap();
    let embeddings: Vec<Vec<f32>> = missing.iter().map(|requirement| towards(&requirement.text)).collect();
    store.put_requirement_embeddings("compass", &missing, &embeddings).await.unwrap();
    missing.len()
}

async fn require(pool: &PgPool, job: Uuid, text: &str, status: &str) -> Uuid {
    let id = Uuid::now_v7();
    sqlx::query("INSERT INTO requirement_cache (job_id, id, text, status) VALUES ($1, $2, $3, $4)")
        .bind(job)
        .bind(id)
        .bind(text)
        .bind(status)
        .execute(pool)
        .await
        .unwrap();
    id
}

fn texts(found: &[NearRequirement]) -> Vec<&str> {
    found.iter().map(|near| near.requirement.text.as_str()).collect()
}

async fn has_pgvector(pool: &PgPool) -> bool {
    value(pool, "to_regtype('vector') IS NOT NULL").await.as_deref() == Some("true")
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_nearest_requirements_are_the_jobs_own_and_integrated_ones(pool: PgPool) {
    let store = store(&pool);
    let (job, other) = (running(&store).await.id, running(&store).await.id);
    let first = require(&pool, job, "go east at once", "pending").await;
    let second = require(&pool, job, "go north-east at once", "validating").await;
    require(&pool, job, "go up, which was rejected", "rejected").await;
    require(&pool, other, "go north, integrated", "integrated").await;
    require(&pool, other, "go north, another's open one", "pending").await;
    assert_eq!(
        embed(&store, job).await,
        3,
        "the rejected one and the other job's open one are no business of this job"
    );
    assert_eq!(embed(&store, job).await, 0);
    let near = store.nearest_requirements(job, "compass", &[2.0, 0.5, 0.0], 5, None).await.unwrap();
    assert_eq!(texts(&near), ["go east at once", "go north-east at once", "go north, integrated"]);
    assert!((near[0].likeness - 0.970).abs() < 0.001, "{}", near[0].likeness);
    let one = store.nearest_requirements(job, "compass", &[2.0, 0.5, 0.0], 1, None).await.unwrap();
    assert_eq!(texts(&one), ["go east at once"]);
    let before = store.nearest_requirements(job, "compass", &[2.0, 0.5, 0.0], 5, Some(second)).await.unwrap();
    assert_eq!(texts(&before), ["go east at once", "go north, integrated"]);
    let before = store.nearest_requirements(job, "compass", &[2.0, 0.5, 0.0], 5, Some(first)).await.unwrap();
    assert_eq!(texts(&before), ["go north, integrated"], "of two in one job the earlier one stays");
    let elsewhere = store.nearest_requirements(job, "compass", &[1.0, 0.0], 5, None).await.unwrap();
    assert_eq!(texts(&elsewhere), Vec::<&str>::new(), "embeddings of other dimensions are not compared");
}

#[sqlx::test(migrations = "../../migrations")]
async fn other_words_need_another_embedding(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await.id;
    require(&pool, job, "go east at once", "pending").await;
    let stale = store.unembedded_requirements(job, "compass", 100).await.unwrap();
    execute(&pool, "UPDATE requirement_cache SET text = 'go up at once'").await.unwrap();
    store.put_requirement_embeddings("compass", &stale, &[towards("east")]).await.unwrap();
    assert_eq!(embed(&store, job).await, 1, "the embedding of the old words was not taken");
    execute(&pool, "UPDATE requirement_cache SET text = 'go north at once'").await.unwrap();
    assert_eq!(embed(&store, job).await, 1, "the embedding went with the words");
    let near = store.nearest_requirements(job, "compass", &[0.0, 1.0, 0.0], 5, None).await.unwrap();
    assert!((near[0].likeness - 1.0).abs() < 1e-6);
    execute(&pool, "UPDATE requirement_cache SET status = 'validating'").await.unwrap();
    assert_eq!(embed(&store, job).await, 0, "another status is not another meaning");
}

/// Integrated requirements in a circle: number `n` points to the `n`-th of its 3,000 parts.
const CIRCLE: &str = "
    WITH rows AS (
        INSERT INTO requirement_cache (job_id, text, status)
        SELECT (SELECT id FROM jobs LIMIT 1), 'requirement number ' || n, 'integrated' FROM generate_series(1, 3000) AS n
        RETURNING job_id, id, 2 * pi() * replace(text, 'requirement number ', '')::int / 3000 AS angle
    )
    INSERT INTO requirement_embeddings (job_id, requirement_id, model, embedding)
    SELECT job_id, id, 'circle', ARRAY[cos(angle), sin(angle)]::real[] FROM rows";
const PLAN: &str = "EXPLAIN SELECT requirement_id FROM requirement_embeddings
    WHERE model = 'circle' AND cardinality(embedding) = 2
    ORDER BY embedding::vector(2) <#> ARRAY[1, 0]::real[]::vector(2) LIMIT 5";

#[sqlx::test(migrations = "../../migrations")]
async fn thousands_are_searched_through_the_index(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await.id;
    execute(&pool, CIRCLE).await.unwrap();
    execute(&pool, "SELECT index_embeddings('requirement_embeddings', 'circle', 2)").await.unwrap();
    execute(&pool, "ANALYZE requirement_embeddings").await.unwrap();
    let angle = std::f32::consts::TAU * 1234.2 / 3000.0;
    let near = store.nearest_requirements(job, "circle", &[angle.cos(), angle.sin()], 3, None).await.unwrap();
    let expected = ["requirement number 1234", "requirement number 1235", "requirement number 1233"];
    assert_eq!(texts(&near), expected);
    if !has_pgvector(&pool).await {
        println!("this server has no pgvector: every embedding was compared, no index could be looked at");
        return;
    }
    let plan: Vec<String> = sqlx::query_scalar(PLAN).fetch_all(&pool).await.unwrap();
    assert!(plan.iter().any(|line| line.contains("requirement_embeddings_hnsw_")), "{plan:#?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_index_is_made_once_a_model_and_for_embeddings_only(pool: PgPool) {
    let indexes = "(SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%')";
    for (dimension, can_be) in [(3, true), (3, true), (1536, true), (3072, true), (5000, false)] {
        let made = sqlx::query_scalar("SELECT index_embeddings('segment_embeddings', 'it''s a model', $1)");
        let made: bool = made.bind(dimension).fetch_one(&pool).await.unwrap();
        assert_eq!(made, can_be && has_pgvector(&pool).await, "{dimension}");
    }
    let expected = if has_pgvector(&pool).await { "3" } else { "0" };
    assert_eq!(value(&pool, indexes).await.as_deref(), Some(expected));
    let refused = execute(&pool, "SELECT index_embeddings('jobs', 'a', 3)").await.unwrap_err();
    assert_eq!(sentence(refused), "index_embeddings: jobs holds no embeddings");
}
