//! When a kind strikes: drawn from a seed, so that a run can be repeated.

/// How often a kind strikes, in per cent of the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(u8);

impl Rate {
    /// Every turn.
    pub const ALWAYS: Self = Self(100);

    /// This percentage of the turns; more than 100 counts as always.
    pub fn percent(percent: u8) -> Self {
        Self(percent.min(100))
    }

    /// The number of per cent.
    pub fn as_percent(self) -> u8 {
        self.0
    }

    /// Whether it strikes in turn `number` of the job with this seed.
    pub(super) fn strikes(self, seed: u64, number: u64) -> bool {
        mixed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number)) % 100 < u64::from(self.0)
    }
}

/// SplitMix64's finishing steps: neighbouring numbers give unrelated ones.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn a_rate_is_kept_and_repeats_with_its_seed() {
        for percent in [0, 10, 30, 100] {
            let rate = Rate::percent(percent);
            let struck: Vec<bool> = (0..10_000).map(|number| rate.strikes(7, number)).collect();
            let share = struck.iter().filter(|strikes| **strikes).count() / 100;
            assert!(share.abs_diff(usize::from(percent)) <= 2, "{share} of {percent} per cent");
            assert!(struck == (0..10_000).map(|number| rate.strikes(7, number)).collect::<Vec<_>>());
        }
        assert_ne!(
            (0..100).map(|n| Rate::percent(30).strikes(1, n)).collect::<Vec<_>>(),
            (0..100).map(|n| Rate::percent(30).strikes(2, n)).collect::<Vec<_>>()
        );
    }
}
