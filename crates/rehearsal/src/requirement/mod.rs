//! Makes a requirement of a normative sentence, by key words.
//!
//! Every judgement here is a rule that a reader can check: the modal verb gives the priority, key words give type,
//! flags and tags. The confidence says how whole the sentence is, not how true.

pub(crate) mod candidates;
mod mentions;
pub(crate) mod table_file;

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::text::{Finding, Strength};
use mentions::{messages, objects, research_notes};

/// The longest name that the tool takes, in characters.
const NAME_CHARS: usize = 80;

/// Any of these beginnings or words, in either case.
fn words(alternatives: &[&str]) -> Regex {
    let pattern = format!("(?i)(?:{})", alternatives.join("|"));
    Regex::new(&pattern).expect("requirement: every pattern is valid")
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
/// The call that records `finding`, with its quote on its page.
pub(crate) fn add(finding: &Finding) -> Call {
    // A quote that runs over a page break stands on no one page; without a page the whole source is searched.
    let page = finding.page.filter(|_| !finding.crosses_page);
    with_citation(finding, &finding.quote, page)
}

/// The second try after a refused quote: no page, and the nearest passage where the refusal offered one that says the
/// same.
pub(crate) fn add_again(finding: &Finding, refusal: &str) -> Call {
    let offered = QUOTED_PASSAGE.captures_iter(refusal).filter_map(|found| found.get(1)).map(|found| found.as_str());
    let nearest = offered.filter(|passage| alike(passage, &finding.quote)).max_by_key(|passage| passage.len());
    with_citation(finding, nearest.unwrap_or(&finding.quote), None)
}

static QUOTED_PASSAGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?s)[\"“„«](.{8,}?)[\"”“»]").expect("requirement: every pattern is valid"));

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

fn with_citation(finding: &Finding, quote: &str, page: Option<u32>) -> Call {
    let mut citation = json!({"source": finding.source, "quote": quote});
    if let Some(page) = page {
        citation["page"] = json!(page);
    }
    let (gobd, gdpr) = (book_keeping(&finding.text).is_some(), GDPR.is_match(&finding.text));
    let args = json!({
        "text": finding.text,
        "name": name(&finding.text),
        "type": kind(finding, gobd || gdpr),
        "priority": match finding.modal.strength { Strength::Must => "high", Strength::Should => "medium" },
        "source_document": finding.source,
        "source_location": location(finding),
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
    Call { name: "add_requirement", args }
}

/// The sentence itself, cut at a word where it is too long.
fn name(text: &str) -> String {
    let text = text.trim_end_matches(['.', ':', ';']);
    if text.chars().count() <= NAME_CHARS {
        return text.to_owned();
    }
    let end = text.char_indices().nth(NAME_CHARS - 1).map_or(text.len(), |(at, _)| at);
    let cut = &text[..end];
    let whole_words = cut.rfind(' ').map_or(cut, |space| &cut[..space]);
    format!("{}…", whole_words.trim_end_matches([',', ' ']))
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

fn location(finding: &Finding) -> Value {
    let mut location = Map::new();
    if let Some(page) = finding.page {
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
    use super::{add, add_again, name};
    use crate::text::{Finding, findings};
    use serde_json::{Value, json};

    fn finding(sentence: &str) -> Finding {
        let chunk = format!("<!-- source: input/p.pdf | pages: 3-4 | section: § 4 Keeping -->\n[page 3]\n{sentence}\n");
        findings(&[chunk.as_str()], 1).remove(0)
    }

    fn args(sentence: &str) -> Value {
        add(&finding(sentence)).args
    }

    #[test]
    fn a_requirement_says_where_it_stands_and_why_it_is_one() {
        let args = args("Every invoice must be kept for ten years.");
        assert_eq!(args["text"], "Every invoice must be kept for ten years.");
        assert_eq!(args["name"], "Every invoice must be kept for ten years");
        assert_eq!(args["source_location"], json!({"page": 3, "section": "§ 4 Keeping", "article": "4"}));
        let quote = "Every invoice must be kept for ten years.";
        assert_eq!(args["citations"], json!([{"source": "input/p.pdf", "page": 3, "quote": quote}]));
        assert_eq!((&args["type"], &args["priority"]), (&json!("compliance"), &json!("high")));
        assert_eq!((&args["gobd_relevant"], &args["gdpr_relevant"]), (&json!(true), &json!(false)));
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
        assert_eq!(self::args("Every door must be closed at night.")["mentioned_messages"], json!([]));
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
            let found = (&args["type"], &args["priority"], &args["gdpr_relevant"]);
            assert_eq!(found, (&json!(kind), &json!(priority), &json!(gdpr)), "{sentence}");
        }
    }

    #[test]
    fn an_archive_bears_on_book_keeping_where_records_are_in_it() {
        for (sentence, gobd) in [
            ("Every record must be in the archive by the end of the year.", true),
            ("Source packages must be uploaded to the archive.", false),
        ] {
            assert_eq!(args(sentence)["gobd_relevant"], json!(gobd), "{sentence}");
        }
    }

    #[test]
    fn long_names_are_cut_at_a_word() {
        let text = "The responsible department must keep a complete and readable copy of every single outgoing letter.";
        let name = name(text);
        assert!(name.chars().count() <= 80 && name.ends_with('…'), "{name}");
        assert!(text.starts_with(name.trim_end_matches('…')));
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
