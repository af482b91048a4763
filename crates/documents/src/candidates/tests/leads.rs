//! Leads are the same whether each sentence is examined or only those that they depend on.

use super::*;

/// Blocks that open, continue, announce and end lists and tables, with and without an obligation.
const BLOCKS: [&str; 20] = [
    "## 4.2 Access",
    "## Duties of the operator",
    "Rights are reviewed by the owner. It must be signed.",
    "It must be signed. It names:",
    "The team met twice. It likes:",
    "The operator shall:",
    "The operator may:",
    "The owner has",
    "It is required that the owner, at a minimum,",
    "The following table must be applied.",
    "The following table shows who met.",
    "Table 3 Owners",
    "- keep a log; and",
    "- may report each breach,",
    "(a) name an auditor, who shall",
    "(b) sign the list.",
    "2. the following schedule must be kept;",
    "| System | Requirement |\n|---|---|\n| A | Logs are kept: - daily; - by a person |\n| B | Keys |",
    "[page 4]\n\nkeeps the log in the system.",
    "```\nlet it = be;",
];

#[test]
fn leads_do_not_depend_on_sentences_that_are_not_examined_for_them() {
    let scan = Scan::default();
    let n = BLOCKS.len();
    let mut led = 0;
    for at in 0..n.pow(3) {
        // A table or an entry last, so that there is something that a lead is for.
        let places = [at % n, at / n % n, at / n / n, 12 + at % 6];
        let text = places.map(|place| BLOCKS[place]).join("\n\n") + "\n";
        let unjudged = |sentence: Sentence| Sentence { reason: None, judged: false, ..sentence };
        let expected: Vec<Sentence> = scan.sentences(&text).into_iter().map(unjudged).collect();
        assert_eq!(scan.with_leads(&text), expected, "{text}");
        led += expected.iter().filter(|sentence| !sentence.leads.is_empty()).count();
    }
    assert!(led > n.pow(3), "{led} sentences with a lead");
}
