//! How a model names a requirement: by the job's own count, `r12`, or by its `req_` id.

use plumbline_engine::Requirement;

/// Whether a requirement of the job is meant.
pub(crate) fn means(named: &str, requirement: &Requirement) -> bool {
    match number(named) {
        Some(number) => requirement.number == Some(number),
        None => requirement.candidate_id == named.trim(),
    }
}

/// The number of `r12`, in either case.
pub(crate) fn number(named: &str) -> Option<i32> {
    let digits = named.trim().strip_prefix(['r', 'R'])?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_number_is_told_from_other_ids() {
        assert_eq!(
            ["r12", " R3 ", "req_0123456789ab", "r", "12", "r-1"].map(number),
            [Some(12), Some(3), None, None, None, None]
        );
    }
}
