//! How much of everything a run does.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The amounts of a run.
#[derive(Debug)]
pub(crate) struct Size {
    /// The run repeats its scenes until so much time has passed.
    pub(crate) until: Duration,
    /// Places of the sweep at which each action is tried, one by one; all of them when `None`.
    pub(crate) places: Option<usize>,
    /// Places of a validator, and of a job with calls, at which one action is tried; all of them when `None`.
    pub(crate) draws: Option<usize>,
    /// Random kills, and the jobs they are spread over at least.
    pub(crate) kills: usize,
    pub(crate) jobs: usize,
    /// Workers asked to stop.
    pub(crate) drains: usize,
    /// Workers frozen and thawed.
    pub(crate) zombies: usize,
    /// Rounds of each kind of network trouble.
    pub(crate) cuts: usize,
    /// Restarts of Postgres.
    pub(crate) restarts: usize,
    /// Failovers to a standby.
    pub(crate) failovers: usize,
    /// Graces in seconds in which a worker is asked to stop.
    pub(crate) graces: &'static [u64],
    /// Pairs of faults; all of them when `None`.
    pub(crate) pairs: Option<usize>,
    fixed_seed: bool,
    scenes: Option<Vec<String>>,
}

impl Size {
    /// The size that `PLUMBLINE_FAULTS` names: `short` (as when it is not set), `full`, or `soak`, whose length in
    /// minutes is in `SOAK_MINUTES`.
    ///
    /// # Panics
    /// When it names something else.
    pub(crate) fn of_run() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let scenes = variable("FAULT_SCENES").map(|names| names.split(',').map(str::to_owned).collect());
        let minutes = variable("SOAK_MINUTES").map_or(60, |text| text.parse().expect("SOAK_MINUTES is a number"));
        let soak = Duration::from_secs(60 * minutes);
        match variable("PLUMBLINE_FAULTS").as_deref() {
            None | Some("short") => Self { scenes, ..Self::short() },
            Some("full") => Self { scenes, ..Self::full() },
            Some("soak") => Self { scenes, until: soak, ..Self::full() },
            Some(other) => panic!("PLUMBLINE_FAULTS is `{other}`; say `short`, `full` or `soak`"),
        }
    }

    fn short() -> Self {
        Self {
            until: Duration::ZERO,
            places: Some(2),
            draws: Some(1),
            kills: 20,
            jobs: 8,
            drains: 3,
            zombies: 4,
            cuts: 1,
            restarts: 2,
            failovers: 1,
            graces: &[1],
            pairs: Some(2),
            fixed_seed: true,
            scenes: None,
        }
    }

    fn full() -> Self {
        Self {
            until: Duration::ZERO,
            places: None,
            draws: None,
            kills: 1000,
            jobs: 200,
            drains: 60,
            zombies: 200,
            cuts: 20,
            restarts: 50,
            failovers: 6,
            graces: &[1, 10, 30],
            pairs: None,
            fixed_seed: false,
            scenes: None,
        }
    }

    /// Whether a scene is played.
    pub(crate) fn plays(&self, scene: &str) -> bool {
        self.scenes.as_ref().is_none_or(|scenes| scenes.iter().any(|wanted| wanted == scene))
    }

    /// The seed when none is given: always the same for the tests of every day, another one each time else.
    pub(crate) fn seed(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
        if self.fixed_seed { 20_261_121 } else { now.as_secs() }
    }
}
