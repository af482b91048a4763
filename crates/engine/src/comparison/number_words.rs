//! The words of numbers, and those beside numbers, in English and German.

/// Number words without another meaning.
pub(super) const WORDS: [(&str, u32); 65] = [
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("elf", 11),
    ("zwölf", 12),
    ("dreizehn", 13),
    ("vierzehn", 14),
    ("fünfzehn", 15),
    ("sechzehn", 16),
    ("siebzehn", 17),
    ("achtzehn", 18),
    ("neunzehn", 19),
    ("zwanzig", 20),
    ("dreißig", 30),
    ("dreissig", 30),
    ("vierzig", 40),
    ("fünfzig", 50),
    ("sechzig", 60),
    ("siebzig", 70),
    ("achtzig", 80),
    ("neunzig", 90),
    ("hundert", 100),
    ("hundred", 100),
    ("dozen", 12),
    ("dutzend", 12),
    ("zweier", 2),
    ("dreier", 3),
    ("zweijährig", 2),
    ("zehnjährig", 10),
    ("sechsjährig", 6),
    ("zehnjährige", 10),
    ("sechsjährige", 6),
    ("dreijährige", 3),
];

/// Words that may be numbers: they suffice when a number is searched for, and are never required.
pub(super) const WEAK_WORDS: [(&str, u32); 17] = [
    ("one", 1),
    ("single", 1),
    ("a", 1),
    ("an", 1),
    ("both", 2),
    ("half", 50),
    ("thousand", 1000),
    ("ein", 1),
    ("eine", 1),
    ("einen", 1),
    ("einem", 1),
    ("einer", 1),
    ("eines", 1),
    ("beide", 2),
    ("beiden", 2),
    ("tausend", 1000),
    ("zero", 0),
];

/// Words before a number that names another text, or a part of one.
pub(super) const NAMES: [&str; 88] = [
    "rule",
    "rules",
    "section",
    "sections",
    "sec",
    "sect",
    "article",
    "articles",
    "art",
    "arts",
    "annex",
    "annexes",
    "appendix",
    "app",
    "schedule",
    "part",
    "parts",
    "chapter",
    "chapters",
    "clause",
    "clauses",
    "paragraph",
    "paragraphs",
    "para",
    "paras",
    "subsection",
    "subparagraph",
    "table",
    "figure",
    "fig",
    "form",
    "page",
    "pages",
    "item",
    "items",
    "point",
    "points",
    "principle",
    "no",
    "nos",
    "nr",
    "nrn",
    "regulation",
    "regulations",
    "directive",
    "decision",
    "title",
    "version",
    "v",
    "note",
    "step",
    "iso",
    "iec",
    "din",
    "en",
    "rfc",
    "nist",
    "sp",
    "bs",
    "ieee",
    "ifrs",
    "ias",
    "§",
    "§§",
    "abs",
    "absatz",
    "absätze",
    "satz",
    "sätze",
    "ziffer",
    "ziffern",
    "ziff",
    "nummer",
    "nummern",
    "anhang",
    "anlage",
    "anlagen",
    "kapitel",
    "abschnitt",
    "artikel",
    "regel",
    "tabelle",
    "abbildung",
    "seite",
    "rz",
    "rdnr",
    "tz",
    "buchstabe",
];

/// Words between the numbers of an enumeration.
pub(super) const JOINERS: [&str; 7] = ["and", "or", "to", "und", "oder", "bis", "&"];

/// Words between two items of a list.
pub(super) const ITEM_JOINERS: [&str; 5] = ["and", "or", "and/or", "und", "oder"];

/// Nouns that are counted by a number at the beginning of a sentence.
pub(super) const UNITS: [&str; 26] = [
    "tag", "tage", "tagen", "jahr", "jahre", "jahren", "monat", "monate", "monaten", "woche", "wochen", "stunde",
    "stunden", "minute", "minuten", "prozent", "euro", "personen", "days", "years", "months", "weeks", "hours",
    "minutes", "percent", "business",
];

/// The number of a word, as the table has it.
pub(super) fn value(word: &str, words: &[(&str, u32)]) -> Option<u32> {
    words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// The number of a month.
pub(super) fn month(word: &str) -> Option<u32> {
    const MONTHS: [[&str; 4]; 12] = [
        ["january", "januar", "jan", "jän"],
        ["february", "februar", "feb", "febr"],
        ["march", "märz", "mar", "mrz"],
        ["april", "april", "apr", "apr"],
        ["may", "mai", "mai", "mai"],
        ["june", "juni", "jun", "jun"],
        ["july", "juli", "jul", "jul"],
        ["august", "august", "aug", "aug"],
        ["september", "september", "sep", "sept"],
        ["october", "oktober", "oct", "okt"],
        ["november", "november", "nov", "nov"],
        ["december", "dezember", "dec", "dez"],
    ];
    // The verb is not a month.
    let word = if word == "may" { return None } else { word.to_lowercase() };
    let place = MONTHS.iter().position(|names| names.contains(&word.as_str()))?;
    u32::try_from(place + 1).ok()
}

/// The power of ten that the word after a number multiplies it by.
pub(super) fn factor(word: &str) -> Option<u32> {
    match bare(word).as_str() {
        "thousand" | "tausend" | "tsd" => Some(3),
        "million" | "millions" | "mio" | "mn" | "mln" | "millionen" => Some(6),
        "billion" | "billions" | "bn" | "mrd" | "milliarden" | "milliarde" => Some(9),
        _ => None,
    }
}

/// The same of a sign that is also that of a unit: `2k`, `2 m`.
pub(super) fn may_be_factor(word: &str) -> Option<u32> {
    match bare(word).as_str() {
        "k" | "t" => Some(3),
        "m" => Some(6),
        _ => None,
    }
}

fn bare(word: &str) -> String {
    word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase()
}
