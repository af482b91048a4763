//! Long lists: 5 to 60 entries at three levels under one lead, over as many pages as needed.
//!
//! Only the lead states the obligation. Each entry that is not a lead itself has a token.

use super::dice::Dice;
use super::obligations::token;

/// Minimum and maximum number of entries with a token.
const ENTRIES: (usize, usize) = (5, 60);

/// One entry: its level, its mark and words, and its token if it is not a lead.
pub(super) struct Entry {
    pub(super) level: usize,
    pub(super) line: String,
    /// Its token and its words without the mark.
    pub(super) gold: Option<(String, String)>,
}

/// A list and its lead.
pub(super) struct List {
    pub(super) lead: String,
    pub(super) entries: Vec<Entry>,
}

const LEADS: [&str; 3] = [
    "The logbook of the harbour shall contain:",
    "Before a voyage the skipper must hand in:",
    "The following has to be kept on board of each ferry:",
];
const THINGS: [&str; 6] = [
    "the papers of vessel {};",
    "a chart of the reach {};",
    "two copies of form {};",
    "the seal with the number {};",
    "a rope of the kind {};",
    "the list of the crew of {};",
];
const GROUPS: [&str; 3] = ["for each passenger:", "from the owner:", "of the cargo:"];

/// A list; `at` is the number of its first token.
pub(super) fn plan(dice: &mut Dice, at: usize) -> List {
    let wanted = ENTRIES.0 + dice.below(ENTRIES.1 - ENTRIES.0 + 1);
    let mut entries = Vec::new();
    let (mut placed, mut letter) = (0, 0);
    while placed < wanted {
        let mark = lettered(letter);
        letter += 1;
        let below = if dice.below(3) == 0 { (2 + dice.below(4)).min(wanted - placed) } else { 0 };
        if below < 2 {
            entries.push(thing(dice, at + placed, 0, &mark));
            placed += 1;
            continue;
        }
        entries.push(Entry { level: 0, line: format!("{mark} {}", dice.of(&GROUPS)), gold: None });
        for number in 0..below {
            let deeper = number + 2 < below && dice.below(2) == 0;
            if deeper {
                let line = format!("{} {}", roman(number), dice.of(&GROUPS));
                entries.push(Entry { level: 1, line, gold: None });
                entries.push(thing(dice, at + placed, 2, "-"));
            } else {
                entries.push(thing(dice, at + placed, 1, &roman(number)));
            }
            placed += 1;
        }
    }
    List { lead: dice.of(&LEADS).to_owned(), entries }
}

fn thing(dice: &mut Dice, at: usize, level: usize, mark: &str) -> Entry {
    let id = token(dice, at);
    let text = dice.of(&THINGS).replace("{}", &id);
    Entry { level, line: format!("{mark} {text}"), gold: Some((id, text)) }
}

/// `(a)` to `(z)`, then `(aa)`.
fn lettered(at: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(at % 26).unwrap_or_default());
    format!("({})", letter.to_string().repeat(at / 26 + 1))
}

fn roman(at: usize) -> String {
    const ROMAN: [&str; 6] = ["(i)", "(ii)", "(iii)", "(iv)", "(v)", "(vi)"];
    ROMAN[at % ROMAN.len()].to_owned()
}
