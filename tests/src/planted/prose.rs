//! Text without obligations: a region with its river, its boats and its people.

use super::dice::Dice;

const PEOPLE: [&str; 10] = [
    "The ferrymen",
    "Most families",
    "Two painters",
    "The older boatbuilders",
    "Students from the town",
    "Some visitors",
    "The beekeepers",
    "Several poets",
    "The twins from the mill",
    "Travellers",
];
const DEEDS: [&str; 10] = [
    "remembered the long winter of",
    "sang about the flood of",
    "still talk about the market of",
    "wrote letters about the summer of",
    "kept drawings of the fair of",
    "moved away after the fire of",
    "told stories of the harvest of",
    "came back for the regatta of",
    "planted apple trees after the frost of",
    "lost their boats in the storm of",
];
const SCENES: [&str; 10] = [
    "The old lighthouse stands between two pines and has a green door.",
    "Herons fish in the shallow water below the weir.",
    "On clear mornings the mountains look near enough to touch.",
    "The bakery on the square sells bread with caraway.",
    "A narrow path leads from the chapel to the boathouse.",
    "The archive holds about nine hundred glass plates.",
    "In October the fog stays in the valley until noon.",
    "Its clock has been slow for as long as anyone can tell.",
    "The wooden bridge creaks whenever a cart rolls over it.",
    "Swallows nest under the roof of the station.",
];
const LEUTE: [&str; 8] = [
    "Die Fährleute",
    "Viele Familien",
    "Zwei Malerinnen",
    "Die alten Bootsbauer",
    "Schüler aus der Stadt",
    "Einige Gäste",
    "Die Imker",
    "Die Zwillinge aus der Mühle",
];
const TATEN: [&str; 8] = [
    "erzählen noch heute vom Hochwasser des Jahres",
    "sangen vom langen Winter des Jahres",
    "schrieben Briefe über den Sommer des Jahres",
    "erinnern sich an den Markt des Jahres",
    "malten Bilder vom Sturm des Jahres",
    "zogen fort nach dem Brand des Jahres",
    "pflanzten Apfelbäume nach dem Frost des Jahres",
    "schwärmen von der Regatta des Jahres",
];
const SZENEN: [&str; 8] = [
    "Der alte Leuchtturm steht zwischen zwei Kiefern und hat eine grüne Tür.",
    "Reiher fischen im flachen Wasser unter dem Wehr.",
    "An klaren Tagen wirken die Berge zum Greifen nah.",
    "Die Bäckerei am Platz verkauft Brot mit Kümmel.",
    "Ein schmaler Pfad führt von der Kapelle zum Bootshaus.",
    "Das Archiv besitzt etwa neunhundert Glasplatten.",
    "Im Oktober liegt der Nebel bis zum Mittag im Tal.",
    "Schwalben nisten unter dem Dach des Bahnhofs.",
];
const THINGS: [&str; 8] = [
    "a brass telescope",
    "three rowing boats",
    "a box of faded postcards",
    "the portrait of a pilot",
    "an oak table",
    "a map in eight colours",
    "two church bells",
    "a model of the harbour",
];
const DINGE: [&str; 8] = [
    "ein Fernrohr aus Messing",
    "drei Ruderboote",
    "eine Kiste mit Postkarten",
    "das Bild eines Lotsen",
    "ein Tisch aus Eiche",
    "eine Karte in acht Farben",
    "zwei Glocken",
    "ein Modell des Hafens",
];
const TITLES: [&str; 8] = [
    "THE RIVER AND ITS FERRIES",
    "OLD HARBOURS",
    "SEASONS IN THE VALLEY",
    "PEOPLE OF THE SHORE",
    "BOATS AND SAILS",
    "THE UPPER LAKE",
    "MILLS AND WEIRS",
    "ROADS TO THE COAST",
];
const TITEL: [&str; 6] = [
    "DER FLUSS UND SEINE FÄHREN",
    "ALTE HÄFEN",
    "JAHRESZEITEN IM TAL",
    "MENSCHEN AM UFER",
    "BOOTE UND SEGEL",
    "MÜHLEN UND WEHRE",
];
const HEADINGS: [&str; 6] = [
    "Weather and water",
    "A walk along the quay",
    "Songs of the boatmen",
    "The summer market",
    "Birds of the marsh",
    "Wood and tar",
];
const ABSCHNITTE: [&str; 6] = [
    "Wetter und Wasser",
    "Ein Gang am Kai",
    "Lieder der Schiffer",
    "Der Sommermarkt",
    "Vögel im Moor",
    "Holz und Teer",
];

fn sentence(dice: &mut Dice, german: bool) -> String {
    let year = 1820 + dice.below(170);
    match (german, dice.below(3)) {
        (false, 0) => dice.of(&SCENES).to_owned(),
        (false, _) => format!("{} {} {year}.", dice.of(&PEOPLE), dice.of(&DEEDS)),
        (true, 0) => dice.of(&SZENEN).to_owned(),
        (true, _) => format!("{} {} {year}.", dice.of(&LEUTE), dice.of(&TATEN)),
    }
}

/// So many sentences.
pub(super) fn sentences(dice: &mut Dice, german: bool, count: usize) -> String {
    (0..count).map(|_| sentence(dice, german)).collect::<Vec<_>>().join(" ")
}

/// Something to be seen.
pub(super) fn thing(dice: &mut Dice, german: bool) -> String {
    dice.of(if german { &DINGE } else { &THINGS }).to_owned()
}

/// The line above a list of things.
pub(super) fn list_lead(dice: &mut Dice, german: bool) -> String {
    let town = dice.of(&["Arnhelm", "Tessin", "Lorvik", "Maren", "Holst"]);
    if german { format!("Im Museum von {town} stehen:") } else { format!("The museum of {town} shows:") }
}

/// The title of a chapter, in capitals.
pub(super) fn title(dice: &mut Dice, german: bool) -> String {
    dice.of(if german { &TITEL } else { &TITLES }).to_owned()
}

/// The heading of a section.
pub(super) fn heading(dice: &mut Dice, german: bool) -> String {
    dice.of(if german { &ABSCHNITTE } else { &HEADINGS }).to_owned()
}

/// The names of a table's columns.
pub(super) fn columns(german: bool) -> [String; 2] {
    if german { ["Nr.", "Eintrag"] } else { ["No.", "Entry"] }.map(str::to_owned)
}
