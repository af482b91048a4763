//! Negation, permission and obligation, in English and German: all negations are equivalent.

/// Words that negate.
const NEGATIONS: [&str; 29] = [
    "not",
    "no",
    "never",
    "cannot",
    "none",
    "nobody",
    "nothing",
    "nor",
    "neither",
    "nowhere",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "keines",
    "nie",
    "niemals",
    "niemand",
    "niemanden",
    "niemandem",
    "nichts",
    "nirgends",
    "weder",
    "keins",
    "keinerlei",
    "keinesfalls",
    "keineswegs",
];

/// Equivalents without a negating word: they suffice if a text has a negating word.
const PROHIBITIONS: [&str; 11] = [
    "without",
    "unless",
    "prohibition",
    "except",
    "excluded",
    "unable",
    "ohne",
    "unterlassen",
    "ausgeschlossen",
    "unterbleiben",
    "außer",
];

/// Further equivalents, which turn what is behind them into its contrary.
const TURNED: [&str; 11] = [
    "prohibit",
    "refrain",
    "refrains",
    "avoid",
    "avoided",
    "avoids",
    "prevent",
    "prevents",
    "prevented",
    "vermeiden",
    "verhindern",
];

/// Others that turn round what is beside them: without such a word, a text says the opposite.
pub(super) const BANS: [&str; 16] = [
    "prohibited",
    "prohibits",
    "forbidden",
    "forbids",
    "banned",
    "disallowed",
    "unlawful",
    "illegal",
    "impermissible",
    "inadmissible",
    "untersagt",
    "verboten",
    "unzulässig",
    "unstatthaft",
    "rechtswidrig",
    "gesetzwidrig",
];

/// Words after a negation that make it a comparison, `no later than`, `nicht nur`, or an obligation, `cannot but`,
/// `kommt nicht umhin`.
const COMPARED: [&str; 39] = [
    "but",
    "help",
    "fail",
    "fails",
    "umhin",
    "later",
    "more",
    "less",
    "fewer",
    "earlier",
    "longer",
    "sooner",
    "higher",
    "lower",
    "greater",
    "older",
    "exceeding",
    "exceed",
    "only",
    "least",
    "limited",
    "necessarily",
    "withstanding",
    "später",
    "mehr",
    "weniger",
    "länger",
    "früher",
    "eher",
    "höher",
    "niedriger",
    "nur",
    "zuletzt",
    "mindestens",
    "größer",
    "kleiner",
    "älter",
    "kürzer",
    "ausschließlich",
];

/// Represents the end of a clause.
pub(super) const COMMA: &str = ",";

/// Words before `not` that cancel the negation: `whether or not`.
const OR: [&str; 2] = ["or", "oder"];

const OBLIGATIONS: [&str; 38] = [
    "must",
    "shall",
    "should",
    "required",
    "requires",
    "obliged",
    "ensure",
    "ensures",
    "responsible",
    "mandatory",
    "obligation",
    "obligations",
    "duty",
    "prohibited",
    "forbidden",
    "ought",
    "needs",
    "has",
    "have",
    "will",
    "muss",
    "müssen",
    "soll",
    "sollen",
    "sollte",
    "sollten",
    "verpflichtet",
    "erforderlich",
    "pflicht",
    "hat",
    "haben",
    "untersagt",
    "verboten",
    "unzulässig",
    "sicherzustellen",
    "verpflichtend",
    "zwingend",
    "gewährleisten",
];

