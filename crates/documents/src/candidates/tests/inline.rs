//! Lists within a running sentence and within the cell of a table: each entry has a number and its leads.

use super::{Scan, check, cut};

const ENTRY: Option<&str> = Some("list item");

/// Each sentence with the numbers of its leads.
#[track_caller]
fn under(text: &str, expected: &[(&str, &[u32])]) {
    let found = Scan::default().sentences(text);
    let found_under: Vec<(&str, &[u32])> = found.iter().map(|one| (one.text.as_str(), &one.leads[..])).collect();
    assert_eq!(found_under, expected);
    let ranges: Vec<_> = found.iter().map(|one| one.range.clone()).collect();
    assert_eq!(cut(text), ranges, "the cheap cut is the same");
}

#[test]
fn consecutive_marks_after_a_lead_begin_entries() {
    check(
        "The operator shall: (a) the log; (b) a report of each breach; and\n(c) an auditor. The owner must sign. It is so.\n",
        &[
            (0, "The operator shall:", Some("shall")),
            (0, "the log;", ENTRY),
            (0, "a report of each breach; and", ENTRY),
            (0, "an auditor.", ENTRY),
            (0, "The owner must sign.", Some("must")),
            (0, "It is so.", None),
        ],
    );
    let list = &[("The fund must publish:", &[][..]), ("its name;", &[1]), ("its fees.", &[1])];
    for text in [
        "The fund must publish: 1. its name; 2. its fees.",
        "The fund must publish: (i) its name; (ii) its fees.",
        "The fund must publish: 1) its name; 2) its fees.",
        "The fund must publish: • its name; • its fees.",
        "The fund must publish: – its name; – its fees.",
        "The fund must publish: its name; its fees.",
        "The fund must\npublish: (a) its\nname; (b) its fees.",
    ] {
        under(text, list);
    }
    under(
        "Der Betreiber muss a) ein Protokoll; b) einen Bericht und c) eine Liste vorlegen.",
        &[
            ("Der Betreiber muss", &[]),
            ("ein Protokoll;", &[1]),
            ("einen Bericht und", &[1]),
            ("eine Liste vorlegen.", &[1]),
        ],
    );
}

#[test]
fn entries_on_the_line_of_the_one_before_them_are_its_siblings() {
    under(
        "The notice shall state:\n\n(y) the fee; (z) the costs: (i) of the tow; (ii) of the pier; (aa) the price.",
        &[
            ("The notice shall state:", &[]),
            ("the fee;", &[1]),
            ("the costs:", &[1]),
            ("of the tow;", &[3, 1]),
            ("of the pier;", &[3, 1]),
            ("the price.", &[1]),
        ],
    );
    under(
        "The master must carry:\n\n- a list of the crew; - two ropes.\n- a chart (a) or b) of the reach.",
        &[
            ("The master must carry:", &[]),
            ("a list of the crew;", &[1]),
            ("two ropes.", &[1]),
            ("a chart (a) or b) of the reach.", &[1]),
        ],
    );
}

#[test]
fn entries_of_full_sentences_and_lists_in_entries_are_distinguished() {
    under(
        "It is so. The operator shall: 1. Keep a log. It is signed. 2. Report: (a) each breach; (b) each loss. 3. Sign it. The end.",
        &[
            ("It is so.", &[]),
            ("The operator shall:", &[]),
            ("Keep a log.", &[2]),
            ("It is signed.", &[2]),
            ("Report:", &[2]),
            ("each breach;", &[5, 2]),
            ("each loss.", &[5, 2]),
            ("Sign it.", &[2]),
            ("The end.", &[]),
        ],
    );
}

#[test]
fn a_list_in_an_entry_leaves_the_entries_after_it_under_their_lead() {
    under(
        "The operator shall:\n\n- keep: (a) a log; (b) a list. It is signed by hand.\n\n- report each breach.\n",
        &[
            ("The operator shall:", &[]),
            ("keep:", &[1]),
            ("a log;", &[2, 1]),
            ("a list.", &[2, 1]),
            ("It is signed by hand.", &[1]),
            ("report each breach.", &[1]),
        ],
    );
}

