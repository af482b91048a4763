//! Merges two rankings.

use std::collections::HashMap;
use std::hash::Hash;

/// Damps the lead of the first places; the value of the paper that proposed the method, with little influence.
const DAMPING: f64 = 60.0;

/// Reciprocal rank fusion: each ranking scores an entry higher for a higher place, and the sums decide. Scores of
/// different searches are not comparable, places are. Equal sums keep the order of first appearance.
pub fn fuse<K: Clone + Eq + Hash>(rankings: &[Vec<K>]) -> Vec<K> {
    let mut scores: HashMap<K, (f64, usize)> = HashMap::new();
    for ranking in rankings {
        for (place, entry) in ranking.iter().enumerate() {
            let seen = scores.len();
            scores.entry(entry.clone()).or_insert((0.0, seen)).0 += 1.0 / (DAMPING + place as f64 + 1.0);
        }
    }
    let mut fused: Vec<(K, (f64, usize))> = scores.into_iter().collect();
    fused.sort_by(|(_, left), (_, right)| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    fused.into_iter().map(|(entry, _)| entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_rankings_like_comes_first() {
        assert_eq!(fuse(&[vec!["a", "b", "c"], vec!["d", "b"]]), ["b", "a", "d", "c"]);
        assert_eq!(fuse(&[vec!["a", "b"], vec![]]), ["a", "b"]);
        assert_eq!(fuse::<&str>(&[]), Vec::<&str>::new());
    }
}
