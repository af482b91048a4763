//! Makes a requirement of a normative sentence, by key words.
//!
//! Every judgement here is a rule that a reader can check: the modal verb gives the priority, key words give type,
//! flags and tags. The confidence says how whole the sentence is, not how true.

pub(crate) mod candidates;
mod mentions;
pub(crate) mod table_file;

use std::{ops::RangeInclusive, sync::LazyLock};

use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::text::{Finding, Strength};
use mentions::{messages, objects, research_notes};

/// Any of these beginnings or words, in either case.
fn words(alternatives: &[&str]) -> Regex {
    let pattern = format!("(?i)(?:{})", alternatives.join("|"));
    pattern::own(&pattern)
}

static GOBD: LazyLock<Regex> = LazyLock::new(|| {
    words(&[
        r"gobd|immutab|unaltera|tamper|audit trail|\binvoice|book-?keeping|\bvouchers?\b|\baccounting\b",
        r"\btax\b|ledger|aufbewahr|aufzubewahr|unveränder|revisionssicher|beleg|buchung|buchführung|rechnung|steuer",
    ])
});
/// Keeping something bears on book-keeping where it is a record that is kept: programs have archives, too.
static KEEPING: LazyLock<Regex> = LazyLock::new(|| words(&[r"\bretention|\bretain|\barchiv"]));
static RECORDS: LazyLock<Regex> =
    LazyLock::new(|| words(&[r"\b(?:records?|receipts?|letters?|correspondence|business|accounts|years?)\b"]));
static GDPR: LazyLock<Regex> = LazyLock::new(|| {
    words(&[
        r"gdpr|personal data|data subject|data protection|privacy|\bconsent|\berasure",
        "dsgvo|personenbezogen|betroffene[nr]? person|datenschutz|einwilligung|auskunftsrecht|löschkonzept",
    ])
});
static QUALITY: LazyLock<Regex> = LazyLock::new(|| {
    words(&[
        r"\bsecur|encrypt|\bbackup|availab|performance|readab|legib|\bwithin \w+ (?:second|minute|hour|day)",
        "verschlüssel|verfügbar|lesbar|sicherung|innerhalb von",
    ])
});
static ARTICLE: LazyLock<Regex> = LazyLock::new(|| words(&[r"^(?:article|artikel|art\.|§+)\s*(\d+\w*)"]));

/// Sentences of a passage, by the numbers that they are shown with.
pub(crate) struct Pointer {
    /// The passage's number.
    pub(crate) passage: u32,
    /// The first and the last of its sentences.
    pub(crate) sentences: RangeInclusive<usize>,
}

/// The call that records `finding`, cited by the numbers of its sentences, or with its quote on its page.
pub(crate) fn add(finding: &Finding, pointer: Option<Pointer>) -> Call {
    if let Some(Pointer { passage, sentences }) = pointer {
        let (from, to) = (sentences.start(), sentences.end());
        let citation = match from == to {
            true => json!({"passage": passage, "from": from}),
            false => json!({"passage": passage, "from": from, "to": to}),
        };
        return with_citation(finding, citation);
    }
    // A quote that runs over a page break stands on no one page; without a page the whole source is searched.
    let page = finding.page.filter(|_| !finding.crosses_page);
    let mut citation = json!({"source": finding.source, "quote": finding.quote});
    if let Some(page) = page {
        citation["page"] = json!(page);
    }
    with_citation(finding, citation)
}

/// The second try after a refused quote: no page, and the nearest passage where the refusal offered one that says the
/// same.
pub(crate) fn add_again(finding: &Finding, refusal: &str) -> Call {
    let offered = QUOTED_PASSAGE.captures_iter(refusal).filter_map(|found| found.get(1)).map(|found| found.as_str());
    let nearest = offered.filter(|passage| alike(passage, &finding.quote)).max_by_key(|passage| passage.len());
    with_citation(finding, json!({"source": finding.source, "quote": nearest.unwrap_or(&finding.quote)}))
}

static QUOTED_PASSAGE: LazyLock<Regex> = LazyLock::new(|| pattern::own("(?s)[\"“„«](.{8,}?)[\"”“»]"));

