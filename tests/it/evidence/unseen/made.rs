//! Small documents full of duties that are easily overlooked: each kind of them in at least two formats.

use plumbline_system_tests::made::{docx, odt, paragraph, pdf, pdf_form};

/// A document's name and its bytes.
pub(super) type Document = (&'static str, Vec<u8>);

pub(super) fn all() -> Vec<Document> {
    [languages(), decomposed(), boxed(), tables(), data(), one_rule_a_page(), parts(), changes(), bad_bytes()].concat()
}

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

const MAIN: &str = "word/document.xml";

/// Languages without rules.
fn languages() -> Vec<Document> {
    let russian =
        "Повар должен закрывать кухню в полночь. В кладовой запрещено курить. Каждую поставку необходимо взвешивать.";
    let arabic = "يجب على الطاهي إغلاق المطبخ عند منتصف الليل. يحظر التدخين في المخزن. يجب وزن كل شحنة.";
    vec![
        (
            "french.md",
            text(
                "# Cuisine\n\nLe chef doit fermer la cuisine à minuit. Il est interdit de fumer dans la réserve. Chaque \
                 livraison doit être pesée.\n",
            ),
        ),
        (
            "spanish.html",
            text(
                "<h1>Cocina</h1><p>El jefe debe cerrar la cocina a medianoche.</p><p>Está prohibido fumar en el almacén. Cada \
                 entrega debe pesarse.</p>",
            ),
        ),
        ("polish.csv", text("Nr;Zasada\n1;Kucharz musi zamknąć kuchnię o północy\n2;W magazynie nie wolno palić\n")),
        ("chinese.md", text("# 厨房\n\n厨师必须在午夜关闭厨房。任何人不得在仓库吸烟。\n")),
        (
            "japanese.html",
            text("<h1>台所</h1><p>料理長は深夜に台所を閉めなければならない。倉庫での喫煙は禁止する。</p>"),
        ),
        ("russian.docx", docx(MAIN, &paragraph(russian))),
        ("arabic.odt", odt(&format!("<text:p>{arabic}</text:p>"))),
        (
            "italian.pdf",
            pdf(&[["Il cuoco deve chiudere la cucina a mezzanotte.", "Nel magazzino è vietato fumare."]
                .map(str::to_owned)
                .to_vec()]),
        ),
        ("hungarian.html", text("<p>A szakácsnak éjfélkor be kell zárnia a konyhát. Tilos a dohányzás.</p>")),
        ("latin.txt", text("Coquus culinam media nocte claudere debet. In horreo fumare vetitum est.\n")),
        ("dutch.csv", text("nr;regel\n1;Kok sluit keuken\n2;Roken verboden\n3;Deur moet dicht\n")),
        // Two letters are Cyrillic and Greek.
        ("look_alikes.md", text("The cook \u{43c}ust close the kitchen. He m\u{3c5}st not smoke.\n")),
        (
            // Most of it is English.
            "partly.md",
            text(
                "# Kitchen\n\nThe kitchen was built in 1902. Its windows look to the harbour.\n\nDe kok moet de keuken om middernacht \
                 sluiten. In het magazijn is roken verboden.\n",
            ),
        ),
    ]
}

/// Umlauts as a letter and a mark.
fn decomposed() -> Vec<Document> {
    let sentences = "Köche müssen die Küche schließen. Gäste dürfen nicht rauchen. Die Tür muss verschlossen bleiben.";
    let sentences = sentences.replace('ö', "o\u{308}").replace('ü', "u\u{308}").replace('ä', "a\u{308}");
    vec![
        ("decomposed.md", text(&format!("# Ku\u{308}che\n\n{sentences}\n"))),
        ("decomposed.html", text(&format!("<h1>Ku\u{308}che</h1><p>{sentences}</p>"))),
        ("decomposed.docx", docx(MAIN, &paragraph(&sentences))),
        ("decomposed.odt", odt(&format!("<text:p>{sentences}</text:p>"))),
    ]
}

const BOXED: &str = "The cook must close the kitchen at midnight and must not smoke in the store.";

/// A note in a box, which is a table of one cell.
fn boxed() -> Vec<Document> {
    let cell = paragraph(BOXED);
    vec![
        (
            "boxed.docx",
            docx(
                MAIN,
                &format!(
                    "{}<w:tbl><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>{}",
                    paragraph("Kitchen"),
                    paragraph("End.")
                ),
            ),
        ),
        ("boxed.html", text(&format!("<h1>Kitchen</h1><table><tr><td>{BOXED}</td></tr></table><p>End.</p>"))),
        ("boxed_head.html", text(&format!("<h1>Kitchen</h1><table><tr><th>{BOXED}</th></tr></table><p>End.</p>"))),
        (
            "boxed.odt",
            odt(&format!(
                "<text:h>Kitchen</text:h><table:table><table:table-row><table:table-cell><text:p>{BOXED}</text:p>\
                 </table:table-cell></table:table-row></table:table>"
            )),
        ),
        ("boxed.md", text(&format!("# Kitchen\n\n| {BOXED} |\n|---|\n\nEnd.\n"))),
        ("boxed.csv", text(&format!("\"{BOXED}\"\n"))),
    ]
}

const RULES: [&str; 3] = [
    "The kitchen must be closed at midnight, always",
    "The store shall not be opened",
    "The cook must sign, and date, each list",
];

/// Tables as text, with cells in quotation marks.
fn tables() -> Vec<Document> {
    let rows = |between: &str| -> String {
        (1..).zip(RULES).map(|(number, rule)| format!("{number}{between}\"{rule}\"\n")).collect()
    };
    let fifty: String =
        (1..=50).map(|n| format!("{n},\"Pot {n} must be cleaned daily, and shall not be lent\",Cook\n")).collect();
    vec![
        ("quoted.csv", text(&format!("no,rule\n{}", rows(",")))),
        ("quoted.tsv", text(&format!("no\trule\n{}", rows("\t")))),
        ("semicolons.csv", text(&format!("no;rule\n{}", rows(";")))),
        ("no_header.csv", text(&rows(","))),
        ("fifty.csv", text(&format!("no,rule,owner\n{fifty}"))),
        ("fifty.txt", text(&format!("no,rule,owner\n{fifty}"))),
    ]
}

/// Values of data formats, on one line.
fn data() -> Vec<Document> {
    let json = RULES.map(|rule| format!("{{\"rule\": \"{rule}\"}}")).join(",");
    let xml = RULES.map(|rule| format!("<rule>{rule}</rule>")).concat();
    let yaml: String = RULES.iter().map(|rule| format!("- rule: \"{rule}\"\n")).collect();
    vec![
        ("rules.json", text(&format!("[{json}]"))),
        ("rules.xml", text(&format!("<?xml version=\"1.0\"?><rules>{xml}</rules>"))),
        ("rules.yaml", text(&yaml)),
        (
            "attributes.xml",
            text(&format!("<rules>{}</rules>", RULES.map(|rule| format!("<rule text=\"{rule}\"/>")).concat())),
        ),
    ]
}

/// Pages that differ in their numbers only.
fn one_rule_a_page() -> Vec<Document> {
    let card = |n: usize| {
        vec![
            format!("Control {n}"),
            format!("The cook must sign list {n} before noon."),
            format!("List {n} shall be kept for {n} weeks."),
        ]
    };
    let cards: Vec<Vec<String>> = (1..=12).map(card).collect();
    let titled: Vec<Vec<String>> = [vec!["Rules of the kitchen".to_owned()]].into_iter().chain(cards.clone()).collect();
    let same: Vec<Vec<String>> =
        (1..=12).map(|_| vec!["The cook must close the kitchen at midnight.".to_owned()]).collect();
    let printed = cards.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\u{c}");
    vec![
        ("cards.pdf", pdf(&cards)),
        ("titled.pdf", pdf(&titled)),
        ("same.pdf", pdf(&same)),
        ("cards.txt", text(&printed)),
    ]
}

/// Text in another place than the body's paragraphs, or behind other bytes.
fn parts() -> Vec<Document> {
    let term = "The supplier shall deliver within 14 days.";
    let formula = "<w:p><w:r><w:t xml:space=\"preserve\">The oven must not exceed </w:t></w:r><m:oMath><m:r><m:t>T=220</m:t></m:r></m:oMath>\
                   <w:r><w:t xml:space=\"preserve\"> degrees.</w:t></w:r></w:p>";
    let rule = pdf(&[vec!["The cook must close the kitchen.".to_owned()]]);
    vec![
        ("other_part.docx", docx("word/document2.xml", &paragraph("The cook must close the kitchen."))),
        ("form.pdf", pdf_form("Terms", term)),
        ("form.html", text(&format!("<form><p>Terms</p><input type=\"text\" name=\"term\" value=\"{term}\"></form>"))),
        ("area.html", text(&format!("<p>Terms</p><textarea>{term}</textarea>"))),
        ("formula.docx", docx(MAIN, formula)),
        (
            "formula.html",
            text("<p>The oven must not exceed <math><mi>T</mi><mo>=</mo><mn>220</mn></math> degrees.</p>"),
        ),
        ("line_before.pdf", [b"\n".as_slice(), &rule].concat()),
        ("mark_before.pdf", [b"\xef\xbb\xbf".as_slice(), &rule].concat()),
    ]
}

/// Tracked changes.
fn changes() -> Vec<Document> {
    let run = "<w:r><w:t>Seals must be counted at noon.</w:t></w:r>";
    let moved = format!(
        "<w:p><w:moveFrom w:id=\"3\" w:author=\"a\">{run}</w:moveFrom></w:p><w:p><w:moveTo w:id=\"4\" w:author=\"a\">{run}</w:moveTo></w:p>"
    );
    vec![
        ("moved.docx", docx(MAIN, &moved)),
        ("inserted.docx", docx(MAIN, &format!("<w:p><w:ins w:id=\"5\" w:author=\"a\">{run}</w:ins></w:p>"))),
        ("inserted.html", text("<p><del>Seals are blue.</del> <ins>Seals must be counted at noon.</ins></p>")),
    ]
}

/// One byte that is no UTF-8.
fn bad_bytes() -> Vec<Document> {
    let spoilt = |text: &str| [text.as_bytes(), b" \xff kept. K\xc3\xbcchen m\xc3\xbcssen sauber sein."].concat();
    vec![
        ("bad_byte.txt", spoilt("The kitchen must be")),
        ("bad_byte.html", spoilt("<h1>Kitchen</h1><p>The kitchen must be")),
        ("bad_byte.csv", spoilt("no,rule\n1,The kitchen must be")),
    ]
}
