//! Whether a text binds with the force of its quotes: *should* and *can* are less than *must*, *must avoid* and *is exempt
//! from* are the contrary of *must*. The rules of `needs_look` do not include this, so it sets no tag: it is a remark for
//! who judges the text.

use super::modals::{BANS, COMMA, denials, forbids, is_negated, negates, obliges, restricts, tokens};
use super::words::Words;

/// Words of a duty, of a recommendation, and of a mere possibility.
const STRONG: [&str; 6] = ["must", "shall", "muss", "müssen", "müsste", "müssten"];
const WEAK: [&str; 4] = ["should", "ought", "sollte", "sollten"];
const MERE: [&str; 7] = ["can", "could", "might", "kann", "können", "könnte", "könnten"];
/// Beginnings of words with which a quote says that something becomes possible.
const ENABLING: [&str; 8] = ["able", "enabl", "allow", "let", "permit", "possib", "ermöglich", "lassen"];

/// Beginnings of words that turn the verb behind or before them into its contrary.
const TURNING: [&str; 13] = [
    "avoid",
    "refrain",
    "prevent",
    "ignor",
    "omit",
    "neglect",
    "desist",
    "ceas",
    "skip",
    "vermeid",
    "unterlass",
    "verhinder",
    "versäum",
];
/// Beginnings of words that release from a duty, or make it a wish.
const RELEASING: [&str; 17] = [
    "exempt",
    "waiv",
    "excused",
    "reliev",
    "unnecessar",
    "voluntar",
    "abolish",
    "discretion",
    "recommend",
    "encourag",
    "befrei",
    "entfäll",
    "verzicht",
    "freiwillig",
    "empfohl",
    "empfehl",
    "entbehrlich",
];
const ARTICLES: [&str; 9] = ["the", "a", "an", "any", "all", "der", "die", "das", "den"];
/// Endings of words that say what *avoid* says: *noiseless*.
const LACKING: [&str; 4] = ["less", "free", "frei", "los"];

/// Whether words oblige or recommend.
pub(super) fn binds(tokens: &[String]) -> bool {
    tokens.iter().any(|word| STRONG.contains(&word.as_str()) || WEAK.contains(&word.as_str()))
}

/// How a text differs from its quotes in force, as a remark; none if it does not, or if no quote binds by a word of its
/// own, as an entry does not whose lead has the word.
pub(super) fn other_force(text: &str, quotes: &str) -> Option<String> {
    let (said, quoted) = (tokens(text), tokens(quotes));
    let first = |tokens: &[String], words: &[&str]| tokens.iter().find(|word| words.contains(&word.as_str())).cloned();
    let (strong, weak) = (first(&quoted, &STRONG), first(&quoted, &WEAK));
    match (first(&said, &STRONG), first(&said, &WEAK), &strong, &weak) {
        (Some(word), None, None, Some(quote)) | (None, Some(word), Some(quote), None) => {
            return Some(format!("its text says `{word}` where its quotes say `{quote}`"));
        }
        _ => {}
    }
    let mere = first(&said, &MERE).filter(|_| !obliges(text) && !restricts(text) && denials(text) == 0);
    let is_possible = || first(&quoted, &MERE).is_some() || quoted.iter().any(|word| begins(word, &ENABLING));
    if let (Some(word), Some(quote)) = (mere, &strong)
        && !is_possible()
    {
        return Some(format!("its text says `{word}` where its quotes say `{quote}`"));
    }
    if let Some(ban) = lifted(&said, &quoted) {
        return Some(format!("its text says `not {ban}`, which no quote does"));
    }
    strong.or(weak)?;
    if let Some(turned) = added(&said, &quoted, quotes) {
        return Some(format!("its text says `{turned}`, which no quote does"));
    }
    let turned = left_out(text, &said, &quoted)?;
    Some(format!("its quotes say `{turned}`, and it does not"))
}

fn begins(word: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| word.starts_with(beginning))
}

/// The places of the words that turn a verb, or release from it.
fn turning(tokens: &[String]) -> Vec<usize> {
    let fails = |at: usize| {
        ["fail", "fails"].contains(&tokens[at].as_str()) && tokens.get(at + 1).is_some_and(|next| next == "to")
    };
    // *the recommended measures* are no wish.
    let is_attribute = |at: usize| at > 0 && ARTICLES.contains(&tokens[at - 1].as_str());
    let releases = |at: usize| begins(&tokens[at], &RELEASING) && !is_attribute(at);
    let turns = |at: &usize| begins(&tokens[*at], &TURNING) || releases(*at) || fails(*at);
    (0..tokens.len()).filter(turns).collect()
}

