//! Chunk files in, normative sentences out.

use super::{Finding, ends_in_mid_sentence, findings};

fn check(chunks: &[&str], expected: &[(&str, Option<u32>, Option<&str>)]) -> Vec<Finding> {
    let found = findings(chunks, chunks.len());
    let lines: Vec<_> = found.iter().map(|f| (f.text.as_str(), f.page, f.section.as_deref())).collect();
    assert_eq!(lines, expected);
    found
}

#[test]
fn page_marks_and_headings_locate_sentences() {
    let chunk = "<!-- source: input/p.pdf | pages: 3-4 | section: 2 Scope -->\n\
                 [page 3]\nThe archive keeps records. Every invoice must be kept\nfor ten years.\n\n\
                 ## 2.1 Records\n\nStaff should label each box.\n\n[page 4]\n\nKeys shall be locked away.\n";
    let found = check(
        &[chunk],
        &[
            ("Every invoice must be kept for ten years.", Some(3), Some("2 Scope")),
            ("Staff should label each box.", Some(3), Some("2.1 Records")),
            ("Keys shall be locked away.", Some(4), Some("2.1 Records")),
        ],
    );
    assert!(found.iter().all(|finding| finding.source == "input/p.pdf" && !finding.fragment));
}

#[test]
fn a_sentence_over_a_page_break_is_one_sentence() {
    let chunk = "[page 7]\nThe controller must inform the\n\n[page 8]\n\nauthority within three days.\n";
    let found = check(&[chunk], &[("The controller must inform the authority within three days.", Some(7), None)]);
    assert!(found[0].crosses_page);
}

#[test]
fn a_finished_sentence_does_not_swallow_the_next_page() {
    let chunk = "[page 7]\nThe controller must inform the authority.\n[page 8]\nThe file shall be closed at once.\n";
    let found = check(
        &[chunk],
        &[
            ("The controller must inform the authority.", Some(7), None),
            ("The file shall be closed at once.", Some(8), None),
        ],
    );
    assert!(found.iter().all(|finding| !finding.crosses_page));
}

#[test]
fn a_sentence_over_a_chunk_end_is_one_sentence() {
    let first = "<!-- source: input/a.md -->\nThe owner of a record must name";
    let second = "<!-- source: input/a.md -->\na deputy in writing.";
    check(&[first, second], &[("The owner of a record must name a deputy in writing.", None, None)]);
    check(&[second], &[]);
    check(&["<!-- source: input/a.md -->\na deputy must be named in writing."], &[]);
}

#[test]
fn the_chunk_behind_only_completes_a_sentence() {
    let own = "<!-- source: input/a.md -->\nThe owner of a record must name";
    let behind = "<!-- source: input/a.md -->\na deputy in writing.\n\nThe deputy must be trained at once.";
    let found = findings(&[own, behind], 1);
    let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(texts, ["The owner of a record must name a deputy in writing."]);
    assert!(ends_in_mid_sentence(own) && !ends_in_mid_sentence(behind));
}

#[test]
fn items_and_cells_need_no_full_stop() {
    let chunk = "Duties:\n\n- boxes must be labelled clearly\n- Lids are shut\n\n\
                 | Record | Rule |\n|---|---|\n| Invoice | Invoices must be kept ten years |\n";
    let found = check(
        &[chunk],
        &[("boxes must be labelled clearly", None, None), ("Invoices must be kept ten years", None, None)],
    );
    assert!(found.iter().all(|finding| finding.fragment));
}

#[test]
fn what_is_no_text_is_left_out() {
    let chunk = "1.2 What must be kept . . . . . . . 12\nThe rules that must hold..........13\nWhen a reboot is required … 91\n\n\
                 ```\nThis line must not be read as text.\n```\n\n# What you must know about archives\n\n\
                 Must it be kept for ten years?\nMust go.\n\nWhat everybody must know about boxes\n\n12\n";
    check(&[chunk], &[]);
}

#[test]
fn numbered_paragraphs_keep_their_numbers_out_of_the_text() {
    let chunk =
        "3.1 Retention\n\n3.1.1 Invoices must be kept for ten years.\n\n(a) Letters shall be kept for six years.\n";
    check(
        &[chunk],
        &[
            ("Invoices must be kept for ten years.", None, Some("3.1 Retention")),
            ("Letters shall be kept for six years.", None, Some("3.1 Retention")),
        ],
    );
}

#[test]
fn german_text_is_read_alike() {
    let chunk = "<!-- source: input/r.pdf | pages: 2 | section: § 4 Fristen -->\n\
                 Rechnungen sind gem. § 147 Abs. 3 AO zehn Jahre aufzubewahren. Belege, z. B. Quittungen, dürfen bis\n\
                 zum 31. Dezember nicht vernichtet werden. Das Archiv ist offen.\n";
    check(
        &[chunk],
        &[
            ("Rechnungen sind gem. § 147 Abs. 3 AO zehn Jahre aufzubewahren.", Some(2), Some("§ 4 Fristen")),
            (
                "Belege, z. B. Quittungen, dürfen bis zum 31. Dezember nicht vernichtet werden.",
                Some(2),
                Some("§ 4 Fristen"),
            ),
        ],
    );
}

#[test]
fn the_same_sentence_is_found_once() {
    let text = "Doors must be locked at night. Doors must be locked at night.";
    check(&[text, text], &[("Doors must be locked at night.", None, None)]);
}

#[test]
fn a_finding_knows_its_chunk_though_another_has_the_same_words() {
    let chunk = |lead: &str| format!("<!-- source: input/p.pdf -->\n{lead} must:\n- keep a copy of every invoice.\n");
    let (clerk, agent) = (chunk("The clerk"), chunk("The agent"));
    let found = findings(&[clerk.as_str(), agent.as_str()], 2);
    let places: Vec<(usize, &str)> = found.iter().map(|finding| (finding.chunk, finding.text.as_str())).collect();
    assert_eq!(
        places,
        [(0, "The clerk must keep a copy of every invoice."), (1, "The agent must keep a copy of every invoice.")]
    );
}
