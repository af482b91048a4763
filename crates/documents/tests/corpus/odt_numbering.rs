//! Labels of OpenDocument lists and headings, which the text does not contain.

use crate::make::{odt, odt_with, parser};
use plumbline_documents::Kind;

/// A level of a list style: the element, the level, the format of its numbers, more attributes.
fn level(element: &str, level: usize, format: &str, more: &str) -> String {
    format!("<text:{element} text:level=\"{level}\" style:num-format=\"{format}\" {more}/>")
}

fn numbered(at: usize, format: &str, more: &str) -> String {
    level("list-level-style-number", at, format, more)
}

fn list_style(name: &str, levels: &[String]) -> String {
    format!("<text:list-style style:name=\"{name}\">{}</text:list-style>", levels.concat())
}

/// A list with these attributes and entries.
fn list(attributes: &str, entries: &str) -> String {
    format!("<text:list {attributes}>{entries}</text:list>")
}

fn entry(text: &str, deeper: &str) -> String {
    format!("<text:list-item><text:p>{text}</text:p>{deeper}</text:list-item>")
}

fn heading(level: usize, more: &str, text: &str) -> String {
    format!("<text:h text:outline-level=\"{level}\" {more}>{text}</text:h>")
}

async fn lines(bytes: &[u8]) -> Vec<String> {
    let document = parser().extract(Kind::Odt, bytes, None).await.expect("a document with text");
    let lines = document.pages[0].text.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[tokio::test]
async fn headings_have_the_numbers_of_their_outline() {
    let outline = |at, format, more| level("outline-level-style", at, format, more);
    let styles = format!(
        "<office:document-styles><office:styles><style:style style:name=\"Appendix\" style:list-style-name=\"\"/>\
         <style:style style:name=\"P1\" style:parent-style-name=\"Appendix\"/><text:outline-style style:name=\"Outline\">\
         {}{}{}</text:outline-style></office:styles></office:document-styles>",
        outline(1, "I", "style:num-prefix=\"Article \""),
        outline(2, "1", "text:display-levels=\"2\" style:num-suffix=\".\""),
        outline(3, "", ""),
    );
    let body = [
        heading(1, "", "Scope"),
        heading(2, "", "Machines"),
        heading(3, "", "In halls"),
        heading(2, "", "<text:number>I.2.</text:number>Tools"),
        heading(1, "", "Duties"),
        heading(2, "text:restart-numbering=\"true\" text:start-value=\"7\"", "Records"),
        heading(1, "text:is-list-header=\"true\"", "Notes"),
        heading(1, "text:style-name=\"P1\"", "Annex"),
        list("text:style-name=\"Outline\"", &format!("<text:list-item>{}</text:list-item>", heading(1, "", "End"))),
    ];
    let bytes = odt_with("", &body.concat(), &[("styles.xml", styles.as_bytes())]);
    let expected = [
        "# Article I Scope",
        "## I.1. Machines",
        "### In halls",
        "## I.2. Tools",
        "# Article II Duties",
        "## II.7. Records",
        "# Notes",
        "# Annex",
        "# Article III End",
    ];
    assert_eq!(lines(&bytes).await, expected);
}

#[tokio::test]
async fn entries_have_the_labels_of_their_level() {
    for (format, more, shown) in [
        ("1", "style:num-suffix=\".\"", "3. it"),
        ("a", "style:num-prefix=\"(\" style:num-suffix=\")\"", "(c) it"),
        ("i", "style:num-suffix=\")\"", "iii) it"),
        ("A", "style:num-suffix=\".\" text:start-value=\"26\"", "AB. it"),
        ("A", "style:num-suffix=\".\" text:start-value=\"26\" style:num-letter-sync=\"true\"", "BB. it"),
        ("1", "style:num-list-format=\"\u{a7} %1%:\" style:num-suffix=\".\"", "\u{a7} 3: it"),
        ("1", "style:num-list-format=\"100 % %1%\"", "100 % 3 it"),
        ("", "", "it"),
    ] {
        let styles = list_style("L1", &[numbered(1, format, more)]);
        let body = list("text:style-name=\"L1\"", &(entry("x", "") + &entry("y", "") + &entry("it", "")));
        assert_eq!(lines(&odt(&styles, &body)).await[2], shown, "{format} {more}");
    }
}

#[tokio::test]
async fn a_list_begins_anew_unless_it_continues_one() {
    let deep = numbered(2, "a", "text:display-levels=\"2\" style:num-suffix=\")\"");
    let styles = list_style("L1", &[numbered(1, "1", "style:num-suffix=\".\""), deep])
        + &list_style("L2", &[numbered(1, "1", "style:num-suffix=\")\"")]);
    let within = |text: &str| format!("<text:list-item>{}</text:list-item>", list("", &entry(text, "")));
    let body = [
        list("xml:id=\"one\" text:style-name=\"L1\"", &(entry("a", &list("", &entry("deep", ""))) + &entry("b", ""))),
        "<text:p>Between.</text:p>".to_owned(),
        list("text:style-name=\"L1\" text:continue-numbering=\"true\"", &within("deeper")),
        list("text:style-name=\"L2\" text:continue-numbering=\"true\"", &entry("other", "")),
        list("text:style-name=\"L1\"", &entry("anew", "")),
        list("text:style-name=\"L1\" text:continue-list=\"one\"", &entry("c", "")),
        list(
            "text:style-name=\"L1\"",
            &format!("<text:list-header><text:p>head</text:p></text:list-header>{}", within("z")),
        ),
    ];
    let expected =
        ["1. a", "1.a) deep", "2. b", "Between.", "2.a) deeper", "1) other", "1. anew", "3. c", "head", "1.a) z"];
    let found = lines(&odt(&styles, &body.concat())).await;
    assert_eq!(found.iter().map(|line| line.trim()).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn single_paragraphs_and_cells_are_numbered_too() {
    let styles = list_style("L1", &[numbered(1, "1", "style:num-suffix=\".\"")])
        + "<style:style style:name=\"P1\" style:list-style-name=\"L1\"/>";
    let single = |text: &str| {
        format!(
            "<text:numbered-paragraph text:list-id=\"n\" text:level=\"1\" text:style-name=\"L1\"><text:p>{text}</text:p>\
             </text:numbered-paragraph>"
        )
    };
    let cell = |content: &str| format!("<table:table-cell>{content}</table:table-cell>");
    let in_cells = cell(&list("text:style-name=\"L1\"", &(entry("paid", "") + &entry("open", ""))));
    let body = [
        single("first"),
        "<text:p>Between.</text:p>".to_owned(),
        single("second"),
        list("", "<text:list-item><text:p text:style-name=\"P1\">of its style</text:p></text:list-item>"),
        format!(
            "<table:table><table:table-row>{}{in_cells}</table:table-row></table:table>",
            cell("<text:p>Kind</text:p>")
        ),
    ];
    let found = lines(&odt(&styles, &body.concat())).await;
    let expected = ["1. first", "Between.", "2. second", "1. of its style", "| Kind | 1. paid\u{2028}2. open |"];
    assert_eq!(found[..5], expected);
}
