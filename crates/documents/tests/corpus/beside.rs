//! Content of documents outside their text: each item is read, or reported with its first words.

use crate::make::{archive, docx, epub, odt_with, parser};
use plumbline_documents::Kind;

/// A document's text on one line, and its warnings.
pub(crate) async fn told(kind: Kind, bytes: &[u8]) -> (String, Vec<String>) {
    let document = parser().extract(kind, bytes, None).await.expect("a document with text");
    let text: Vec<&str> = document.pages.iter().flat_map(|page| page.text.split_whitespace()).collect();
    (text.join(" "), document.warnings)
}

const DUTY: &str = "The operator shall keep it.";

#[tokio::test]
async fn what_a_web_page_does_not_show_is_named() {
    for (body, why) in [
        (format!("<noscript><p>{DUTY}</p></noscript>"), "shown without scripts alone"),
        (format!("<template><p>{DUTY}</p></template>"), "a template"),
        (format!("<script type='text/template'><p>{DUTY}</p></script>"), "a template"),
        (format!("<nav><a href=x>Home</a><p>{DUTY}</p></nav>"), "navigation"),
        (format!("<!-- <p>{DUTY}</p> -->"), "a comment"),
        (format!("<!--[if IE]><p>{DUTY}</p><![endif]-->"), "a comment"),
        (format!("<video src='film.mp4'>{DUTY}</video>"), "shown in place of another thing"),
        (format!("<object data='a.pdf'><p>{DUTY}</p></object>"), "shown in place of another thing"),
        (format!("<p title='{DUTY}'>Text.</p>"), "a hint"),
        (format!("<input placeholder='{DUTY}'>"), "a hint"),
        (format!("<select><option>IT<option>{DUTY}</select>"), "not chosen"),
        (format!("<datalist><option value='{DUTY}'></datalist>"), "not chosen"),
        (format!("<map><area alt='{DUTY}'></map>"), "a description"),
        (format!("<a href=x aria-label='{DUTY}'>Next</a>"), "a label for screen readers"),
        (format!("<div aria-description=\"{DUTY}\">Next</div>"), "a label for screen readers"),
        (format!("<meta name=description content='{DUTY}'>"), "a description for search engines"),
        (format!("<meta property='og:description' content='{DUTY}'>"), "a description for search engines"),
        (
            format!("<script type='application/ld+json'>{{\"a\": [{{\"text\": \"<p>{DUTY}</p>\"}}]}}</script>"),
            "data for search engines",
        ),
    ] {
        for (kind, bytes) in [(Kind::Html, page(&body)), (Kind::Epub, epub(&[&format!("<p>Scope.</p>{body}")], &[]))] {
            let (text, warnings) = told(kind, &bytes).await;
            assert!(!text.contains(DUTY), "{kind} {body}: {text}");
            let said = format!("Left out as {why}: \u{ab}{DUTY}\u{bb}.");
            assert!(warnings.contains(&said), "{kind} {body}: {warnings:?}");
        }
    }
    for body in
        ["<nav><a href=x>Home</a> <a href=y>All rules</a></nav>", "<img alt=''>", "<!-- end -->", "<script>1</script>"]
    {
        assert_eq!(told(Kind::Html, &page(body)).await.1, [""; 0], "{body}");
    }
}

#[tokio::test]
async fn what_a_web_page_says_about_itself_is_named_only_if_it_binds() {
    let again = "<p>The operator shall keep it.</p><meta name=description content='The operator shall keep it.'>";
    for (body, expected) in [
        ("<!-- Optimized with the best plugin for pages -->", None),
        ("<!-- Begin of the main content area -->", None),
        ("<p title='Go to the home page of Example'>Text.</p>", None),
        ("<a aria-label='Open the main menu of this site'>Menu</a>", None),
        ("<input placeholder='Search all rules and forms'>", None),
        ("<meta name=description content='All about the rules of the house'>", None),
        ("<meta name=generator content='It must be the best of all'>", None),
        (again, None),
        ("<p title='The operator shall keep it.'>The operator\nshall keep it.</p>", None),
        (
            "<script type='application/ld+json'>{\"@type\": \"WebSite\", \"name\": \"Rules of the big house\"}</script>",
            None,
        ),
        ("<script type='application/ld+json'>{</script>", None),
        ("<!-- Le responsable doit signer le registre -->", Some("a comment: \u{ab}Le responsable doit")),
    ] {
        let (_, warnings) = told(Kind::Html, &page(body)).await;
        assert_eq!(warnings.len(), usize::from(expected.is_some()), "{body}: {warnings:?}");
        assert!(expected.is_none_or(|said| warnings[0].contains(said)), "{body}: {warnings:?}");
    }
    // It is all that this page has.
    let alone = "<html><head><meta name=description content='All about the rules of the house'></head></html>";
    let error = parser().extract(Kind::Html, alone.as_bytes(), None).await.map(drop).expect_err("a page without text");
    assert!(error.to_string().contains("All about the rules of the house"), "{error}");
}

