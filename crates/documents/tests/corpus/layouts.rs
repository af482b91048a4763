//! Layouts of PDF pages: which text interrupts no sentence beside it, and which cells of a table are one.

use crate::beside::told;
use crate::make::{lines, parser, pdf};
use plumbline_documents::Kind;

/// A line of text of a size, at a place.
fn line(size: u32, (x, y): (u32, u32), text: &str) -> String {
    format!("BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

/// A line that runs up the page.
fn upward(size: u32, (x, y): (u32, u32), text: &str) -> String {
    format!("BT /F1 {size} Tf 0 1 -1 0 {x} {y} Tm ({text}) Tj ET\n")
}

/// A drawn line.
fn rule((x, y): (u32, u32), (to_x, to_y): (u32, u32)) -> String {
    format!("{x} {y} m {to_x} {to_y} l S\n")
}

/// Six pages of fourteen lines each, with a piece of content that may differ from page to page.
fn pages(beside: impl Fn(usize) -> String) -> Vec<String> {
    let systems = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
    let page = |(at, system): (usize, &&str)| {
        let text: Vec<String> = (0..14)
            .map(|row| match row {
                0 => format!("The operator of {system} shall keep a register of all systems and"),
                13 => format!("that the office of {system} has asked for in the year."),
                _ => format!("of the users of kind {row} of {system} with the names of the owners"),
            })
            .collect();
        lines(90, 700, &text.iter().map(String::as_str).collect::<Vec<_>>()) + &beside(at)
    };
    systems.iter().enumerate().map(page).collect()
}

#[tokio::test]
async fn a_note_up_the_margin_is_no_part_of_the_lines_beside_it() {
    let note = "This publication is free of charge.";
    let (text, warnings) = told(Kind::Pdf, &pdf(&pages(|_| upward(8, (36, 550), note)))).await;
    assert!(!text.contains("free of charge"), "{text}");
    assert_eq!(warnings, [format!("Pages 1-6: left out as a running header or footer: \u{ab}{note}\u{bb}.")]);
    let notes = |at: usize| upward(8, (36, 550), &format!("Note {} of the {}th reader", at + 7, at * at + 4));
    let (text, warnings) = told(Kind::Pdf, &pdf(&pages(notes))).await;
    assert_eq!(warnings, [""; 0]);
    assert!(text.contains("asked for in the year. Note 7 of the 4th reader The operator of beta shall"), "{text}");
}

#[tokio::test]
async fn a_mark_across_the_page_is_no_part_of_the_lines_below_it() {
    let mark = |_| "BT /F1 60 Tf 0.7071 0.7071 -0.7071 0.7071 160 520 Tm (DRAFT) Tj ET\n".to_owned();
    let (text, warnings) = told(Kind::Pdf, &pdf(&pages(mark))).await;
    assert!(!text.contains("DRAFT") && text.contains("kind 5 of alpha with the names of the owners of"), "{text}");
    assert_eq!(warnings, ["Pages 1-6: left out as a running header or footer: \u{ab}DRAFT\u{bb}."]);
}

#[tokio::test]
async fn a_sentence_over_the_end_of_a_page_is_one_with_a_note_between() {
    let first = lines(
        70,
        140,
        &["The operator shall keep a register of all systems, and where a system", "holds data of customers the"],
    ) + &rule((70, 110), (200, 110))
        + &line(7, (70, 98), "7 The term is defined in the annex.")
        + &line(7, (70, 88), "8 See there as well.");
    let second = lines(70, 700, &["register shall name the owner. Logs shall be kept as well."]);
    let (text, _) = told(Kind::Pdf, &pdf(&[first, second])).await;
    let expected = "7 The term is defined in the annex. 8 See there as well. The operator shall keep a register of all \
                    systems, and where a system holds data of customers the register shall name the owner.";
    assert!(text.starts_with(expected), "{text}");
}

#[tokio::test]
async fn text_larger_than_most_of_a_document_is_text() {
    let entries = |top: u32| -> String {
        let entry = |row: u32| {
            line(6, (90, top - 9 * row), &format!("\\({}\\) Substance number {row}, as listed ... 96{row}", 31 + row))
        };
        (0..10).map(entry).collect()
    };
    let larger = [
        "\\(c\\) Opium derivatives. Unless listed in an-",
        "other schedule, any of the following",
        "opium derivatives, its salts, isomers,",
        "and salts of isomers shall be listed.",
    ];
    let text: String = (0u32..).zip(larger).map(|(row, text)| line(9, (70, 590 - 11 * row), text)).collect();
    let document = parser().extract(Kind::Pdf, &pdf(&[entries(700) + &text + &entries(530)]), None).await.unwrap();
    let page = &document.pages[0].text;
    let expected = "(c) Opium derivatives. Unless listed in another schedule, any of the following opium derivatives, its salts, \
                    isomers, and salts of isomers shall be listed.";
    assert!(page.split("\n\n").any(|block| block == expected), "{page}");
}

#[tokio::test]
async fn a_cell_of_several_lines_beside_several_rows_is_one() {
    let cells = |x: u32, top: u32, texts: &[&str]| lines(x, top, texts);
    let grid: String = [780, 735, 680].map(|y| rule((70, y), (525, y))).concat()
        + &[70, 300, 360, 525].map(|x| rule((x, 780), (x, 680))).concat();
    let content = grid
        + &cells(74, 766, &["3.1.1 Limit access to authorized", "users."])
        + &cells(304, 766, &["AC-2", "AC-3"])
        + &cells(364, 766, &["Accounts", "Access"])
        + &cells(
            74,
            720,
            &["3.1.2 Limit access to the types of", "transactions that users are", "permitted to execute."],
        )
        + &cells(304, 720, &["AC-4", "AC-5", "AC-6"])
        + &cells(364, 720, &["Flow", "Separation", "Least privilege"]);
    let (text, _) = told(Kind::Pdf, &pdf(&[content])).await;
    let expected =
        "| 3.1.2 Limit access to the types of transactions that users are permitted to execute. | AC-4 AC-5 AC-6 |";
    assert!(text.contains(expected), "{text}");
}

#[tokio::test]
async fn a_table_of_a_page_that_is_stored_turned_is_a_table() {
    let row = |x: u32, cells: [&str; 3]| -> String {
        [60, 160, 560].into_iter().zip(cells).map(|(y, cell)| upward(11, (x, y), cell)).collect()
    };
    let content = upward(11, (60, 60), "Annex A: requirements of the operator")
        + &row(100, ["Id", "Requirement", "Owner"])
        + &row(124, ["R-1", "The operator shall keep a register.", "Legal"])
        + &row(148, ["R-2", "Backups shall be tested monthly.", "IT"])
        + &row(172, ["R-3", "Access shall be revoked within a day.", "IT"])
        + &upward(11, (260, 60), "The annex is part of the contract and shall be signed by both parties.");
    let (text, _) = told(Kind::Pdf, &pdf(&[content])).await;
    assert!(text.contains("| R-2 | Backups shall be tested monthly. | IT |"), "{text}");
    assert!(text.ends_with("The annex is part of the contract and shall be signed by both parties."), "{text}");
}

#[tokio::test]
async fn a_word_parted_at_the_end_of_a_column_is_whole() {
    let left: Vec<String> =
        (0..20).map(|row| format!("The hall of the year {row} has two boilers and a yard.")).collect();
    let right: Vec<String> =
        (0..20).map(|row| format!("The cellar of the year {row} has two valves or three.")).collect();
    let (mut left, mut right): (Vec<&str>, Vec<&str>) =
        (left.iter().map(String::as_str).collect(), right.iter().map(String::as_str).collect());
    left[19] = "The clerk shall keep the certificates of ori-";
    right[0] = "gin of the year in the archive of the plant.";
    let (text, _) = told(Kind::Pdf, &pdf(&[lines(50, 700, &left) + &lines(330, 700, &right)])).await;
    assert!(text.contains("keep the certificates of origin of the year in the archive"), "{text}");
}

#[tokio::test]
async fn entries_of_a_nested_list_are_apart() {
    let entries = [
        (70, "1. General matters"),
        (90, "a. The clerk shall file the ledger of the northern plant before the end of the month."),
        (90, "b. The operator must inspect every valve in the cellar, and an officer signs the result."),
        (110, "i. Each supplier is required to deliver the certificates of origin with the form."),
        (70, "2. Records of the plant shall be kept for ten years."),
    ];
    let draw = |(row, (x, text)): (u32, &(u32, &str))| line(10, (*x, 700 - 12 * row), text);
    let page: String = (0..).zip(&entries).map(draw).collect();
    let document = parser().extract(Kind::Pdf, &pdf(&[page]), None).await.unwrap();
    let text = &document.pages[0].text;
    for (_, entry) in entries {
        assert!(text.lines().any(|line| line.trim() == entry), "{entry} in {text}");
    }
}
