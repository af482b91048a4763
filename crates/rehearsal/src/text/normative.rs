//! The words that make a sentence normative, in English and German.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

/// What makes a sentence normative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modal {
    /// The words in the sentence; of a separated construction, at most the first and the last.
    pub(crate) word: String,
    /// Whether they forbid.
    pub(crate) forbids: bool,
}

struct Rule {
    pattern: Regex,
    forbids: bool,
}

fn rule(pattern: &str, forbids: bool) -> Rule {
    Rule { pattern: pattern::own(pattern), forbids }
}

/// In order of precedence: stronger obligations first, and a prohibition before its plain verb.
static STRONG: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        rule(r"(?i)\b(must not|must never|shall not|shall never|may not|may never|mustn't)\b", true),
        rule(r"(?i)\b(must|shall)\b", false),
        rule(r"(?i)\b(required)\b", false),
        rule(r"(?i)\b((?:is|are) (?:not )?to [a-z]+)\b", false),
        rule(r"(?i)\b((?:has|have|needs?) to|(?:obliged|obligated|bound) to)\b", false),
        rule(r"(?i)\b(duty|responsibility|obligation)\b[^.;:]{0,80}?\b(to)\b", false),
        rule(r"(?i)\b(responsib(?:le|ility) for|ensures? that|is accountable for)\b", false),
        rule(r"(?i)\b(prohibited|forbidden|not (?:allowed|permitted)|(?:allowed|permitted) only)\b", true),
        rule(r"(?i)\b(no)\b[^.;:]{0,120}?\b(may)\b", true),
        rule(r"(?i)\b(only)\b[^.;:]{0,120}?\b(may)\b", true),
        rule(r"(?i)\b(may only)\b", true),
        rule(r"(?i)\b(darf|dürfen)\b[^;:]{0,160}?\b(nicht|nur|keine?|keine[nrsm]|niemals|weder)\b", true),
        rule(r"(?i)\b(muss|muß|müssen|verpflichtet)\b", false),
    ]
});

/// Weaker obligations.
static WEAK: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![rule(r"(?i)\b(should(?: not| never)?|shouldn't)\b", false), rule(r"(?i)\b(soll(?:en|te|ten)?)\b", false)]
});

/// The verb that requires `zu` and an infinitive: `ist … zu prüfen`, `sind … aufzubewahren`, `hat … zu melden`.
static VERB: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?i)\b(?:ist|sind|hat|haben)\b"));

/// The infinitive with `zu`, which follows the verb, often at the end of the sentence.
static INFINITIVE: LazyLock<Regex> = LazyLock::new(|| {
    let prefixes = "ab|an|auf|aus|bei|bereit|dar|durch|ein|fest|fort|frei|her|heraus|mit|nach|nieder|offen|sicher|um|unter|\
                    vor|weg|weiter|wieder|zurück|zusammen";
    let pattern = format!(
        r"\b(?:zu\s+(?:\p{{Ll}}{{2,}}(?:en|ern|eln)|tun|sein)|(?:{prefixes})zu\p{{Ll}}{{2,}}(?:en|ern|eln|tun))\b"
    );
    pattern::own(&pattern)
});

/// Words after `zu` that end like an infinitive and are not.
const NO_INFINITIVE: &[&str] = &[
    "allen",
    "anderen",
    "beiden",
    "denen",
    "deren",
    "diesen",
    "einen",
    "einzelnen",
    "ersten",
    "ihren",
    "jenen",
    "keinen",
    "letzten",
    "manchen",
    "meinen",
    "seinen",
    "solchen",
    "unseren",
    "vielen",
    "welchen",
    "zweiten",
];

/// What makes `sentence` normative; `None` when nothing does.
pub(crate) fn modal(sentence: &str) -> Option<Modal> {
    // Neither binds anybody.
    let sentence = &sentence.replace("may or may not", "may").replace("not required", "not needed");
    let first = |rules: &[Rule]| rules.iter().find_map(|rule| apply(rule, sentence));
    first(&STRONG).or_else(|| to_be(sentence)).or_else(|| first(&WEAK))
}