#[tokio::test]
async fn a_title_that_binds_is_text_unless_the_page_repeats_it() {
    let page = |title: &str, body: &str| format!("<html><head><title>{title}</title></head><body>{body}</body></html>");
    for (title, body, expected) in [
        (DUTY, "<p>Scope.</p>", format!("# {DUTY} Scope.")),
        (DUTY, "<h2>Duties</h2><p>Scope.</p>", format!("# {DUTY} ## Duties Scope.")),
        (DUTY, "<h1>The operator <b>shall</b> keep it.</h1>", format!("# {DUTY}")),
        ("Rules of the house | Example", "<p>Scope.</p>", "Scope.".to_owned()),
        ("Rauchen ist im Haus verboten", "<p>Scope.</p>", "# Rauchen ist im Haus verboten Scope.".to_owned()),
    ] {
        let told = told(Kind::Html, page(title, body).as_bytes()).await;
        assert_eq!(told, (expected, Vec::new()), "{title} {body}");
    }
}

#[tokio::test]
async fn pictures_and_further_pages_of_a_web_page_are_named() {
    for (body, said) in [
        ("<img src='a/rules.png?v=1'><img src=b.png>", "Not in the text: 2 pictures, the first \u{ab}rules.png\u{bb}."),
        (
            "<img src=a.png alt='Flow of a recall in five steps'>",
            "Not in the text: a picture, \u{ab}Flow of a recall in five steps\u{bb}.",
        ),
        (
            "<iframe src=annex.html></iframe>",
            "Not in the text: a page or program within the page, \u{ab}annex.html\u{bb}.",
        ),
        (
            "<meta http-equiv=refresh content='0; url=annex.html'>",
            "Not in the text: the page that this one leads to, \u{ab}annex.html\u{bb}.",
        ),
    ] {
        assert_eq!(told(Kind::Html, &page(body)).await.1, [said]);
    }
    let frames = format!("<html><frameset><frame src=annex.html><noframes><p>{DUTY}</p></noframes></frameset></html>");
    let said = parser().extract(Kind::Html, frames.as_bytes(), None).await.map(|document| document.warnings);
    let said = said.unwrap_or_else(|error| vec![error.to_string()]).concat();
    assert!(said.contains("annex.html"), "{said}");
}

#[tokio::test]
async fn what_browsers_show_of_odd_markup_is_read() {
    for body in [
        format!("<div><template shadowrootmode=open><p>{DUTY}</p></template></div>"),
        format!("<object><p>{DUTY}</p></object>"),
        format!("<button>{DUTY}</button>"),
        format!("<input type=button value='{DUTY}'>"),
        format!("<input type=search value='{DUTY}'>"),
        format!("<math alttext='{DUTY}'></math>"),
    ] {
        assert!(told(Kind::Html, &page(&body)).await.0.contains(DUTY), "{body}");
    }
}

#[tokio::test]
async fn a_page_that_is_xml_is_read_past_its_empty_elements() {
    let page = format!(
        "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><script src=\"x\"/><title/>\
         </head><body><p><![CDATA[{DUTY}]]> F\u{fc}r alle.</p></body></html>"
    );
    let latin: Vec<u8> = page.chars().map(|c| u8::try_from(u32::from(c)).expect("a Latin letter")).collect();
    let expected = format!("{DUTY} F\u{fc}r alle.");
    assert_eq!(told(Kind::Html, &latin).await, (expected.clone(), Vec::new()));
    let utf8 = page.replace(" encoding=\"iso-8859-1\"", "");
    assert_eq!(told(Kind::Epub, &epub(&[&utf8], &[])).await, (expected, Vec::new()));
}

fn page(body: &str) -> Vec<u8> {
    format!("<!doctype html><html><head><title>T</title></head><body><p>Scope.</p>{body}</body></html>").into_bytes()
}

