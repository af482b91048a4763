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

fn page(head: &str, body: &str) -> Vec<u8> {
    format!("<!doctype html><html><head>{head}</head><body><p>Scope.</p>{body}</body></html>").into_bytes()
}

#[tokio::test]
async fn what_a_style_sheet_of_a_page_hides_or_strikes_is_named() {
    let text = "<p class='note draft'>It shall <span class=old>not</span> run.</p>";
    for (sheet, expected, said) in [
        (".draft{display:none}", "Scope.", Some("Left out as hidden: \u{ab}It shall not run.\u{bb}.")),
        ("p.draft { visibility: hidden }", "Scope.", Some("Left out as hidden: \u{ab}It shall not run.\u{bb}.")),
        (
            ".old{text-decoration:line-through}",
            "Scope. It shall run.",
            Some("Left out as struck out: \u{ab}not\u{bb}."),
        ),
        (".draft{display:none} .draft.open{display:block}", "Scope. It shall not run.", None),
        ("@media print{.draft{display:none}}", "Scope. It shall not run.", None),
    ] {
        let (found, mut warnings) = told(Kind::Html, &page(&format!("<style>{sheet}</style>"), text)).await;
        warnings.iter_mut().for_each(|line| *line = line.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!((found.as_str(), warnings.first().map(String::as_str)), (expected, said), "{sheet}");
    }
}

#[tokio::test]
async fn a_table_without_names_of_columns_has_rows_and_one_for_layout_has_none() {
    let inner = "<table><tr><th>Id</th><th>Rule</th></tr><tr><td>1</td><td>It shall run.</td></tr></table>";
    for (body, expected) in [
        (
            "<table><tr><td>R-1</td><td>It shall run.</td></tr><tr><td>R-2</td><td><p>It shall</p>stop.</td></tr></table>".to_owned(),
            "Scope. | R-1 | It shall run. | | R-2 | It shall\u{2028}stop. |",
        ),
        (
            format!("<table><tr><td>Menu</td><td>Top<br>{inner}</td></tr></table>"),
            "Scope. Menu Top | Id | Rule | | -- | ------------- | | 1 | It shall run. |",
        ),
        (
            format!("<table><tr><th>Id</th></tr><tr><td>Before {inner} behind</td></tr></table>"),
            "Scope. | Id | | --- | | Before\u{2028}Id Rule\u{2028}1 It shall run.\u{2028}behind |",
        ),
        (
            "<table role=presentation><tr><td>a</td><td>b</td></tr><tr><td>c</td><td><ul><li>d<li>e</ul></td></tr></table>".to_owned(),
            "Scope. a b c - d - e",
        ),
    ] {
        let document = crate::make::parser().extract(Kind::Html, &page("", &body), None).await.expect("a page with text");
        let words: Vec<&str> = document.pages[0].text.split([' ', '\n']).filter(|word| !word.is_empty()).collect();
        let text = words.join(" ");
        let plain = |text: &str| text.replace('-', "").replace("| |", "|").split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
        assert_eq!(plain(&text), plain(expected), "{body}");
    }
}

#[tokio::test]
async fn the_sign_of_a_link_to_a_heading_is_not_text() {
    let body = "<h2>1. Duties<a class=headerlink href='#duties'>\u{b6}</a></h2><p><a href='#x'>Duties</a> apply.</p>";
    assert_eq!(told(Kind::Html, &page("", body)).await.0, "Scope. ## 1. Duties Duties apply.");
}

#[tokio::test]
async fn contents_headers_and_footers_of_a_page_are_left_out_and_named() {
    let link = |text: &str| format!("<a href='#x'>1. {text} 3</a>");
    let duty = link("It shall run");
    for (body, why) in [
        (
            format!(
                "<div id='Table of Contents1'><div id='Table of Contents1_Head'><p>Contents</p></div><p>{duty}</p></div>"
            ),
            "a table of contents or an index: \u{ab}Contents",
        ),
        (format!("<p class=MsoToc1>{duty}</p>"), "a table of contents or an index: \u{ab}1. It shall run 3\u{bb}"),
        (
            format!("<ul class='toc'><li>{duty}<ul><li>{duty}</ul></ul>"),
            "a table of contents or an index: \u{ab}1. It shall run 3",
        ),
        (
            "<div title='header'><p>It shall run</p></div>".to_owned(),
            "a running header or footer: \u{ab}It shall run\u{bb}",
        ),
        (
            "<div title=footer><p>It shall run <sdfield>1</sdfield></p></div>".to_owned(),
            "a running header or footer: \u{ab}It shall run 1\u{bb}",
        ),
    ] {
        let (text, warnings) = told(Kind::Html, &page("", &body)).await;
        assert!(text == "Scope." && warnings.len() == 1, "{body}: {text} {warnings:?}");
        let said = warnings[0].split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.starts_with(&format!("Left out as {why}")), "{said}");
    }
    for body in [
        format!("<ul><li>{duty}</li></ul>"),
        "<div class=contents><p>It shall run.</p></div>".to_owned(),
        format!("<div id=toc><p>Of all the machines in the hall: {duty}</p></div>"),
        "<ul class=toc><li><a href='other.html'>1. It shall run</a></ul>".to_owned(),
        "<p title='header of it'>It shall run</p>".to_owned(),
    ] {
        let (text, warnings) = told(Kind::Html, &page("", &body)).await;
        assert!(text.contains("It shall run") && warnings.is_empty(), "{body}: {text} {warnings:?}");
    }
}