/// Whether most words of one text are in the other.
fn alike(a: &str, b: &str) -> bool {
    let known: Vec<&str> = b.split_whitespace().collect();
    let (mut same, mut all) = (0, 0);
    for word in a.split_whitespace() {
        all += 1;
        same += usize::from(known.contains(&word));
    }
    all > 0 && same * 10 >= all.max(known.len()) * 7
}

fn with_citation(finding: &Finding, citation: Value) -> Call {
    let (gobd, gdpr) = (book_keeping(&finding.text).is_some(), GDPR.is_match(&finding.text));
    let mut args = json!({
        "text": finding.text,
        "type": kind(finding, gobd || gdpr),
        "priority": match finding.modal.strength { Strength::Must => "high", Strength::Should => "medium" },
        "source_location": location(finding, &citation),
        "gobd_relevant": gobd,
        "gdpr_relevant": gdpr,
        "citations": [citation],
        "mentioned_objects": objects(&finding.text),
        "mentioned_messages": messages(&finding.text),
        "reasoning": reasoning(finding, gobd, gdpr),
        "research_notes": research_notes(&finding.text),
        "confidence": confidence(finding),
        "tags": tags(finding, gobd, gdpr),
    });
    // What is left out has a default: no, none, and what the citation says of the place.
    if let Some(args) = args.as_object_mut() {
        args.retain(|_, value| !says_nothing(value));
    }
    Call { name: "add_requirement", args }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

fn kind(finding: &Finding, regulated: bool) -> &'static str {
    if regulated {
        "compliance"
    } else if finding.modal.forbids {
        "constraint"
    } else if QUALITY.is_match(&finding.text) {
        "non_functional"
    } else {
        "functional"
    }
}

fn location(finding: &Finding, citation: &Value) -> Value {
    let mut location = Map::new();
    // Of sentences that are pointed at, the passage says the page.
    if let Some(page) = finding.page.filter(|_| citation.get("passage").is_none()) {
        location.insert("page".to_owned(), json!(page));
    }
    if let Some(paragraph) = &finding.paragraph {
        location.insert("paragraph".to_owned(), json!(paragraph));
    }
    if let Some(section) = &finding.section {
        location.insert("section".to_owned(), json!(section));
        if let Some(article) = ARTICLE.captures(section) {
            location.insert("article".to_owned(), json!(article[1]));
        }
    }
    Value::Object(location)
}

/// Why it is a requirement, and what it bears on.
fn reasoning(finding: &Finding, gobd: bool, gdpr: bool) -> String {
    let kind = if finding.modal.forbids { "a prohibition" } else { "normative" };
    let mut text = format!("Found by rule: the sentence is {kind} by the word '{}'.", finding.modal.word);
    let by_word = |what: &str, word: &str| format!(" It bears on {what} by '{word}'.");
    if let Some(word) = book_keeping(&finding.text).filter(|_| gobd) {
        text.push_str(&by_word("book-keeping", word));
    }
    if let Some(found) = GDPR.find(&finding.text).filter(|_| gdpr) {
        text.push_str(&by_word("data protection", found.as_str()));
    }
    text
}

/// The word by which a text bears on book-keeping.
fn book_keeping(text: &str) -> Option<&str> {
    let kept = || KEEPING.find(text).filter(|_| RECORDS.is_match(text));
    GOBD.find(text).or_else(kept).map(|found| found.as_str())
}

/// Whole sentences with a strong verb 0.8, with a weak one 0.7, list items, cells and cut beginnings 0.6.
fn confidence(finding: &Finding) -> f64 {
    match (finding.fragment, finding.modal.strength) {
        (true, _) => 0.6,
        (false, Strength::Should) => 0.7,
        (false, Strength::Must) => 0.8,
    }
}

fn tags(finding: &Finding, gobd: bool, gdpr: bool) -> Vec<&'static str> {
    let language = if finding.modal.german { "german" } else { "english" };
    let flags =
        [(gobd, "gobd"), (gdpr, "gdpr"), (finding.modal.forbids, "prohibition"), (finding.fragment, "fragment")];
    let set = flags.into_iter().filter(|(is, _)| *is).map(|(_, tag)| tag);
    ["rehearsal", language].into_iter().chain(set).collect()
}

