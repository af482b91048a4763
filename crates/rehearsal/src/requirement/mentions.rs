//! Objects and messages mentioned in a text, by word lists and capital letters.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use super::words;

/// Maximum objects per requirement.
const MAX_OBJECTS: usize = 3;

static QUOTED: LazyLock<Regex> = LazyLock::new(|| words(&["[`\"“„]([^`\"“”„]{2,40})[`\"”“]"]));
static CAPITALISED: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"\p{Lu}[\p{L}\d/-]+(?: \p{Lu}[\p{L}\d/-]+)*"));

/// Objects of record-keeping rules, with their listed names.
const OBJECTS: &[(&str, &str)] = &[
    ("invoice", "Invoice"),
    ("record", "Record"),
    ("archive", "Archive"),
    ("document", "Document"),
    ("contract", "Contract"),
    ("backup", "Backup"),
    ("audit", "Audit"),
    ("personal data", "Personal data"),
    ("package", "Package"),
];

/// Messages of such rules, by a word in the text, with their listed names.
static MESSAGES: LazyLock<[(Regex, &str); 12]> = LazyLock::new(|| {
    [
        (r"\bnotif(?:y|ies|ied|ication)|\bbenachrichtig", "Notification"),
        (r"\bnotices?\b|\bmitteilung|\bmitzuteilen", "Notice"),
        (r"\bbug reports?\b", "Bug report"),
        (r"\breport(?:s|ed)? to\b|\bmeldung|\bzu melden", "Report"),
        (r"\bannounce", "Announcement"),
        (r"\brequests?\b|\banfrage|\bantrag", "Request"),
        (r"\bconfirm(?:s|ed|ation)|\bbestätig", "Confirmation"),
        (r"\be-?mails?\b|\bmailing list", "E-mail"),
        (r"\bdelivery notes?\b|\blieferschein", "Delivery note"),
        (r"\bpurchase orders?\b|\bbestellung", "Purchase order"),
        (r"\b(?:error|warning|prompt) messages?\b|\bfehlermeldung", "Error message"),
        (r"\bapprov(?:al|ed) (?:by|of|from)\b|\bgenehmigung", "Approval"),
    ]
    .map(|(pattern, name)| (words(&[pattern]), name))
});

/// Quoted terms, known things, and capitalised words behind the first.
pub(super) fn objects(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let quoted = QUOTED.captures_iter(text).map(|found| found[1].trim().to_owned());
    let known = OBJECTS.iter().filter(|(word, _)| lower.contains(word)).map(|(_, name)| (*name).to_owned());
    let capitalised = CAPITALISED.find_iter(text).filter(|found| found.start() > 0 && found.len() > 2);
    let mut all: Vec<String> = Vec::new();
    for object in quoted.chain(known).chain(capitalised.map(|found| found.as_str().to_owned())) {
        if all.len() < MAX_OBJECTS && !all.iter().any(|had| had.eq_ignore_ascii_case(&object)) {
            all.push(object);
        }
    }
    all
}

/// Messages mentioned in the text.
pub(super) fn messages(text: &str) -> Vec<&'static str> {
    MESSAGES.iter().filter(|(pattern, _)| pattern.is_match(text)).map(|(_, name)| *name).take(MAX_OBJECTS).collect()
}
