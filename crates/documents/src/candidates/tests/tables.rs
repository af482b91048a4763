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
