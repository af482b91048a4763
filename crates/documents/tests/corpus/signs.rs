//! Characters that a document shows by its fonts and layout, and content that it has in two forms.

use crate::beside::{paragraph, told, word};
use crate::make::{lines, odt};
use plumbline_documents::Kind;

fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

/// The text between the first paragraph and the end, and the warnings.
async fn of_word(body: &str) -> (String, Vec<String>) {
    let (text, warnings) = told(Kind::Docx, &word(body, &[], &[])).await;
    (text.strip_prefix("Scope. ").expect("the first paragraph").to_owned(), warnings)
}

#[tokio::test]
async fn symbols_of_a_word_document_are_the_characters_that_it_shows() {
    let symbol = |font: &str, code: &str| format!("<w:r><w:sym w:font=\"{font}\" w:char=\"{code}\"/></w:r>");
    let fonts = |font: &str| format!("<w:rFonts w:ascii=\"{font}\" w:hAnsi=\"{font}\"/>");
    for (sign, shown) in [
        (symbol("Symbol", "F0B3"), "≥"),
        (symbol("Wingdings", "F0FE"), "☑"),
        (symbol("Arial", "2264"), "≤"),
        (run(&fonts("Symbol"), "\u{f0a3}"), "≤"),
        (run(&fonts("Symbol"), "m"), "μ"),
        (run(&fonts("Wingdings"), "\u{f0a8}"), "◻"),
        (run(&fonts("Arial"), "m"), "m"),
    ] {
        let body = format!("<w:p>{}{sign}{}</w:p>", run("", "It shall be "), run("", " 5 bar."));
        assert_eq!(of_word(&body).await, (format!("It shall be {shown} 5 bar."), vec![]), "{sign}");
    }
    let unknown = format!("<w:p>{}{}</w:p>", run("", "It shall be "), symbol("Webdings", "F061"));
    let said = "Not in the text, where U+FFFD is in its place: the character \u{ab}F061 of Webdings\u{bb}.";
    assert_eq!(of_word(&unknown).await, ("It shall be \u{fffd}".to_owned(), vec![said.to_owned()]));
}

#[tokio::test]
async fn raised_numbers_are_none_of_the_digits_before_them() {
    let raised = "<w:vertAlign w:val=\"superscript\"/>";
    let body = format!(
        "<w:p>{}{}{}{}{}</w:p>",
        run("", "within 72"),
        run(raised, "2"),
        run("", " hours, on the 4"),
        run(raised, "th"),
        run("<w:vertAlign w:val=\"subscript\"/>", "0")
    );
    assert_eq!(of_word(&body).await, ("within 72\u{b2} hours, on the 4th0".to_owned(), vec![]));
    for position in ["super 58%", "33% 58%"] {
        let styles = format!(
            "<style:style style:name='T1'><style:text-properties style:text-position='{position}'/></style:style>\
             <style:style style:name='T2'><style:text-properties style:text-position='-33% 58%'/></style:style>"
        );
        let body = "<text:p>within 72<text:span text:style-name='T1'>2</text:span> hours, 4\
                    <text:span text:style-name='T1'>th</text:span> H<text:span text:style-name='T2'>2</text:span>O</text:p>";
        let text = told(Kind::Odt, &odt(&styles, body)).await;
        assert_eq!(text, ("within 72\u{b2} hours, 4th H2O".to_owned(), vec![]), "{position}");
    }
}