/// A book with this package file and these pages.
fn book(package: &str, pages: &[(&str, &str)]) -> Vec<u8> {
    let container =
        b"<container><rootfiles><rootfile full-path='b.opf'/><rootfile full-path='fixed.opf'/></rootfiles></container>";
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container),
        ("b.opf", package.as_bytes()),
    ];
    entries.extend(pages.iter().map(|(name, page)| (*name, page.as_bytes())));
    archive(&entries)
}

#[tokio::test]
async fn pages_of_a_book_that_are_not_read_are_named() {
    let item = |id: &str, kind: &str| format!("<item id='{id}' href='{id}' media-type='{kind}'/>");
    let package = format!(
        "<package><spine><itemref idref='a'/><itemref idref='s'/><itemref idref='d'/><itemref idref='p'/><itemref idref='gone'/></spine>\
         <manifest>{}{}{}{}{}<item id='n' href='n' media-type='application/xhtml+xml' properties='nav'/></manifest></package>",
        item("a", "application/xhtml+xml"),
        item("s", "image/svg+xml"),
        item("d", "application/x-dtbook+xml"),
        item("p", "application/pdf"),
        item("notes", "application/xhtml+xml")
    );
    let pages = [
        ("a", "<p>Scope.</p>"),
        ("s", "<svg><text>It shall be drawn.</text></svg>"),
        ("d", "<dtbook><p>It shall be read.</p></dtbook>"),
        ("notes", "<p>It shall be noted.</p>"),
        ("n", "<p>It shall be found.</p><nav><a>Scope</a></nav>"),
    ];
    let (text, warnings) = told(Kind::Epub, &book(&package, &pages)).await;
    assert_eq!(text, "Scope. It shall be read.");
    let expected = [
        "Not in the text: another form of the book, \u{ab}fixed.opf\u{bb}.",
        "Not in the text: a page in another format, \u{ab}p\u{bb}.",
        "The book's order names a page that is not there: \u{ab}gone\u{bb}.",
        "The page s has no text. Left out as text in a drawing: \u{ab}It shall be drawn.\u{bb}.",
        "Left out as a page beside the book's order: \u{ab}It shall be noted.\u{bb}.",
        "Left out as a page beside the book's order: \u{ab}It shall be found.\u{bb}.",
    ];
    assert_eq!(warnings, expected);
}

const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";

pub(crate) fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// A DOCX file with this markup after its first paragraph, these relations of its text (kind and target), and these
/// further parts.
pub(crate) fn word(body: &str, relations: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let document = format!("<w:document {W}><w:body>{}{body}<w:sectPr/></w:body></w:document>", paragraph("Scope."));
    let of = |(at, (kind, target)): (usize, &(&str, &str))| {
        format!("<Relationship Id=\"r{at}\" Type=\"x/{kind}\" Target=\"{target}\"/>")
    };
    let links = format!("<Relationships>{}</Relationships>", relations.iter().enumerate().map(of).collect::<String>());
    let mut parts: Vec<(&str, &[u8])> = vec![("word/_rels/document.xml.rels", links.as_bytes())];
    parts.extend(more.iter().map(|(name, part)| (*name, part.as_bytes())));
    docx(&document, &parts)
}

#[tokio::test]
async fn parts_of_a_word_file_are_found_by_their_relations_and_named_by_paragraphs() {
    let part =
        |name: &str| format!("<w:{name} {W}>{}{}</w:{name}>", paragraph("A company of some kind."), paragraph(DUTY));
    for (kind, target, name, why) in [
        ("header", "top.xml", "word/top.xml", "Left out as a running header or footer"),
        ("footer", "/bottom.xml", "bottom.xml", "Left out as a running header or footer"),
        ("comments", "remarks.xml", "word/remarks.xml", "Left out as a comment"),
        ("footnotes", "below.xml", "word/below.xml", "Left out as a note"),
        ("diagramData", "d.xml", "word/d.xml", "Not in the text: a diagram"),
    ] {
        let bytes = word("", &[(kind, target)], &[(name, &part("x"))]);
        let (text, warnings) = told(Kind::Docx, &bytes).await;
        assert_eq!(text, "Scope.");
        let expected = ["A company of some kind.", DUTY].map(|words| format!("{why}: \u{ab}{words}\u{bb}."));
        assert_eq!(warnings, expected, "{kind}");
    }
    let relations = [("package", "../files/prices.xlsx"), ("subDocument", "annex.docx")];
    let (_, warnings) = told(Kind::Docx, &word("", &relations, &[("files/prices.xlsx", "PK")])).await;
    let expected = [
        "Not in the text: a part in another file, \u{ab}annex.docx\u{bb}.",
        "Not in the text: an attached file, \u{ab}prices.xlsx\u{bb}.",
    ];
    assert_eq!(warnings, expected);
}

