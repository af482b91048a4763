//! Entries of lists: several levels, lists that are interrupted, leads of many kinds.

use super::{Scan, check};

const ENTRY: Option<&str> = Some("list item");

#[test]
fn what_encloses_a_number_is_a_level_of_its_own() {
    check(
        "(1) The operator shall:\n\n1. tell the authority;\n\n2. the meeting room.\n\n(2) The authority may publish it:\n\n1. its report;\n",
        &[
            (0, "The operator shall:", Some("shall")),
            (0, "tell the authority;", ENTRY),
            (0, "the meeting room.", ENTRY),
            (0, "The authority may publish it:", None),
            (0, "its report;", None),
        ],
    );
}

#[test]
fn a_list_may_follow_its_lead_behind_other_paragraphs() {
    let list = "- the log\n- the keys\n";
    for lead in
        ["The operator shall keep:", "The operator shall keep the following.", "The operator shall keep, as follows:"]
    {
        for between in ["", "This applies to all sites.\n\n", "A hint.\n\nAnother hint.\n\n"] {
            let found = Scan::default().sentences(&format!("{lead}\n\n{between}{list}"));
            let entries: Vec<_> = found.iter().filter(|one| one.text.starts_with("the ")).collect();
            assert!(
                entries.len() == 2 && entries.iter().all(|one| one.leads == [1] && one.reason == ENTRY),
                "{found:#?}"
            );
        }
    }
    for text in [
        format!("The operator shall keep:\n\nOne.\n\nTwo.\n\nThree.\n\n{list}"),
        format!("The operator shall keep:\n\n## Names\n\n{list}"),
        format!("The operator shall keep the log.\n\nHints are short.\n\n{list}"),
        format!("The operator shall keep:\n\nHints are:\n\n{list}"),
    ] {
        let found = Scan::default().sentences(&text);
        assert!(found.iter().filter(|one| one.text.starts_with("the ")).all(|one| one.reason.is_none()), "{found:#?}");
    }
}

#[test]
fn levels_are_distinguished_by_their_marks_alone() {
    check(
        "The fund must publish:\n\n(a) its name;\n\n(b) of each manager:\n\n(i) the seat;\n\n(ii) the fees;\n\n(c) its rules.\n\n\
         4.2 The board may ask for:\n\n4.2.1 a report;\n\n4.3 The sky.\n",
        &[
            (0, "The fund must publish:", Some("must")),
            (0, "its name;", ENTRY),
            (0, "of each manager:", ENTRY),
            (0, "the seat;", ENTRY),
            (0, "the fees;", ENTRY),
            (0, "its rules.", ENTRY),
            (0, "The board may ask for:", None),
            (0, "a report;", None),
            (0, "The sky.", None),
        ],
    );
}

#[test]
fn a_ninth_letter_is_no_roman_number() {
    let entries: Vec<String> = ('a'..='j').map(|letter| format!("({letter}) item {letter};\n")).collect();
    let found = super::scanned(&format!("The fund must publish:\n{}", entries.concat()));
    assert_eq!(found.len(), 11);
    assert!(found[1..].iter().all(|(_, _, reason)| *reason == ENTRY), "{found:?}");
}

#[test]
fn an_interrupted_list_continues_by_its_numbers_or_marks() {
    check(
        "The manager must keep:\n\n(a) a register;\n\n(b) the following note:\n\n\u{201c}Past results say nothing.\u{201d}\n\n[page 2]\n\n(c) all letters;\n\n(d) bills.\n",
        &[
            (0, "The manager must keep:", Some("must")),
            (0, "a register;", ENTRY),
            (0, "the following note:", ENTRY),
            (0, "\u{201c}Past results say nothing.\u{201d}", None),
            (2, "all letters;", ENTRY),
            (2, "bills.", ENTRY),
        ],
    );
    check(
        "The manager must keep:\n\n- a register;\n\nNote: It may be blue.\n\n- all letters.\n\nThe sky is blue.\n\n- at noon\n",
        &[
            (0, "The manager must keep:", Some("must")),
            (0, "a register;", ENTRY),
            (0, "Note: It may be blue.", None),
            (0, "all letters.", ENTRY),
            (0, "The sky is blue.", None),
            (0, "at noon", None),
        ],
    );
}

