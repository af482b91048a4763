//! Times as people write them: RFC 3339, optionally without seconds, time or offset.

use crate::duration;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

/// With an offset. RFC 3339 itself is tried first.
const WITH_OFFSET: [&str; 4] =
    ["%Y-%m-%dT%H:%M%:z", "%Y-%m-%d %H:%M%:z", "%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%d %H:%M:%S%.f%#z"];
/// Without one: UTC, on every machine.
const WITHOUT: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];

/// A time; a date means its beginning.
pub(crate) fn parse(text: &str) -> Result<DateTime<Utc>, String> {
    let given = text.trim();
    // `Z` is the only offset with a letter.
    let numeric = given.strip_suffix(['Z', 'z']).map(|rest| format!("{rest}+00:00"));
    let given = numeric.as_deref().unwrap_or(given);
    if let Ok(moment) = DateTime::parse_from_rfc3339(given) {
        return Ok(moment.to_utc());
    }
    let with_offset = WITH_OFFSET.iter().find_map(|form| DateTime::parse_from_str(given, form).ok());
    let without = || WITHOUT.iter().find_map(|form| NaiveDateTime::parse_from_str(given, form).ok());
    let day = || NaiveDate::parse_from_str(given, "%Y-%m-%d").ok().map(|day| day.and_time(NaiveTime::MIN));
    with_offset
        .map(|moment| moment.to_utc())
        .or_else(|| without().or_else(day).map(|moment| moment.and_utc()))
        .ok_or_else(|| {
            format!("`{text}` is not a time; write e.g. 2027-01-31T08:00:00+01:00 or 2027-01-31 08:00 (UTC)")
        })
}

/// A time, or an age: `24h`.
pub(crate) fn parse_or_age(text: &str) -> Result<DateTime<Utc>, String> {
    match duration::parse(text) {
        Ok(age) => Ok(Utc::now() - age),
        Err(_) => parse(text).map_err(|error| format!("{error}, or how long ago, e.g. 24h")),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_or_age};
    use chrono::Utc;

    #[test]
    fn a_moment_or_an_age() {
        assert_eq!(parse_or_age("2027-01-31").unwrap().to_rfc3339(), "2027-01-31T00:00:00+00:00");
        let a_day_ago = parse_or_age("24h").unwrap();
        let ago = (Utc::now() - a_day_ago).num_minutes();
        assert!((1440..1445).contains(&ago), "{ago}");
        assert!(parse_or_age("yesterday").unwrap_err().ends_with("e.g. 24h"));
    }

    #[test]
    fn a_moment_in_any_of_the_usual_forms() {
        for (text, moment) in [
            ("2027-01-31T08:00:00Z", "2027-01-31T08:00:00+00:00"),
            ("2027-01-31T08:00:00+01:00", "2027-01-31T07:00:00+00:00"),
            ("2027-01-31T08:00:00.25+00:00", "2027-01-31T08:00:00.250+00:00"),
            ("2027-01-31 08:00:00.25+01", "2027-01-31T07:00:00.250+00:00"),
            ("2027-01-31 08:00:00+01:00", "2027-01-31T07:00:00+00:00"),
            ("2027-01-31T08:00Z", "2027-01-31T08:00:00+00:00"),
            ("2027-01-31T08:00-05:00", "2027-01-31T13:00:00+00:00"),
            ("2027-01-31 08:00:00", "2027-01-31T08:00:00+00:00"),
            ("2027-01-31T08:00", "2027-01-31T08:00:00+00:00"),
            (" 2027-01-31 ", "2027-01-31T00:00:00+00:00"),
        ] {
            assert_eq!(parse(text).map(|parsed| parsed.to_rfc3339()), Ok(moment.to_owned()), "{text}");
        }
        for text in ["", "tomorrow", "+1h", "2027-02-30", "2027-01-31T25:00", "31.01.2027", "1800000000"] {
            assert!(parse(text).unwrap_err().contains("e.g. 2027"), "{text}");
        }
    }
}
