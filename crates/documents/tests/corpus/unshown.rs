//! Text that a word processor or a browser does not show is left out and named; tables are rows, whatever their markup.

use crate::beside::told;
use crate::make::odt;
use plumbline_documents::Kind;

#[tokio::test]
async fn what_an_opendocument_text_hides_is_named() {
    let paragraph = |field: &str| format!("<text:p>Scope.</text:p><text:p>{field}It shall run.</text:p>");
    let section = |more: &str| {
        format!("<text:p>Scope.</text:p><text:section {more}><text:p>It shall run.</text:p></text:section>")
    };
    for (body, is_hidden) in [
        (paragraph("<text:hidden-paragraph text:condition=\"x\" text:is-hidden=\"true\"/>"), true),
        (paragraph("<text:hidden-paragraph text:condition=\"x\" text:is-hidden=\"false\"/>"), false),
        (paragraph("<text:hidden-paragraph text:condition=\"x\"/>"), false),
        (section("text:display=\"none\""), true),
        (section("text:display=\"condition\" text:is-hidden=\"true\""), true),
        (section("text:display=\"condition\""), false),
    ] {
        let (text, warnings) = told(Kind::Odt, &odt("", &body)).await;
        assert_eq!(text.contains("It shall run."), !is_hidden, "{body}");
        let said: &[&str] = if is_hidden { &["Left out as hidden: \u{ab}It shall run.\u{bb}."] } else { &[] };
        assert_eq!(warnings, said, "{body}");
    }
}

#[tokio::test]
async fn a_cell_that_another_one_covers_is_empty_and_named() {
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let covered = "<table:covered-table-cell><text:p>It shall hide.</text:p></table:covered-table-cell>";
    let rows = [
        cell("a") + &cell("b"),
        covered.to_owned() + &cell("c"),
        "<table:covered-table-cell/>".to_owned() + &cell("d"),
    ];
    let rows: String = rows.iter().map(|row| format!("<table:table-row>{row}</table:table-row>")).collect();
    let (text, warnings) = told(Kind::Odt, &odt("", &format!("<table:table>{rows}</table:table>"))).await;
    assert_eq!(text, "| a | b | | --- | --- | | | c | | | d |");
    assert_eq!(warnings, ["Left out as hidden behind the cell before it: \u{ab}It shall hide.\u{bb}."]);
}
