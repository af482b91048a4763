//! Labels that a word processor computes are text: numbers of clauses, letters of entries.

use crate::make::{docx, parser};
use plumbline_documents::quotes::{Match, SourceText};
use plumbline_documents::{Kind, candidates::Scan};

const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// A level: its format, its label, more properties.
fn level(at: usize, format: &str, text: &str, more: &str) -> String {
    format!(
        "<w:lvl w:ilvl=\"{at}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/>{more}<w:lvlText w:val=\"{text}\"/>\
         </w:lvl>"
    )
}

/// Lists of one abstract list, each with its overrides.
fn lists(levels: &[String], overrides: &[&str]) -> String {
    let list = |(number, more): (usize, &&str)| {
        format!("<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"0\"/>{more}</w:num>", number + 1)
    };
    let lists: String = overrides.iter().enumerate().map(list).collect();
    let levels = levels.concat();
    format!("<w:numbering {W}><w:abstractNum w:abstractNumId=\"0\">{levels}</w:abstractNum>{lists}</w:numbering>")
}

fn styled(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn entry(list: usize, level: usize, text: &str) -> String {
    styled(&format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"), text)
}

async fn read(body: &str, numbering: &str, styles: &str) -> String {
    let document = format!("<w:document {W}><w:body>{body}<w:sectPr/></w:body></w:document>");
    let styles = format!("<w:styles {W}>{styles}</w:styles>");
    let parts = [("word/numbering.xml", numbering.as_bytes()), ("word/styles.xml", styles.as_bytes())];
    let found = parser().extract(Kind::Docx, &docx(&document, &parts), None).await.expect("a document with text");
    found.pages[0].text.clone()
}

#[tokio::test]
async fn clauses_are_numbered_through_several_levels_with_their_headings() {
    let link = |style: &str| format!("<w:pStyle w:val=\"{style}\"/>");
    let levels = [
        level(0, "decimal", "%1", &link("Heading1")),
        level(1, "decimal", "%1.%2", &link("Clause")),
        level(2, "lowerLetter", "(%3)", ""),
        level(3, "lowerRoman", "(%4)", ""),
    ];
    let style = |id: &str, name: &str, properties: &str| {
        format!("<w:style w:type=\"paragraph\" w:styleId=\"{id}\"><w:name w:val=\"{name}\"/>{properties}</w:style>")
    };
    let styles = style("Heading1", "heading 1", "<w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr>")
        + &style("Clause", "Clause", "<w:basedOn w:val=\"Heading1\"/><w:pPr><w:outlineLvl w:val=\"9\"/></w:pPr>");
    let of = |style: &str, text: &str| styled(&format!("<w:pStyle w:val=\"{style}\"/>"), text);
    let unnumbered = "<w:pStyle w:val=\"Heading1\"/><w:numPr><w:numId w:val=\"0\"/></w:numPr>";
    let body = [
        of("Heading1", "Scope"),
        of("Heading1", "Records"),
        of("Clause", "The supplier shall:"),
        entry(1, 2, "keep records;"),
        entry(1, 3, "delete drafts."),
        entry(1, 2, "name an owner."),
        of("Clause", "The supplier shall log access."),
        entry(1, 2, "The log is kept."),
        styled(unnumbered, "Annex"),
        of("Heading1", "Term"),
    ]
    .concat();
    let text = read(&body, &lists(&levels, &[""]), &styles).await;
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches([' ', '#'])).collect();
    let expected = [
        "1 Scope",
        "2 Records",
        "2.1 The supplier shall:",
        "(a) keep records;",
        "(i) delete drafts.",
        "(b) name an owner.",
        "2.2 The supplier shall log access.",
        "(a) The log is kept.",
        "Annex",
        "3 Term",
    ];
    assert_eq!(lines.iter().filter(|line| !line.is_empty()).collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    let candidates = Scan::default().sentences(&text);
    let duty = candidates.iter().find(|sentence| sentence.text == "keep records;").expect("the entry without its mark");
    assert!(duty.reason.is_some() && !duty.leads.is_empty(), "{candidates:?}");
    for quote in ["The supplier shall log access.", "2.2 The supplier shall log access.", "(b) name an owner."] {
        assert!(matches!(SourceText::new(&text).find(quote, None), Match::Found(_)), "{quote}");
    }
}

#[tokio::test]
async fn labels_have_the_format_of_their_level() {
    for (format, label, more, expected) in [
        ("decimal", "%1.", "", ["1. It shall run.", "2. It shall stop."]),
        ("decimalZero", "%1.", "", ["01. It shall run.", "02. It shall stop."]),
        ("lowerLetter", "(%1)", "", ["(a) It shall run.", "(b) It shall stop."]),
        ("upperLetter", "%1)", "", ["A) It shall run.", "B) It shall stop."]),
        ("upperLetter", "%1.", "", ["A. It shall run.", "B. It shall stop."]),
        ("lowerRoman", "%1.", "", ["i. It shall run.", "ii. It shall stop."]),
        ("upperRoman", "Article %1", "", ["Article I It shall run.", "Article II It shall stop."]),
        ("upperRoman", "Article %1", "<w:isLgl/>", ["Article 1 It shall run.", "Article 2 It shall stop."]),
        ("ordinal", "%1", "", ["1st It shall run.", "2nd It shall stop."]),
        ("decimal", "\u{a7} %1", "", ["\u{a7} 1 It shall run.", "\u{a7} 2 It shall stop."]),
        ("bullet", "\u{2022}", "", ["- It shall run.", "- It shall stop."]),
        ("none", "", "", ["It shall run.", "It shall stop."]),
    ] {
        let body = entry(1, 0, "It shall run.") + &entry(1, 0, "It shall stop.");
        let text = read(&body, &lists(&[level(0, format, label, more)], &[""]), "").await;
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, expected, "{format} {label}");
        let candidates = Scan::default().sentences(&text);
        assert_eq!(candidates.iter().filter(|sentence| sentence.reason.is_some()).count(), 2, "{candidates:?}");
    }
}

#[tokio::test]
async fn lists_share_counters_until_one_begins_anew_and_cells_have_labels() {
    let anew = "<w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"7\"/></w:lvlOverride>";
    let levels = [level(0, "decimal", "R%1", ""), level(1, "decimal", "%1-%2", "<w:lvlRestart w:val=\"0\"/>")];
    let cell = |text: &str| format!("<w:tc>{text}</w:tc>");
    let row = |left: String, right: String| format!("<w:tr>{}{}</w:tr>", cell(&left), cell(&right));
    let body = [
        entry(1, 0, "One."),
        entry(2, 0, "Two."),
        entry(2, 1, "Below."),
        entry(3, 0, "Anew."),
        entry(3, 0, "Next."),
        entry(1, 1, "Goes on."),
        format!("<w:tbl>{}</w:tbl>", row(entry(1, 0, "Cell."), styled("", "Plain."))),
    ]
    .concat();
    let text = read(&body, &lists(&levels, &["", "", anew]), "").await;
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.contains("---")).collect();
    let expected =
        ["R1 One.", "R2 Two.", "2-1 Below.", "R7 Anew.", "R8 Next.", "8-2 Goes on.", "| R9 Cell. | Plain. |"];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_label_is_as_near_to_its_text_as_word_sets_it_and_begins_with_zero_if_no_start_is_given() {
    let without_start = level(0, "decimal", "%1.", "").replace("<w:start w:val=\"1\"/>", "");
    for (level, expected) in [
        (
            level(0, "decimal", "REQ-%1", "<w:suff w:val=\"nothing\"/>"),
            ["REQ-1a It shall run.", "REQ-2a It shall stop."],
        ),
        (
            level(0, "decimal", "Art. %1: ", "<w:suff w:val=\"nothing\"/>"),
            ["Art. 1: a It shall run.", "Art. 2: a It shall stop."],
        ),
        (
            level(0, "decimal", "REQ-%1", "<w:suff w:val=\"space\"/>"),
            ["REQ-1 a It shall run.", "REQ-2 a It shall stop."],
        ),
        (without_start, ["0. a It shall run.", "1. a It shall stop."]),
    ] {
        let body = entry(1, 0, "a It shall run.") + &entry(1, 0, "a It shall stop.");
        let text = read(&body, &lists(&[level], &[""]), "").await;
        assert_eq!(text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn a_sentence_over_two_paragraphs_whose_end_is_deleted_is_one_entry() {
    let list = "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>";
    let without_end = format!("{list}<w:rPr><w:del w:id=\"1\" w:author=\"A\"/></w:rPr>");
    let body = styled(&without_end, "The supplier shall") + &entry(1, 0, " keep it.") + &entry(1, 0, "It shall stop.");
    let text = read(&body, &lists(&[level(0, "decimal", "%1.", "")], &[""]), "").await;
    assert_eq!(text, "1. The supplier shall keep it.\n2. It shall stop.");
}

#[tokio::test]
async fn outline_levels_make_headings_of_paragraphs_with_and_without_styles() {
    let style = |id: &str, more: &str| format!("<w:style w:type=\"paragraph\" w:styleId=\"{id}\">{more}</w:style>");
    let level = |level: u8| format!("<w:outlineLvl w:val=\"{level}\"/>");
    let styles = [
        style("Part", &format!("<w:name w:val=\"Part\"/><w:pPr>{}</w:pPr>", level(0))),
        style("Subpart", "<w:name w:val=\"Subpart\"/><w:basedOn w:val=\"Part\"/>"),
        style("Named", "<w:name w:val=\"heading 2\"/>"),
        style("Deep", &format!("<w:name w:val=\"heading 8\"/><w:pPr>{}</w:pPr>", level(7))),
        style("Text", &format!("<w:name w:val=\"Text\"/><w:basedOn w:val=\"Part\"/><w:pPr>{}</w:pPr>", level(9))),
    ];
    let of = |id: &str| format!("<w:pStyle w:val=\"{id}\"/>");
    let body = [
        styled(&level(1), "Direct"),
        styled(&of("Part"), "By style"),
        styled(&of("Subpart"), "By a base"),
        styled(&of("Named"), "By a name"),
        styled(&of("Deep"), "Deep"),
        styled(&of("Text"), "Text by style."),
        styled(&(of("Part") + &level(9)), "Text by itself."),
        styled(&(of("Text") + &level(2)), "2026: direct again"),
        styled(&format!("<w:pPrChange><w:pPr>{}</w:pPr></w:pPrChange>", level(1)), "Was a heading."),
        "<w:tbl><w:tr><w:tc>".to_owned() + &styled(&level(1), "Cell") + "</w:tc></w:tr></w:tbl>",
    ];
    assert_eq!(
        read(&body.concat(), "", &styles.concat()).await,
        "## Direct\n\n# By style\n\n# By a base\n\n## By a name\n\n###### Deep\n\nText by style.\n\nText by itself.\n\n\
         ### 2026: direct again\n\nWas a heading.\n\n| Cell |\n| --- |"
    );
}
