//! `chunk_document`.

use crate::bench::Bench;
use serde_json::{Value, json};

fn paged(pages: std::ops::RangeInclusive<u32>) -> String {
    let page = |n: u32| {
        format!("[page {n}]\n\n# Section {n}\n\n{}\n\n", format!("Sentence {n} says something of use. ").repeat(12))
    };
    pages.map(page).collect()
}

fn manifest(bench: &Bench) -> Vec<(String, String)> {
    let manifest: Value = serde_json::from_str(bench.text("chunks/manifest.json").unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    manifest["chunks"].as_array().unwrap().iter().map(|entry| (text(&entry["file"]), text(&entry["source"]))).collect()
}

#[tokio::test]
async fn a_document_is_cut_and_listed() {
    let mut bench = Bench::new().extracted("input/p.pdf", "chunks/p.md", &paged(1..=6));
    let said = bench.ok("chunk_document", json!({"file_path": "input/p.pdf", "max_tokens": 150})).await;
    let chunks = manifest(&bench);
    assert!(chunks.len() > 3, "{said}");
    let last = &chunks.last().unwrap().0;
    assert!(
        said.starts_with(&format!(
            "cut input/p.pdf into {} chunks: chunks/chunk_001.md to {last}, pages 1-6;",
            chunks.len()
        )),
        "{said}"
    );
    assert!(said.ends_with("\nlist: chunks/manifest.json"), "{said}");
    let first = bench.text("chunks/chunk_001.md").unwrap();
    assert!(first.starts_with("<!-- source: input/p.pdf | pages: 1"), "{first}");
    assert!(chunks.iter().all(|(file, source)| bench.text(file).is_some() && source == "input/p.pdf"));
    let all: String = chunks.iter().map(|(file, _)| bench.text(file).unwrap()).collect();
    assert_eq!(all.matches("Sentence 4 says something of use.").count(), 12);
}

#[tokio::test]
async fn cutting_again_replaces_and_another_document_follows() {
    let mut bench = Bench::new().extracted("input/p.pdf", "chunks/p.md", &paged(1..=6)).extracted(
        "input/q.pdf",
        "chunks/q.md",
        &paged(1..=2),
    );
    bench.ok("chunk_document", json!({"file_path": "p.pdf", "max_tokens": 150})).await;
    let many = manifest(&bench).len();
    bench.ok("chunk_document", json!({"file_path": "chunks/q.md"})).await;
    assert_eq!(
        manifest(&bench).last().unwrap(),
        &(format!("chunks/chunk_{:03}.md", many + 1), "input/q.pdf".to_string())
    );
    bench.ok("chunk_document", json!({"file_path": "input/p.pdf", "max_tokens": 4000})).await;
    let listed = manifest(&bench);
    assert!(listed.len() < many, "{listed:?}");
    let files: Vec<&str> = bench.paths().into_iter().filter(|path| path.starts_with("chunks/chunk_")).collect();
    let mut expected: Vec<&str> = listed.iter().map(|(file, _)| file.as_str()).collect();
    expected.sort_unstable();
    assert_eq!(files, expected, "no chunk is left that the list does not name");
}

#[tokio::test]
async fn a_text_file_of_the_workspace_is_cut_as_it_is() {
    let mut bench = Bench::with(&[("web_sources/page.md", "# A page\n\nWith some words on it.\n")]);
    let said = bench.ok("chunk_document", json!({"file_path": "web_sources/page.md"})).await;
    assert!(said.starts_with("cut web_sources/page.md into 1 chunk: chunks/chunk_001.md;"), "{said}");
}

#[tokio::test]
async fn what_cannot_be_cut_is_refused_with_what_to_do() {
    let mut bench = Bench::with(&[("blank.md", " \n"), ("input/loose.txt", "x")]).document("input/p.pdf", b"%PDF-1.4");
    for (arguments, says) in [
        (
            json!({"file_path": "input/p.pdf"}),
            "input/p.pdf has no text yet; call extract_document_text with file_path input/p.pdf first",
        ),
        (json!({"file_path": "input/loose.txt"}), "call extract_document_text with file_path input/loose.txt first"),
        (json!({"file_path": "none.md"}), "`none.md` is no document of this job; its documents are input/p.pdf"),
        (json!({"file_path": "blank.md"}), "blank.md has no text to cut"),
        (json!({"file_path": "blank.md", "max_tokens": 99}), "`max_tokens` is 99, expected at least 100"),
        (
            json!({"file_path": "blank.md", "max_tokens": 200, "overlap": 150}),
            "`overlap` is 150, more than half of `max_tokens` (200)",
        ),
    ] {
        let refusal = bench.refused("chunk_document", arguments).await;
        assert!(refusal.contains(says), "{refusal}");
    }
    let mut bench = Bench::with(&[("a.md", "some words"), ("chunks/manifest.json", "{}")]);
    let refusal = bench.refused("chunk_document", json!({"file_path": "a.md"})).await;
    assert!(refusal.contains("chunks/manifest.json is not the list of chunks any more"), "{refusal}");
}

/// Citations refer to the sentences of a passage's file, and passages to the numbers in the list: the model may change
/// neither.
#[tokio::test]
async fn a_passages_file_and_the_list_are_read_only() {
    let mut bench = Bench::new().extracted("input/p.pdf", "chunks/p.md", &paged(1..=2));
    bench.ok("chunk_document", json!({"file_path": "input/p.pdf"})).await;
    for path in ["chunks/chunk_001.md", "chunks/manifest.json"] {
        let written = bench.refused("write_file", json!({"path": path, "content": "It was founded in 1901."})).await;
        let deleted = bench.refused("delete_file", json!({"path": path})).await;
        assert!(written.contains("is read only") && deleted.contains("is read only"), "{written} {deleted}");
    }
    bench.ok("write_file", json!({"path": "chunks/notes.md", "content": "Section 2 repeats section 1."})).await;
}

#[tokio::test]
async fn only_words_that_are_repeated_count_where_they_first_begin() {
    let same = "Visitors must sign in and say whom they visit.\n\n".repeat(40);
    let distinct: String = (1..=40).map(|n| format!("Visitor {n} must sign in and say whom he visits.\n\n")).collect();
    // An overlap of five tokens contains no sentence; one of forty contains some, which are distinguishable only if
    // they differ.
    for (text, overlap) in [(&same, 0), (&same, 5), (&distinct, 0), (&distinct, 40)] {
        let mut bench = Bench::new().extracted("input/a.md", "chunks/a.md", text);
        bench.ok("chunk_document", json!({"file_path": "input/a.md", "max_tokens": 100, "overlap": overlap})).await;
        let shown: usize =
            manifest(&bench).iter().map(|(file, _)| bench.text(file).unwrap().matches("must").count()).sum();
        let counted: usize = bench.rows.passages.iter().map(|passage| passage.candidates.len()).sum();
        assert_eq!((shown > 40, counted), (overlap == 40, 40), "overlap {overlap}");
    }
}
