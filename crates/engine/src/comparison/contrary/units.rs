//! Another unit of time or money: *ten months* for *ten years*, *each week* for *each day*.

use super::Pair;
use std::collections::BTreeSet;

/// The words of each unit.
const UNITS: [&[&str]; 10] = [
    &["seconds", "sekunde", "sekunden"],
    &["minute", "minutes", "minuten"],
    &["hour", "hours", "hourly", "stunde", "stunden", "stündlich"],
    &[
        "day",
        "days",
        "daily",
        "tag",
        "tage",
        "tagen",
        "täglich",
        "werktage",
        "werktagen",
        "arbeitstage",
        "arbeitstagen",
    ],
    &["week", "weeks", "weekly", "woche", "wochen", "wöchentlich"],
    &["month", "months", "monthly", "monat", "monate", "monaten", "monats", "monatlich"],
    &["quarter", "quarters", "quarterly", "quartal", "quartale", "quartals", "quartalsweise"],
    &["year", "years", "yearly", "annual", "annually", "annum", "jahr", "jahre", "jahren", "jahres", "jährlich"],
    &["euro", "euros", "eur"],
    &["dollar", "dollars", "usd"],
];

/// The unit that only the text has, where its quotes have one that the text does not have.
pub(super) fn other(pair: &Pair) -> Option<String> {
    let (said, quoted) = (of(&pair.said), of(&pair.quoted));
    let other = said.iter().find(|(unit, _)| quoted.iter().all(|(known, _)| known != unit))?;
    let left_out = quoted.iter().find(|(unit, _)| said.iter().all(|(known, _)| known != unit))?;
    Some(format!("its text says `{}` where its quotes say `{}`", other.1, left_out.1))
}

/// The units of a text, each with its words.
fn of(tokens: &[String]) -> BTreeSet<(usize, &str)> {
    let unit = |word: &str| UNITS.iter().position(|words| words.contains(&word));
    tokens.iter().filter_map(|word| Some((unit(word)?, word.as_str()))).collect()
}
