//! What a PDF draws in forms of its annotations, in patterns and in layers, and what it states in place of its characters.

use crate::beside::told;
use crate::make::{assemble, lines};
use plumbline_documents::Kind;

const FONTS: &str = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >>";

/// A page of this content with further resources and entries, and objects from number 6 on; object 5 is a form that
/// draws a duty.
fn page(content: &str, (catalog, resources, entries): (&str, &str, &str), more: &[String]) -> Vec<u8> {
    let text = lines(72, 700, &["The scope of these rules is as follows."]) + content;
    let stream = |dictionary: &str, content: &str| {
        format!("<< {dictionary} /Length {} >>\nstream\n{content}\nendstream", content.len())
    };
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R {catalog} >>"),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << {FONTS} {resources} >> /Contents 4 0 R {entries} >>"
        ),
        stream("", &text),
        stream(
            &format!("/Type /XObject /Subtype /Form /BBox [0 0 400 20] /Resources << {FONTS} >>"),
            &lines(2, 5, &["The operator shall keep it."]),
        ),
    ];
    objects.extend_from_slice(more);
    assemble(&objects)
}

const SCOPE: &str = "The scope of these rules is as follows.";
const DUTY: &str = "The operator shall keep it.";

#[tokio::test]
async fn words_in_forms_of_an_appearance_are_read() {
    let outer =
        "<< /Type /XObject /Subtype /Form /BBox [0 0 400 20] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\n\
                 stream\n/X Do\nendstream"
            .to_owned();
    let annotation = |rest: &str| format!("/Annots [<< /Type /Annot /Rect [72 480 400 500] {rest} >>]");
    for (entries, is_text) in [
        ("/Subtype /FreeText /AP << /N 6 0 R >>", true),
        ("/Subtype /FreeText /AP << /N << /On 6 0 R >> >> /AS /On", true),
        ("/Subtype /Widget /FT /Tx /AP << /N 6 0 R >>", true),
        ("/Subtype /Widget /FT /Sig /AP << /N 6 0 R >>", true),
        ("/Subtype /Stamp /AP << /N 6 0 R >>", false),
    ] {
        let bytes = page("", ("", "", &annotation(entries)), std::slice::from_ref(&outer));
        let said = format!("Page 1: not in the text: a stamp, \u{ab}{DUTY}\u{bb}.");
        let expected = if is_text { (format!("{SCOPE} {DUTY}"), vec![]) } else { (SCOPE.to_owned(), vec![said]) };
        assert_eq!(told(Kind::Pdf, &bytes).await, expected, "{entries}");
    }
}

#[tokio::test]
async fn words_in_patterns_are_named() {
    let drawn = lines(0, 5, &[DUTY]);
    let pattern = format!(
        "<< /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 400 20] /XStep 612 /YStep 792 /Resources << {FONTS} >> /Length \
         {} >>\nstream\n{drawn}\nendstream",
        drawn.len()
    );
    let content = "/Pattern cs /P0 scn 0 0 612 400 re f\n";
    let bytes = page(content, ("", "/Pattern << /P0 6 0 R >>", ""), &[pattern]);
    let said = format!("Page 1: not in the text: words in a pattern, \u{ab}{DUTY}\u{bb}.");
    assert_eq!(told(Kind::Pdf, &bytes).await, (SCOPE.to_owned(), vec![said]));
}

#[tokio::test]
async fn words_of_layers_that_are_switched_off_are_named() {
    let group = "<< /Type /OCG /Name (Draft) >>".to_owned();
    let members = "<< /Type /OCMD /OCGs [6 0 R] >>".to_owned();
    let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 400 20] /OC 6 0 R /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\n\
                stream\n/X Do\nendstream"
        .to_owned();
    let resources = "/Properties << /L 6 0 R /M 7 0 R >> /XObject << /X 5 0 R /Y 8 0 R >>";
    let read = async |content: &str, shown: &str| {
        let catalog = format!("/OCProperties << /OCGs [6 0 R] /D << {shown} >> >>");
        let more = [group.clone(), members.clone(), form.clone()];
        told(Kind::Pdf, &page(content, (&catalog, resources, ""), &more)).await.1
    };
    let said = format!("Page 1: of a layer that is switched off, and still in the text: \u{ab}{DUTY}\u{bb}.");
    let duty = lines(72, 500, &[DUTY]);
    for content in [
        format!("/OC /L BDC\n{duty}EMC\n"),
        format!("/OC /L BDC\n/Span BMC\nEMC\n{duty}EMC\n"),
        format!("/OC /M BDC\n{duty}EMC\n"),
        "/OC /L BDC\n/X Do\nEMC\n".to_owned(),
        "/Y Do\n".to_owned(),
    ] {
        for shown in ["/OFF [6 0 R]", "/BaseState /OFF"] {
            assert_eq!(read(&content, shown).await, [said.as_str()], "{content} {shown}");
        }
        for shown in ["", "/BaseState /OFF /ON [6 0 R]"] {
            assert_eq!(read(&content, shown).await, [""; 0], "{content} {shown}");
        }
    }
    assert_eq!(read(&format!("/OC /L BDC\nEMC\n{duty}"), "/OFF [6 0 R]").await, [""; 0]);
}

#[tokio::test]
async fn a_text_that_the_file_states_in_place_of_other_characters_is_named() {
    let content = |stated: &str| {
        format!("/Span << /ActualText ({stated}) >> BDC\n{}EMC\n", lines(72, 600, &["The certi0cate must be kept."]))
    };
    let bytes = page(&content("The certificate must be kept."), ("", "", ""), &[]);
    let said = "Page 1: in the text as its font encodes it; the file says that it reads \u{ab}The certificate must be \
                kept.\u{bb}.";
    assert_eq!(told(Kind::Pdf, &bytes).await.1, [said]);
    let bytes = page(&content("The certi0cate must be kept."), ("", "", ""), &[]);
    assert_eq!(told(Kind::Pdf, &bytes).await.1, [""; 0]);
}
