//! Whether a row that repeats its quote is a heading or a definition: such a sentence states no duty, which the scan cannot
//! tell from a duty in unusual words. Of a text in the model's words only the form is looked at: the lead of a list, or a
//! heading in place of a duty.

use plumbline_documents::candidates::{Scan, is_foreign};
use plumbline_engine::{DocumentStyle, one_line};

/// Maximum words of a heading.
const MOST_WORDS: usize = 10;
/// Words by which a sentence defines a term.
const DEFINING: [&str; 8] = [
    " means ",
    " mean ",
    " refers to ",
    " is defined as ",
    " are defined as ",
    " bezeichnet ",
    " bezeichnen ",
    " ist definiert als ",
];

/// A remark on a text that states no duty.
pub(super) fn remark(text: &str, quotes: &[&str]) -> Option<String> {
    let text = one_line(text);
    if text.ends_with(':') {
        return Some("it ends before what its list says".to_owned());
    }
    let is_duty = |text: &str| Scan::new(&[], DocumentStyle::Policy).is_ok_and(|scan| scan.judge(text).is_some());
    let is_repeated = matches!(quotes, [quote] if text == one_line(quote));
    let is_replaced = || !quotes.is_empty() && quotes.iter().all(|quote| is_duty(quote));
    let what = match () {
        () if is_heading(&text) && (is_repeated || is_replaced()) => "a heading",
        () if is_repeated && is_definition(&text) => "a definition",
        () => return None,
    };
    (!is_foreign(&text) && !is_duty(&text)).then(|| format!("it reads like {what}, with no word of a duty"))
}

/// Whether a text begins like a heading and does not end like a sentence, an entry or a cell.
fn is_heading(text: &str) -> bool {
    let begins = text.starts_with(|sign: char| sign.is_uppercase() || sign.is_ascii_digit() || sign == '#');
    let ends = text.ends_with(char::is_alphanumeric);
    begins && ends && !text.contains('|') && text.split_whitespace().count() <= MOST_WORDS
}

fn is_definition(text: &str) -> bool {
    DEFINING.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::remark;

    #[test]
    fn headings_and_definitions_are_remarked() {
        for text in [
            "Scope and application of the policy",
            "2 Definitions of the terms",
            "Begriffsbestimmungen und Geltungsbereich",
            "\"Operator\" means any person who runs the archive.",
            "„Betreiber“ bezeichnet die Person, die das Archiv führt.",
        ] {
            assert!(remark(text, &[text]).is_some(), "{text}");
        }
    }

    #[test]
    fn a_heading_or_a_lead_in_place_of_a_duty_is_remarked() {
        let quote = "Invoices must be kept in the archive.";
        for text in ["Handling of invoices", "The operator must:", "Archivierung von Rechnungen"] {
            assert!(remark(text, &[quote]).is_some(), "{text}");
        }
        assert!(remark("The operator must:", &["The operator must:", "keep a log;"]).is_some());
        for text in ["Keep invoices in the archive", "Invoices are kept in the archive", "Invoices must be kept"] {
            assert_eq!(remark(text, &[quote]), None, "{text}");
        }
        assert_eq!(remark("Staff records", &["Staff records;"]), None);
    }

    #[test]
    fn what_may_bind_is_not() {
        for text in [
            "Keep a log of all entries",
            "Passwords are changed every 90 days.",
            "Each access must be logged",
            "The operator means to log each access and must sign it.",
            "log each access;",
            "Les factures sont conservées pendant dix ans",
        ] {
            assert_eq!(remark(text, &[text]), None, "{text}");
        }
        assert_eq!(remark("The operator must log each access.", &["Access to the archive"]), None);
        assert_eq!(remark("Staff records", &["The operator must keep:", "Staff records"]), None);
    }
}
