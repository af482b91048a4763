//! Requirements that their own job corrects or withdraws, and their previous content.

use crate::support::{self, commit, execute, progress, running, state, store, value};
use plumbline_engine::{Change, Product, Requirement, RequirementChange, candidate_id_of};
use plumbline_store::{Commit, Store};
use serde_json::{Map, Value, json};
use sqlx::PgPool;
use std::time::Duration;
use uuid::Uuid;

fn requirement(key: u8, text: &str) -> Requirement {
    let name = format!("Retention {key}");
    Requirement { candidate_id: candidate_id_of(&[key; 32]), name, ..support::requirement(key, text) }
}

fn adds(requirement: &Requirement) -> Change {
    Change::Product(Product::AddRequirement(Box::new(requirement.clone())))
}

fn updates(former: &Requirement, fields: Value) -> Change {
    let fields: Map<String, Value> = serde_json::from_value(fields).unwrap();
    let mut whole: Map<String, Value> = serde_json::from_value(serde_json::to_value(former).unwrap()).unwrap();
    whole.extend(fields.clone());
    let mut becomes: Requirement = serde_json::from_value(Value::Object(whole)).unwrap();
    if fields.contains_key("text") {
        becomes.content_key = vec![9; 32];
    }
    changes(former, Some(becomes), fields)
}

fn withdraws(former: &Requirement) -> Change {
    changes(former, None, Map::new())
}

fn changes(former: &Requirement, becomes: Option<Requirement>, fields: Map<String, Value>) -> Change {
    let (candidate_id, reason) = (former.candidate_id.clone(), "a second look".to_owned());
    let change = RequirementChange { candidate_id, reason, becomes: becomes.map(Box::new), fields };
    Change::Product(Product::ChangeRequirement(Box::new(change)))
}

