//! The validator's side: claiming, judging, releasing.

use crate::support::{self, LEASE_SECS, column, commit, execute, running, store, value, worker};
use plumbline_engine::Asked;
use plumbline_engine::{Change, JobExit, Judgement, Product, Requirement, Verdict};
use plumbline_store::{ClaimedJob, NewJob, Store};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

const TEXTS: [&str; 3] = [
    "Invoices must be kept for ten years.",
    "Backups shall be tested every month.",
    "Visitors may not enter the archive.",
];

fn requirement(text: &str, key: u8) -> Requirement {
    Requirement {
        number: None,
        source_document: Some("input/policy.pdf".into()),
        source_location: json!({"page": 4}),
        citations: json!([{"source": "input/policy.pdf", "page": 4, "quote": text, "verified": true}]),
        ..support::requirement(key, text)
    }
}

/// A creator with the requirements of [`TEXTS`]; the job itself has verified the quote of the first.
async fn creator(store: &Store) -> ClaimedJob {
    let job = running(store).await;
    let mut changes: Vec<Change> = TEXTS
        .iter()
        .zip(1..)
        .map(|(text, key)| Change::Product(Product::AddRequirement(Box::new(requirement(text, key)))))
        .collect();
    changes.push(Change::Product(Product::AddCitation(plumbline_engine::Citation {
        id: "cit_00000001".into(),
        source: "input/policy.pdf".into(),
        page: Some(4),
        page_to: None,
        quote: TEXTS[0].into(),
        verified: true,
        place: None,
        continues: Vec::new(),
        again: Vec::new(),
    })));
    commit(store, job.lease(), 0, &changes).await.unwrap();
    job
}

/// A running validator of one job, or of all jobs.
async fn validator(store: &Store, of: Option<Uuid>) -> ClaimedJob {
    let worker = worker(store).await;
    let job_type = worker.to_string();
    let job = NewJob { job_type: job_type.clone(), parent_job_id: of, ..NewJob::new("Validate") };
    store.enqueue(&job).await.unwrap();
    store.claim(worker, 1, Some(&[job_type]), LEASE_SECS).await.unwrap().remove(0)
}

async fn claim(store: &Store, job: &ClaimedJob, count: i64) -> Vec<String> {
    let held = store.claim_requirements(&job.lease(), count, false, &[]).await.unwrap();
    held.into_iter().map(|row| row.text).collect()
}

fn judged(id: Uuid, verdict: Verdict) -> Change {
    let reason = matches!(verdict, Verdict::Rejected | Verdict::Failed).then(|| "a reason".to_owned());
    let graph_node_id = (verdict == Verdict::Integrated).then(|| "R-0001".to_owned());
    let validation_result = json!({"checked": true});
    Change::Product(Product::JudgeRequirement(Box::new(Judgement {
        id,
        verdict,
        reason,
        graph_node_id,
        validation_result,
    })))
}

