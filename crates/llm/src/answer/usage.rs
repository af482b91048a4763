//! Token counts as providers report them, under all known names.

use plumbline_engine::Usage;
use serde_json::Value;

/// Names of the count of tokens read from the provider's cache.
const CACHED: [&str; 6] = [
    "prompt_tokens_details/cached_tokens",
    "input_tokens_details/cached_tokens",
    "prompt_cache_hit_tokens",
    "cache_read_input_tokens",
    "cached_tokens",
    // Mistral.
    "num_cached_tokens",
];

/// Names of the count of tokens written to the provider's cache.
const CACHE_WRITES: [&str; 3] = [
    "prompt_tokens_details/cache_write_tokens",
    "input_tokens_details/cache_write_tokens",
    "cache_creation_input_tokens",
];

/// Names of the count of reasoning tokens in an answer.
const REASONING: [&str; 6] = [
    "completion_tokens_details/reasoning_tokens",
    "output_tokens_details/reasoning_tokens",
    "output_tokens_details/thinking_tokens",
    "completion_tokens_details/thinking_tokens",
    "reasoning_tokens",
    "thinking_tokens",
];

/// Approximate bytes of request JSON per token.
pub(crate) const BYTES_A_TOKEN: usize = 4;

/// The request to which a usage object belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of {
    /// Bytes of the request.
    pub(crate) sent: usize,
    /// Maximum tokens of the answer, including reasoning.
    pub(crate) cap: u32,
}

/// Maximum size in bytes of a usage object that is recorded verbatim; those of providers have a few hundred.
const LONGEST: usize = 16 << 10;

/// The object as it is recorded; of a longer one, only the numbers.
pub(crate) fn bounded(usage: Value) -> Value {
    match usage {
        Value::Object(mut fields) if fields.len() > 64 || Value::from(fields.clone()).to_string().len() > LONGEST => {
            fields.retain(|key, value| key.len() <= 64 && value.is_number());
            Value::Object(fields.into_iter().take(64).collect())
        }
        usage => usage,
    }
}

/// Reads a usage object; none if it has neither prompt nor completion.
pub(crate) fn read(usage: &Value, of: Of) -> Option<Usage> {
    let prompt = first(usage, &["prompt_tokens"]);
    let input = first(usage, &["input_tokens"]);
    let completion = said_of_answer(usage);
    let said = prompt.or(input);
    if said.is_none() && completion.is_none() {
        return None;
    }
    let cached = first(usage, &CACHED).unwrap_or(0);
    let written = first(usage, &CACHE_WRITES).unwrap_or(0).max(sum_of(usage.get("cache_creation")));
    let prompt_tokens = whole_prompt(usage, prompt, input.unwrap_or(0), cached, written);
    let completion = completion.unwrap_or(0);
    let thoughts = beside(usage, said.unwrap_or(0), prompt_tokens, completion, of);
    let completion_tokens = completion.saturating_add(thoughts);
    Some(Usage {
        prompt_tokens,
        // More cached tokens than sent ones would make the cost negative.
        cached_tokens: cached.min(prompt_tokens),
        cache_write_tokens: written.min(prompt_tokens),
        completion_tokens,
        reasoning_tokens: first(usage, &REASONING).unwrap_or(0).max(thoughts).min(completion_tokens),
    })
}

/// The tokens of the answer as the provider names them.
pub(crate) fn said_of_answer(usage: &Value) -> Option<u32> {
    first(usage, &["completion_tokens", "output_tokens"])
}

/// The prompt including separately counted parts. Anthropic's `input_tokens` excludes cached tokens; proxies that pass
/// these counts on under other names are recognized by more cached than sent tokens. DeepSeek splits the prompt into
/// hits and misses.
fn whole_prompt(usage: &Value, prompt: Option<u32>, input: u32, cached: u32, written: u32) -> u32 {
    let hits_and_misses = first(usage, &["prompt_cache_miss_tokens"]).map(|missed| missed.saturating_add(cached));
    let said = prompt.unwrap_or(input).max(hits_and_misses.unwrap_or(0));
    let is_beside = prompt.is_none() && first(usage, &["input_tokens_details/cached_tokens"]).is_none();
    if is_beside || cached > said { said.saturating_add(cached).saturating_add(written) } else { said }
}

/// Tokens of the answer that only the total includes: Gemini's thoughts. A remainder that completes an implausibly
/// small prompt does not belong to the answer, nor does one above the cap.
fn beside(usage: &Value, said: u32, prompt: u32, completion: u32, of: Of) -> u32 {
    let total = first(usage, &["total_tokens"]).unwrap_or(0);
    let rest = total.saturating_sub(prompt.max(said)).saturating_sub(completion);
    let own = of.sent / BYTES_A_TOKEN;
    let with_rest = prompt as usize + rest as usize;
    let completes_the_prompt = (prompt as usize) < own / 2 && (own / 2..=own * 2).contains(&with_rest);
    if completes_the_prompt || completion.saturating_add(rest) >= of.cap { 0 } else { rest }
}

/// The sum of an object's numbers: tokens written for five minutes and for an hour (Anthropic).
fn sum_of(value: Option<&Value>) -> u32 {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(_, count)| whole(count)).fold(0, u32::saturating_add)
}

/// The first of these that is a number; null and absent are the same. A slash precedes the name of a nested
/// member.
fn first(usage: &Value, paths: &[&str]) -> Option<u32> {
    paths.iter().find_map(|path| whole(path.split('/').try_fold(usage, |value, name| value.get(name))?))
}

