//! A job reference: its id, or any unique prefix of it.

use crate::{environment, error::Failure, output};
use plumbline_store::Store;
use std::{fmt, str::FromStr};
use uuid::Uuid;

/// Minimum hexadecimal digits of a prefix, to catch typos.
const LEAST: usize = 4;

/// The given reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobRef {
    given: String,
    /// The first and the last id with this prefix; equal for a complete id.
    first: Uuid,
    last: Uuid,
}

impl FromStr for JobRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a job id; give an id or at least its first {LEAST} digits, as `plumbline status` \
                 shows it"
            )
        };
        let given = text.trim();
        let digits: String = given.chars().filter(|letter| *letter != '-').collect();
        if !(LEAST..=32).contains(&digits.len()) || given.starts_with('-') || given.contains("--") {
            return Err(wrong());
        }
        let filled = |with: char| {
            let whole: String = digits.chars().chain(std::iter::repeat_n(with, 32 - digits.len())).collect();
            Uuid::try_parse(&whole).map_err(|_| wrong())
        };
        Ok(Self { given: given.to_owned(), first: filled('0')?, last: filled('f')? })
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

impl JobRef {
    /// The database and the job's id.
    pub(crate) async fn open(&self) -> Result<(Store, Uuid), Failure> {
        let store = environment::store().await?;
        let job = self.find(&store).await?;
        Ok((store, job))
    }

    /// Fails if the login sees no such job; for commands that would show a job without rows and a wrong id alike.
    ///
    /// # Errors
    /// [`output::no_job`], or the database's error.
    pub(crate) async fn must_exist(store: &Store, job: Uuid) -> Result<(), Failure> {
        match store.jobs_between(job, job).await?.is_empty() {
            true => Err(output::no_job(job)),
            false => Ok(()),
        }
    }

    /// The job's id. A complete one is returned unchecked: the command finds out whether the job exists.
    pub(crate) async fn find(&self, store: &Store) -> Result<Uuid, Failure> {
        if self.first == self.last {
            return Ok(self.first);
        }
        match store.jobs_between(self.first, self.last).await?.as_slice() {
            [one] => Ok(*one),
            [] => Err(output::no_job_like(&format!("whose id begins with {self}"))),
            [one, two, rest @ ..] => Err(Failure::new(format!(
                "several jobs begin with {self} ({one}, {two}{}); give more digits",
                if rest.is_empty() { "" } else { " and others" }
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JobRef;
    use uuid::Uuid;

    #[test]
    fn a_whole_id_or_its_beginning() {
        let id = "01a1fd16-2e91-73ff-89a4-e4d456972847";
        let whole: JobRef = id.parse().unwrap();
        assert_eq!((whole.first, whole.last), (Uuid::parse_str(id).unwrap(), whole.first));
        for (given, first, last) in [
            ("01a1", "01a10000-0000-0000-0000-000000000000", "01a1ffff-ffff-ffff-ffff-ffffffffffff"),
            ("01a1fd16-2e", "01a1fd16-2e00-0000-0000-000000000000", "01a1fd16-2eff-ffff-ffff-ffffffffffff"),
            (" 01A1FD16-2E91- ", "01a1fd16-2e91-0000-0000-000000000000", "01a1fd16-2e91-ffff-ffff-ffffffffffff"),
        ] {
            let job: JobRef = given.parse().unwrap();
            assert_eq!((job.first.to_string(), job.last.to_string()), (first.to_owned(), last.to_owned()), "{given}");
        }
        for wrong in ["", "01a", "not-an-id", "-1234", "01a1--fd", "01a1fd16-2e91-73ff-89a4-e4d4569728471"] {
            assert!(wrong.parse::<JobRef>().unwrap_err().contains("not a job id"), "{wrong}");
        }
    }
}
