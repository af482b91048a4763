//! Token counts as providers report them, under all their names (lesson 47).

use plumbline_engine::Usage;
use serde_json::Value;

/// Names of what was written into the provider's cache.
const CACHE_WRITES: [&str; 3] = [
    "prompt_tokens_details/cache_write_tokens",
    "input_tokens_details/cache_write_tokens",
    "cache_creation_input_tokens",
];

/// Names of the part of an answer that was reasoning.
const REASONING: [&str; 2] = ["completion_tokens_details/reasoning_tokens", "output_tokens_details/reasoning_tokens"];

/// Longest usage object that is recorded as it came, in bytes of JSON; those of providers have a few hundred.
const LONGEST: usize = 16 << 10;

/// The object as it is recorded: of a longer one, its numbers.
pub(crate) fn bounded(usage: Value) -> Value {
    match usage {
        Value::Object(mut fields) if fields.len() > 64 || Value::from(fields.clone()).to_string().len() > LONGEST => {
            fields.retain(|key, value| key.len() <= 64 && value.is_number());
            Value::Object(fields.into_iter().take(64).collect())
        }
        usage => usage,
    }
}

/// Reads a usage object; none when it says nothing of prompt or completion.
pub(crate) fn read(usage: &Value) -> Option<Usage> {
    let prompt = first(usage, &["prompt_tokens"]);
    let input = first(usage, &["input_tokens"]);
    let completion = first(usage, &["completion_tokens", "output_tokens"]);
    if prompt.is_none() && input.is_none() && completion.is_none() {
        return None;
    }
    let cached = first(
        usage,
        &[
            "prompt_tokens_details/cached_tokens",
            "input_tokens_details/cached_tokens",
            "prompt_cache_hit_tokens",
            "cache_read_input_tokens",
            "cached_tokens",
        ],
    )
    .unwrap_or(0);
    // Where the prompt is called `input_tokens` and the cache is counted beside it, the whole prompt is the sum.
    let beside = first(usage, &["cache_read_input_tokens"])
        .unwrap_or(0)
        .saturating_add(first(usage, &["cache_creation_input_tokens"]).unwrap_or(0));
    let prompt_tokens = prompt.unwrap_or_else(|| input.unwrap_or(0).saturating_add(beside));
    let completion_tokens = completion.unwrap_or(0);
    // A provider that counts more cached than sent would make the cost negative.
    let cached_tokens = cached.min(prompt_tokens);
    Some(Usage {
        prompt_tokens,
        cached_tokens,
        cache_write_tokens: first(usage, &CACHE_WRITES).unwrap_or(0).min(prompt_tokens - cached_tokens),
        completion_tokens,
        reasoning_tokens: first(usage, &REASONING).unwrap_or(0).min(completion_tokens),
    })
}

/// The first of these that is a number; null and absent are the same (lesson 45). A slash stands before the name of a
/// member's member.
fn first(usage: &Value, paths: &[&str]) -> Option<u32> {
    paths.iter().find_map(|path| {
        let value = path.split('/').try_fold(usage, |value, name| value.get(name))?;
        let number = value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
                Some((5, 5, 1)),
            ),
            (json!({"prompt_tokens": 12.0, "completion_tokens": 1}), Some((12, 0, 1))),
            (json!({"total_tokens": 5}), None),
            (json!({}), None),
            (Value::Null, None),
        ] {
            let read = read(&usage).map(|u| (u.prompt_tokens, u.cached_tokens, u.completion_tokens));
            assert_eq!(read, expected, "{usage}");
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
                (8, 2, 0),
            ),
            (json!({"prompt_tokens": 10, "completion_tokens": 1}), (0, 0, 0)),
        ] {
            let read = read(&usage).map(|u| (u.cached_tokens, u.cache_write_tokens, u.reasoning_tokens));
            assert_eq!(read, Some(expected), "{usage}");
        }
    }
}
