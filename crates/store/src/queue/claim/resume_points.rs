//! How far the claims of this process have come in the queue.
//!
//! Whoever looks for the queue's front walks over what is left of the jobs that were claimed before. That is next to
//! nothing, unless somebody holds an old snapshot open: then nothing can be cleaned away, and a claim after hundreds of
//! thousands of others takes a hundred times as long. So claims that follow each other go on where the last one ended,
//! and look at the front now and then: so seldom that looking takes a twentieth of the time at most.
//!
//! Resume points are a hint. What they do not lead to is found by the next look, at once where a claim is short of jobs.

use super::ClaimedJob;
use chrono::{DateTime, Utc};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Jobs taken in full claims, one after the other, before resume points are used: a queue that is often empty is always looked
/// at from its front.
const IN_A_ROW: usize = 500;
/// For so many times as long as a look took, the queue is not looked at again,
const REST: u32 = 20;
/// but never longer than this.
const LONGEST_REST: Duration = Duration::from_secs(10);

/// A lane's job type and key.
type Lane = (String, String);
/// Where a job stands in its lane: its priority, and when it could run and came.
type Place = (i32, DateTime<Utc>, DateTime<Utc>);

/// The resume points of a process.
#[derive(Debug, Default)]
pub(crate) struct ResumePoints {
    course: Mutex<Course>,
}

/// The full claims since the last that was not.
#[derive(Debug, Default)]
struct Course {
    job_types: Option<Vec<String>>,
    taken: usize,
    /// Until when the resume points may be used.
    until: Option<Instant>,
    /// The last job taken from each lane since the last look.
    places: HashMap<Lane, Place>,
}

/// The resume points as the statement wants them, one column each; no job types: there are none.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Columns {
    pub(super) job_types: Option<Vec<String>>,
    pub(super) keys: Vec<String>,
    pub(super) priorities: Vec<i32>,
    pub(super) times: Vec<DateTime<Utc>>,
    pub(super) arrivals: Vec<DateTime<Utc>>,
}

/// What a claim came to.
pub(super) struct Found<'a> {
    /// It got as many jobs as it asked for.
    pub(super) full: bool,
    /// It asked for these.
    pub(super) job_types: Option<&'a [String]>,
    pub(super) ended: Instant,
}

impl ResumePoints {
    /// The resume points that a claim is to begin at, if any.
    pub(super) fn in_effect(&self, job_types: Option<&[String]>, now: Instant) -> Option<Columns> {
        let course = self.course();
        let fresh = course.until.is_some_and(|until| now < until);
        let usable = fresh && course.taken >= IN_A_ROW && course.job_types.as_deref() == job_types;
        usable.then(|| Columns::of(&course.places))
    }

    /// Takes down how far a claim came; `look`: how long it took, if it looked at the queue's front.
    pub(super) fn take_down(&self, found: &Found<'_>, claimed: &[ClaimedJob], look: Option<Duration>) {
        let mut course = self.course();
        if !found.full {
            *course = Course::default();
            return;
        }
        if course.job_types.as_deref() != found.job_types {
            *course = Course { job_types: found.job_types.map(<[String]>::to_vec), ..Course::default() };
        }
        if let Some(took) = look {
            course.places.clear();
            course.until = Some(found.ended + (took * REST).min(LONGEST_REST));
        }
        course.taken += claimed.len();
        for (place, job) in claimed.iter().enumerate() {
            // The last of each lane counts.
            if claimed.get(place + 1).is_none_or(|next| lane(next) != lane(job)) {
                let key = (job.job_type.clone(), job.concurrency_key.clone());
                course.places.insert(key, (job.priority, job.run_at, job.created_at));
            }
        }
    }

    /// The next claim looks at the front.
    pub(super) fn forget(&self) {
        *self.course() = Course::default();
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lane(job: &ClaimedJob) -> (&str, &str) {
    (&job.job_type, &job.concurrency_key)
}

impl Columns {
    fn of(places: &HashMap<Lane, Place>) -> Self {
        let mut columns = Self { job_types: Some(Vec::new()), ..Self::default() };
        for ((job_type, key), (priority, run_at, created_at)) in places {
            columns.job_types.get_or_insert_default().push(job_type.clone());
            columns.keys.push(key.clone());
            columns.priorities.push(*priority);
            columns.times.push(*run_at);
            columns.arrivals.push(*created_at);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Found, ResumePoints};
    use crate::ClaimedJob;
    use chrono::DateTime;
    use std::time::{Duration, Instant};
    use uuid::Uuid;

    const LOOK: Option<Duration> = Some(Duration::from_millis(100));

    fn job(key: &str, seconds: i64) -> ClaimedJob {
        ClaimedJob {
            id: Uuid::nil(),
            job_type: "creator".into(),
            concurrency_key: key.into(),
            priority: 0,
            run_at: DateTime::UNIX_EPOCH,
            created_at: DateTime::UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs()),
            attempt: 1,
            max_attempts: 1,
            lease_epoch: 1,
            step: 0,
            waited_secs: 0.0,
            started_at: DateTime::UNIX_EPOCH,
            feedback_pending: false,
            is_suspect: false,
            has_settings: false,
        }
    }

    fn jobs(count: i64) -> Vec<ClaimedJob> {
        (0..count).map(|place| job(["a", "b"][place as usize % 2], place)).collect()
    }

    fn found(full: bool, ended: Instant) -> Found<'static> {
        Found { full, job_types: None, ended }
    }

    fn arrivals(resume_points: Option<Columns>) -> Vec<(String, i64)> {
        let Columns { keys, arrivals, .. } = resume_points.unwrap();
        let mut pairs: Vec<_> = keys.into_iter().zip(arrivals.iter().map(DateTime::timestamp)).collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn marks_are_used_after_many_jobs_and_lead_to_the_last_of_each_lane() {
        let (resume_points, now) = (ResumePoints::default(), Instant::now());
        resume_points.take_down(&found(true, now), &jobs(499), LOOK);
        assert_eq!(resume_points.in_effect(None, now), None);
        resume_points.take_down(&found(true, now), &[job("b", 600)], None);
        assert_eq!(arrivals(resume_points.in_effect(None, now)), [("a".to_owned(), 498), ("b".to_owned(), 600)]);
        assert_eq!(resume_points.in_effect(Some(&["creator".to_owned()]), now), None);
    }

    #[test]
    fn a_short_claim_and_a_failed_one_forget_them() {
        let (resume_points, now) = (ResumePoints::default(), Instant::now());
        resume_points.take_down(&found(true, now), &jobs(900), LOOK);
        resume_points.take_down(&found(false, now), &jobs(9), None);
        assert_eq!(resume_points.in_effect(None, now), None);
        resume_points.take_down(&found(true, now), &jobs(900), LOOK);
        resume_points.forget();
        assert_eq!(resume_points.in_effect(None, now), None);
    }

    #[test]
    fn the_front_is_looked_at_again_after_twenty_times_the_look_or_ten_seconds() {
        let (resume_points, now) = (ResumePoints::default(), Instant::now());
        for (look, rest) in [(100, 2000), (5000, 10_000)] {
            resume_points.take_down(&found(true, now), &jobs(900), Some(Duration::from_millis(look)));
            assert!(resume_points.in_effect(None, now + Duration::from_millis(rest - 1)).is_some());
            assert_eq!(resume_points.in_effect(None, now + Duration::from_millis(rest)), None);
        }
    }
}