#[test]
fn a_lead_needs_no_colon_and_may_be_a_title() {
    check(
        "The operator shall\n(a) the register;\n(b) all letters.\n\n## Security requirements\n\n- TLS 1.2 or higher\n\n## Weather\n\n- sunny days\n",
        &[
            (0, "The operator shall", Some("shall")),
            (0, "the register;", ENTRY),
            (0, "all letters.", ENTRY),
            (0, "Security requirements", None),
            (0, "TLS 1.2 or higher", ENTRY),
            (0, "Weather", None),
            (0, "sunny days", None),
        ],
    );
    check(
        "The following requirements apply to all suppliers:\n\n- valid certificates\n",
        &[(0, "The following requirements apply to all suppliers:", None), (0, "valid certificates", ENTRY)],
    );
}

#[test]
fn a_command_under_a_lead_is_no_entry_of_duties() {
    for code in [
        "dpkg --build folder",
        "/etc/cron.daily/backup",
        "if [ \"$1\" = purge ]; then rm -r /var/lib/app fi",
        "fname () { local a b c=delta d }",
        "http://localhost/images/file",
    ] {
        check(
            &format!("The script must run:\n\n- {code}\n"),
            &[(0, "The script must run:", Some("must")), (0, code, None)],
        );
    }
    for words in ["the name and/or the seat;", "fees (if any);", "a re-use plan (see Annex B);", "$5 million of cover;"]
    {
        check(
            &format!("The notice must state:\n\n- {words}\n"),
            &[(0, "The notice must state:", Some("must")), (0, words, ENTRY)],
        );
    }
}

#[test]
fn a_paragraph_within_an_entry_does_not_end_its_list() {
    check(
        "The file shall contain:\n\n- a plan of the site;\n\n  It may be a sketch.\n\n- the names of the owners.\n\nIt is a file.\n\n- not of the list\n",
        &[
            (0, "The file shall contain:", Some("shall")),
            (0, "a plan of the site;", ENTRY),
            (0, "It may be a sketch.", None),
            (0, "the names of the owners.", ENTRY),
            (0, "It is a file.", None),
            (0, "not of the list", None),
        ],
    );
}

#[test]
fn a_bare_command_leads_its_entries() {
    check(
        "Provide:\n\n- a plan of the site\n- the names\n\nAccess:\n\n- the north gate\n",
        &[
            (0, "Provide:", None),
            (0, "a plan of the site", ENTRY),
            (0, "the names", ENTRY),
            (0, "Access:", None),
            (0, "the north gate", None),
        ],
    );
}

#[test]
fn marks_in_bold_type_are_marks() {
    check(
        "The fund must publish:\n\n**(a)** its name;\n\n**(b)** its rules.\n\n**R-3:** Log each access.\n",
        &[
            (0, "The fund must publish:", Some("must")),
            (0, "its name;", ENTRY),
            (0, "its rules.", ENTRY),
            (0, "**R-3:** Log each access.", Some("instruction")),
        ],
    );
}

#[test]
fn the_lines_of_a_text_without_wrapping_are_paragraphs() {
    let long = "The clerk shall file the ledger of the northern plant and of the halls that belong to it, with all of their \
                boilers and yards, before the month ends.";
    let found =
        Scan::default().sentences(&format!("Rule\n1\n{long}\nnone\n2\nThe cellar must be clean.\nnone\n3\n{long}\n"));
    let candidates: Vec<&str> = found.iter().filter(|one| one.reason.is_some()).map(|one| one.text.as_str()).collect();
    assert_eq!(candidates, [long, "The cellar must be clean.", long]);
    let wrapped = "The clerk shall file the ledger by\nNo.\n7 at noon.\n";
    assert_eq!(Scan::default().sentences(wrapped).len(), 1);
}
