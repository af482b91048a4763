//! What a job has learnt about an endpoint from refusals of its requests.
//!
//! A refusal that says how to change the request is recorded, but not counted as a failure: the engine retries at once
//! with a changed request. Each lesson is learnt once, so the number of such retries is bounded. Lessons are valid for
//! one model at one endpoint, while the job stays at a worker.

mod lesson;
mod refusal;
mod said;
#[cfg(test)]
mod tests;

use crate::dialect::RequestOptions;
use crate::http::stated_limits::StatedLimits;
use crate::{Api, ReasoningEcho, Streaming, config::ModelConfig};
pub(crate) use lesson::Lesson;
pub use lesson::has_taught;
use parking_lot::Mutex;
pub(crate) use refusal::Refusal;
use std::collections::HashMap;

/// The lessons of one job. Starts empty.
#[derive(Debug, Default)]
pub struct Learnt(Mutex<HashMap<String, Lessons>>, Mutex<StatedLimits>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lessons {
    /// In the order in which they were learnt: a later lesson overrides an earlier one about the same thing.
    learnt: Vec<Lesson>,
    /// Whether its streams end with an end mark.
    marks_its_ends: bool,
    /// Streams in a row that ended without it.
    missing_ends: u32,
}

/// After this many consecutive streams without an end mark, the endpoint no longer sends one.
const MOST_MISSING_ENDS: u32 = 3;

/// Maximum number of answers sent as text; after that, the endpoint refuses the conversation for another reason.
const MOST_AS_TEXT: usize = 8;

impl Learnt {
    /// The rate limits in the headers of the latest response.
    pub fn stated_limits(&self) -> StatedLimits {
        *self.1.lock()
    }

    pub(super) fn state_limits(&self, limits: StatedLimits) {
        *self.1.lock() = limits;
    }

    /// The number of lessons: a caller outside the engine retries if it has increased.
    pub fn lessons(&self) -> usize {
        let lessons = self.0.lock();
        lessons.values().map(|lessons| lessons.learnt.len()).sum()
    }

    /// Whether a stream that closed after a finish reason is complete. If the endpoint has ever sent an end mark, a
    /// stream without one was truncated.
    pub(crate) fn is_over(&self, config: &ModelConfig, has_own_end: Option<bool>) -> bool {
        let Some(has_own_end) = has_own_end else { return true };
        let mut all = self.0.lock();
        let lessons = all.entry(key(config)).or_default();
        if has_own_end {
            (lessons.marks_its_ends, lessons.missing_ends) = (true, 0);
        } else if lessons.marks_its_ends {
            lessons.missing_ends += 1;
            lessons.marks_its_ends = lessons.missing_ends < MOST_MISSING_ENDS;
        }
        has_own_end || !lessons.marks_its_ends
    }

    /// The options of the next request. `place` is the address without user, password and query, because it is stored.
    pub(crate) fn options(&self, config: &ModelConfig, place: &str) -> RequestOptions {
        let lessons = self.0.lock();
        let lessons = lessons.get(&key(config)).map(|lessons| &*lessons.learnt).unwrap_or_default();
        let by_responses = lessons.contains(&Lesson::UseResponses).then_some(Api::Responses);
        let api = config.api.or(by_responses).or(config.profile.api).unwrap_or(Api::Chat);
        let mut options = RequestOptions {
            api,
            streamed: config.stream != Streaming::Off,
            stream_options: api == Api::Chat && config.profile.stream_options,
            encrypted: true,
            echo: true,
            empty_reasoning: config.profile.reasoning_echo == ReasoningEcho::EmptyString,
            left_out: Vec::new(),
            as_text: Vec::new(),
            without: Vec::new(),
            output_cap: config.output_cap,
            most_tokens: None,
            effort: config.reasoning_level.clone(),
            adaptive: false,
            origin: format!("{} {place} {}", api.as_str(), config.model),
        };
        lessons.iter().for_each(|lesson| follow(lesson, &mut options));
        options
    }

    /// Learns from a refusal of a request with these options. None if there is nothing new to learn.
    pub(crate) fn learn(
        &self,
        config: &ModelConfig,
        options: &RequestOptions,
        refusal: &Refusal<'_>,
    ) -> Option<Lesson> {
        let may_teach = refusal::lessons_of(config, options, refusal);
        let mut all = self.0.lock();
        let lessons = &mut all.entry(key(config)).or_default().learnt;
        let lesson = may_teach.into_iter().find(|lesson| is_news(lesson, lessons))?;
        lessons.push(lesson.clone());
        Some(lesson)
    }
}

/// Whether a lesson is new. The cap has two names; an endpoint that refuses both is inconsistent.
fn is_news(lesson: &Lesson, learnt: &[Lesson]) -> bool {
    let of_its_kind = learnt.iter().filter(|other| std::mem::discriminant(*other) == std::mem::discriminant(lesson));
    let most = match lesson {
        Lesson::CapAs(_) => 1,
        Lesson::AsText(_) => MOST_AS_TEXT,
        _ => usize::MAX,
    };
    of_its_kind.count() < most && !learnt.contains(lesson)
}

fn follow(lesson: &Lesson, options: &mut RequestOptions) {
    match lesson {
        // The protocol is chosen earlier.
        Lesson::UseResponses => {}
        Lesson::NoStream => options.streamed = false,
        Lesson::NoStreamOptions => options.stream_options = false,
        Lesson::NoEncrypted => options.encrypted = false,
        Lesson::NoEcho => options.echo = false,
        Lesson::EmptyReasoning => options.empty_reasoning = true,
        Lesson::LeaveOut(key) => options.left_out.push(key.clone()),
        Lesson::AsText(seq) => options.as_text.push(*seq),
        Lesson::CapAs(field) => options.output_cap = *field,
        Lesson::MostTokens(most) => options.most_tokens = Some(*most),
        Lesson::Without(field) => options.without.push(*field),
        Lesson::Effort(effort) => options.effort = Some(effort.clone()),
        Lesson::NoEffort => options.effort = None,
        Lesson::Adaptive => options.adaptive = true,
    }
}

fn key(config: &ModelConfig) -> String {
    format!("{} {}", config.base_url, config.model)
}
