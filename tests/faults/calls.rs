//! Every place at which a job can be interrupted while it makes calls that must not be repeated: each call is made once, or is
//! in doubt and not made again.

mod asker;

use crate::{
    baseline::given_up,
    size::Size,
    trial::{one_action, undisturbed},
};
use asker::{CALLS, Runs};
use plumbline_system_tests::{Uuid, World, jobs::NewJob, scripted::Scripted, seed::Seed};

/// The part of a job that is swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// All of it; its calls need no approval.
    Free,
    /// Until it waits for the approvals.
    Asking,
    /// From the approvals on.
    Making,
}

/// Jobs that make calls, in one world.
struct Calls {
    world: World,
    runs: Runs,
    part: Part,
    /// Jobs so far.
    jobs: usize,
    _model: Scripted,
}

impl Calls {
    async fn open(part: Part) -> Self {
        let (world, runs) = (World::open().await, Runs::default());
        let graph = asker::counting_graph(runs.clone()).await;
        let model = Scripted::start(|request, _| asker::script(request)).await;
        let approval: &[&str] = if part == Part::Free { &[] } else { &["*"] };
        world.add_type("asker", &asker::keys(&model.base_url(), &graph, approval), "Ask the graph.");
        Self { world, runs, part, jobs: 0, _model: model }
    }

    /// A job at the beginning of the swept part.
    async fn insert(&mut self) -> Uuid {
        self.jobs += 1;
        let prompt = asker::prompt(self.jobs);
        let job = self.world.insert(&NewJob { job_type: "asker", prompt: &prompt, ..NewJob::default() }).await;
        if self.part == Part::Making {
            self.world.work_until_idle().await;
            self.approve(job, "undisturbed").await;
        }
        job
    }

    async fn approve(&self, job: Uuid, what: &str) {
        let row = self.world.job(job).await;
        assert_eq!(row.status, "review", "{what}: {row:?}");
        let approve = "SELECT count(approve_call(id)) FROM approvals WHERE job_id = $1 AND state = 'pending'";
        let approved: i64 = sqlx::query_scalar(approve).bind(job).fetch_one(&self.world.pool).await.expect("approved");
        assert_eq!(approved, CALLS as i64, "{what}: each call waits once");
    }

    /// Runs what is left after the swept part, and asserts that each call was made once or is in doubt. Returns the job's
    /// requests, without those given up, and whether a call is in doubt.
    async fn assert_ended(&self, job: Uuid, what: &str) -> (i64, bool) {
        if self.part == Part::Asking {
            self.approve(job, what).await;
            self.world.work_until_idle().await;
        }
        let row = self.world.job(job).await;
        assert_eq!(row.status, "completed", "{what}: {row:?}");
        let results = self.results(job).await;
        assert_eq!(results.len(), CALLS, "{what}: {results:?}");
        let mut in_doubt = 0;
        for (n, result) in results.iter().enumerate() {
            let runs = self.runs.of(&asker::call(self.jobs, n));
            let is_unknown = result.contains("outcome unknown");
            assert!(runs == 1 || runs == 0 && is_unknown, "{what}: call {n} was made {runs} times: {result}");
            in_doubt += usize::from(is_unknown);
        }
        assert!(in_doubt <= 1, "{what}: one call is in flight at a time: {results:?}");
        self.assert_outcomes(job, in_doubt, what).await;
        let replayed = self.world.run(&["replay", &job.to_string()]).await;
        assert_eq!(replayed.code, Some(0), "{what}: {}{}", replayed.stdout, replayed.stderr);
        (row.requests - given_up(&self.world, job).await, in_doubt > 0)
    }

    /// What the model read of each call.
    async fn results(&self, job: Uuid) -> Vec<String> {
        let results = "SELECT content FROM messages WHERE job_id = $1 AND role = 'tool' AND seq > (
                 SELECT seq FROM messages WHERE job_id = $1 AND tool_calls::text LIKE '%execute_cypher_query%'
             ) ORDER BY seq LIMIT $2";
        let read = sqlx::query_scalar(results).bind(job).bind(CALLS as i64);
        read.fetch_all(&self.world.pool).await.expect("messages can be read")
    }

    /// Asserts that the approvals' outcomes are what the model has read.
    async fn assert_outcomes(&self, job: Uuid, in_doubt: usize, what: &str) {
        let outcomes = "SELECT count(*) FILTER (WHERE outcome = 'ok'), count(*) FILTER (WHERE outcome = 'in doubt')
             FROM approvals WHERE job_id = $1 AND state = 'executed'";
        let read = sqlx::query_as(outcomes).bind(job);
        let found: (i64, i64) = read.fetch_one(&self.world.pool).await.expect("approvals can be read");
        let gated = if self.part == Part::Free { (0, 0) } else { ((CALLS - in_doubt) as i64, in_doubt as i64) };
        assert_eq!(found, gated, "{what}: outcomes `ok` and `in doubt`");
    }
}

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let mut tally = Vec::new();
    for part in [Part::Free, Part::Asking, Part::Making] {
        tally.push(sweep(part, size, &mut seed).await);
    }
    tally.join("; ")
}

async fn sweep(part: Part, size: &Size, seed: &mut Seed) -> String {
    let mut calls = Calls::open(part).await;
    let job = calls.insert().await;
    let places = undisturbed(&calls.world).await;
    let (requests, is_in_doubt) = calls.assert_ended(job, "undisturbed").await;
    assert!(!is_in_doubt, "the outcome of an undisturbed call is known");

    let trials = one_action(&places, size.draws, seed);
    let mut in_doubt = 0;
    for trial in &trials {
        let what = format!("{part:?}: {trial:?}");
        let job = calls.insert().await;
        trial.play(&calls.world, job).await;
        let (made, is_in_doubt) = calls.assert_ended(job, &what).await;
        assert_eq!(made, requests, "{what}: a model call that was recorded was made again");
        in_doubt += usize::from(is_in_doubt);
    }
    calls.world.close().await;
    format!("{part:?}: {} places, tried at {}, calls in doubt {in_doubt}", places.len(), trials.len())
}