/// The words of a text in lower case, with commas; `don't` becomes `do`, `not`. A table cell with a single word, `No`,
/// answers its column's head.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let cells =
        text.split(super::CELLS).filter(|cell| cell.split_whitespace().count() > 1 || !text.contains(super::CELLS));
    let mut tokens = Vec::new();
    for part in cells.flat_map(str::split_whitespace) {
        let part = part.to_lowercase().replace(['\u{2018}', '\u{2019}'], "'");
        for word in part.split(|sign: char| !(sign.is_alphanumeric() || sign == '\'')) {
            let word = word.trim_matches('\'');
            match word.strip_suffix("n't") {
                Some(verb) => tokens.extend([verb.to_owned(), "not".to_owned()]),
                None if word.is_empty() => {}
                None => tokens.push(word.to_owned()),
            }
        }
        if part.ends_with([',', ';']) {
            tokens.push(COMMA.to_owned());
        }
    }
    tokens
}

/// Whether a text has a negating word. `No 5` is the name of a number, and a comparison does not negate.
pub(super) fn negates(text: &str) -> bool {
    let tokens = tokens(text);
    let at = |place: usize| tokens.get(place).map_or("", String::as_str);
    let says = |place: usize| {
        let (word, next) = (at(place), at(place + 1));
        let is_name = word == "no" && next.starts_with(|sign: char| sign.is_ascii_digit());
        let compares = COMPARED.contains(&next) || (next == "to" && at(place + 2) == "exceed");
        let is_either = place > 0 && OR.contains(&at(place - 1)) && !is_verb(next);
        NEGATIONS.contains(&word) && !is_name && !compares && !is_either
    };
    (0..tokens.len()).any(says)
}

/// Whether `or not` continues as a separate clause: `or not be kept`.
fn is_verb(word: &str) -> bool {
    ["be", "have", "has", "is", "are", "do", "does", "to"].contains(&word)
}

/// How often a text negates or bans: two of them cancel each other.
pub(super) fn denials(text: &str) -> usize {
    let denies = |word: &&String| {
        NEGATIONS.contains(&word.as_str()) || BANS.contains(&word.as_str()) || TURNED.contains(&word.as_str())
    };
    tokens(text).iter().filter(denies).count()
}

/// Whether a text forbids or excludes something without a negating word.
pub(super) fn forbids(text: &str) -> bool {
    let tokens = tokens(text);
    // It is a comparison as `no later than` is, and bans something as well.
    let is_bound = |pair: &[String]| NEGATIONS.contains(&pair[0].as_str()) && pair[1] == "exceed";
    tokens.windows(2).any(is_bound)
        || tokens.iter().any(|word| {
            PROHIBITIONS.contains(&word.as_str()) || TURNED.contains(&word.as_str()) || BANS.contains(&word.as_str())
        })
}

/// Whether a text bans something without a negating word.
pub(super) fn bans(text: &str) -> bool {
    tokens(text).iter().any(|word| BANS.contains(&word.as_str()))
}

/// Whether a text restricts to something, which bans the rest.
pub(super) fn restricts(text: &str) -> bool {
    let words = ["only", "solely", "exclusively", "nur", "ausschließlich", "lediglich"];
    tokens(text).iter().any(|word| words.contains(&word.as_str()))
}

/// Whether a text permits: `may`, `need not`; not `may not` or `may only`, which oblige.
pub(super) fn permits(text: &str) -> bool {
    let tokens = tokens(text);
    let at = |place: usize| tokens.get(place).map_or("", String::as_str);
    let behind = |place: usize, words: &[&str]| {
        let clause = (1..=4).map(|next| place + next).take_while(|next| at(*next) != COMMA);
        clause.into_iter().any(|next| words.contains(&at(next)) && !COMPARED.contains(&at(next + 1)))
    };
    let clause_negates = |place: usize| {
        let ends = |next: &usize| at(*next) == COMMA || GERMAN_MODALS.contains(&at(*next));
        let clause = (place + 1..tokens.len()).take_while(|next| !ends(next));
        clause.into_iter().any(|next| NEGATIONS.contains(&at(next)) && !COMPARED.contains(&at(next + 1)))
    };
    let permits = |place: usize| match at(place) {
        "may" => {
            !["not", "only", "no", "never"].contains(&at(place + 1))
                && !behind(place, &["only"])
                && !is_month(text)
                && !has_negated_subject(&tokens, place)
        }
        "darf" | "dürfen" | "dürfte" => {
            !clause_negates(place) && !behind(place, &["nur"]) && !has_negated_subject(&tokens, place)
        }
        "muss" | "müssen" | "braucht" | "brauchen" => behind(place, &["nicht"]),
        "need" => at(place + 1) == "not",
        "needs" => at(place + 1) == "not",
        "optional" | "freigestellt" | "optionally" | "wahlweise" => true,
        "free" => at(place + 1) == "to",
        "not" => ["required", "obliged"].contains(&at(place + 1)),
        "permitted" | "allowed" => !is_negated(&tokens, place),
        _ => false,
    };
    (0..tokens.len()).any(permits)
}

