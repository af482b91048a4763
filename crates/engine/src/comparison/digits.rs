//! What digits and the signs between them may mean: `10,000`, `1,5`, `31.12.2024`, `2m`.

use super::number_words::{factor, may_be_factor};

/// Whether two numbers may be a day and a month.
pub(super) fn as_date(parts: &[&str]) -> bool {
    let value = |at: usize| parts[at].parse::<u32>().unwrap_or(99);
    (1..=31).contains(&value(0)) && (1..=12).contains(&value(1))
}

/// Three digits that continue a number.
pub(super) fn is_group(token: &str) -> bool {
    let digits = token.trim_end_matches(|sign: char| !sign.is_alphanumeric());
    digits.len() == 3 && digits.bytes().all(|sign| sign.is_ascii_digit())
}

/// All readings of digits and the signs between them.
pub(super) fn readings(digits: &str) -> Vec<Vec<String>> {
    let parts: Vec<&str> = digits.split(|sign: char| !sign.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    let signs: String = digits.chars().filter(|sign| !sign.is_ascii_digit()).collect();
    let each = || parts.iter().map(|part| plain(part)).collect::<Vec<_>>();
    let of_signs = |allowed: &str| signs.chars().all(|sign| allowed.contains(sign));
    if parts.len() < 2 {
        return vec![each()];
    }
    let mut ways = Vec::new();
    if of_signs(".,'’") {
        let is_grouped = |parts: &[&str]| parts[1..].iter().all(|part| part.len() == 3) && parts[0].len() <= 3;
        if is_grouped(&parts) {
            ways.push(vec![plain(&parts.concat())]);
        }
        let (whole, fraction) = parts.split_at(parts.len() - 1);
        let is_whole = is_grouped(&parts) && fraction[0].bytes().all(|digit| digit == b'0');
        if !is_whole && is_grouped(whole) && (whole.len() == 1 || signs.chars().last() != signs.chars().next()) {
            ways.push(vec![decimal(&whole.concat(), fraction[0])]);
        }
        let may_be_day = as_date(&parts[..2]) && signs.chars().all(|sign| sign == '.');
        if may_be_day {
            ways.push(each());
        }
    }
    if ways.is_empty() || of_signs("-–—/:") {
        ways.push(each());
    }
    ways
}

fn plain(digits: &str) -> String {
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
}

fn decimal(whole: &str, fraction: &str) -> String {
    match fraction.trim_end_matches('0') {
        "" => plain(whole),
        fraction => format!("{}.{fraction}", plain(whole)),
    }
}

/// What is joined with digits: `m` of `2m`.
pub(super) fn unit_of(core: &str) -> &str {
    core.trim_start_matches(|sign: char| !sign.is_alphabetic())
}

/// The readings of a number before a word that may multiply it: `2 million` is not `2`, `2 m` may be both.
pub(super) fn multiplied(mut readings: Vec<Vec<String>>, word: &str) -> Vec<Vec<String>> {
    let by = |noughts: u32| {
        let scaled = readings.iter().filter_map(|values| Some(vec![scaled(values, noughts)?]));
        scaled.collect::<Vec<_>>()
    };
    if let Some(all) = factor(word).map(by).filter(|all| !all.is_empty()) {
        return all;
    }
    let more = may_be_factor(word).map(by).unwrap_or_default();
    readings.extend(more);
    readings
}

/// A value multiplied by a power of ten.
fn scaled(values: &[String], noughts: u32) -> Option<String> {
    let [value] = values else { return None };
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let places = usize::try_from(noughts).ok()?;
    let fraction = fraction.get(..places.min(fraction.len()))?;
    Some(plain(&format!("{whole}{fraction}{}", "0".repeat(places - fraction.len()))))
}
