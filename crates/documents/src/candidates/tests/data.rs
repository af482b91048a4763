//! Data whose keys are sentences, and settings without quotation marks.

use super::*;

fn candidates(text: &str) -> Vec<String> {
    let sentences = Scan::default().sentences(text).into_iter();
    sentences.filter(|sentence| sentence.reason.is_some()).map(|sentence| sentence.text).collect()
}

#[test]
fn keys_that_are_sentences_are_sentences() {
    let duties = ["The clerk must sign.", "The guard must wait.", "The cook shall not leave.", "The owner must pay."];
    for text in [
        r#"{"title": "A b", "The clerk must sign.": true, "x": {"The guard must wait.": [1]}, "The cook shall not leave.": null, "y": ["The owner must pay."]}"#,
        "{\n  \"The clerk must sign.\": true,\n  \"x\": {\n    \"The guard must wait.\": [],\n    \"The cook shall not leave.\": -1\n  },\n  \"y\": \"The owner must pay.\"\n}",
        "{\"The clerk must sign.\": true}\n{\"x\": \"The guard must wait.\", \"The cook shall not leave.\": 1}\n[{\"The owner must pay.\": {}}]",
        "rules:\n  \"The clerk must sign.\": true\n  The guard must wait.: yes\n  'The cook shall not leave.':\n    - in the hall\nx:\n  The owner must pay.: null\n",
        "x: {\"The clerk must sign.\": true, The guard must wait.: no}\ny: [\"The cook shall not leave.\", \"The owner must pay.\"]\n",
        "\"The clerk must sign.\" = true\n[x.\"The guard must wait.\"]\n[[y]]\ntext = \"The cook shall not leave.\"\nz = { \"The owner must pay.\" = \"by noon\" }\n",
        "rules:\n  ? The clerk must sign.\n  : true\n  ? The guard must wait.\n  : - in the hall\n  ? |\n    The cook shall not leave.\n  : x\nx:\n  ? \"The owner must pay.\"\n  : null\n",
        "The clerk must sign.: 3\nThe guard must wait.: [a, b]\nThe cook shall not leave.: {}\nThe owner must pay.:\n",
        "The list:\n? The clerk must sign.\n? The guard must wait.\n? The cook shall not leave\n? The owner must pay.\n",
        "[x]\na.b=The clerk must sign.\na.c = The guard must wait.\nlist = [\"The cook shall not leave.\", \"The owner must pay.\"]\n",
    ] {
        let found = candidates(text);
        let says = |(one, duty): (&String, &str)| one.contains(duty.trim_end_matches('.'));
        assert!(found.len() == 4 && found.iter().zip(duties).all(says), "{text}: {found:?}");
    }
}

#[test]
fn a_colon_behind_a_quotation_is_no_key() {
    for text in [
        "The \"register\": the book that the clerk must keep.",
        "\"Sign here\": these words must be on each page of the register.",
        "A guest who says \"I know\": \"I do not\" must leave the hall at once.",
    ] {
        assert!(candidates(text).concat().contains("must"), "{text}");
    }
    let prose = "The clerk must keep a register in which\nrate = number of pages of it, and\nthe guard reads it.\n";
    assert_eq!(cut(prose).len(), 1);
}

#[test]
fn a_row_of_a_table_without_a_frame_is_a_sentence() {
    for separator in [";", "|", "\t"] {
        let row = |duty: &str| ["7", duty, "open\n"].join(separator);
        let text = ["The clerk must sign.", "The guard must wait", "The cook shall not leave."].map(row).concat();
        let found = candidates(&format!("The list is below.\n{text}It ends here."));
        assert!(found.len() == 3 && found[1].contains("must wait"), "{text}: {found:?}");
    }
    let prose =
        "The clerk must sign; the guard; the\ncook; the owner; and the visitor leave\nat noon, and none comes back.\n";
    assert_eq!(cut(prose).len(), 1);
    let indented = "\t\tThe clerk must keep a register\n\t\tof all books that are in\n\t\tthe hall of the house.\n";
    assert_eq!(cut(indented).len(), 1);
}

#[test]
fn entries_that_are_alike_are_sentences() {
    let duties = ["The clerk must sign", "The guard must wait for\nall of the guests", "The cook shall not leave"];
    for labels in [
        ["R1 ", "R2 ", "R3 "],
        ["REQ-001 ", "REQ-002 ", "REQ-010 "],
        ["[R-1.1] ", "[R-1.2] ", "[R-2.1] "],
        ["#1 ", "#2 ", "#3 "],
        ["A.1 ", "A.2 ", "A.3 "],
        ["1 ", "2 ", "3 "],
        ["Step 1: ", "Step 2: ", "Step 3: "],
        ["2026-01-05 ", "2026-01-06 ", "2026-02-01 "],
        ["•", "•", "•"],
        ["-", "-", "-"],
        ["=> ", "=> ", "=> "],
        ["o ", "o ", "o "],
    ] {
        let text: String = labels.iter().zip(duties).map(|(label, duty)| format!("{label}{duty}\n")).collect();
        let found = candidates(&text);
        assert!(found.len() == 3 && found[1].ends_with("all of the guests"), "{text}: {found:?}");
    }
    let cells = "1    The clerk must sign         HR\n2    The guard must wait         Ops\n3    The cook shall not leave    CEO\n";
    assert_eq!(candidates(cells).len(), 3);
    for prose in [
        "The clerk must keep the register for at least\n10 Years after the end of the year, or for\n6 Months if the guard agrees to it.\n",
        "The clerk must keep a  register of   all the\nbooks, of the   papers and   of the other\nthings that   are in the hall.\n",
    ] {
        assert_eq!(cut(prose).len(), 1, "{prose}");
    }
}
