//! The `Retry-After` header: seconds or an HTTP date (RFC 9110, section 10.2.3).

use chrono::{DateTime, NaiveDateTime, Utc};

/// The delay in whole seconds from `now`, rounded up; none if the header is invalid. A date in the past is zero.
pub(crate) fn seconds(header: &str, now: DateTime<Utc>) -> Option<u64> {
    let header = header.trim();
    // Some providers send fractions, which the RFC does not define.
    if let Ok(seconds) = header.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then(|| seconds.ceil() as u64);
    }
    let wait = date(header)? - now;
    Some(u64::try_from((wait.num_milliseconds() + 999) / 1000).unwrap_or(0))
}

/// A date in the present form or one of the two older ones, which a recipient has to accept (section 5.6.7).
fn date(text: &str) -> Option<DateTime<Utc>> {
    let present = DateTime::parse_from_rfc2822(text).map(|date| date.with_timezone(&Utc)).ok();
    let older = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"].into_iter();
    let mut older = older.filter_map(|form| Some(NaiveDateTime::parse_from_str(text, form).ok()?.and_utc()));
    present.or_else(|| older.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone;

    #[test]
    fn seconds_dates_and_nonsense() {
        let now = Utc.with_ymd_and_hms(2026, 1, 1, 12, 0, 0).unwrap();
        for (header, expected) in [
            ("30", Some(30)),
            (" 0 ", Some(0)),
            ("1.2", Some(2)),
            ("Thu, 01 Jan 2026 12:01:30 GMT", Some(90)),
            ("Thu, 01 Jan 2026 11:59:00 GMT", Some(0)),
            ("Thursday, 01-Jan-26 12:01:30 GMT", Some(90)),
            ("Thu Jan  1 12:01:30 2026", Some(90)),
            ("-5", None),
            ("inf", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(seconds(header, now), expected, "{header:?}");
        }
    }
}