async fn statuses(pool: &PgPool) -> String {
    value(pool, "SELECT string_agg(status, ' ' ORDER BY id) FROM requirement_cache").await.unwrap()
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_claim_gives_the_oldest_rows_and_asking_again_gives_the_same(pool: PgPool) {
    let store = store(&pool);
    let creator = creator(&store).await;
    let mine = validator(&store, Some(creator.id)).await;
    let held = store.claim_requirements(&mine.lease(), 1, false, &[]).await.unwrap().remove(0);
    assert_eq!((held.text.as_str(), held.job_id, held.gobd_relevant), (TEXTS[0], creator.id, true));
    assert_eq!((held.citations_given, held.citations_confirmed), (1, 1));
    assert_eq!(claim(&store, &mine, 1).await, [TEXTS[0]]);
    assert_eq!(claim(&store, &mine, 2).await, TEXTS[..2]);
    assert_eq!(statuses(&pool).await, "validating validating pending");

    // A row judged in this turn is not claimed again, although its judgement is not written yet.
    let next = store.claim_requirements(&mine.lease(), 2, false, &[held.id]).await.unwrap();
    assert_eq!(next.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(), TEXTS[1..]);
    assert_eq!((next[0].citations_given, next[0].citations_confirmed), (1, 0), "a row's own word is not enough");
}

/// The database accepts numbers that a worker cannot represent, and another program may have written them.
#[sqlx::test(migrations = "../../migrations")]
async fn a_row_whose_json_cannot_be_held_keeps_no_other_from_its_validator(pool: PgPool) {
    let store = store(&pool);
    let creator = creator(&store).await;
    let odd = format!(
        r#"UPDATE requirement_cache SET citations = '[1e400]', tags = '[1e400]', source_location = '{{"page": 1e400}}',
           mentioned_objects = '[1e400]', mentioned_messages = '[1e400]' WHERE text = '{}'"#,
        TEXTS[1]
    );
    execute(&pool, odd).await.unwrap();
    let mine = validator(&store, Some(creator.id)).await;
    let held = store.claim_requirements(&mine.lease(), 9, false, &[]).await.unwrap();
    assert_eq!(held.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(), TEXTS);
    assert!(held[1].citations.is_null() && held[1].source_location.is_null());
    assert_eq!(held[0].citations[0]["page"].as_i64(), Some(4));
    execute(&pool, "UPDATE requirement_cache SET validation_result = '[1e400]'").await.unwrap();
    assert_eq!(store.requirements_of(creator.id).await.unwrap().len(), 3);
}

#[sqlx::test(migrations = "../../migrations")]
async fn two_validators_share_the_rows_and_each_keeps_to_its_own_job(pool: PgPool) {
    let store = store(&pool);
    let (first, second) = (creator(&store).await, creator(&store).await);
    let (all_a, all_b) = (validator(&store, None).await, validator(&store, None).await);
    let of_second = validator(&store, Some(second.id)).await;
    let (lease_a, lease_b) = (all_a.lease(), all_b.lease());
    let (a, b) = tokio::join!(
        store.claim_requirements(&lease_a, 2, false, &[]),
        store.claim_requirements(&lease_b, 2, false, &[])
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.len(), b.len()), (2, 2));
    assert!(a.iter().all(|row| b.iter().all(|other| other.id != row.id)));
    let rest = store.claim_requirements(&of_second.lease(), 9, false, &[]).await.unwrap();
    assert_eq!(rest.len(), 2);
    assert!(rest.iter().all(|row| row.job_id == second.id && row.job_id != first.id));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_context_names_the_job_to_validate_also_after_a_fork(pool: PgPool) {
    let store = store(&pool);
    let (wanted, _other) = (creator(&store).await, creator(&store).await);
    let mine = validator(&store, None).await;
    let sql = format!(
        "UPDATE jobs SET context = '{{\"parent_job_id\": \"{}\"}}', parent_job_id = gen_random_uuid(), forked_step = 3
         WHERE id = '{}'",
        wanted.id, mine.id
    );
    execute(&pool, sql).await.unwrap();
    let held = store.claim_requirements(&mine.lease(), 9, false, &[]).await.unwrap();
    assert_eq!(held.len(), 3);
    assert!(held.iter().all(|row| row.job_id == wanted.id));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_judgement_is_written_with_the_step_and_only_by_the_holder(pool: PgPool) {
    let store = store(&pool);
    let creator = creator(&store).await;
    let (mine, other) = (validator(&store, Some(creator.id)).await, validator(&store, Some(creator.id)).await);
    let held = store.claim_requirements(&mine.lease(), 3, false, &[]).await.unwrap();
    let all: Vec<Change> = held.iter().map(|row| judged(row.id, Verdict::Rejected)).collect();
    commit(&store, other.lease(), 0, &all).await.unwrap();
    assert_eq!(statuses(&pool).await, "validating validating validating", "not the holder");

    let changes = [
        judged(held[0].id, Verdict::Rejected),
        judged(held[0].id, Verdict::Integrated),
        judged(held[1].id, Verdict::Rejected),
        judged(held[2].id, Verdict::Failed),
    ];
    commit(&store, mine.lease(), 0, &changes).await.unwrap();
    let rows = store.requirements_of(creator.id).await.unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.status.as_str(),
                row.graph_node_id.as_deref(),
                row.rejection_reason.as_deref(),
                row.last_error.as_deref(),
                row.retry_count,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("integrated", Some("R-0001"), None, None, 0),
            ("rejected", None, Some("a reason"), None, 0),
            ("failed", None, None, Some("a reason"), 1)
        ]
    );
    assert!(
        rows.iter()
            .all(|row| row.validated_at.is_some() && row.validation_result == Some(json!({"checked": true}).into()))
    );
    let tally = store.validation_tally(mine.id, false).await.unwrap();
    assert_eq!((tally.integrated, tally.rejected, tally.failed, tally.waiting), (1, 1, 1, 0));
    assert_eq!(tally.reasons, [("a reason".to_owned(), 1), ("a reason".to_owned(), 1)]);
    // A late judgement by a job that no longer holds the row changes nothing.
    commit(&store, mine.lease(), 1, &[judged(held[0].id, Verdict::Rejected)]).await.unwrap();
    assert_eq!(statuses(&pool).await, "integrated rejected failed");
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_accepted_row_waits_for_a_graph_and_is_not_validated_again_without_one(pool: PgPool) {
    let store = store(&pool);
    let creator = creator(&store).await;
    let mine = validator(&store, Some(creator.id)).await;
    let held = store.claim_requirements(&mine.lease(), 1, false, &[]).await.unwrap();
    commit(&store, mine.lease(), 0, &[judged(held[0].id, Verdict::Accepted)]).await.unwrap();
    assert_eq!(statuses(&pool).await, "pending pending pending");
    assert_eq!(claim(&store, &mine, 9).await, TEXTS[1..]);
    assert_eq!(store.validation_tally(mine.id, false).await.unwrap().accepted, 1);

    let with_graph = validator(&store, Some(creator.id)).await;
    assert_eq!(store.validation_tally(with_graph.id, true).await.unwrap().waiting, 1);
    let again = store.claim_requirements(&with_graph.lease(), 9, true, &[]).await.unwrap();
    assert_eq!(again.into_iter().map(|row| row.text).collect::<Vec<_>>(), TEXTS[..1]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_that_ends_gives_back_what_it_holds_and_a_dead_worker_does_not(pool: PgPool) {
    let store = store(&pool);
    let creator = creator(&store).await;
    let failing = Change::Exited(JobExit::Failed(plumbline_engine::JobError::new("test", "it failed")));
    for end in ["completed", "failed", "cancelled", "deleted"] {
        let mine = validator(&store, Some(creator.id)).await;
        let held = store.claim_requirements(&mine.lease(), 2, false, &[]).await.unwrap();
        assert_eq!(held.len(), 2, "before {end}");
        match end {
            "completed" => {
                let leave = [Change::Exited(JobExit::Completed { result: json!({}) })];
                commit(&store, mine.lease(), 0, &leave).await.unwrap();
            }
            "failed" => {
                commit(&store, mine.lease(), 0, std::slice::from_ref(&failing)).await.unwrap();
            }
            "cancelled" => {
                execute(&pool, format!("SELECT cancel_job('{}')", mine.id)).await.unwrap();
            }
            _ => {
                execute(&pool, format!("DELETE FROM jobs WHERE id = '{}'", mine.id)).await.unwrap();
            }
        }
        assert_eq!(statuses(&pool).await, "pending pending pending", "{end}");
        assert_eq!(claim(&store, &mine, 1).await, [""; 0], "a worker that does not know yet gets nothing: {end}");
    }

    let mine = validator(&store, Some(creator.id)).await;
    claim(&store, &mine, 2).await;
    execute(&pool, "UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour'").await.unwrap();
    store.sweep(45).await.unwrap();
    assert_eq!(column(&pool, mine.id, "status").await.as_deref(), Some("pending"));
    assert_eq!(statuses(&pool).await, "validating validating pending", "the job goes on elsewhere");
    // A row held by an outside validator is not released.
    execute(&pool, "UPDATE requirement_cache SET status = 'validating' WHERE status = 'pending'").await.unwrap();
    execute(&pool, format!("SELECT cancel_job('{}')", mine.id)).await.unwrap();
    assert_eq!(statuses(&pool).await, "pending pending validating");
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_alike_is_found_among_the_jobs_own_and_the_integrated_ones(pool: PgPool) {
    let store = store(&pool);
    let (mine, other) = (creator(&store).await, creator(&store).await);
    let rows = store.requirements_of(mine.id).await.unwrap();
    let texts = async |before: Option<Uuid>| -> Vec<(String, Uuid)> {
        let asked =
            Asked { job_id: mine.id, text: "invoices MUST be kept & it's tested \\ years", before, widely: false };
        let found = store.similar_requirements(&[asked], 9).await.unwrap().remove(0);
        found.into_iter().map(|row| (row.text, row.job_id)).collect()
    };
    assert_eq!(texts(None).await, [(TEXTS[0].to_owned(), mine.id), (TEXTS[1].to_owned(), mine.id)]);
    assert_eq!(texts(Some(rows[0].id)).await, [], "the first comes before nothing");
    assert_eq!(texts(Some(rows[1].id)).await, [(TEXTS[0].to_owned(), mine.id)], "the one after the other");

    let sql = format!("UPDATE requirement_cache SET status = 'integrated' WHERE job_id = '{}'", other.id);
    execute(&pool, sql).await.unwrap();
    assert!(texts(Some(rows[0].id)).await.contains(&(TEXTS[0].to_owned(), other.id)));
    execute(&pool, "UPDATE requirement_cache SET status = 'rejected'").await.unwrap();
    assert_eq!(texts(None).await, []);
    let none = Asked { job_id: mine.id, text: "…", before: None, widely: false };
    assert_eq!(store.similar_requirements(&[none], 9).await.unwrap(), [vec![]]);
    assert_eq!(store.similar_requirements(&[], 9).await.unwrap(), Vec::<Vec<_>>::new());
}

/// Asked together or one by one, the answer is the same.
#[sqlx::test(migrations = "../../migrations")]
async fn each_of_many_texts_has_its_own_answer(pool: PgPool) {
    let store = store(&pool);
    let (mine, other) = (creator(&store).await, creator(&store).await);
    execute(&pool, "ANALYZE requirement_cache").await.unwrap();
    execute(&pool, format!("UPDATE requirement_cache SET status = 'integrated' WHERE job_id = '{}'", other.id))
        .await
        .unwrap();
    let rows = store.requirements_of(mine.id).await.unwrap();
    let nothing = Asked { job_id: mine.id, text: "…", before: None, widely: false };
    let mut asked = vec![nothing];
    for row in &rows {
        asked.push(Asked { job_id: mine.id, text: &row.text, before: Some(row.id), widely: false });
        asked.push(Asked { job_id: other.id, text: &row.text, before: None, widely: false });
        asked.push(nothing);
    }
    let together = store.similar_requirements(&asked, 2).await.unwrap();
    assert_eq!(together.len(), asked.len());
    for (asked, found) in asked.iter().zip(&together) {
        let alone = store.similar_requirements(std::slice::from_ref(asked), 2).await.unwrap();
        assert_eq!(alone, std::slice::from_ref(found), "{asked:?}");
        assert_eq!(found.is_empty(), asked.text == "…", "{asked:?}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn approving_a_job_enqueues_what_its_settings_name_once(pool: PgPool) {
    let store = store(&pool);
    let with_follower = json!({"config": {"on_complete": {"enqueue": "validator"}}});
    for (resolved, follows) in [(with_follower, true), (json!({"config": {"on_complete": {}}}), false)] {
        let job = running(&store).await;
        let connections = json!({"connections": {"neo4j": {"uri": "http://localhost:7474"}}, "limits": {}});
        execute(&pool, format!("UPDATE jobs SET config = '{connections}' WHERE id = '{}'", job.id)).await.unwrap();
        execute(&pool, format!("INSERT INTO job_settings (job_id, resolved) VALUES ('{}', '{resolved}')", job.id))
            .await
            .unwrap();
        let leave = [Change::Exited(JobExit::Review { result: json!({}), reason: "autonomy is review".into() })];
        commit(&store, job.lease(), 0, &leave).await.unwrap();
        assert_eq!(store.child_job(job.id).await.unwrap(), None, "not before it is approved");
        execute(&pool, format!("SELECT approve_job('{}')", job.id)).await.unwrap();
        let Some(follower) = store.child_job(job.id).await.unwrap() else {
            assert!(!follows);
            continue;
        };
        let detail = store.job_detail(follower).await.unwrap().unwrap();
        assert!(follows);
        assert_eq!((detail.job_type.as_str(), detail.parent_job_id), ("validator", Some(job.id)));
        assert_eq!(detail.context, json!({"parent_job_id": job.id}));
        assert_eq!(detail.config, json!({"connections": {"neo4j": {"uri": "http://localhost:7474"}}}));
        execute(&pool, format!("SELECT enqueue_follower('{}')", job.id)).await.unwrap();
        let n = value(&pool, format!("SELECT count(*) FROM jobs WHERE parent_job_id = '{}'", job.id)).await;
        assert_eq!(n.as_deref(), Some("1"));
    }
}

/// The validator in `docs/sql.md`, verbatim.
#[sqlx::test(migrations = "../../migrations")]
async fn an_outside_validator_needs_twenty_lines_of_sql(pool: PgPool) {
    let store = store(&pool);
    let creator = creator(&store).await;
    let sql = format!(
        "INSERT INTO requirement_cache (job_id, text) VALUES ('{}', 'Somebody says that this is needed.')",
        creator.id
    );
    execute(&pool, sql).await.unwrap();
    let held_elsewhere = store.claim_requirements(&validator(&store, None).await.lease(), 1, false, &[]).await.unwrap();
    let manual = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sql.md")).unwrap();
    let blocks = manual.split("```sql\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let shown = blocks.map(|(block, _)| block).find(|block| block.contains("SKIP LOCKED"));
    let block = shown.expect("the SQL interface shows a validator, in a block that ends");
    assert!(block.lines().count() <= 20);
    tokio::try_join!(execute(&pool, block), execute(&pool, block)).unwrap();
    let rows = store.requirements_of(creator.id).await.unwrap();
    let of = |text: &str| rows.iter().find(|row| row.text == text).unwrap();
    assert_eq!(of(&held_elsewhere[0].text).status, "validating", "what another one holds is left alone");
    for text in &TEXTS[1..] {
        assert_eq!(
            (of(text).status.as_str(), of(text).graph_node_id.as_deref()),
            ("integrated", of(text).candidate_id.as_deref())
        );
    }
    let rejected = of("Somebody says that this is needed.");
    assert_eq!(rejected.rejection_reason.as_deref(), Some("It has no verified citation."));
    assert!(rejected.validated_at.is_some());
}
