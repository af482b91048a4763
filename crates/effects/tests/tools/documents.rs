//! `extract_document_text`, with the real parser.

use crate::bench::Bench;
use plumbline_engine::Source;
use serde_json::json;

const MARKDOWN: &str = "# Policy\n\nInvoices must be kept for ten years.\n\n## Scope\n\nAll companies of the group.\n";

#[tokio::test]
async fn the_text_goes_into_the_workspace_and_its_path_to_the_model() {
    let mut bench = Bench::new().document("input/policy.md", MARKDOWN.as_bytes());
    let said = bench.ok("extract_document_text", json!({"file_path": "input/policy.md"})).await;
    assert!(said.contains("\ntext: chunks/policy.md\n"), "{said}");
    assert!(said.starts_with("extracted input/policy.md\nkind: Markdown text\n"), "{said}");
    assert!(said.ends_with("first headings:\n# Policy\n## Scope"), "{said}");
    assert!(!said.contains("ten years"), "{said}");
    assert!(bench.text("chunks/policy.md").unwrap().contains("Invoices must be kept for ten years."));
    let size = i64::try_from(MARKDOWN.len()).unwrap();
    let expected =
        Source { path: "input/policy.md".into(), size, pages: None, text_path: Some("chunks/policy.md".into()) };
    assert_eq!(bench.sources(), [expected]);
}

#[tokio::test]
async fn extracting_again_writes_nothing_new() {
    let mut bench = Bench::new().document("input/policy.md", MARKDOWN.as_bytes());
    let first = bench.ok("extract_document_text", json!({"file_path": "policy.md"})).await;
    let again = bench.call("extract_document_text", json!({"file_path": "input/policy.md"})).await;
    assert_eq!(again.content, first);
    assert!(again.products.iter().all(|product| matches!(product, plumbline_engine::Product::AddSource(_))));
}

#[tokio::test]
async fn documents_of_the_same_name_have_texts_of_their_own() {
    let mut bench = Bench::new()
        .document("input/a/policy.md", b"the first text")
        .document("input/b/policy.md", b"the second text")
        .document("input/c/policy.md", b"the third text")
        .document("input/chunk_001.txt", b"the fourth text");
    for (document, text) in [
        ("input/a/policy.md", "chunks/policy.md"),
        ("input/b/policy.md", "chunks/policy_md.md"),
        ("input/c/policy.md", "chunks/policy_md_2.md"),
        ("input/chunk_001.txt", "chunks/chunk_001_txt.md"),
        ("input/a/policy.md", "chunks/policy.md"),
    ] {
        let said = bench.ok("extract_document_text", json!({"file_path": document})).await;
        assert!(said.contains(&format!("\ntext: {text}")), "{document}: {said}");
    }
    assert!(bench.text("chunks/policy_md.md").unwrap().contains("the second text"));
}

#[tokio::test]
async fn what_is_no_document_is_refused() {
    let mut bench =
        Bench::with(&[("output/fake.md", "I made this up."), ("input/x.pdf", "plain text"), ("input/e.txt", "")])
            .document("input/policy.md", MARKDOWN.as_bytes());
    for (arguments, says) in [
        (
            json!({"file_path": "output/fake.md"}),
            "`output/fake.md` is no document of the job; documents are under input/",
        ),
        (
            json!({"file_path": "input/none.pdf"}),
            "`input/none.pdf` is no document of this job; its documents are input/policy.md",
        ),
        (json!({"file_path": "input/x.pdf"}), "input/x.pdf is not a PDF"),
        (json!({"file_path": "input/e.txt"}), "input/e.txt is empty"),
        (json!({"file_path": "input/policy.md", "pages": "7-3"}), "there are no pages 7-3"),
        (json!({"file_path": "input/policy.md", "pages": "x"}), "`pages` is \"x\", expected page or range such as 3-7"),
    ] {
        let refusal = bench.refused("extract_document_text", arguments).await;
        assert!(refusal.contains(says), "{refusal}");
    }
}

/// A PDF with one line of text a page.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let pages = lines.len();
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_string(),
    ];
    for (n, line) in lines.iter().enumerate() {
        let content = format!("BT /F1 12 Tf 72 700 Td ({line}) Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * n
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut out = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
    }
    let table = out.len();
    out.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    offsets.iter().for_each(|offset| out.push_str(&format!("{offset:010} 00000 n \n")));
    out.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
    out.into_bytes()
}

#[tokio::test]
async fn pages_are_marked_and_can_be_had_apart() {
    let lines = ["The first page says this.", "Invoices must be kept for ten years.", "The last page says that."];
    let mut bench = Bench::new().document("input/p.pdf", &pdf(&lines));
    let said = bench.ok("extract_document_text", json!({"file_path": "input/p.pdf", "pages": "2-3"})).await;
    assert!(said.contains("\ntext: chunks/p_p2-3.md"), "{said}");
    let part = bench.text("chunks/p_p2-3.md").unwrap();
    assert!(part.starts_with("[page 2]\n") && part.contains("[page 3]") && !part.contains("[page 1]"), "{part}");
    assert_eq!(bench.sources()[0].text_path, None, "a part is no text to cite from");
    bench.refused("cite", json!({"source": "p.pdf", "quote": lines[1]})).await;

    let said = bench.ok("extract_document_text", json!({"file_path": "input/p.pdf"})).await;
    assert!(said.contains("\nkind: PDF\npages: 3\nwords: 17\n"), "{said}");
    let source = &bench.sources()[0];
    assert_eq!((source.pages, source.text_path.as_deref()), (Some(3), Some("chunks/p.md")));
    let said = bench.ok("cite", json!({"source": "p.pdf", "page": 2, "quote": lines[1]})).await;
    assert!(said.ends_with("input/p.pdf, page 2"), "{said}");
    let refusal = bench.refused("extract_document_text", json!({"file_path": "input/p.pdf", "pages": 9})).await;
    assert!(refusal.contains("input/p.pdf"), "{refusal}");
}
