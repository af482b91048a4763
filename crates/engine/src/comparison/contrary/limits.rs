//! What restricts the quotes and is not in the text: *only*, *without*, *unless*, a condition at their beginning, and that
//! they permit where the text obliges.

use super::super::modals::{COMMA, denials, obliges, permits, restricts};
use super::{MOST_SHOWN, Pair, beginning, content, has};

/// Words that restrict in other ways.
const RESTRICTING: [&str; 12] = [
    "reserved",
    "limited",
    "restricted",
    "sole",
    "exclusive",
    "alone",
    "other",
    "except",
    "vorbehalten",
    "beschränkt",
    "allein",
    "begrenzt",
];
/// Words with which a text may say what its quotes say with *without* or *unless*.
pub(super) const EXCEPTING: [&str; 24] = [
    "without",
    "unless",
    "except",
    "excepting",
    "only",
    "solely",
    "until",
    "before",
    "prior",
    "if",
    "when",
    "but",
    "other",
    "ohne",
    "außer",
    "nur",
    "bis",
    "bevor",
    "vor",
    "wenn",
    "falls",
    "sofern",
    "es",
    "lacks",
];
/// Words of an exception that another sentence has: *except as provided in Rule 4*.
const ELSEWHERE: [&str; 6] = ["provided", "otherwise", "specified", "stated", "vorgesehen", "bestimmt"];
/// Words that begin a condition.
pub(super) const CONDITIONS: [&str; 9] =
    ["if", "when", "whenever", "where", "unless", "wenn", "falls", "sofern", "sobald"];
/// Conditions that say nothing of their own.
pub(super) const WEAK_CONDITIONS: [&str; 12] = [
    "possible",
    "necessary",
    "applicable",
    "appropriate",
    "needed",
    "required",
    "feasible",
    "reasonable",
    "möglich",
    "nötig",
    "erforderlich",
    "zutreffend",
];

/// What is left out.
pub(super) fn left_out(pair: &Pair) -> Option<String> {
    if !pair.is_of_one_sentence() {
        return None;
    }
    let words =
        restriction(pair).or_else(|| exception(pair)).or_else(|| condition(pair)).or_else(|| permission(pair))?;
    Some(format!("its quotes say `{}`, and it does not", beginning(&words, MOST_SHOWN)))
}

/// *Only the manager may …* as *Everyone may …*. A duty may say with *must* what a quote says with *may only*.
fn restriction(pair: &Pair) -> Option<String> {
    let is_left_out = restricts(&pair.quotes)
        && !restricts(&pair.text)
        && !has(&pair.said, &RESTRICTING)
        && denials(&pair.text) == 0
        && permits(&pair.text);
    let words = ["only", "solely", "exclusively", "nur", "ausschließlich", "lediglich"];
    is_left_out.then(|| pair.quoted.iter().find(|word| words.contains(&word.as_str())).cloned())?
}

/// *must not … without a guide* as *must not … with a guide*, and *must … unless …* as *must …*.
fn exception(pair: &Pair) -> Option<String> {
    if has(&pair.said, &EXCEPTING) {
        return None;
    }
    let is_it = |at: &usize| match pair.quoted[*at].as_str() {
        "without" | "ohne" => denials(&pair.text) > 0 && denials(&pair.quotes) > 0,
        "sei" => pair.quoted.get(at + 1).is_some_and(|next| next == "denn"),
        word => ["unless", "except", "excepting", "außer", "ausgenommen"].contains(&word),
    };
    let at = (0..pair.quoted.len()).find(is_it)?;
    let clause = match pair.quoted[at].as_str() {
        "sei" => &pair.quoted[at..],
        _ => clause_from(&pair.quoted, at),
    };
    let is_same = denials(&pair.text) == denials(&pair.quotes);
    (is_same && !has(clause, &ELSEWHERE)).then(|| clause.join(" "))
}

/// *If a key is lost, the manager must …* as *The manager must …*.
fn condition(pair: &Pair) -> Option<String> {
    let first = pair.quoted.first()?;
    let clause = clause_from(&pair.quoted, 0);
    let is_condition = CONDITIONS.contains(&first.as_str()) && clause.len() < pair.quoted.len();
    let (conditions, said) = (content(clause), content(&pair.said));
    let is_weak = clause.iter().any(|word| WEAK_CONDITIONS.contains(&word.as_str()));
    let is_left_out = conditions.content().next().is_some()
        && !conditions.content().any(|word| said.has(word))
        && !has(&pair.said, &CONDITIONS);
    (is_condition && !is_weak && is_left_out).then(|| clause.join(" "))
}

/// *The guide may carry a key* as *The guide must carry a key*.
fn permission(pair: &Pair) -> Option<String> {
    let is_strong = has(&pair.said, &["must", "shall", "muss", "müssen"]);
    let is_mere = |text: &str| permits(text) && !obliges(text) && !restricts(text);
    let is_turned = is_strong && !permits(&pair.text) && denials(&pair.text) == 0 && is_mere(&pair.quotes);
    let word =
        || pair.quoted.iter().find(|word| ["may", "darf", "dürfen", "optional"].contains(&word.as_str())).cloned();
    is_turned.then(word)?
}

/// A clause from a word on to the next comma.
pub(super) fn clause_from(tokens: &[String], at: usize) -> &[String] {
    let end = tokens[at..].iter().position(|word| word == COMMA).map_or(tokens.len(), |comma| at + comma);
    &tokens[at..end]
}