#[test]
fn what_only_looks_like_a_list_is_a_sentence() {
    for text in [
        "Points (a) and (b) of Article 6 apply to (c) as well.",
        "As defined in (a) the Act and (b) the Rules, a fund must publish its fees.",
        "The operator must act under Article 5 (1) and Article 6 (2) at once.",
        "The operator shall log it; the owner does not.",
        "Scope: this rule applies to banks; it does not bind funds.",
        "The operator shall keep – where possible – a log – and a list.",
        "The meeting is at 10: 30; it ends late.",
        "It says: (a) and (b).",
    ] {
        under(text, &[(text, &[])]);
    }
}

#[test]
fn entries_in_the_cell_of_a_row_have_numbers_of_their_own() {
    let table = "The prospectus must contain the information in the following table.\n\n| No | Content | Place |\n|---|---|---|\n\
                 | 1 | Of the fund: (a) the name; (b) its seat | App 1 |\n| 2 | The fees of it | |\n";
    check(
        table,
        &[
            (0, "The prospectus must contain the information in the following table.", Some("must")),
            (0, "No | Content | Place", None),
            (0, "1 | Of the fund:", Some("table row")),
            (0, "the name;", ENTRY),
            (0, "its seat", ENTRY),
            (0, "App 1", None),
            (0, "2 | The fees of it |", Some("table row")),
        ],
    );
    let leads: Vec<Vec<u32>> = Scan::default().sentences(table).into_iter().map(|one| one.leads).collect();
    assert_eq!(leads[2..5], [vec![1], vec![3, 1], vec![3, 1]]);
}

#[test]
fn the_lines_of_a_cell_are_judged_one_by_one() {
    let table = "| No | Text | Place |\n|---|---|---|\n\
                 | 1 | The log must be kept.\u{2028}It is a list.\u{2028}The owner must sign it. | App 1 |\n\
                 | 2 | The notice must state:\u{2028}- the name of the fund\u{2028}- its fees and costs | App 2 |\n\
                 | 3 | The owner must sign\u{2028}each of these pages. | App 3 |\n\
                 | 4 | It shall\u{2028}a) log it;\u{2028}b) keep it.\u{2028}Logs must be readable\u{2028}Exports must be signed |\n";
    check(
        table,
        &[
            (0, "No | Text | Place", None),
            (0, "1 | The log must be kept.", Some("must")),
            (0, "It is a list.", None),
            (0, "The owner must sign it.", Some("must")),
            (0, "App 1", None),
            (0, "2 | The notice must state:", Some("must")),
            (0, "the name of the fund", ENTRY),
            (0, "its fees and costs", ENTRY),
            (0, "App 2", None),
            (0, "3 | The owner must sign each of these pages. | App 3", Some("must")),
            (0, "4 | It shall", Some("shall")),
            (0, "log it;", ENTRY),
            (0, "keep it.", ENTRY),
            (0, "Logs must be readable", Some("must")),
            (0, "Exports must be signed", Some("must")),
        ],
    );
    let leads: Vec<Vec<u32>> = Scan::default().sentences(table).into_iter().map(|one| one.leads).collect();
    assert_eq!((&leads[2..4], &leads[6..8]), (&[vec![], vec![]][..], &[vec![6], vec![6]][..]));
}

/// Thousands of items cost linear time, and no stack.
#[test]
fn many_lists_and_lists_in_lists_without_end_are_cut_all_the_same() {
    let many = "It must: (a) keep it; (b) sign it. ".repeat(2_000);
    let deep = format!("{}{}", "it must: (a) keep ".repeat(500), "it; (b) sign it ".repeat(500));
    let signs = "\u{2022} a ".repeat(5_000);
    for text in [many, deep, signs] {
        assert!(!cut(&text).is_empty());
        let paragraphs: String =
            text.as_bytes().chunks(9_000).map(|part| format!("{}\n\n", String::from_utf8_lossy(part))).collect();
        assert!(!cut(&paragraphs).is_empty());
    }
}
