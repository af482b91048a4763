//! The obligations, and the place for each.

use super::dice::Dice;

/// The place of an obligation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between other sentences of a paragraph.
    Text,
    /// In a list under a lead with the verb.
    List,
    /// In a cell.
    Table,
    /// Below the text, in a smaller font.
    Footnote,
    /// Partly on one page, partly on the next.
    PageBreak,
    /// Below a heading in capitals.
    Capitals,
}

const PLACES: [Place; 6] = [Place::PageBreak, Place::Text, Place::Capitals, Place::Footnote, Place::List, Place::Table];

/// A planned obligation.
pub(super) struct Obligation {
    /// Its token.
    pub(super) id: String,
    /// Its language.
    pub(super) german: bool,
    /// Its place.
    pub(super) place: Place,
    /// Its words, with the token.
    pub(super) text: String,
    /// The lead of its list.
    pub(super) lead: String,
}

const WHO: [&str; 8] = [
    "The harbour master",
    "Every skipper",
    "The lock keeper",
    "The shipyard",
    "Each crew",
    "The fuel merchant",
    "The ferry company",
    "The boat hire",
];
const WER: [&str; 8] = [
    "Der Hafenmeister",
    "Jeder Schiffsführer",
    "Der Schleusenwärter",
    "Die Werft",
    "Die Besatzung",
    "Der Treibstoffhändler",
    "Die Reederei",
    "Der Bootsverleih",
];

/// The obligation for the thing with the token, as a verb and its object: `{}` is the token.
const DO: [&str; 8] = [
    "inspect mooring {} before sunrise",
    "paint buoy {} in yellow",
    "report the level at gauge {} to the board",
    "keep gate {} closed during storms",
    "replace the lamp of beacon {} each spring",
    "write the name of vessel {} into the log",
    "close hatch {} before departure",
    "measure the depth at pier {} after each flood",
];
const TUN: [&str; 8] = [
    "die Leine {} vor Sonnenaufgang zu prüfen",
    "die Boje {} gelb zu streichen",
    "den Stand am Pegel {} dem Amt zu melden",
    "das Tor {} bei Sturm zu schließen",
    "die Lampe {} in jedem Frühjahr zu wechseln",
    "den Namen des Schiffs {} ins Logbuch zu schreiben",
    "die Luke {} vor der Abfahrt zu verriegeln",
    "die Tiefe am Steg {} nach jeder Flut zu messen",
];
/// The same in the passive.
const DONE: [&str; 8] = [
    "Mooring {} | be inspected before sunrise",
    "Buoy {} | be painted in yellow",
    "The level at gauge {} | be reported to the board",
    "Gate {} | stay closed during storms",
    "The lamp of beacon {} | be replaced each spring",
    "The name of vessel {} | be written into the log",
    "Hatch {} | be closed before departure",
    "The depth at pier {} | be measured after each flood",
];
const GETAN: [&str; 8] = [
    "Die Leine {} | vor Sonnenaufgang geprüft werden",
    "Die Boje {} | gelb gestrichen werden",
    "Der Stand am Pegel {} | dem Amt gemeldet werden",
    "Das Tor {} | bei Sturm geschlossen bleiben",
    "Die Lampe {} | in jedem Frühjahr gewechselt werden",
    "Der Name des Schiffs {} | ins Logbuch geschrieben werden",
    "Die Luke {} | vor der Abfahrt verriegelt sein",
    "Die Tiefe am Steg {} | nach jeder Flut gemessen werden",
];

/// Obligations in random order of languages and places, each place equally often.
pub(super) fn plan(dice: &mut Dice, count: u32) -> Vec<Obligation> {
    let first = dice.below(PLACES.len());
    (0..count as usize).map(|at| obligation(dice, at, PLACES[(first + at) % PLACES.len()])).collect()
}

fn obligation(dice: &mut Dice, at: usize, place: Place) -> Obligation {
    let german = dice.below(2) == 1;
    let id = token(dice, at);
    let lead = if german { format!("{} hat", dice.of(&WER)) } else { dice.of(&WHO).to_owned() };
    let lead = match german {
        true => format!("{lead} während der Saison:"),
        false => {
            format!("During the season {} {}:", lower(&lead), dice.of(&["shall", "must", "has to", "is required to"]))
        }
    };
    let text = match (place, german) {
        (Place::List, false) => dice.of(&DO).replace("{}", &id),
        (Place::List, true) => dice.of(&TUN).replace("{}", &id),
        (_, false) => english(dice).replace("{}", &id),
        (_, true) => self::german(dice).replace("{}", &id),
    };
    let text = match place {
        Place::List => format!("{text};"),
        // Long enough for at least two lines.
        Place::PageBreak if german => format!(
            "{}, auch wenn der Fluss nur wenig Wasser führt und die Fähre am anderen Ufer liegt.",
            text.trim_end_matches('.')
        ),
        Place::PageBreak => format!(
            "{}, even if the river is low and the ferry lies at the other bank until the next morning.",
            text.trim_end_matches('.')
        ),
        _ => text,
    };
    Obligation { id, german, place, text, lead }
}

fn lower(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect()
}

fn english(dice: &mut Dice) -> String {
    match dice.below(5) {
        0 => format!("{} {} {}.", dice.of(&WHO), dice.of(&["shall", "must", "has to", "needs to"]), dice.of(&DO)),
        1 => format!("{} is {} to {}.", dice.of(&WHO), dice.of(&["obliged", "required", "bound"]), dice.of(&DO)),
        2 => format!("It is the duty of the watch to {}.", dice.of(&DO)),
        _ => dice.of(&DONE).replace('|', dice.of(&["shall", "must", "has to", "is to"])) + ".",
    }
}

fn german(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => format!("{} hat {}.", dice.of(&WER), dice.of(&TUN)),
        1 => format!("{} ist verpflichtet, {}.", dice.of(&WER), dice.of(&TUN)),
        2 => format!("Es ist Aufgabe der Wache, {}.", dice.of(&TUN)),
        _ => dice.of(&GETAN).replace('|', "muss") + ".",
    }
}

/// Another entry of such a list, without a token.
pub(super) fn other_item(dice: &mut Dice, german: bool) -> String {
    let items =
        if german { ["die Flagge einzuholen.", "das Deck zu fegen."] } else { ["lower the flag.", "sweep the deck."] };
    dice.of(&items).to_owned()
}

/// A word that occurs nowhere else: its number makes it unique.
pub(super) fn token(dice: &mut Dice, at: usize) -> String {
    let letters: String =
        (0..3).map(|_| dice.of(&["B", "D", "F", "G", "K", "M", "P", "R", "T", "V", "W", "Z"])).collect();
    format!("{letters}{at:04}Q")
}