#[cfg(test)]
mod tests {
    use super::{Pointer, add, add_again};
    use crate::text::{Finding, findings};
    use serde_json::{Value, json};

    fn finding(sentence: &str) -> Finding {
        let chunk = format!("<!-- source: input/p.pdf | pages: 3-4 | section: § 4 Keeping -->\n[page 3]\n{sentence}\n");
        findings(&[chunk.as_str()], 1).remove(0)
    }

    fn args(sentence: &str) -> Value {
        add(&finding(sentence), None).args
    }

    #[test]
    fn a_requirement_says_where_it_stands_and_why_it_is_one() {
        let args = args("Every invoice must be kept for ten years.");
        assert_eq!(args["text"], "Every invoice must be kept for ten years.");
        assert_eq!(args["source_location"], json!({"page": 3, "section": "§ 4 Keeping", "article": "4"}));
        let quote = "Every invoice must be kept for ten years.";
        assert_eq!(args["citations"], json!([{"source": "input/p.pdf", "page": 3, "quote": quote}]));
        assert_eq!((&args["type"], &args["priority"]), (&json!("compliance"), &json!("high")));
        assert_eq!((&args["gobd_relevant"], &args["gdpr_relevant"]), (&json!(true), &Value::Null));
        assert!(args["reasoning"].as_str().unwrap().contains("'must'"));
    }

    #[test]
    fn paragraph_messages_and_references_are_those_of_the_document() {
        let args = args("(2) The clerk must notify the supplier by e-mail, as § 14 UStG and section 3.2 require it.");
        assert_eq!(
            args["source_location"],
            json!({"page": 3, "section": "§ 4 Keeping", "article": "4", "paragraph": "2"})
        );
        assert_eq!(args["mentioned_messages"], json!(["Notification", "E-mail"]));
        assert_eq!(args["research_notes"], "It refers to § 14 UStG, section 3.2; no research was made.");
        assert_eq!(self::args("Every door must be closed at night.").get("mentioned_messages"), None);
    }

    #[test]
    fn key_words_give_type_priority_and_flags() {
        for (sentence, kind, priority, gdpr) in [
            ("Visitors should wear a badge at all times.", "functional", "medium", false),
            ("Visitors may not enter the server room.", "constraint", "high", false),
            ("All laptops must be encrypted by the owner.", "non_functional", "high", false),
            ("Consent of the data subject is required first.", "compliance", "high", true),
            ("Die Einwilligung muss schriftlich vorliegen.", "compliance", "high", true),
        ] {
            let args = args(sentence);
            let found = (&args["type"], &args["priority"], args.get("gdpr_relevant").is_some());
            assert_eq!(found, (&json!(kind), &json!(priority), gdpr), "{sentence}");
        }
    }

    #[test]
    fn an_archive_bears_on_book_keeping_where_records_are_in_it() {
        for (sentence, gobd) in [
            ("Every record must be in the archive by the end of the year.", true),
            ("Source packages must be uploaded to the archive.", false),
        ] {
            assert_eq!(args(sentence).get("gobd_relevant").is_some(), gobd, "{sentence}");
        }
    }

    #[test]
    fn numbered_sentences_are_pointed_at() {
        let finding = finding("Every invoice must be kept for ten years.");
        let pointer = |sentences| Some(Pointer { passage: 7, sentences });
        assert_eq!(add(&finding, pointer(3..=3)).args["citations"], json!([{"passage": 7, "from": 3}]));
        assert_eq!(add(&finding, pointer(3..=4)).args["citations"], json!([{"passage": 7, "from": 3, "to": 4}]));
    }

    #[test]
    fn a_refused_quote_is_tried_with_the_passage_that_was_offered() {
        let finding = finding("Every invoice must be kept for ten years.");
        let offered =
            "Error: not found; nearest passage, on page 3: \"Every invoice must be kept for ten (10) years.\"";
        let retry = add_again(&finding, offered).args;
        assert_eq!(retry["citations"][0]["quote"], "Every invoice must be kept for ten (10) years.");
        assert!(retry["citations"][0].get("page").is_none());
        let unlike = add_again(&finding, "Error: not found; nearest: \"Something else entirely stands here.\"").args;
        assert_eq!(unlike["citations"][0]["quote"], "Every invoice must be kept for ten years.");
    }
}
