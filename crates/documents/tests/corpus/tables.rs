//! Tables of word processing: merged cells, and labels beside several rows.

use crate::losses::{run, told, word};
use crate::make::odt_with;
use plumbline_documents::Kind;

#[tokio::test]
async fn merged_cells_and_readings_of_characters_are_not_in_the_text() {
    let cell = |merge: &str, text: &str| format!("<w:tc><w:tcPr>{merge}</w:tcPr><w:p>{}</w:p></w:tc>", run("", text));
    let rows = [
        cell("<w:vMerge w:val=\"restart\"/>", "Logs shall be kept.") + &cell("", "IT"),
        cell("<w:vMerge/>", "Old rule.") + &cell("", "Legal"),
        cell("<w:vMerge w:val=\"continue\"/>", "") + &cell("<w:vMerge w:val=\"restart\"/>", "Board"),
    ];
    let rows: String = rows.iter().map(|row| format!("<w:tr>{row}</w:tr>")).collect();
    let (text, warnings) = told(Kind::Docx, &word(&format!("<w:tbl>{rows}</w:tbl>"), &[])).await;
    assert!(["Logs shall be kept.", "IT", "Legal", "Board"].iter().all(|shown| text.contains(shown)), "{text}");
    assert!(!text.contains("Old rule"), "{text}");
    assert_eq!(warnings, "Left out as hidden behind the cell above it: \u{ab}Old rule.\u{bb}.");
    let ruby = format!(
        "<w:p><w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>{}</w:p>",
        run("", "\u{304d}\u{308d}\u{304f}"),
        run("", "\u{8a18}\u{9332}"),
        run("", "\u{3092}\u{4fdd}\u{5b58}\u{3059}\u{308b}")
    );
    let (text, warnings) = told(Kind::Docx, &word(&ruby, &[])).await;
    assert_eq!((text.as_str(), warnings.as_str()), ("\u{8a18}\u{9332}\u{3092}\u{4fdd}\u{5b58}\u{3059}\u{308b}", ""));
}

/// A number or name beside several rows is read with each of them; a sentence counts once.
#[tokio::test]
async fn a_label_is_in_each_row_that_it_spans() {
    let shown = "| R1 | Logs shall be kept. | IT |\n| --- | --- | --- |\n| R1 | Keys shall be changed. | |\n| R2 | | |";
    let cell = |merge: &str, text: &str| format!("<w:tc><w:tcPr>{merge}</w:tcPr><w:p>{}</w:p></w:tc>", run("", text));
    let (first, next) = ("<w:vMerge w:val=\"restart\"/>", "<w:vMerge/>");
    let word_rows = [
        cell(first, "R1") + &cell("", "Logs shall be kept.") + &cell("", "IT"),
        cell(next, "") + &cell("", "Keys shall be changed.") + &cell("", ""),
        cell("", "R2") + &cell("", "") + &cell("", ""),
    ];
    let word_rows: String = word_rows.iter().map(|row| format!("<w:tr>{row}</w:tr>")).collect();
    let cell = |own: &str, text: &str| format!("<table:table-cell {own}><text:p>{text}</text:p></table:table-cell>");
    let open_rows = [
        cell("table:number-rows-spanned=\"2\"", "R1") + &cell("", "Logs shall be kept.") + &cell("", "IT"),
        "<table:covered-table-cell/>".to_owned() + &cell("", "Keys shall be changed."),
        cell("", "R2"),
    ];
    let open_rows: String = open_rows.iter().map(|row| format!("<table:table-row>{row}</table:table-row>")).collect();
    for (kind, bytes) in [
        (Kind::Docx, word(&format!("<w:tbl>{word_rows}</w:tbl>"), &[])),
        (Kind::Odt, odt_with("", &format!("<table:table>{open_rows}</table:table>"), &[])),
    ] {
        let (text, warnings) = told(kind, &bytes).await;
        assert_eq!((text.replace("  ", " ").as_str(), warnings.as_str()), (shown, ""), "{kind}");
    }
}
