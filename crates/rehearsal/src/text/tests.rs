//! From shown passages to duties.

use super::{Shown, findings};

fn found(shown: &str) -> Vec<(u32, String)> {
    let shown = Shown::read(shown);
    findings(&shown).iter().map(|finding| (finding.sentence.number.unwrap_or(0), finding.text())).collect()
}

fn check(shown: &str, expected: &[(u32, &str)]) {
    let expected: Vec<(u32, String)> = expected.iter().map(|(number, text)| (*number, (*text).to_owned())).collect();
    assert_eq!(found(shown), expected, "{shown}");
}

#[test]
fn a_sentence_with_a_word_that_obliges_is_a_duty() {
    check(
        "## [1] Invoices must be kept\n\n[2] The archive keeps them. [3] Every invoice must be kept\nfor ten years. [4] Must they?",
        &[(3, "Every invoice must be kept for ten years.")],
    );
    check("[1] \"Must\" and \"shall\" state a duty.\n\n[2] You must “sign” it.", &[(2, "You must “sign” it.")]);
    check("[1] 4 What must be kept ........ 12\n\n[2] 5 What shall go … 13", &[]);
}

#[test]
fn entries_under_a_lead_that_obliges_are_duties() {
    check(
        "[1] The operator shall:\n\n- [2] keep a log\n- [3] sign it. [4] The pen is blue.\n\n[5] The log has:\n\n- [6] a page",
        &[(2, "The operator shall keep a log"), (3, "The operator shall sign it.")],
    );
    check(
        "[1] The operator shall: [2] keep a log; and [3] sign it. [4] The pen is blue.",
        &[(2, "The operator shall keep a log; and"), (3, "The operator shall sign it.")],
    );
    check(
        "[1] It must have:\n\n(a) [2] a name\n\n(b) [3] for each owner:\n\n(i) [4] a key\n\n[5] The rest is free.",
        &[(2, "It must have a name"), (4, "It must have a key")],
    );
    check(
        "[1] These words have a meaning:\n\n- [2] a berth\n- [3] a key that must be kept",
        &[(3, "a key that must be kept")],
    );
}

#[test]
fn a_text_without_numbers_has_duties_as_well() {
    check(
        "Boxes must be\nshut. Keys stay.\n\n- personal data must be erased",
        &[(0, "Boxes must be shut."), (0, "- personal data must be erased")],
    );
}