#[tokio::test]
async fn raised_numbers_of_a_pdf_are_none_of_the_digits_before_them() {
    let by_rise = "BT /F1 11 Tf 70 700 Td (Report within 72) Tj /F1 7 Tf 5 Ts (2) Tj 0 Ts /F1 11 Tf ( hours, at 10) Tj /F1 7 Tf \
                   5 Ts (-5) Tj 0 Ts /F1 11 Tf ( bar on the 4) Tj /F1 7 Tf 5 Ts (th) Tj 0 Ts /F1 11 Tf ( day) Tj /F1 7 Tf 5 Ts (a) Tj 0 Ts /F1 11 Tf (.) Tj ET";
    let apart = "BT /F1 11 Tf 70 700 Td (Report within 72) Tj ET BT /F1 7 Tf 149.5 704 Td (2) Tj ET \
                 BT /F1 11 Tf 156.5 700 Td (hours.) Tj ET";
    let lowered = "BT /F1 11 Tf 70 700 Td (Vent the CO) Tj /F1 7 Tf -3 Ts (2) Tj 0 Ts /F1 11 Tf ( at once.) Tj ET";
    for (stream, expected) in [
        (by_rise, "Report within 72\u{b2} hours, at 10\u{207b}\u{2075} bar on the 4th day\u{1d43}."),
        (apart, "Report within 72\u{b2} hours."),
        (lowered, "Vent the CO2 at once."),
    ] {
        let bytes = crate::losses::pdf_page(stream, "", "", &[]);
        assert_eq!(told(Kind::Pdf, &bytes).await, (expected.to_owned(), vec![]), "{stream}");
    }
}

#[tokio::test]
async fn a_pdf_is_read_as_it_looks() {
    let shown = |text: &str, x: &str| format!("BT /F1 11 Tf {x} 700 Td ({text}) Tj ET\n");
    let twice = shown("It shall be kept.", "70") + &shown("It shall be kept.", "70.35") + &shown("It ends.", "160");
    let again = shown("It must log,", "70") + &shown("log,", "133") + &shown("log.", "157");
    let accents = shown("Die Pru\\250 fung der B\\250ucher", "70");
    let number = lines(
        70,
        700,
        &["The process shall ensure 1\\) the start of an audit of the firm, and then", "2\\) its end within a day."],
    );
    for (stream, expected) in [
        (twice, "It shall be kept. It ends."),
        (again, "It must log, log, log."),
        (accents, "Die Pr\u{fc}fung der B\u{fc}cher"),
        (number, "The process shall ensure 1) the start of an audit of the firm, and then 2) its end within a day."),
    ] {
        let bytes = crate::losses::pdf_page(&stream, "", "", &[]);
        assert_eq!(told(Kind::Pdf, &bytes).await, (expected.to_owned(), vec![]), "{stream}");
    }
}

#[tokio::test]
async fn of_two_forms_of_the_same_content_one_is_read() {
    let forms = |first: &str, fallback: &str| {
        format!(
            "<mc:AlternateContent><mc:Choice Requires=\"x\">{first}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback>\
             </mc:AlternateContent>"
        )
    };
    let sign = forms("<w16se:symEx w16se:char=\"2705\"/>", "<w:t>\u{2705}</w:t>");
    let body = format!("<w:p>{}<w:r>{sign}</w:r>{}</w:p>", run("", "Logs: "), run("", " must be kept."));
    assert_eq!(of_word(&body).await, ("Logs: \u{2705} must be kept.".to_owned(), vec![]));
    let blocks = forms(&paragraph("It shall be new."), &paragraph("It shall be old."));
    assert_eq!(of_word(&blocks).await, ("It shall be new.".to_owned(), vec![]));
}

#[tokio::test]
async fn a_formula_between_paragraphs_is_a_paragraph() {
    let formula = "<m:oMathPara><m:oMath><m:r><m:t>t&lt;5</m:t></m:r></m:oMath></m:oMathPara>";
    let text = of_word(&format!("{formula}{}", paragraph("It shall be."))).await;
    assert_eq!(text, ("t<5 It shall be.".to_owned(), vec![]));
}

#[tokio::test]
async fn a_table_within_a_cell_is_read_in_its_place() {
    let table = |cells: &[&str]| {
        let cells: String = cells.iter().map(|cell| format!("<w:tc><w:tcPr/>{cell}</w:tc>")).collect();
        format!("<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:trPr/>{cells}</w:tr></w:tbl>")
    };
    let deep = table(&[&paragraph("3")]);
    let inner = table(&[&format!("{}{deep}{}", paragraph("2"), paragraph("4")), &paragraph("5")]);
    let outer = table(&[&format!("{}{inner}{}", paragraph("1"), paragraph("6")), &paragraph("7")]);
    let (text, warnings) = of_word(&outer).await;
    assert_eq!(text.replace('\u{2028}', " "), "| 1 2 3 4 5 6 | 7 | | --- | --- |");
    assert_eq!(warnings, [""; 0]);
}
