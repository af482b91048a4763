//! Claim and commit against a real Postgres, named by `DATABASE_URL` (`make bench` starts one); skipped with a message
//! without it.

use divan::Bencher;
use plumbline_bench::{ENDLESS_LEASE_SECS, turn};
use plumbline_store::{Commit, ConnectOptions, Lease, NewJob, NewWorker, Store};
use tokio::runtime::Runtime;
use uuid::Uuid;

fn main() {
    if std::env::var_os("DATABASE_URL").is_none() {
        println!("claim and commit are left out: DATABASE_URL names no database (`make bench` starts one)");
        return;
    }
    divan::main();
}

/// A turn of 200 bytes, a file and a todo.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn commit(bencher: Bencher<'_, '_>) {
    let (runtime, store) = store();
    let lease = runtime.block_on(running(&store));
    let (state, progress) = (turn::state(), turn::progress());
    let mut step = 0;
    bencher.bench_local(|| {
        let changes = turn::changes(2 * step + 1, 200);
        let commit = Commit {
            lease,
            expected_step: step,
            changes: &changes,
            state: &state,
            progress: &progress,
            settings: None,
            enqueue_next: None,
        };
        let committed = runtime.block_on(store.commit(&commit)).expect("the lease is ours");
        step = committed.step;
    });
}

/// A batch of 100 jobs taken in one statement.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn claim_100(bencher: Bencher<'_, '_>) {
    let (runtime, store) = store();
    let worker = runtime.block_on(worker(&store));
    let job_type = [worker.to_string()];
    bencher
        .with_inputs(|| {
            runtime.block_on(async {
                for _ in 0..100 {
                    let job = NewJob { job_type: job_type[0].clone(), ..NewJob::new("claim me") };
                    store.enqueue(&job).await.expect("a job can be inserted");
                }
            });
        })
        .bench_local_values(|()| {
            let claimed = runtime
                .block_on(store.claim(worker, 100, Some(&job_type), ENDLESS_LEASE_SECS))
                .expect("claiming works");
            assert_eq!(claimed.len(), 100);
        });
}

fn store() -> (Runtime, Store) {
    let runtime = Runtime::new().expect("a runtime can be made");
    let url = std::env::var("DATABASE_URL").expect("checked in main");
    let store = runtime.block_on(async {
        let store = Store::connect(&url, ConnectOptions::default()).await.expect("DATABASE_URL names a database");
        store.migrate().await.expect("the database can be migrated");
        store
    });
    (runtime, store)
}

async fn worker(store: &Store) -> Uuid {
    let id = Uuid::now_v7();
    let worker = NewWorker {
        id,
        hostname: "bench".into(),
        version: "bench".into(),
        concurrency: 100,
        job_types: vec![id.to_string()],
        broken_types: serde_json::Map::new(),
        limits_ceilings: serde_json::json!({}),
    };
    store.register_worker(&worker).await.expect("a worker can be registered");
    id
}

async fn running(store: &Store) -> Lease {
    let worker = worker(store).await;
    let job_type = worker.to_string();
    store
        .enqueue(&NewJob { job_type: job_type.clone(), ..NewJob::new("commit me") })
        .await
        .expect("a job can be inserted");
    let claimed = store.claim(worker, 1, Some(&[job_type]), ENDLESS_LEASE_SECS).await.expect("claiming works");
    claimed.first().expect("the job is runnable").lease()
}
