//! What the columns of a table say about its rows.

/// Words in the name of a column whose cells are obligations.
const DUTIES: [&str; 16] = [
    "requirement",
    "obligation",
    "duty",
    "duties",
    "mandatory",
    "must",
    "shall",
    "to be done",
    "action required",
    "anforderung",
    "pflicht",
    "vorgabe",
    "muss",
    "auflage",
    "gebot",
    "soll",
];

/// Cells that make a row optional.
const OPTIONAL: [&str; 16] = [
    "optional",
    "may",
    "no",
    "can",
    "could",
    "voluntary",
    "informative",
    "not required",
    "o",
    "kann",
    "nein",
    "freiwillig",
    "entfällt",
    "nicht erforderlich",
    "informativ",
    "wünschenswert",
];

/// With fewer words a row states nothing.
const LEAST_WORDS: usize = 3;

/// The cells of a row, as the document parser writes it.
fn cells(row: &str) -> impl Iterator<Item = String> + '_ {
    row.split(" | ").map(|cell| cell.trim().to_lowercase())
}

/// Whether the rows below this one state obligations.
pub(super) fn names_duties(header: &str) -> bool {
    cells(header).any(|cell| DUTIES.iter().any(|duty| cell.contains(duty)))
}

/// Whether a row says of itself that it binds nobody.
pub(super) fn is_optional(row: &str) -> bool {
    row.contains(" | ") && cells(row).any(|cell| OPTIONAL.contains(&cell.as_str()))
}

/// Whether a row says enough to be an obligation.
pub(super) fn says_something(row: &str) -> bool {
    row.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= LEAST_WORDS
}