fn apply(rule: &Rule, sentence: &str) -> Option<Modal> {
    let found = rule.pattern.captures(sentence)?;
    let word = match found.get(2) {
        None => found[1].to_lowercase(),
        Some(second) => format!("{} {}", &found[1], second.as_str()).to_lowercase(),
    };
    let forbids = rule.forbids || word.ends_with(" not") || word.contains("not to be");
    Some(Modal { word, forbids })
}

fn to_be(sentence: &str) -> Option<Modal> {
    let verb = VERB.find(sentence)?;
    // The construction stays within its clause; an early `zu` may be a preposition, so every candidate is checked.
    let rest = &sentence[verb.end()..];
    let clause = &rest[..rest.find([';', ':']).unwrap_or(rest.len())];
    let infinitive = INFINITIVE.find_iter(clause).map(|found| found.as_str()).find(|infinitive| {
        !infinitive.strip_prefix("zu").is_some_and(|behind| NO_INFINITIVE.contains(&behind.trim()))
    })?;
    let word = format!("{} … {infinitive}", verb.as_str().to_lowercase());
    Some(Modal { word, forbids: clause.contains(" nicht ") })
}

#[cfg(test)]
mod tests {
    use super::modal;

    fn check(sentence: &str, expected: Option<(&str, bool)>) {
        let found = modal(sentence);
        let found = found.as_ref().map(|modal| (modal.word.as_str(), modal.forbids));
        assert_eq!(found, expected, "{sentence}");
    }

    #[test]
    fn english_words() {
        check("Records must be kept.", Some(("must", false)));
        check("Records shall be kept.", Some(("shall", false)));
        check("Records must not be deleted.", Some(("must not", true)));
        check("Staff may not share keys.", Some(("may not", true)));
        check("A signature is required.", Some(("required", false)));
        check("Invoices are to be filed.", Some(("are to be", false)));
        check("The clerk has to sign.", Some(("has to", false)));
        check("Every clerk is obliged to sign.", Some(("obliged to", false)));
        check("It is the duty of the clerk to sign.", Some(("duty to", false)));
        check("The clerk is responsible for the log.", Some(("responsible for", false)));
        check("No key may leave the house.", Some(("no may", true)));
        check("Copies are permitted only on request.", Some(("permitted only", true)));
        check("Copies should be checked.", Some(("should", false)));
        check("Copies should not be sent.", Some(("should not", true)));
        check("Copies should be sent and must be kept.", Some(("must", false)));
    }

    #[test]
    fn english_words_that_only_look_alike() {
        check("The mustard and the shoulder are here.", None);
        check("Staff may keep copies.", None);
        check("The copy may or may not be complete.", None);
        check("A second signature is not required.", None);
        check("The archive keeps the records.", None);
    }

    #[test]
    fn german_words() {
        check("Belege müssen lesbar sein.", Some(("müssen", false)));
        check("Der Beleg muss lesbar sein.", Some(("muss", false)));
        check("Der Beleg darf nicht gelöscht werden.", Some(("darf nicht", true)));
        check("Die Belege dürfen nach der Prüfung nicht mehr geändert werden.", Some(("dürfen nicht", true)));
        check("Das Amt ist verpflichtet, ihn zu hören.", Some(("verpflichtet", false)));
        check("Die Kopie soll lesbar sein.", Some(("soll", false)));
        check("Der Beleg ist unverzüglich zu erfassen.", Some(("ist … zu erfassen", false)));
        check("Rechnungen sind zehn Jahre aufzubewahren.", Some(("sind … aufzubewahren", false)));
        check("Die Leitung hat jede Änderung zu dokumentieren.", Some(("hat … zu dokumentieren", false)));
        check("Er ist zu allen Belegen zu befragen.", Some(("ist … zu befragen", false)));
    }

    #[test]
    fn german_words_that_only_look_alike() {
        check("Das Archiv ist zu Beginn leer.", None);
        check("Die Frist ist zu diesen Zeiten offen.", None);
        check("Das Archiv ist groß.", None);
    }
}