#[tokio::test]
async fn descriptions_pictures_and_charts_of_a_word_file_are_named() {
    let chart = format!("<c:chartSpace><c:title><a:p><a:r><a:t>{DUTY}</a:t></a:r></a:p></c:title></c:chartSpace>");
    let drawing = "<w:p><w:r><w:drawing><a:blip r:embed=\"r0\"/></w:drawing></w:r></w:p>";
    for (body, more, said) in [
        (
            format!(
                "<w:p><w:r><w:drawing><wp:docPr id=\"1\" descr=\"{DUTY}\"/><a:blip r:embed=\"r0\"/></w:drawing></w:r></w:p>"
            ),
            vec![],
            format!("a picture, \u{ab}{DUTY}\u{bb}"),
        ),
        (
            format!("<w:p><w:r><w:pict><v:shape alt=\"{DUTY}\"/></w:pict></w:r></w:p>"),
            vec![],
            format!("a picture, \u{ab}{DUTY}\u{bb}"),
        ),
        (
            format!("<w:p><w:r><w:pict><v:textpath string=\"{DUTY}\"/></w:pict></w:r></w:p>"),
            vec![],
            format!("drawn words, \u{ab}{DUTY}\u{bb}"),
        ),
        (
            format!("<w:tbl><w:tblPr><w:tblCaption w:val=\"{DUTY}\"/></w:tblPr></w:tbl>"),
            vec![],
            format!("a table's description, \u{ab}{DUTY}\u{bb}"),
        ),
        (
            "<w:p><w:r><w:instrText> INCLUDETEXT \"annex.docx\" </w:instrText></w:r></w:p>".to_owned(),
            vec![],
            "a part in another file, \u{ab}annex.docx\u{bb}".to_owned(),
        ),
        (drawing.repeat(2), vec![], "2 pictures".to_owned()),
        (String::new(), vec![("word/charts/chart1.xml", chart.as_str())], format!("a chart, \u{ab}{DUTY}\u{bb}")),
    ] {
        let (_, warnings) = told(Kind::Docx, &word(&body, &[], &more)).await;
        assert_eq!(warnings, [format!("Not in the text: {said}.")], "{body}");
    }
}

#[tokio::test]
async fn tables_in_tables_and_quoted_text_of_a_word_file_are_read() {
    let table = |cell: &str| format!("<w:tbl><w:tr><w:tc>{cell}<w:p/></w:tc></w:tr></w:tbl>");
    for body in
        [table(&table(&table(&paragraph(DUTY)))), format!("<w:p><w:r><w:t><![CDATA[{DUTY}]]></w:t></w:r></w:p>")]
    {
        let (text, warnings) = told(Kind::Docx, &word(&body, &[], &[])).await;
        assert!(text.contains(DUTY) && warnings.is_empty(), "{text} {warnings:?}");
    }
}

#[tokio::test]
async fn each_line_of_a_cell_has_a_number_of_its_own() {
    let word_cell = |text: &str| format!("<w:tc>{text}</w:tc>");
    let lines = format!("{}<w:p><w:r><w:t>It must be</w:t><w:t> signed.</w:t></w:r></w:p>", paragraph(DUTY));
    let word_table = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        word_cell(&paragraph("No")),
        word_cell(&paragraph("Text")),
        word_cell(&paragraph("1")),
        word_cell(&lines)
    );
    let page = format!("<table><tr><th>No<th>Text<tr><td>1<td>{DUTY}<br>It must be <b>signed</b>.</table>");
    for (kind, bytes) in [(Kind::Docx, word(&word_table, &[], &[])), (Kind::Html, page.into_bytes())] {
        let document = parser().extract(kind, &bytes, None).await.expect("a good document");
        let numbered = plumbline_documents::passages::numbered(&document.pages[0].text);
        let of_lines = numbered.replace(char::is_numeric, "n");
        assert!(of_lines.contains(&format!("{DUTY}\u{2028}[n] It must be signed.")), "{numbered:?}");
    }
}

