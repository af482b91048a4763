//! Ages as people write them: `30d`, `12h`, `90m`, `45s`.

use std::time::Duration;

/// Units and their seconds.
const UNITS: [(char, u64); 5] = [('w', 604_800), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// A number with a unit.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not an age; write a whole number and a unit, e.g. 30d, 12h, 90m");
    let text = text.trim();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    // A hundred years, within the range of the database's calendar.
    let age = number.checked_mul(*seconds).filter(|age| *age <= 36_525 * 86_400).ok_or_else(wrong)?;
    Ok(Duration::from_secs(age))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn a_number_and_a_unit() {
        for (text, seconds) in [("30d", 2_592_000), ("12h", 43_200), ("90m", 5_400), ("0s", 0), (" 2w ", 1_209_600)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "30", "d", "-1d", "1.5h", "30 days", "3ä", "99999999999999999999d", "40000d"] {
            assert!(parse(text).unwrap_err().contains("e.g. 30d"), "{text}");
        }
    }
}