/// Whether a text permits something and bans the rest: *may only*.
pub(super) fn permits_only(text: &str) -> bool {
    restricts(text) && tokens(text).iter().any(|word| ["may", "darf", "dürfen"].contains(&word.as_str()))
}

/// German verbs behind which another clause goes on: what is negated there is not permitted by the one before.
const GERMAN_MODALS: [&str; 8] = ["muss", "müssen", "soll", "sollen", "darf", "dürfen", "kann", "können"];

/// Negated subjects: `no record may`, `niemand darf`.
const NEGATED_SUBJECTS: [&str; 13] = [
    "no",
    "none",
    "nobody",
    "nothing",
    "neither",
    "nor",
    "kein",
    "keine",
    "keiner",
    "keinerlei",
    "niemand",
    "nichts",
    "weder",
];

/// Whether the subject before a verb is negated, in the same clause.
fn has_negated_subject(tokens: &[String], verb: usize) -> bool {
    let before = tokens[..verb].iter().rev().take(5).take_while(|word| *word != COMMA);
    before.into_iter().any(|word| NEGATED_SUBJECTS.contains(&word.as_str()))
}

/// Whether the only `May` of a text is the month.
fn is_month(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    let mut before = "";
    while let Some(word) = words.next() {
        let bare = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        let digits = |word: &str| word.starts_with(|sign: char| sign.is_ascii_digit());
        if bare.eq_ignore_ascii_case("may")
            && !(bare == "May" && (digits(before) || words.peek().is_some_and(|next| digits(next))))
        {
            return false;
        }
        before = word;
    }
    true
}

/// Whether a word is negated: `is not permitted`, `no deviation is allowed`.
pub(super) fn is_negated(tokens: &[String], place: usize) -> bool {
    let from = place.saturating_sub(4);
    tokens[from..place].iter().any(|word| NEGATIONS.contains(&word.as_str()) || word == "only")
}

/// Whether a text obliges. A mere permission, `is not required to`, does not.
pub(super) fn obliges(text: &str) -> bool {
    let tokens = tokens(text);
    let at = |place: usize| tokens.get(place).map_or("", String::as_str);
    let obliges = |place: usize| match at(place) {
        "muss" | "müssen" => {
            let clause = (1..=4).map(|next| place + next).take_while(|next| at(*next) != COMMA);
            !clause.into_iter().any(|next| at(next) == "nicht" && !COMPARED.contains(&at(next + 1)))
        }
        "required" | "obliged" | "verpflichtet" | "erforderlich" => !is_negated(&tokens, place),
        "has" | "have" => at(place + 1) == "to",
        "needs" | "need" => at(place + 1) == "to",
        "is" | "are" => at(place + 1) == "to",
        "hat" | "haben" | "ist" | "sind" => (1..=12).any(|next| at(place + next) == "zu") && !is_permission_of(&tokens),
        word => OBLIGATIONS.contains(&word),
    };
    (0..tokens.len()).any(obliges)
}

fn is_permission_of(tokens: &[String]) -> bool {
    tokens.iter().any(|word| word == "freigestellt")
}
