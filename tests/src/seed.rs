//! Reproducible random numbers: a test prints its seed and can be rerun with it.

/// SplitMix64: small, and good enough to spread kills over a run.
#[derive(Debug)]
pub struct Seed(u64);

impl From<u64> for Seed {
    fn from(seed: u64) -> Self {
        Self(seed)
    }
}

impl Seed {
    /// The seed of this run: `PLUMBLINE_TEST_SEED`, or the given one. It is printed, so a failing test shows it.
    pub fn of_run(default: u64) -> Self {
        let seed = std::env::var("PLUMBLINE_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(default);
        println!("seed {seed} (PLUMBLINE_TEST_SEED={seed} repeats this run)");
        Self(seed)
    }

    /// An independent generator for a part of a run, unaffected by what other parts draw.
    pub fn split(&mut self) -> Self {
        Self(self.below(u64::MAX))
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}
