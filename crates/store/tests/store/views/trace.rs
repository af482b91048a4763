//! Traces: a job's steps with their contents, a page at a time.

use crate::{
    story,
    support::{running, store},
};
use plumbline_store::{TracePage, TraceStep};
use sqlx::PgPool;

const ALL: TracePage = TracePage { after: 0, until: i64::MAX, limit: 100 };

fn effects(step: &TraceStep) -> Vec<String> {
    step.effects.iter().map(|effect| format!("{}: {}", effect.kind, effect.what)).collect()
}

#[sqlx::test(migrations = "../../migrations")]
async fn each_step_has_its_requests_messages_and_effects(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    story::tell(&store, job.lease()).await;
    let steps = store.trace(job.id, ALL).await.unwrap();
    assert_eq!(steps.iter().map(|step| step.step).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(steps.iter().map(|step| step.requests.len()).collect::<Vec<_>>(), [0, 1, 1, 1]);
    let said: Vec<Vec<i64>> = steps.iter().map(|step| step.messages.iter().map(|said| said.seq).collect()).collect();
    assert_eq!(said, [vec![1, 2], vec![3, 4], vec![], vec![5, 6]]);
    let request = &steps[1].requests[0];
    assert_eq!((request.model.as_str(), request.prompt_tokens, request.duration_ms), ("gpt-x", 100, 1234));
    assert_eq!(steps[1].messages[0].tool_calls.as_ref().unwrap()[0]["name"], "todo_complete");
    assert_eq!(steps[1].messages[1].tool_call_id.as_deref(), Some("c3_1"));
    assert_eq!(
        effects(&steps[1]),
        [
            "file written: output/report.md",
            "file written: workspace.md",
            "todo completed: 1.1 Explore",
            "todo written: 2.1 Draft one",
            "todo written: 2.1 Extract",
            "todo written: 2.2 Draft two",
        ]
    );
    assert_eq!(effects(&steps[2])[0], "citation: cit_00000001 input/policy.md page 1");
    assert_eq!(effects(&steps[2]).iter().filter(|line| line.starts_with("requirement: req_")).count(), 2);
    assert_eq!(
        effects(&steps[3]),
        [
            "file deleted: output/gone.md",
            "phase completed: 1 (strategic): Planning",
            "phase opened: 2 (tactical): Extraction",
            "todo completed: 1.2 Plan",
        ]
    );
    assert_eq!((steps[3].phase_number, steps[3].phase_name.as_deref()), (2, Some("Extraction")));
}

#[sqlx::test(migrations = "../../migrations")]
async fn pages_follow_each_other_and_a_step_can_be_read_alone(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    story::tell(&store, job.lease()).await;
    let all = store.trace(job.id, ALL).await.unwrap();
    let mut paged = Vec::new();
    while paged.len() < all.len() {
        let after = paged.last().map_or(0, |step: &TraceStep| step.step);
        let page = store.trace(job.id, TracePage { after, limit: 3, ..ALL }).await.unwrap();
        assert!((1..=3).contains(&page.len()));
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let one = store.trace(job.id, TracePage { after: 2, until: 3, limit: 1 }).await.unwrap();
    assert_eq!(one, [all[2].clone()]);
    let beyond = TracePage { after: 4, ..ALL };
    assert_eq!(store.trace(job.id, beyond).await.unwrap(), []);
    assert_eq!(store.trace(uuid::Uuid::now_v7(), ALL).await.unwrap(), []);
}