#[tokio::test]
async fn content_of_an_opendocument_file_outside_its_text_is_named() {
    let duty = format!("<text:p>{DUTY}</text:p>");
    let chart = format!(
        "<office:document-content><office:chart><chart:title>{duty}</chart:title></office:chart></office:document-content>"
    );
    let object = "<text:p><draw:frame><draw:object xlink:href='./Object 1'/></draw:frame></text:p>";
    let quoted = format!("\u{ab}{DUTY}\u{bb}.");
    for (body, more, said) in [
        (
            object.to_owned(),
            vec![("Object 1/content.xml", chart.as_bytes())],
            format!("Not in the text: an embedded object, {quoted}"),
        ),
        (
            format!(
                "<text:p><draw:frame><draw:image xlink:href='a.png'/><svg:desc>{DUTY}</svg:desc></draw:frame></text:p>"
            ),
            vec![],
            format!("Left out as a description: {quoted}"),
        ),
        (
            "<text:p><draw:frame><draw:image xlink:href='a.png'/></draw:frame></text:p>".to_owned(),
            vec![],
            "Not in the text: a picture.".to_owned(),
        ),
        (
            format!("<text:table-of-content><text:index-body>{duty}</text:index-body></text:table-of-content>"),
            vec![],
            format!("Left out as a table of contents or an index: {quoted}"),
        ),
        (
            format!("<text:user-index>{duty}</text:user-index>"),
            vec![],
            format!("Left out as a table of contents or an index: {quoted}"),
        ),
        (
            "<text:section><text:section-source xlink:href='annex.odt'/></text:section>".to_owned(),
            vec![],
            "Not in the text: a part in another file, \u{ab}annex.odt\u{bb}.".to_owned(),
        ),
        (
            format!(
                "<table:table><table:table-row table:visibility='collapse'><table:table-cell>{duty}</table:table-cell></table:table-row></table:table>"
            ),
            vec![],
            format!("Left out as hidden: {quoted}"),
        ),
        (
            format!(
                "<text:tracked-changes><text:changed-region><text:deletion>{duty}</text:deletion></text:changed-region></text:tracked-changes>"
            ),
            vec![],
            format!("Left out as deleted by a tracked change: {quoted}"),
        ),
    ] {
        let bytes = odt_with("", &format!("<text:p>Scope.</text:p>{body}"), &more);
        assert_eq!(told(Kind::Odt, &bytes).await, ("Scope.".to_owned(), vec![said]), "{body}");
    }
}

#[tokio::test]
async fn labels_and_choices_of_an_opendocument_form_are_read() {
    for field in [
        format!("<form:fixed-text form:id='c1' form:label='{DUTY}'/>"),
        format!(
            "<form:listbox form:id='c1'><form:option form:label='No'/><form:option form:label='{DUTY}' form:current-selected='true'/></form:listbox>"
        ),
    ] {
        let body = format!(
            "<office:forms><form:form>{field}</form:form></office:forms><text:p>Form: <draw:control draw:control='c1'/></text:p>"
        );
        assert_eq!(told(Kind::Odt, &odt_with("", &body, &[])).await, (format!("Form: {DUTY}"), Vec::new()));
    }
}

#[tokio::test]
async fn the_contents_of_a_word_file_are_no_text() {
    let sign = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    let code = |code: &str| format!("<w:r><w:instrText> {code} </w:instrText></w:r>");
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let page = sign("begin") + &code("PAGEREF _1") + &sign("separate") + &run("4") + &sign("end");
    for (name, why) in [("TOC \\o \"1-3\"", true), ("index", true), ("REF _1", false)] {
        let begin = sign("begin") + &code(name) + &sign("separate");
        let entry = run(DUTY) + "<w:r><w:tab/></w:r>" + &page;
        let body = format!(
            "<w:p>{begin}{entry}</w:p><w:p>{entry}</w:p><w:p>{}</w:p><w:p>{}</w:p>",
            sign("end"),
            run("Scope.")
        );
        let xml = format!(
            "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}</w:body></w:document>"
        );
        let (text, warnings) = told(Kind::Docx, &docx(&xml, &[])).await;
        let said = format!("Left out as a table of contents or an index: \u{ab}{DUTY} 4\u{bb}.");
        let expected =
            if why { ("Scope.".to_owned(), vec![said]) } else { (format!("{DUTY} 4 {DUTY} 4 Scope."), vec![]) };
        assert_eq!((text, warnings), expected, "{name}");
    }
}
