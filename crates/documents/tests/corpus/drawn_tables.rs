//! Tables drawn with signs in Markdown and plain text, and other marks of pandoc: each duty is one candidate, whole.

use crate::losses::told;
use plumbline_documents::{Kind, candidates::Scan};

const KEEP: &str = "The operator shall keep a register of all processing.";
const REPORT: &str = "The vendor must report breaches within one day.";

/// A table's text as Markdown and as plain text, and its candidates.
async fn read(text: &str) -> (String, Vec<String>) {
    let (found, warnings) = told(Kind::Markdown, text.as_bytes()).await;
    assert_eq!((&found, ""), (&told(Kind::Text, text.as_bytes()).await.0, warnings.as_str()));
    let sentences = Scan::default().sentences(&found).into_iter();
    let candidates = sentences.filter(|sentence| sentence.reason.is_some()).map(|sentence| sentence.text).collect();
    (found.replace('\u{2028}', " / "), candidates)
}

fn rows() -> String {
    format!("| Id | Rule | Owner |\n| --- | --- | --- |\n| R-1 | {KEEP} | IT |\n| R-2 | {REPORT} | Legal |\n")
}

#[tokio::test]
async fn drawn_tables_are_rows() {
    let grid = "\
+-----+------------------------+-------+
| Id  | Rule                   | Owner |
+=====+:======================:+=======+
| R-1 | The operator shall     | IT    |
|     | keep a register of all |       |
|     | processing.            |       |
+-----+------------------------+-------+
| R-2 | The vendor must report | Legal |
|     | breaches within        |       |
|     | one day.               |       |
+-----+------------------------+-------+
";
    let multiline = "\
---------------------------------------
 Id  Rule                    Owner
---- ----------------------- ----------
R-1  The operator shall      IT
     keep a register of all
     processing.

R-2  The vendor must report  Legal
     breaches within
     one day.
---------------------------------------
";
    let simple = format!(
        "Id    {:60} Owner\n----  {} ------\nR-1   {KEEP:60} IT\nR-2   {REPORT:60} Legal\n",
        "Rule",
        "-".repeat(59)
    );
    let equals = format!("==== {}\n", "=".repeat(30));
    let equals = format!(
        "{equals}Id   Rule\n{equals}R-1  The operator shall keep a\n     register of all processing.\nR-2  {}\n\
         \x20    {}\n{equals}",
        "The vendor must report", "breaches within one day."
    );
    for table in [grid, multiline, simple.as_str()] {
        let (text, candidates) = read(&format!("# Rules\n\n{table}\nThe owner must sign.\n")).await;
        assert_eq!(text, format!("# Rules\n\n{}\n\nThe owner must sign.", rows()).replace("\n\n\n", "\n\n"), "{table}");
        let row = |id: &str, rule: &str, owner: &str| format!("{id} | {rule} | {owner}");
        let expected = [row("R-1", KEEP, "IT"), row("R-2", REPORT, "Legal"), "The owner must sign.".to_owned()];
        assert_eq!(candidates, expected, "{table}");
    }
    assert_eq!(read(&equals).await.1, [format!("R-1 | {KEEP}"), format!("R-2 | {REPORT}")]);
    assert_eq!(read(&equals).await.0.lines().next(), Some("| Id | Rule |"));
}

#[tokio::test]
async fn a_drawn_table_may_have_no_header_and_lists_in_its_cells() {
    let grid = "\
+-----+------------------------+
| R-1 | The vendor shall:      |
|     |                        |
|     | - keep logs            |
|     |   of a|b;              |
|     | - train its staff.     |
+-----+------------------------+
";
    let (text, candidates) = read(grid).await;
    assert_eq!(text, "| R-1 | The vendor shall: / - keep logs of a\\|b; / - train its staff. |");
    assert_eq!(candidates, ["R-1 | The vendor shall:", "keep logs of a\\|b;", "train its staff."]);
    let rules = "----  ---------------------\nR-1   It shall run.\nR-2   It must stop.\n----  ---------------------\n";
    assert_eq!(read(rules).await.1, ["R-1 | It shall run.", "R-2 | It must stop."]);
}

