//! Every place at which a validator can be interrupted while it fills a graph: each row is judged and integrated once.

use crate::{
    baseline::given_up,
    size::Size,
    trial::{one_action, undisturbed},
};
use plumbline_system_tests::{
    Uuid, World,
    handover::{Graph, assert_statuses, created, insert_validator, policy},
    seed::Seed,
};
use serde_json::Value;

/// Sections of each creator's document, and the requirements in it.
const SECTIONS: usize = 3;
const ROWS: i64 = 6;

/// Creators and their validators in one world, before one graph.
struct Handover {
    world: World,
    graph: Graph,
    config: Value,
    /// Creators so far; their requirements differ.
    rounds: usize,
}

impl Handover {
    /// Runs a creator to its end, and inserts its validator.
    async fn insert(&mut self) -> (Uuid, Uuid) {
        self.rounds += 1;
        let creator = created(&self.world, &policy(SECTIONS, self.rounds)).await;
        (creator, insert_validator(&self.world, creator, &self.config).await)
    }

    /// Asserts that a validator has ended with all rows in the graph; returns its requests, without those given up.
    async fn requests(&self, creator: Uuid, validator: Uuid, what: &str) -> i64 {
        let row = self.world.job(validator).await;
        assert_eq!(row.status, "completed", "{what}: {row:?}");
        assert_statuses(&self.world.pool, creator, [("integrated", ROWS)], what).await;
        row.requests - given_up(&self.world, validator).await
    }
}

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let Some(graph) = Graph::start().await else { return "no Neo4j".into() };
    let world = World::open().await;
    let mut handover = Handover { config: graph.config(&world), world, graph, rounds: 0 };
    let (creator, validator) = handover.insert().await;
    let places = undisturbed(&handover.world).await;
    let requests = handover.requests(creator, validator, "undisturbed").await;

    let trials = one_action(&places, size.draws, &mut seed);
    for trial in &trials {
        let (creator, validator) = handover.insert().await;
        trial.play(&handover.world, validator).await;
        let made = handover.requests(creator, validator, &format!("{trial:?}")).await;
        assert_eq!(made, requests, "{trial:?}: a call that was recorded was made again");
        handover.graph.assert_holds_the_integrated_rows(&handover.world.pool).await;
    }
    let numbers: Vec<String> = handover.graph.integrated().await.into_iter().map(|(_, rid)| rid).collect();
    let expected: Vec<String> = (1..=ROWS as usize * handover.rounds).map(|n| format!("R-{n:04}")).collect();
    assert_eq!(numbers, expected, "no number is lost");
    handover.world.close().await;
    format!("{} places, tried at {}", places.len(), trials.len())
}
