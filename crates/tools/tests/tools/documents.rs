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
    let expected = Source {
        path: "input/policy.md".into(),
        size,
        pages: None,
        text_path: Some("chunks/policy.md".into()),
        extraction: Some(plumbline_documents::READING.into()),
        ..Source::default()
    };
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
        (
            json!({"file_path": "input/policy.md", "pages": "x"}),
            "`pages` is \"x\", expected pages and ranges such as 3-7 or 1-5,10",
        ),
    ] {
        let refusal = bench.refused("extract_document_text", arguments).await;
        assert!(refusal.contains(says), "{refusal}");
    }
}

/// A PDF with these lines of text per page.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let pages = lines.len();
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_string(),
    ];
    for (n, line) in lines.iter().enumerate() {
        let set: String = line.lines().map(|line| format!("({line}) Tj 0 -14 Td ")).collect();
        let content = format!("BT /F1 12 Tf 72 700 Td {set}ET");
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
    for (pages, name) in [("1,3", "p_p1-1_3-3"), ("3, 1-1", "p_p1-1_3-3"), ("1-2,2-3", "p_p1-3")] {
        let said = bench.ok("extract_document_text", json!({"file_path": "input/p.pdf", "pages": pages})).await;
        assert!(said.contains(&format!("\ntext: chunks/{name}.md")), "{pages}: {said}");
        let part = bench.text(&format!("chunks/{name}.md")).unwrap();
        assert_eq!(part.contains("[page 2]"), pages == "1-2,2-3", "{pages}: {part}");
        assert!(part.contains("[page 1]") && part.contains("[page 3]"), "{pages}: {part}");
    }

    let said = bench.ok("extract_document_text", json!({"file_path": "input/p.pdf"})).await;
    assert!(said.contains("\nkind: PDF\npages: 3\nwords: 17\n"), "{said}");
    let source = &bench.sources()[0];
    assert_eq!((source.pages, source.text_path.as_deref()), (Some(3), Some("chunks/p.md")));
    let said = bench.ok("cite", json!({"source": "p.pdf", "page": 2, "quote": lines[1]})).await;
    assert!(said.ends_with("input/p.pdf, page 2"), "{said}");
    let refusal = bench.refused("extract_document_text", json!({"file_path": "input/p.pdf", "pages": 9})).await;
    assert!(refusal.contains("input/p.pdf"), "{refusal}");
}

#[tokio::test]
async fn a_word_that_a_line_end_parts_is_stored_as_the_document_has_it_and_quoted_both_ways() {
    let lines = [
        "The Licensor grants a non-\nexclusive right and a sub-\nlicence to these docu-\nments. Each well-known rule\napplies.",
        "The right is non-exclusive and royalty-free.",
    ];
    let mut bench = Bench::new().document("input/p.pdf", &pdf(&lines));
    bench.ok("extract_document_text", json!({"file_path": "input/p.pdf"})).await;
    let text = bench.text("chunks/p.md").unwrap();
    let stored =
        "The Licensor grants a non-exclusive right and a sublicence to these documents. Each well-known rule applies.";
    assert!(text.contains(stored), "{text}");
    for (quote, page, recorded) in [
        ("grants a non-exclusive right", Some(1), "grants a non-exclusive right"),
        ("grants a nonexclusive right", Some(1), "grants a non-exclusive right"),
        ("grants a non-\nexclusive right", None, "grants a non-exclusive right"),
        (
            "a nonexclusive right and a sub-licence to these docu-ments.",
            None,
            "a non-exclusive right and a sublicence to these documents.",
        ),
    ] {
        let said = bench.ok("cite", json!({"source": "p.pdf", "page": page, "quote": quote})).await;
        assert!(said.ends_with("input/p.pdf, page 1"), "{quote}: {said}");
        assert_eq!(bench.rows.citations.last().unwrap().quote, recorded);
    }
    // In these, no line ends within the word.
    for quote in ["Each wellknown rule applies.", "The right is nonexclusive", "and royaltyfree."] {
        let refusal = bench.refused("cite", json!({"source": "p.pdf", "quote": quote})).await;
        assert!(refusal.contains("does not occur"), "{quote}: {refusal}");
    }
    let said = bench.ok("cite", json!({"source": "p.pdf", "page": 2, "quote": "a sub-licence to these"})).await;
    assert!(said.contains("the quote is on page 1, not 2"), "{said}");
}

#[tokio::test]
async fn lines_can_be_had_as_the_pages_have_them() {
    let lines = ["The Licensor grants a non-\nexclusive right.", "It is non-exclusive."];
    let mut bench =
        Bench::new().document("input/p.pdf", &pdf(&lines)).document("input/n.txt", b"A non-\nexclusive one.");
    let said = bench.ok("extract_document_text", json!({"file_path": "input/p.pdf", "lines": true})).await;
    assert!(said.contains("\ntext: chunks/p_lines.md"), "{said}");
    let text = bench.text("chunks/p_lines.md").unwrap();
    assert_eq!(text, "[page 1]\n\nThe Licensor grants a non-\nexclusive right.\n\n[page 2]\n\nIt is non-exclusive.\n");
    assert_eq!(bench.sources()[0].text_path, None, "quotes are checked against the other text");
    let page = json!({"file_path": "input/p.pdf", "lines": true, "pages": 2});
    let said = bench.ok("extract_document_text", page).await;
    assert!(said.contains("\ntext: chunks/p_p2-2_lines.md"), "{said}");
    bench.ok("extract_document_text", json!({"file_path": "input/n.txt", "lines": true})).await;
    assert!(bench.text("chunks/n_lines.md").unwrap().contains("A non-\nexclusive one."));
}
