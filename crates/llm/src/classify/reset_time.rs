//! When a provider wants the next request: from headers of five forms, from the body's copy of headers, from its text.

use super::retry_after;
use chrono::{DateTime, FixedOffset, NaiveDateTime, Utc};
use plumbline_bounds::pattern;
use plumbline_engine::FailureClass;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Maximum delay that is followed, in seconds: a week, the longest quota period of a provider.
const LONGEST: u64 = 7 * 24 * 3600;

/// z.ai gives its reset times without a zone, in Beijing's (hugalafutro/model-hotel#955).
const BEIJING_S: i32 = 8 * 3600;

static IN_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:try again|retry|resets?)\s+(?:in|after)\s+(?:about\s+)?(?P<time>\d[\d.]*\s*[a-z]+(?:\s*,?\s*\d[\d.]*\s*[a-z]+)*)",
    )
});
static AT_A_TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)resets? at\s+(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)")
});
static PART: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<count>\d+(?:\.\d+)?)\s*(?P<unit>[a-zµ]+)"));

fn pattern(text: &str) -> Regex {
    pattern::own(text)
}

/// The delay in whole seconds from `now`, rounded up. `header` reads a header by its lower-case name.
///
/// Any failure may have `Retry-After`; reset times of limits are in every response of some providers, and are relevant
/// only if a limit was reached.
pub(crate) fn seconds<'h>(
    header: impl Fn(&str) -> Option<&'h str>,
    body: &[u8],
    class: FailureClass,
    now: DateTime<Utc>,
) -> Option<u64> {
    let is_limit = matches!(class, FailureClass::RateLimited | FailureClass::Overloaded | FailureClass::Quota);
    let asked = retry_after(&header, now);
    let wish = asked.or_else(|| is_limit.then(|| of_the_limit(&header, body, now))?);
    wish.map(|wish| wish.min(LONGEST))
}

fn retry_after<'h>(header: &impl Fn(&str) -> Option<&'h str>, now: DateTime<Utc>) -> Option<u64> {
    let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    milliseconds
        .filter(|ms| ms.is_finite() && *ms >= 0.0)
        .map(|ms| (ms / 1000.0).ceil() as u64)
        .or_else(|| retry_after::seconds(header("retry-after")?, now))
}

/// Headers first if one shows that its limit is used up; otherwise the body, which describes the limit that was
/// reached, then the headers of all limits.
fn of_the_limit<'h>(header: &impl Fn(&str) -> Option<&'h str>, body: &[u8], now: DateTime<Utc>) -> Option<u64> {
    match of_limits(header, now) {
        Some((true, wait)) => Some(wait),
        limit => in_body(body, now).or(limit.map(|(_, wait)| wait)),
    }
}

/// Of the limits that are used up, or of all if none is, the one that resets last; and whether it is used up.
fn of_limits<'h>(header: &impl Fn(&str) -> Option<&'h str>, now: DateTime<Utc>) -> Option<(bool, u64)> {
    const KINDS: [(&str, &str); 7] = [
        ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
        ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
        ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
        ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
        ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
        ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
        ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ];
    let limits = KINDS.iter().filter_map(|(reset, remaining)| {
        let used_up =
            header(remaining).and_then(|text| text.trim().parse::<f64>().ok()).is_some_and(|left| left <= 0.0);
        Some((used_up, moment(header(reset)?, now)?))
    });
    let limits: Vec<(bool, u64)> =
        limits.chain(header("ratelimit-reset").and_then(|text| Some((false, moment(text, now)?)))).collect();
    limits.into_iter().max()
}

/// A time or duration in the providers' formats: seconds, epoch seconds, epoch milliseconds, Go durations, RFC 3339.
fn moment(text: &str, now: DateTime<Utc>) -> Option<u64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return number_as_wait(number, now);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(until(time.with_timezone(&Utc), now));
    }
    duration(text).or_else(|| retry_after::seconds(text, now))
}

