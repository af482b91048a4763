//! What a job's requests have taught about an endpoint, where it does not do what was assumed of it.
//!
//! A refusal that says what to do otherwise is a failure that is recorded like others, and counted by nobody: the engine asks
//! again at once, and that request is made otherwise. Each thing is learnt once, so that no endpoint teaches without end. What
//! was learnt holds for the job's stay at a worker, for one model at one endpoint.

mod lesson;
mod refusal;
mod said;
#[cfg(test)]
mod tests;

use crate::config::{ModelConfig, Streaming};
use crate::dialect::Manner;
use crate::http::stated_limits::StatedLimits;
use crate::profile::Api;
pub(crate) use lesson::Lesson;
pub use lesson::has_taught;
pub(crate) use refusal::Refusal;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What one job has learnt. Starts empty.
#[derive(Debug, Default)]
pub struct Learnt(Mutex<HashMap<String, Lessons>>, Mutex<StatedLimits>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lessons {
    /// In the order in which they were learnt: of two about one thing the later holds.
    learnt: Vec<Lesson>,
    /// Whether its streams end by a mark of their own.
    marks_its_ends: bool,
    /// Streams in a row that ended without it.
    missing_ends: u32,
}

/// So many streams in a row without a mark at their end, and the endpoint no longer gives one.
const MOST_MISSING_ENDS: u32 = 3;

/// So many answers are sent as text before the endpoint is taken to refuse the conversation for another reason.
const MOST_AS_TEXT: usize = 8;

impl Learnt {
    /// What the headers of the latest answer say that the provider allows.
    pub fn stated_limits(&self) -> StatedLimits {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state_limits(&self, limits: StatedLimits) {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// How many lessons there were: whoever asks once, and not by the engine, asks again where there was one more.
    pub fn lessons(&self) -> usize {
        let lessons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lessons.values().map(|lessons| lessons.learnt.len()).sum()
    }

    /// Whether a stream that closed after it gave a reason is over. Where the endpoint has once ended one by a mark of its own,
    /// one without it was cut on its way.
    pub(crate) fn is_over(&self, config: &ModelConfig, has_own_end: Option<bool>) -> bool {
        let Some(has_own_end) = has_own_end else { return true };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lessons = all.entry(key(config)).or_default();
        if has_own_end {
            (lessons.marks_its_ends, lessons.missing_ends) = (true, 0);
        } else if lessons.marks_its_ends {
            lessons.missing_ends += 1;
            lessons.marks_its_ends = lessons.missing_ends < MOST_MISSING_ENDS;
        }
        has_own_end || !lessons.marks_its_ends
    }

    /// How the next request is made. `place` is the address without user, password and query, for it is stored.
    pub(crate) fn manner(&self, config: &ModelConfig, place: &str) -> Manner {
        let lessons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lessons = lessons.get(&key(config)).map(|lessons| &*lessons.learnt).unwrap_or_default();
        let by_responses = lessons.contains(&Lesson::UseResponses).then_some(Api::Responses);
        let api = config.api.or(by_responses).or(config.profile.api).unwrap_or(Api::Chat);
        let mut manner = Manner {
            api,
            streamed: config.stream != Streaming::Off,
            stream_options: api == Api::Chat && config.profile.stream_options,
            encrypted: true,
            echo: true,
            left_out: Vec::new(),
            as_text: Vec::new(),
            without: Vec::new(),
            output_cap: config.output_cap,
            most_tokens: None,
            effort: config.reasoning_level.clone(),
            adaptive: false,
            origin: format!("{} {place} {}", api.as_str(), config.model),
        };
        lessons.iter().for_each(|lesson| follow(lesson, &mut manner));
        manner
    }

    /// Learns from a refusal of a request that was made so. None where it teaches nothing, or nothing new.
    pub(crate) fn learn(&self, config: &ModelConfig, manner: &Manner, refusal: &Refusal<'_>) -> Option<Lesson> {
        let may_teach = refusal::lessons_of(config, manner, refusal);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lessons = &mut all.entry(key(config)).or_default().learnt;
        let lesson = may_teach.into_iter().find(|lesson| is_news(lesson, lessons))?;
        lessons.push(lesson.clone());
        Some(lesson)
    }
}

/// Whether a lesson is another than those that were learnt. Of the cap there are two names, and an endpoint that refuses both
/// does not know what it wants.
fn is_news(lesson: &Lesson, learnt: &[Lesson]) -> bool {
    let of_its_kind = learnt.iter().filter(|other| std::mem::discriminant(*other) == std::mem::discriminant(lesson));
    let most = match lesson {
        Lesson::CapAs(_) => 1,
        Lesson::AsText(_) => MOST_AS_TEXT,
        _ => usize::MAX,
    };
    of_its_kind.count() < most && !learnt.contains(lesson)
}

fn follow(lesson: &Lesson, manner: &mut Manner) {
    match lesson {
        // The protocol is chosen before.
        Lesson::UseResponses => {}
        Lesson::NoStream => manner.streamed = false,
        Lesson::NoStreamOptions => manner.stream_options = false,
        Lesson::NoEncrypted => manner.encrypted = false,
        Lesson::NoEcho => manner.echo = false,
        Lesson::LeaveOut(key) => manner.left_out.push(key.clone()),
        Lesson::AsText(seq) => manner.as_text.push(*seq),
        Lesson::CapAs(field) => manner.output_cap = *field,
        Lesson::MostTokens(most) => manner.most_tokens = Some(*most),
        Lesson::Without(field) => manner.without.push(*field),
        Lesson::Effort(effort) => manner.effort = Some(effort.clone()),
        Lesson::NoEffort => manner.effort = None,
        Lesson::Adaptive => manner.adaptive = true,
    }
}

fn key(config: &ModelConfig) -> String {
    format!("{} {}", config.base_url, config.model)
}
