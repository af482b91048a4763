//! The ids by which a model names a requirement: the job's own number, `r12`, or the `req_` id.

use plumbline_engine::HeldRequirement;
use plumbline_engine::Requirement;
use std::collections::BTreeMap;

/// Whether an id names this requirement of the job.
pub(crate) fn means(named: &str, requirement: &Requirement) -> bool {
    match number(named) {
        Some(number) => requirement.number == Some(number),
        None => requirement.candidate_id == named.trim(),
    }
}

/// The number in `r12`, in either case.
pub(crate) fn number(named: &str) -> Option<i32> {
    let digits = named.trim().strip_prefix(['r', 'R'])?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The names of held rows in a validator's tools: by the recording job's number if all rows belong to one job and have
/// a number, otherwise by `req_` id, and by row id if two share one.
#[derive(Debug, Default)]
pub(crate) struct HeldNames {
    by_number: bool,
    rows_of_id: BTreeMap<String, usize>,
}

impl HeldNames {
    /// The names of these rows.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a HeldRequirement>) -> Self {
        let mut names = Self { by_number: true, ..Self::default() };
        let mut job = None;
        for row in rows {
            names.by_number &= row.number.is_some() && *job.get_or_insert(row.job_id) == row.job_id;
            *names.rows_of_id.entry(row.candidate_id.clone().unwrap_or_default()).or_default() += 1;
        }
        names
    }

    /// The name of one of them.
    pub(crate) fn name(&self, row: &HeldRequirement) -> String {
        let is_unique = |id: &&String| self.rows_of_id.get(*id).is_none_or(|rows| *rows == 1);
        match (row.number.filter(|_| self.by_number), row.candidate_id.as_ref().filter(is_unique)) {
            (Some(number), _) => format!("r{number}"),
            (None, Some(id)) => id.clone(),
            (None, None) => row.id.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_number_is_distinguished_from_other_ids() {
        assert_eq!(
            ["r12", " R3 ", "req_0123456789ab", "r", "12", "r-1"].map(number),
            [Some(12), Some(3), None, None, None, None]
        );
    }
}