fn number_as_wait(number: f64, now: DateTime<Utc>) -> Option<u64> {
    /// From here on a number is not a duration: thirty years in seconds, and the year 2001 in milliseconds.
    const EPOCH_S: f64 = 1e9;
    const EPOCH_MS: f64 = 1e12;
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    if number < EPOCH_S {
        return Some(number.ceil() as u64);
    }
    let seconds = if number < EPOCH_MS { number } else { number / 1000.0 };
    Some((seconds - now.timestamp() as f64).ceil().max(0.0) as u64)
}

fn until(time: DateTime<Utc>, now: DateTime<Utc>) -> u64 {
    u64::try_from(((time - now).num_milliseconds() + 999) / 1000).unwrap_or(0)
}

/// `6m0s`, `20ms`, `1h2m`, `5 minutes`, `3 hours, 17 minutes`.
fn duration(text: &str) -> Option<u64> {
    let text = text.to_lowercase();
    let mut seconds = None;
    for part in PART.captures_iter(&text) {
        let count: f64 = part["count"].parse().ok()?;
        let unit = match &part["unit"] {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" | "millisecond" | "milliseconds" => 1e-3,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 24.0 * 3600.0,
            _ => break,
        };
        seconds = Some(seconds.unwrap_or(0.0) + count * unit);
    }
    seconds.map(|seconds| seconds.ceil() as u64)
}

/// The delay in the body: an aggregator's copy of headers, Google's `retryDelay`, or the message.
fn in_body(body: &[u8], now: DateTime<Utc>) -> Option<u64> {
    let parsed: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = parsed.get(0).unwrap_or(&parsed);
    let error = error.get("error").unwrap_or(error);
    let copied = error.pointer("/metadata/headers").and_then(Value::as_object);
    let copied = copied.and_then(|headers| {
        let (_, reset) = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("x-ratelimit-reset"))?;
        moment(&reset.as_str().map_or_else(|| reset.to_string(), str::to_owned), now)
    });
    let details = error.get("details").and_then(Value::as_array);
    let delay = || details?.iter().find_map(|detail| duration(detail.get("retryDelay")?.as_str()?));
    copied.or_else(delay).or_else(|| in_words(&String::from_utf8_lossy(body), now))
}

fn in_words(text: &str, now: DateTime<Utc>) -> Option<u64> {
    if let Some(found) = AT_A_TIME.captures(text) {
        return at_a_time(&found["time"], now);
    }
    duration(&IN_WORDS.captures(text)?["time"])
}

