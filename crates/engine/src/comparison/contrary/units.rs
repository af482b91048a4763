//! Another unit: *ten months* for *ten years*, *each week* for *each day*, *5 kg* for *5 t*, *noon* for *midnight*.

use super::super::measures::{Kind, Measure};
use super::super::modals::tokens;
use super::super::number_words::month;
use super::{Pair, has};

/// The words of each unit, by what they measure. Those of two letters are units behind a number alone.
const UNITS: [&[&[&str]]; 11] = [
    &[
        &["seconds", "sekunde", "sekunden"],
        &["minute", "minutes", "minuten"],
        &["hour", "hours", "hourly", "h", "stunde", "stunden", "stündlich"],
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
        &["quarter", "quarters", "quarterly", "quartal", "quartale", "quartals", "quartalsweise", "vierteljährlich"],
        &["semiannual", "semiannually", "halbjahr", "halbjährlich"],
        &["year", "years", "yearly", "annual", "annually", "annum", "jahr", "jahre", "jahren", "jahres", "jährlich"],
        &["decade", "decades", "jahrzehnt", "jahrzehnte"],
    ],
    &[
        &["working", "business", "werktag", "werktage", "werktagen", "arbeitstag", "arbeitstage", "arbeitstagen"],
        &["calendar", "kalendertag", "kalendertage", "kalendertagen"],
    ],
    &[
        &["monday", "mondays", "montag", "montags"],
        &["tuesday", "tuesdays", "dienstag", "dienstags"],
        &["wednesday", "wednesdays", "mittwoch", "mittwochs"],
        &["thursday", "thursdays", "donnerstag", "donnerstags"],
        &["friday", "fridays", "freitag", "freitags"],
        &["saturday", "saturdays", "samstag", "samstags", "sonnabend"],
        &["sunday", "sundays", "sonntag", "sonntags"],
    ],
    &[&["noon", "midday", "mittag", "mittags"], &["midnight", "mitternacht"]],
    &[&["am"], &["pm"]],
    &[&["euro", "euros", "eur"], &["dollar", "dollars", "usd"], &["gbp"], &["chf", "franken"], &["percent", "prozent"]],
    &[
        &["mm", "millimetre", "millimetres", "millimeter"],
        &["cm", "centimetre", "centimetres", "zentimeter"],
        &["m", "metre", "metres", "meter", "meters"],
        &["km", "kilometre", "kilometres", "kilometer"],
        &["inch", "inches", "zoll"],
        &["feet", "foot"],
        &["mile", "miles", "meilen"],
    ],
    &[
        &["g", "gram", "grams", "gramm"],
        &["kg", "kilogram", "kilograms", "kilogramm"],
        &["t", "tonne", "tonnes", "tonnen", "tons"],
        &["ml", "millilitre", "millilitres", "milliliter"],
        &["l", "litre", "litres", "liter", "liters"],
        &["gallon", "gallons", "gallonen"],
    ],
    &[&["celsius"], &["fahrenheit"], &["kelvin"]],
    &[
        &["kb", "kilobyte", "kilobytes"],
        &["mb", "megabyte", "megabytes"],
        &["gb", "gigabyte", "gigabytes"],
        &["tb", "terabyte", "terabytes"],
    ],
    &[&["bar"], &["mbar"], &["psi"], &["kpa"]],
];
/// The units of time among them.
const OF_TIME: usize = 0;
/// Signs of units, and their words.
const SIGNS: [(&str, &str); 10] = [
    ("€", " euro "),
    ("$", " dollar "),
    ("£", " gbp "),
    ("%", " percent "),
    ("per cent", "percent"),
    ("°c", " celsius "),
    ("° c", " celsius "),
    ("°f", " fahrenheit "),
    ("a.m", "am"),
    ("p.m", "pm"),
];

/// A unit by what it measures, and its word in the text.
type Unit = ((usize, usize), String);

/// The unit that only the text has, where its quotes have one of that kind that the text does not have. `measured`: what
/// the text and the quotes measure.
pub(super) fn other(pair: &Pair, measured: [&[Measure]; 2]) -> Option<String> {
    let (mut said, mut quoted) = (of(&pair.text), of(&pair.quotes));
    // Two durations are compared by their length.
    if measured.iter().all(|measures| measures.iter().any(|measure| measure.kind == Kind::Span)) {
        for units in [&mut said, &mut quoted] {
            units.retain(|((kind, _), _)| *kind > OF_TIME);
        }
    }
    let only = |own: &[Unit], known: &[Unit], kind: Option<usize>| {
        let is_only =
            |unit: &&Unit| known.iter().all(|(one, _)| *one != unit.0) && kind.is_none_or(|kind| kind == unit.0.0);
        own.iter().filter(is_only).cloned().collect::<Vec<_>>()
    };
    only(&said, &quoted, None).into_iter().find_map(|((kind, _), word)| {
        let left_out = only(&quoted, &said, Some(kind)).into_iter().next()?;
        Some(format!("its text says `{word}` where its quotes say `{}`", left_out.1))
    })
}

/// *-18 degrees* for *18 degrees*, or the other way round.
pub(super) fn other_sign(pair: &Pair) -> Option<String> {
    let says_below = [&pair.said, &pair.quoted].iter().any(|tokens| has(tokens, &["zero", "freezing", "null"]));
    match (negative(&pair.text), negative(&pair.quotes)) {
        (Some(number), None) if !says_below => Some(format!("its text says `{number}`, which no quote does")),
        (None, Some(number)) if !says_below => Some(format!("its quotes say `{number}`, and it does not")),
        _ => None,
    }
}

/// The first negative number: none of a range `5 -10`, nor an entry `-10 keys`.
fn negative(text: &str) -> Option<String> {
    let is_digit = |sign: char| sign.is_ascii_digit();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let (before, word) = (pair[0].to_lowercase(), pair[1]);
        let rest = word.strip_prefix(['-', '−', '–']).filter(|_| !before.ends_with(is_digit));
        let is_word = before == "minus" && word.starts_with(is_digit);
        (is_word || rest.is_some_and(|rest| rest.starts_with(is_digit))).then(|| word.to_owned())
    })
}

/// The units of a text.
fn of(text: &str) -> Vec<Unit> {
    let text = SIGNS.iter().fold(text.to_lowercase(), |text, (sign, word)| text.replace(sign, word));
    let (mut units, mut is_counted) = (Vec::new(), false);
    for token in tokens(&text) {
        // `5kg` has its number with it.
        let unit = token.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let is_joined = unit.len() < token.len();
        let word = if UNITS.iter().flat_map(|units| units.iter()).any(|words| words.contains(&token.as_str())) {
            &token
        } else {
            unit
        };
        let is_unit = word.len() > 2 || is_counted || is_joined;
        let places = UNITS.iter().enumerate().flat_map(|(kind, units)| {
            units.iter().enumerate().filter(|(_, words)| words.contains(&word)).map(move |(at, _)| (kind, at))
        });
        units.extend(places.filter(|_| is_unit).map(|place| (place, word.to_owned())));
        units.extend(of_month(word));
        is_counted = is_joined;
    }
    units
}

fn of_month(word: &str) -> Option<Unit> {
    let month = usize::try_from(month(word)?).ok()?;
    Some(((UNITS.len(), month), word.to_owned()))
}