fn whole(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OF: Of = Of { sent: 400, cap: 1000 };

    #[test]
    fn lesson_47_every_provider_s_names() {
        for (usage, expected) in [
            (json!({"prompt_tokens": 10, "completion_tokens": 2}), Some((10, 0, 2))),
            (
                json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}),
                Some((10, 8, 2)),
            ),
            (json!({"prompt_tokens": 10, "completion_tokens": null, "prompt_tokens_details": null}), Some((10, 0, 0))),
            (json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 6}), Some((10, 6, 2))),
            (
                json!({"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5}),
                Some((15, 7, 2)),
            ),
            (
                json!({"input_tokens": 30, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 7}}),
                Some((30, 7, 2)),
            ),
            (
                json!({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}}),
                Some((14, 9, 1)),
            ),
            (json!({"prompt_tokens": 12.0, "completion_tokens": 1}), Some((12, 0, 1))),
            (json!({"total_tokens": 5}), None),
            (json!({}), None),
            (Value::Null, None),
        ] {
            let read = read(&usage, OF).map(|u| (u.prompt_tokens, u.cached_tokens, u.completion_tokens));
            assert_eq!(read, expected, "{usage}");
        }
    }

    #[test]
    fn counts_reported_next_to_the_prompt_are_part_of_it() {
        for (usage, expected) in [
            // Gateways before Claude.
            (
                json!({"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8000}}),
                (8100, 8000, 0),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 9, "cache_read_input_tokens": 8000,
                    "cache_creation_input_tokens": 50}),
                (8150, 8000, 50),
            ),
            (json!({"prompt_tokens": 100, "completion_tokens": 9, "prompt_cache_hit_tokens": 8000}), (8100, 8000, 0)),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 9, "prompt_cache_hit_tokens": 80,
                    "prompt_cache_miss_tokens": 40}),
                (120, 80, 0),
            ),
            // Responses.
            (
                json!({"input_tokens": 100, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 8000}}),
                (8100, 8000, 0),
            ),
            (
                json!({"input_tokens": 9000, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 8000}}),
                (9000, 8000, 0),
            ),
            // Messages, by the newer object.
            (
                json!({"input_tokens": 100, "output_tokens": 9, "cache_read_input_tokens": 8000,
                    "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 20}}),
                (8150, 8000, 50),
            ),
            (
                json!({"input_tokens": 100, "output_tokens": 9, "cache_read_input_tokens": 8000,
                    "cache_creation_input_tokens": 50, "cache_creation": {"ephemeral_5m_input_tokens": 50}}),
                (8150, 8000, 50),
            ),
            // Mistral.
            (json!({"prompt_tokens": 900, "completion_tokens": 9, "num_cached_tokens": 800}), (900, 800, 0)),
            // OpenRouter.
            (
                json!({"prompt_tokens": 2168, "completion_tokens": 9,
                    "prompt_tokens_details": {"cached_tokens": 2161, "cache_write_tokens": 2161}}),
                (2168, 2161, 2161),
            ),
        ] {
            let read = read(&usage, OF).map(|u| (u.prompt_tokens, u.cached_tokens, u.cache_write_tokens));
            assert_eq!(read, Some(expected), "{usage}");
        }
    }

    #[test]
    fn reasoning_is_counted_wherever_it_is_reported() {
        let usage = |total: u32| json!({"prompt_tokens": 66, "completion_tokens": 6, "total_tokens": total});
        let anthropic =
            json!({"input_tokens": 9, "output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}});
        let xai = json!({"prompt_tokens": 90, "completion_tokens": 6, "total_tokens": 126,
            "completion_tokens_details": {"reasoning_tokens": 30}});
        for (usage, of, expected) in [
            (usage(100), OF, (34, 28)),
            (usage(72), OF, (6, 0)),
            (usage(60), OF, (6, 0)),
            // More tokens than the cap are not an answer, and a remainder that completes the prompt belongs to the
            // prompt.
            (usage(2000), OF, (6, 0)),
            (usage(960), Of { sent: 4000, ..OF }, (6, 0)),
            (anthropic, OF, (40, 30)),
            (xai, OF, (36, 30)),
        ] {
            let read = read(&usage, of).map(|u| (u.completion_tokens, u.reasoning_tokens));
            assert_eq!(read, Some(expected), "{usage}");
        }
    }

    #[test]
    fn q55_what_is_written_into_the_cache_and_what_is_reasoning() {
        for (usage, expected) in [
            (
                json!({"prompt_tokens": 100, "completion_tokens": 9,
                    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                    "completion_tokens_details": {"reasoning_tokens": 5}}),
                (60, 30, 5),
            ),
            (
                json!({"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 7,
                    "cache_creation_input_tokens": 5, "output_tokens_details": {"reasoning_tokens": 9}}),
                (7, 5, 2),
            ),
            (
                json!({"prompt_tokens": 10, "completion_tokens": 1,
                    "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 8}}),
                (8, 8, 0),
            ),
            (json!({"prompt_tokens": 10, "completion_tokens": 1}), (0, 0, 0)),
        ] {
            let read = read(&usage, OF).map(|u| (u.cached_tokens, u.cache_write_tokens, u.reasoning_tokens));
            assert_eq!(read, Some(expected), "{usage}");
        }
    }
}