/// A limit that was just reached does not reset in the past: a time without a zone that has passed in Beijing is in
/// UTC.
fn at_a_time(text: &str, now: DateTime<Utc>) -> Option<u64> {
    if let Ok(time) = DateTime::parse_from_rfc3339(&text.replacen(' ', "T", 1)) {
        return Some(until(time.with_timezone(&Utc), now));
    }
    let time = NaiveDateTime::parse_from_str(&text.replacen('T', " ", 1), "%Y-%m-%d %H:%M:%S%.f").ok()?;
    let in_beijing = time.and_local_timezone(FixedOffset::east_opt(BEIJING_S)?).single()?.with_timezone(&Utc);
    Some(until(if in_beijing > now { in_beijing } else { time.and_utc() }, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone;

    fn now() -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 1, 1, 12, 0, 0).unwrap()
    }

    fn wish(class: FailureClass, headers: &[(&str, &'static str)], body: &str) -> Option<u64> {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        seconds(header, body.as_bytes(), class, now())
    }

    #[test]
    fn headers_of_every_form() {
        for (headers, expected) in [
            (&[("retry-after-ms", "1500"), ("retry-after", "9")][..], Some(2)),
            (&[("retry-after-ms", "soon"), ("retry-after", "9")], Some(9)),
            (&[("x-ratelimit-reset-requests", "6m0s")], Some(360)),
            (&[("x-ratelimit-reset-tokens", "20ms")], Some(1)),
            (&[("x-ratelimit-reset-requests", "1h0m1.5s"), ("x-ratelimit-reset-tokens", "2s")], Some(3602)),
            (
                &[
                    ("x-ratelimit-reset-requests", "8m"),
                    ("x-ratelimit-remaining-requests", "59"),
                    ("x-ratelimit-reset-tokens", "7s"),
                    ("x-ratelimit-remaining-tokens", "0"),
                ],
                Some(7),
            ),
            (&[("anthropic-ratelimit-input-tokens-reset", "2026-01-01T12:00:42Z")], Some(42)),
            (&[("anthropic-ratelimit-requests-reset", "2026-01-01T11:00:42Z")], Some(0)),
            (&[("x-ratelimit-reset", "1767268830000")], Some(30)),
            (&[("x-ratelimit-reset", "1767268830")], Some(30)),
            (&[("x-ratelimit-reset", "30")], Some(30)),
            (&[("ratelimit-reset", "12")], Some(12)),
            (&[("x-ratelimit-reset", "never")], None),
            (&[("retry-after", "1e300")], Some(LONGEST)),
        ] {
            assert_eq!(wish(FailureClass::RateLimited, headers, ""), expected, "{headers:?}");
        }
    }

    #[test]
    fn the_body_gives_the_reached_limit_if_no_header_does() {
        let body = r#"{"error":{"message":"Rate limit reached. Please try again in 1.4s."}}"#;
        for (remaining, expected) in [("1200", 2), ("0", 59)] {
            let headers = [
                ("x-ratelimit-remaining-tokens", remaining),
                ("x-ratelimit-reset-tokens", "58.1s"),
                ("x-ratelimit-remaining-requests", "4999"),
                ("x-ratelimit-reset-requests", "12ms"),
            ];
            assert_eq!(wish(FailureClass::RateLimited, &headers, body), Some(expected), "{remaining}");
        }
        assert_eq!(wish(FailureClass::RateLimited, &[("x-ratelimit-reset-tokens", "58.1s")], "{}"), Some(59));
    }

    #[test]
    fn a_limits_reset_means_nothing_where_no_limit_was_reached() {
        let headers = [("x-ratelimit-reset-tokens", "6m0s")];
        assert_eq!(wish(FailureClass::Transient, &headers, "try again in 5 minutes"), None);
        assert_eq!(wish(FailureClass::Transient, &[("retry-after", "5")], ""), Some(5));
    }

    #[test]
    fn bodies_of_every_form() {
        for (body, expected) in [
            (r#"{"error":{"message":"x","metadata":{"headers":{"X-RateLimit-Reset":"1767268860000"}}}}"#, Some(60)),
            (r#"{"error":{"message":"x","metadata":{"headers":{"x-ratelimit-reset":1767268860000}}}}"#, Some(60)),
            (r#"[{"error":{"details":[{"@type":"x"},{"retryDelay":"34.07s"}]}}]"#, Some(35)),
            (r#"{"error":{"message":"Rate limit reached. Please try again in 6m0s. Visit us."}}"#, Some(360)),
            (r#"{"error":{"message":"Please try again in 20ms."}}"#, Some(1)),
            (r#"{"error":{"message":"Please retry in 12.5s."}}"#, Some(13)),
            (r#"{"error":{"message":"Limit used; try again in 5 minutes"}}"#, Some(300)),
            ("Try again in 3 hours, 17 minutes, 52 seconds.", Some(3 * 3600 + 17 * 60 + 52)),
            // In Beijing it is 20:00.
            (r#"{"error":{"code":"1308","message":"Your limit will reset at 2026-01-01 21:30:00"}}"#, Some(5400)),
            (r#"{"error":{"message":"Your limit will reset at 2026-01-01 12:30:00"}}"#, Some(1800)),
            (r#"{"error":{"message":"It resets at 2026-01-01T12:30:00Z."}}"#, Some(1800)),
            (r#"{"error":{"message":"Please try again later."}}"#, None),
            ("", None),
        ] {
            assert_eq!(wish(FailureClass::RateLimited, &[], body), expected, "{body}");
        }
    }
}
