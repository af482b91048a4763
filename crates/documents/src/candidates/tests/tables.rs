//! Rows of tables: column names, columns with obligations, tables with one requirement, tables under a lead.

use super::check;

const ROW: Option<&str> = Some("table row");

#[test]
fn a_first_row_that_says_something_is_a_row() {
    check(
        "| The vault must be locked. |\n| --- |\n\n| Description | The system shall log each access. |\n| --- | --- |\n| Priority | High |\n",
        &[
            (0, "The vault must be locked.", Some("must")),
            (0, "Description | The system shall log each access.", Some("shall")),
            (0, "Priority | High", None),
        ],
    );
}

#[test]
fn a_table_may_hold_one_requirement() {
    check(
        "| ID | R-7 |\n| --- | --- |\n| Description | Signed firmware only |\n| Priority | High |\n\n| Town | Description |\n| --- | --- |\n| Ulm | A very tall spire |\n",
        &[
            (0, "ID | R-7", None),
            (0, "Description | Signed firmware only", ROW),
            (0, "Priority | High", None),
            (0, "Town | Description", None),
            (0, "Ulm | A very tall spire", None),
        ],
    );
}

#[test]
fn only_a_column_about_obligation_makes_a_row_optional() {
    check(
        "| Id | Requirement | Compliant | Month |\n| --- | --- | --- | --- |\n| R-1 | Doors that close | No | May |\n\n\
         | Id | Requirement | Mandatory |\n| --- | --- | --- |\n| R-2 | Doors that open wide | No |\n| R-3 | Doors that close well | Yes |\n",
        &[
            (0, "Id | Requirement | Compliant | Month", None),
            (0, "R-1 | Doors that close | No | May", ROW),
            (0, "Id | Requirement | Mandatory", None),
            (0, "R-2 | Doors that open wide | No", None),
            (0, "R-3 | Doors that close well | Yes", ROW),
        ],
    );
}

#[test]
fn rows_are_under_the_sentence_above_their_table() {
    check(
        "The prospectus contains, at a minimum, the information in the following table.\n\n| No | Content |\n| --- | --- |\n| 1 | Name of the fund |\n\n[page 2]\n\n\
         | No | Content |\n| --- | --- |\n| 2 | Date of its rules |\n\n[page 3]\n\n| 3 | The second half of a row, which a page has torn |\n| --- | --- |\n\nThe sky is blue.\n\n| No | Content |\n| --- | --- |\n| 1 | Name of a star |\n",
        &[
            (0, "The prospectus contains, at a minimum, the information in the following table.", None),
            (0, "No | Content", None),
            (0, "1 | Name of the fund", ROW),
            (2, "No | Content", None),
            (2, "2 | Date of its rules", ROW),
            (3, "3 | The second half of a row, which a page has torn", ROW),
            (3, "The sky is blue.", None),
            (3, "No | Content", None),
            (3, "1 | Name of a star", None),
        ],
    );
}

#[test]
fn a_cell_is_read_by_itself() {
    check(
        "| Id | Text |\n| --- | --- |\n| 3.1.8 | Limit the attempts to log on. |\n| 4 | \"The clerk must sign, and date, each page\" |\n",
        &[
            (0, "Id | Text", None),
            (0, "3.1.8 | Limit the attempts to log on.", Some("instruction")),
            (0, "4 | \"The clerk must sign, and date, each page\"", Some("must")),
        ],
    );
}

/// The sentences that are candidates.
fn candidates(text: &str) -> Vec<String> {
    super::scanned(text).into_iter().filter(|(_, _, reason)| reason.is_some()).map(|(_, words, _)| words).collect()
}

#[test]
fn an_entry_of_a_table_of_contents_states_no_duty() {
    for text in [
        "1 The operator must sign ........ 3\n1.1 Logs shall be kept .......... 4\n1.2 Access must be controlled .................. 12\n",
        "The operator must sign . . . . . 3\n\nLogs shall be kept . . . . A-4\n\nAll access must be controlled . . . . A-4\n",
        "The operator must sign … iii\n\nLogs shall be kept … 4\n\n[page 2]\n\nAll access must be controlled … 5\n",
        "- The operator must sign____ 3\n- Logs shall be kept________ 4\n- All access must be controlled at each of\n  the doors____ 4\n",
        "| The operator must sign .... | 3 |\n| --- | --- |\n| Logs shall be kept .... | 3 |\n| Keys must be kept .... | 4 |\n",
        "1. Der Betreiber muss prüfen ····· 3\n2. Belege sind aufzubewahren ····· 4\n3. Zugriffe müssen enden ····· 5\n",
    ] {
        assert_eq!(candidates(text), [""; 0], "{text}");
    }
    let title = "1 The operator must sign .... 3\n2 Logs that the law names shall be\n  kept for ten years .... 4\n3 Keys .... 5\n";
    assert_eq!(super::scanned(title)[1].1, "2 Logs that the law names shall be kept for ten years .... 4");
}

#[test]
fn a_row_of_a_table_of_contents_is_its_words() {
    let rows =
        "| The operator must sign … | 3 |\n| --- | --- |\n| Logs shall be kept … | 3 |\n| Keys must be kept … | 4 |\n";
    assert_eq!(super::scanned(rows)[1].1, "Logs shall be kept … | 3");
}

#[test]
fn a_sentence_with_dots_is_no_entry_of_a_table_of_contents() {
    for (text, expected) in [
        ("The operator must sign ...\n\nLogs shall be kept ...\n\nAccess must be controlled....\n", 3),
        ("The fee must be ........ 500\n\nThe rent must be ....... 700\n", 2),
        ("The fee must be ........ 500\n\nThe rent must be ....... 300\n\nThe share must be ...... 200\n", 3),
        ("Heat must lie between 3 … 7\n\nDust must lie between 3 … 8\n\nNoise must lie between 3 … 9\n", 3),
        ("The vendor must name: ........\n\nThe board shall be told within ..... days.\n\nIt must be 1 .... 12.\n", 3),
        (
            "See .... 3\n\nThe operator must sign in the year of 2021\n\nSee .... 4\n\nSee .... 5\n\nLogs shall be kept.\n",
            2,
        ),
    ] {
        assert_eq!(candidates(text).len(), expected, "{text}: {:?}", candidates(text));
    }
}
