//! Long documents: their text is in parts, and every tool handles them.

use crate::bench::Bench;
use plumbline_documents::from_text_file;
use plumbline_engine::Product;
use serde_json::json;

/// Maximum size of one part.
const PART: usize = 1 << 20;

fn paragraph(number: usize) -> String {
    format!(
        "Rule {number}. Records of kind {number} shall be kept for {} years and no longer, by whoever made them.",
        number % 30
    )
}

/// Markdown of more than three parts: chapters of a thousand paragraphs.
fn manual(paragraphs: usize) -> String {
    let line = |number: usize| match number % 1000 {
        0 => format!("# Chapter {}\n\n{}\n\n", number / 1000, paragraph(number)),
        _ => format!("{}\n\n", paragraph(number)),
    };
    (0..paragraphs).map(line).collect()
}

fn texts(bench: &Bench, count: usize) -> Vec<String> {
    let path = |number| if number == 1 { "chunks/m.md".to_owned() } else { format!("chunks/m.part{number}.md") };
    (1..=count).map(|number| bench.text(&path(number)).unwrap_or_else(|| panic!("part {number}")).to_owned()).collect()
}

#[tokio::test]
async fn a_long_text_comes_in_parts_and_is_cut_and_cited_all_the_same() {
    let text = manual(34_000);
    let mut bench = Bench::new().document("input/m.md", text.as_bytes());
    let done = bench.call("extract_document_text", json!({"file_path": "input/m.md"})).await;
    assert!(
        done.content.contains("\ntext: chunks/m.md\nit goes on in: chunks/m.part2.md to chunks/m.part4.md\n"),
        "{}",
        done.content
    );
    let parts = texts(&bench, 4);
    assert!(parts.iter().all(|part| part.len() <= PART && part.starts_with("Rule ") | part.starts_with("# ")));
    assert_eq!(parts.concat().trim_end(), text.trim_end());

    // The last sentence of a part, the first of the next, and both together.
    let border = |part: &str| part.trim_end().rsplit("\n\n").next().unwrap_or_default().to_owned();
    let (before, after) = (border(&parts[0]), parts[1].split("\n\n").next().unwrap_or_default().to_owned());
    for quote in [before.clone(), after.clone(), format!("{before} {after}"), paragraph(33_999)] {
        let said = bench.ok("cite", json!({"source": "input/m.md", "quote": quote})).await;
        assert!(said.contains("occurs in input/m.md"), "{said}");
    }
    let refusal = bench
        .refused("cite", json!({"source": "m.md", "quote": "Rule 33000. Records of kind 33000 may be thrown away."}))
        .await;
    assert!(refusal.contains("nearest passage is: \"Rule 33000."), "{refusal}");
    for path in ["chunks/m.md", "chunks/m.part3.md"] {
        let refusal = bench.refused("write_file", json!({"path": path, "content": "x"})).await;
        assert!(refusal.contains("is the extracted text of input/m.md"), "{refusal}");
    }

    bench.ok("chunk_document", json!({"file_path": "chunks/m.part2.md"})).await;
    let manifest: serde_json::Value = serde_json::from_str(bench.text("chunks/manifest.json").unwrap()).unwrap();
    let chunks = manifest["chunks"].as_array().unwrap();
    let mut read = String::new();
    for (index, chunk) in chunks.iter().enumerate() {
        let file = bench.text(chunk["file"].as_str().unwrap()).unwrap();
        let (head, body) = file.split_once("\n\n").unwrap();
        assert!(head.starts_with("<!-- source: input/m.md | section: Chapter "), "{head}");
        // The chapter is that of the rule at the chunk's beginning, in whichever part it is.
        let first = body.split("Rule ").nth(1).and_then(|rest| rest.split('.').next()).unwrap();
        let chapter = first.parse::<usize>().unwrap() / 1000;
        assert_eq!(chunk["headings"], json!([format!("Chapter {chapter}")]), "chunk {index}");
        read.push_str(body);
    }
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&read), words(&text), "every word once, in order");
}

#[tokio::test]
async fn a_shorter_text_takes_the_parts_of_a_longer_one_away() {
    let mut bench = Bench::new().document("input/m.md", manual(24_000).as_bytes());
    bench.ok("extract_document_text", json!({"file_path": "input/m.md"})).await;
    texts(&bench, 3);
    let again = bench.call("extract_document_text", json!({"file_path": "input/m.md"})).await;
    assert!(again.products.iter().all(|product| matches!(product, Product::AddSource(_))), "nothing new");
    bench = bench.document("input/m.md", manual(12_000).as_bytes());
    let said = bench.ok("extract_document_text", json!({"file_path": "input/m.md"})).await;
    assert!(said.contains("\nit goes on in: chunks/m.part2.md\n"), "{said}");
    assert_eq!(bench.text("chunks/m.part3.md"), None);
    bench = bench.document("input/m.md", manual(10).as_bytes());
    bench.ok("extract_document_text", json!({"file_path": "input/m.md"})).await;
    assert_eq!(bench.text("chunks/m.part2.md"), None);
    assert_eq!(from_text_file(bench.text("chunks/m.md").unwrap()).pages.len(), 1);
}

#[tokio::test]
async fn a_document_that_looks_like_a_part_gets_another_name() {
    let mut bench =
        Bench::new().document("input/m.md", b"The text of one.").document("input/m.part2.md", b"The text of another.");
    for (document, text) in [("input/m.md", "chunks/m.md"), ("input/m.part2.md", "chunks/m.part2_md.md")] {
        let said = bench.ok("extract_document_text", json!({"file_path": document})).await;
        assert!(said.contains(&format!("\ntext: {text}")), "{said}");
    }
}