async fn texts(store: &Store, job: Uuid) -> Vec<String> {
    let recorded = store.recorded(job).await.unwrap();
    recorded.iter().map(|known| format!("{} {}", known.status, known.requirement.text)).collect()
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_a_row_said_before_is_kept_and_a_fork_has_it_as_it_stood(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let (one, two) = (requirement(1, "Invoices must be kept."), requirement(2, "Receipts must be kept."));
    commit(&store, job.lease(), 0, &[adds(&one), adds(&two)]).await.unwrap();
    let first = updates(&one, json!({"text": "Invoices may be kept.", "priority": "low", "reasoning": "may"}));
    commit(&store, job.lease(), 1, &[first]).await.unwrap();
    let one = Requirement { text: "Invoices may be kept.".into(), content_key: vec![9; 32], ..one };
    commit(&store, job.lease(), 2, &[updates(&one, json!({"name": "Invoices"})), withdraws(&two)]).await.unwrap();
    assert_eq!(texts(&store, job.id).await, ["pending Invoices may be kept.", "withdrawn Receipts must be kept."]);
    let kept = "SELECT string_agg(concat_ws(' ', step, position, kind, former ->> 'text', former ->> 'priority'), ', ' ORDER BY step, position)
                FROM requirement_changes";
    let expected = "2 1 updated Invoices must be kept. high, 3 1 updated Invoices may be kept. low, 3 2 withdrawn Receipts must be kept. high";
    assert_eq!(value(&pool, kept).await.as_deref(), Some(expected));
    for (step, expected) in [
        (1, ["pending Invoices must be kept.", "pending Receipts must be kept."]),
        (2, ["pending Invoices may be kept.", "pending Receipts must be kept."]),
        (3, ["pending Invoices may be kept.", "withdrawn Receipts must be kept."]),
    ] {
        let fork = store.fork(job.id, step).await.unwrap();
        assert_eq!(texts(&store, fork).await, expected, "step {step}");
        // The other invariants concern rows that these jobs lack: phases, todos and requests.
        let mut broken = store.invariants(Duration::from_secs(60)).await.unwrap();
        broken.retain(|violation| violation.rule.starts_with("I4"));
        assert_eq!(broken, []);
    }
    let recording = store.recording(job.id).await.unwrap().unwrap();
    assert_eq!(recording.steps[0].requirements[0]["text"], "Invoices must be kept.", "as it was recorded");
    assert_eq!(recording.steps[1].put_right[0]["fields"]["priority"], "low");
    assert_eq!(recording.steps[2].put_right.len(), 2);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_row_that_somebody_has_taken_is_left_alone(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let one = requirement(1, "Invoices must be kept.");
    commit(&store, job.lease(), 0, &[adds(&one)]).await.unwrap();
    execute(&pool, "UPDATE requirement_cache SET status = 'validating'").await.unwrap();
    commit(&store, job.lease(), 1, &[withdraws(&one)]).await.unwrap();
    assert_eq!(texts(&store, job.id).await, ["validating Invoices must be kept."]);
    assert_eq!(value(&pool, "SELECT count(*) FROM requirement_changes").await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_text_of_a_withdrawn_row_is_free_and_that_of_a_corrected_one_is_not(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let (one, two) = (requirement(1, "Invoices must be kept."), requirement(2, "Receipts must be kept."));
    let changes = [adds(&one), adds(&two), withdraws(&one), updates(&two, json!({"text": "Receipts must stay."}))];
    commit(&store, job.lease(), 0, &changes).await.unwrap();
    let keys = [one.content_key.clone(), two.content_key.clone(), vec![9; 32]];
    let known = [(keys[1].clone(), two.candidate_id.clone()), (keys[2].clone(), two.candidate_id.clone())];
    assert_eq!(store.requirements_known(job.id, &keys).await.unwrap(), known);
    commit(&store, job.lease(), 1, &[adds(&one)]).await.unwrap();
    let expected =
        ["withdrawn Invoices must be kept.", "pending Receipts must stay.", "pending Invoices must be kept."];
    assert_eq!(texts(&store, job.id).await, expected);
    assert_eq!(store.load(&job.lease()).await.unwrap().standing.len(), 2, "withdrawn ones do not count");
    execute(&pool, "UPDATE jobs SET status = 'cancelled'").await.unwrap();
    execute(&pool, "DELETE FROM jobs").await.unwrap();
    assert_eq!(value(&pool, "SELECT count(*) FROM requirement_changes").await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_step_says_how_far_the_plan_is_and_a_line_says_all_of_it(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let summary = "SELECT concat_ws(' ', phases_done, phases_total, percent, requirements, requirements_checked) FROM job_summary";
    let mut progress = progress();
    for (step, plan, kind, expected) in [
        (0, None, plumbline_engine::PhaseKind::Strategic, "0 1 0"),
        (1, Some((1, 4)), plumbline_engine::PhaseKind::Strategic, "1 4 25 1 0"),
        (2, Some((1, 4)), plumbline_engine::PhaseKind::Tactical, "1 4 31 1 0"),
    ] {
        (progress.plan, progress.phase) = (plan, Some(kind));
        let state = state();
        let changes: &[Change] = if step == 0 { &[adds(&requirement(1, "Invoices must be kept."))] } else { &[] };
        let commit = Commit {
            lease: job.lease(),
            expected_step: step,
            changes,
            state: &state,
            progress: &progress,
            settings: None,
            enqueue_next: None,
        };
        store.commit(&commit).await.unwrap();
        assert_eq!(value(&pool, summary).await.as_deref(), Some(expected), "after step {}", step + 1);
    }
    execute(&pool, "UPDATE requirement_cache SET validated_at = now()").await.unwrap();
    let follower = "INSERT INTO jobs (prompt, job_type, parent_job_id, idempotency_key)
                    SELECT 'Check', 'validator', id, 'on_complete:' || id FROM jobs";
    execute(&pool, follower).await.unwrap();
    let said = "SELECT concat_ws(' ', requirements_checked, validator_status, result) FROM job_summary WHERE parent_job_id IS NULL";
    assert_eq!(value(&pool, said).await.as_deref(), Some("1 pending"));
    execute(&pool, "UPDATE jobs SET status = 'cancelled' WHERE parent_job_id IS NOT NULL").await.unwrap();
    assert_eq!(value(&pool, said).await.as_deref(), Some("1 cancelled"));
}