/// The word of the text that turns its quotes. Their own one may be negated: *must not fail to*.
fn added<'t>(said: &'t [String], quoted: &[String], quotes: &str) -> Option<&'t str> {
    let [at] = turning(said)[..] else { return None };
    let in_quotes = turning(quoted);
    let is_known = match in_quotes.is_empty() {
        true => negates(quotes) || forbids(quotes),
        false => in_quotes.iter().any(|at| !is_negated(quoted, *at)),
    };
    (!is_known && !is_negated(said, at)).then(|| said[at].as_str())
}

/// The ban that the text denies, and that its quotes do not: *is not prohibited*.
fn lifted<'t>(said: &'t [String], quoted: &[String]) -> Option<&'t str> {
    let denied = |tokens: &[String]| {
        (0..tokens.len()).find(|at| BANS.contains(&tokens[*at].as_str()) && is_negated(tokens, *at))
    };
    denied(said).filter(|_| denied(quoted).is_none()).map(|at| said[at].as_str())
}

/// The word of the quotes that turns them, and that the text leaves out although all its words are theirs.
fn left_out<'q>(text: &str, said: &[String], quoted: &'q [String]) -> Option<&'q str> {
    let at = turning(quoted).into_iter().find(|at| begins(&quoted[*at], &TURNING) && !is_negated(quoted, *at))?;
    // What is turned is behind the word; a text without it says another part of the sentence.
    let ends = |word: &String| [COMMA, "and", "or", "und", "oder"].contains(&word.as_str());
    let turned = content(quoted[at + 1..].split(ends).next().unwrap_or_default());
    let lacks = |word: &String| LACKING.iter().any(|ending| word.ends_with(ending));
    let says = turning(said).is_empty() && denials(text) == 0 && !forbids(text) && !restricts(text);
    let (own, known) = (content(said), content(quoted));
    let is_theirs = own.content().next().is_some() && own.content().all(|word| known.has(word));
    let is_theirs = is_theirs && (turned.content().next().is_none() || turned.content().any(|word| own.has(word)));
    (says && is_theirs && !said.iter().any(lacks)).then(|| quoted[at].as_str())
}

fn content(tokens: &[String]) -> Words {
    Words::of(tokens.iter().filter(|word| *word != COMMA).map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::other_force;

    #[test]
    fn a_text_of_another_force_is_remarked() {
        let quote = "The operator MUST log each access.";
        for text in [
            "The operator should log each access.",
            "The operator MUST avoid to log each access.",
            "The operator must refrain from logging access.",
            "The operator is exempt from logging access.",
            "The operator can log each access.",
            "It is recommended that the operator logs each access.",
            "Logging access is voluntary for the operator.",
            "The operator must fail to log each access.",
        ] {
            assert!(other_force(text, quote).is_some(), "{text}");
        }
        let weak = "Der Betreiber sollte den Zugriff protokollieren.";
        let said = other_force("Der Betreiber muss den Zugriff protokollieren.", weak).unwrap();
        assert_eq!(said, "its text says `muss` where its quotes say `sollte`");
        for (text, quote) in [
            ("Der Betreiber sollte vermeiden, den Zugriff zu protokollieren.", weak),
            ("Der Prüfer kann die Meldung abgeben.", "Der Prüfer muss die Meldung abgeben."),
            ("Der Prüfer ist von der Meldung befreit.", "Der Prüfer muss die Meldung abgeben."),
            ("Auf die Meldung wird verzichtet.", "Die Meldung muss erfolgen."),
            ("Visitors must enter the vault.", "Visitors must refrain from entering the vault."),
            ("It is not prohibited to delete records.", "It is prohibited to delete records."),
            ("The clerk must neglect the log.", "The clerk must not neglect the log."),
        ] {
            assert!(other_force(text, quote).is_some(), "{text}");
        }
    }

    #[test]
    fn a_text_of_the_same_force_is_not() {
        for (text, quote) in [
            ("The operator shall log each access.", "Operators must log each access."),
            ("Exports must log each access.", "log each access;"),
            ("The clerk must refrain from editing.", "The clerk must not edit."),
            ("The pump must prevent leaks.", "The pump shall prevent leaks."),
            ("It must be logged and should be signed.", "It must be logged. It should be signed."),
            ("Each access is logged.", "Each access must be logged."),
            ("The pump must avoid noise.", "avoid noise"),
            ("The officer must report the recommended measures.", "The officer must report all measures."),
            ("Copies are not forbidden.", "It is not prohibited to copy records."),
            ("The pump must be noiseless.", "The pump must avoid noise."),
            ("The clerk must not omit the signature.", "The clerk must add the signature."),
            ("The clerk must refrain from omitting it.", "The clerk must not omit it."),
            ("The user can export the data.", "The system must allow the user to export the data."),
            ("The manager can only delegate in writing.", "The manager shall delegate only in writing."),
            ("Records cannot be deleted.", "Records must not be deleted."),
            ("The door must open if power fails.", "The door must open without power."),
            ("Visitors must stay outside the vault.", "Visitors must avoid entering the vault."),
        ] {
            assert_eq!(other_force(text, quote), None, "{text}");
        }
    }
}