#[tokio::test]
async fn cells_of_a_drawn_table_may_span_rows_and_columns() {
    let grid = "\
+-----+--------------------------------+
| Id  | What is asked                  |
|     +------------------------+-------+
|     | Rule                   | Owner |
+=====+========================+=======+
| R-1 | The operator shall     | IT    |
|     | keep a register of all |       |
|     | processing.            |       |
+-----+------------------------+       |
| R-2 | The vendor must report |       |
|     | breaches within        |       |
|     | one day.               |       |
+-----+------------------------+-------+
| The owner must sign both,    | Legal |
| each on a page of its own.   |       |
+-----+------------------------+-------+
| R-3 | The guard shall wait   | in    |
+-----+ in the hall until the  +-------+
| R-4 | doors are closed.      | out   |
+-----+------------------------+-------+
";
    let (text, candidates) = read(grid).await;
    assert_eq!(
        text,
        format!(
            "| Id | What is asked Rule | What is asked Owner |\n| --- | --- | --- |\n| R-1 | {KEEP} | IT |\n| R-2 | {REPORT} | \
             IT |\n| The owner must sign both, each on a page of its own. |  | Legal |\n| R-3 | The guard shall wait in the \
             hall until the doors are closed. | in |\n| R-4 |  | out |"
        )
    );
    assert_eq!(candidates.len(), 4, "{candidates:?}");
    let rows = "+----+----+\n| a  | b  |\n+----+    +\n| c  |    |\n+----+----+";
    assert_eq!(read(rows).await.0, "| a | b |\n| c | b |");
}

#[tokio::test]
async fn what_only_looks_like_a_drawn_table_stays_as_it_is() {
    for text in [
        "Title of it\n---- -----\n\nThe operator shall keep it.",
        "-----\ntitle: The operator shall keep it\n-----\n\nIt must run.",
        "The operator shall keep a\nregister. It must\n--- --- ---\nrun for years.",
        "---- ----\nThe operator shall keep it.\n\nThe vendor must stop.\n",
        "```\n+----+----+\n| a  | b  |\n+----+----+\n```",
        "+----+----+\n| The operator shall keep it.\n\nIt must run.",
        "+----+----+\n| a  | b  |\n+----+\n| c  |    |\n+----+----+",
        "+----+----+\n| a  | b  |\n|    +    |\n| c  |    |\n+-- -+----+",
        "Id    Rule\n----  ----\nThe operator shall keep it, always.\n",
        "| a | b |\n| --- | --- |\n| c | d |",
    ] {
        assert_eq!(read(text).await.0, text.trim_end(), "{text}");
    }
}

#[tokio::test]
async fn marks_of_pandoc_are_no_text_and_part_no_sentence() {
    for (text, expected) in [
        (
            "Register\n\n:   The operator shall\n    keep it.\n\n    It must run.\n",
            vec!["The operator shall keep it.", "It must run."],
        ),
        ("Register\n: It shall run.\n: It must stop.\n", vec!["It shall run.", "It must stop."]),
        (
            "The verse:\n\n| It shall run.\n| The vendor must\n  stop it.\n| It must end.\n",
            vec!["It shall run.", "The vendor must stop it.", "It must end."],
        ),
        (
            "::: warning\nIt shall run.\n:::\n\n:::: {#a .b c=\"d e\"}\nIt must stop.\n::::\n",
            vec!["It shall run.", "It must stop."],
        ),
        ("::: The operator must sign it.\nIt runs.\n:::\n", vec!["::: The operator must sign it."]),
        (
            "It shall run.[^1] It must stop.[2] It must end.^[It must not begin.]\n",
            vec!["It shall run.[^1]", "It must stop.[2]", "It must end.", "^[It must not begin.]"],
        ),
        (
            "#. It shall run.\n#. It must stop.\n\n(@a) It must end.\n",
            vec!["It shall run.", "It must stop.", "It must end."],
        ),
        (
            "| Id | Rule |\n| --- | --- |\n| 1 | It shall run. |\n  It must stop.\n",
            vec!["1 | It shall run.", "It must stop."],
        ),
        ("The list names\nthe key: value.\nIt must run at 5\n: 3 of each.\n", vec!["It must run at 5 : 3 of each."]),
    ] {
        assert_eq!(read(text).await.1, expected, "{text}");
    }
}
