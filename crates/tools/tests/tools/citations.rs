//! `cite`: a citation is recorded only if its quote occurs.

use crate::bench::Bench;
use plumbline_engine::Product;
use serde_json::json;

const TEXT: &str = "[page 1]\n\n# Policy\n\nThis policy applies to all com-\npanies of the group.\n\n[page 2]\n\nInvoices must be kept\nfor ten years. They “shall” be complete.\n\n[page 3]\n\nDelivery notes may be destroyed.\n";

fn bench() -> Bench {
    Bench::new().extracted("input/policy.pdf", "chunks/policy.md", TEXT)
}

#[tokio::test]
async fn a_quote_that_occurs_is_recorded_with_its_page() {
    for (source, page, quote, found) in [
        ("input/policy.pdf", Some(2), "Invoices must be kept for ten years.", 2),
        ("policy.pdf", None, "Invoices must be kept for ten years.", 2),
        ("Policy.PDF", None, "all companies of the group", 1),
        // In the source's form, not as typed.
        ("chunks/policy.md", None, "They “shall” be complete.", 2),
        ("/workspace/input/policy.pdf", None, "Delivery notes may be destroyed.", 3),
    ] {
        let mut bench = bench();
        let typed = quote.replace(['“', '”'], "\"");
        let said = bench.ok("cite", json!({"source": source, "page": page, "quote": typed})).await;
        let citation = bench.rows.citations.last().unwrap();
        assert_eq!(said, format!("citation {}: the quote occurs in input/policy.pdf, page {found}", citation.id));
        assert_eq!(
            (citation.source.as_str(), citation.page, citation.quote.as_str()),
            ("input/policy.pdf", Some(found), quote)
        );
        assert!(citation.verified);
        assert!(citation.id.len() == 12 && citation.id.starts_with("cit_"), "{}", citation.id);
    }
}

#[tokio::test]
async fn the_same_citation_has_the_same_id() {
    let mut bench = bench();
    let quote = "Invoices must be kept for ten years.";
    let first = bench.ok("cite", json!({"source": "policy.pdf", "quote": quote})).await;
    let second =
        bench.ok("cite", json!({"source": "input/policy.pdf", "page": 2, "quote": format!(" {quote}\n")})).await;
    assert_eq!(first, second);
    assert_ne!(bench.ok("cite", json!({"source": "policy.pdf", "quote": "Invoices must be kept"})).await, first);
}

#[tokio::test]
async fn a_quote_that_does_not_occur_is_refused_with_the_nearest_passage() {
    let mut bench = bench();
    for (page, quote, says) in [
        (
            None::<u32>,
            "Invoices must be kept for eleven years.",
            vec!["does not occur in input/policy.pdf", "on page 2", "kept for ten years"],
        ),
        (None, "invoices must be kept for ten years.", vec!["does not occur"]),
        (None, "Inv", vec!["the quote is shorter than 8 characters"]),
        (None, "Zebras gallop across purple savannahs.", vec!["does not occur"]),
    ] {
        let done = bench.call("cite", json!({"source": "input/policy.pdf", "page": page, "quote": quote})).await;
        assert!(done.is_error, "{}", done.content);
        for part in says {
            assert!(done.content.contains(part), "{quote}: {}", done.content);
        }
    }
    assert!(bench.rows.citations.is_empty());
}

#[tokio::test]
async fn a_wrong_page_is_corrected_and_reported() {
    let mut bench = bench();
    let wrong = json!({"source": "input/policy.pdf", "page": 3, "quote": "Invoices must be kept for ten years."});
    let said = bench.ok("cite", wrong.clone()).await;
    assert!(said.ends_with("page 2 (the quote is on page 2, not 3; page 2 was recorded)"), "{said}");
    assert_eq!(bench.rows.citations[0].page, Some(2));
    let said = bench.ok("add_requirement", json!({"citations": [wrong], "name": "Retention"})).await;
    assert!(said.contains("citations[0]: the quote is on page 2, not 3"), "{said}");
    let recorded = &bench.rows.recorded.last().expect("it is recorded").requirement;
    assert_eq!(recorded.text, "Invoices must be kept for ten years.", "one quote says it");
}

#[tokio::test]
async fn only_documents_of_the_job_can_be_cited() {
    let mut bench = bench().document("input/new.pdf", b"%PDF-1.4");
    bench.ok("write_file", json!({"path": "output/mine.md", "content": "A sentence that I made up."})).await;
    for (source, says) in [
        (
            "output/mine.md",
            "`output/mine.md` is no document of this job; its documents are input/policy.pdf, input/new.pdf",
        ),
        (
            "input/new.pdf",
            "input/new.pdf has no text yet; call extract_document_text with file_path input/new.pdf first",
        ),
        ("../policy.pdf", "leads out of the workspace"),
    ] {
        let refusal = bench.refused("cite", json!({"source": source, "quote": "A sentence that I made up."})).await;
        assert!(refusal.contains(says), "{refusal}");
    }
    let refusal = Bench::new().refused("cite", json!({"source": "a.pdf", "quote": "whatever it is"})).await;
    assert_eq!(refusal, "`a.pdf` is no document of this job, which has none");
}

#[tokio::test]
async fn a_chunk_stands_for_its_document() {
    let mut bench = bench();
    bench.ok("chunk_document", json!({"file_path": "input/policy.pdf"})).await;
    let said = bench
        .ok("cite", json!({"source": "chunks/chunk_001.md", "quote": "Invoices must be kept for ten years."}))
        .await;
    assert!(said.ends_with("the quote occurs in input/policy.pdf, page 2"), "{said}");
}

#[tokio::test]
async fn one_name_for_two_documents_is_refused() {
    let mut bench = Bench::new().extracted("input/a/p.pdf", "chunks/p.md", TEXT).extracted(
        "input/b/p.pdf",
        "chunks/p_pdf.md",
        TEXT,
    );
    let refusal = bench.refused("cite", json!({"source": "p.pdf", "quote": "Invoices must be kept"})).await;
    assert_eq!(refusal, "`p.pdf` may be input/a/p.pdf or input/b/p.pdf; give the path");
}

#[tokio::test]
async fn a_source_is_prepared_once_for_all_citations_and_again_after_a_change() {
    let mut bench = bench();
    for _ in 0..20 {
        bench.ok("cite", json!({"source": "policy.pdf", "quote": "Invoices must be kept for ten years."})).await;
    }
    assert_eq!(bench.reads(), 1);
    let mut bench =
        bench.extracted("input/other.pdf", "chunks/policy.md", "[page 1]\n\nAnother text of another length.\n");
    bench.refused("cite", json!({"source": "input/other.pdf", "quote": "Invoices must be kept for ten years."})).await;
    bench.ok("cite", json!({"source": "input/other.pdf", "quote": "Another text of another length."})).await;
}

#[tokio::test]
async fn a_document_extracted_in_the_same_turn_can_be_cited() {
    let bench = Bench::new().document("input/a.txt", b"Invoices must be kept for ten years.");
    let turn = bench
        .turn(&[
            ("extract_document_text", json!({"file_path": "input/a.txt"})),
            ("cite", json!({"source": "input/a.txt", "page": 1, "quote": "Invoices must be kept"})),
        ])
        .await;
    assert!(!turn[1].is_error, "{}", turn[1].content);
    assert!(turn[1].content.ends_with("the quote occurs in input/a.txt"), "{}", turn[1].content);
}

#[tokio::test]
async fn sentences_are_quoted_by_their_numbers_as_the_source_has_them() {
    let sentences: String = (1..=12).map(|n| format!("Record {n} must be kept\nfor {n} years. ")).collect();
    let mut bench =
        Bench::new().extracted("input/policy.pdf", "chunks/policy.md", &format!("[page 4]\n\n{sentences}\n"));
    bench.ok("chunk_document", json!({"file_path": "input/policy.pdf"})).await;
    let shown = bench.ok("read_file", json!({"path": "chunks/chunk_001.md"})).await;
    assert!(shown.contains("[3] Record 3 must be kept"), "{shown}");

    bench.ok("cite", json!({"passage": 1, "from": 3, "to": 4})).await;
    let cited = bench.rows.citations.last().unwrap().clone();
    assert_eq!(cited.quote, "Record 3 must be kept for 3 years. Record 4 must be kept for 4 years.");
    assert_eq!((cited.source.as_str(), cited.page, cited.verified), ("input/policy.pdf", Some(4), true));
    let place = cited.place.unwrap();
    assert_eq!((place.passage, place.from, place.to), (1, 3, 4));

    for (from, to, why) in [
        (1, 7, "sentences 1 to 7 are too many for one quote: at most 6"),
        (12, 13, "passage 1 has sentences 1 to 12"),
        (4, 3, "passage 1 has sentences 1 to 12"),
    ] {
        let refused = bench.refused("cite", json!({"passage": 1, "from": from, "to": to})).await;
        assert!(refused.contains(why), "{refused}");
    }
    let refused = bench.refused("cite", json!({"passage": 2, "from": 1})).await;
    assert!(refused.contains("there is no passage 2"), "{refused}");
}

/// Whatever the text does at line ends and page ends: a citation by number and one by words are the same.
#[tokio::test]
async fn a_number_and_the_words_are_the_same_citation() {
    let text = "[page 1]\n\n# Keeping\n\nInvoices must be kept for all com-\npanies of the group. The well-\nKnown register, \
                and each pre- and post-audit note,\nmust be kept. “Records” must be u\u{ad}sed. \u{200b}Cafe\u{301}s must \
                pay\u{200b}. The archive,\n\n[page 2]\n\nwhich is ours, must be locked – always. Keys shall be \
                “counted”.\n\n[page 3]\n\nKeys shall be “counted”. A re-\nsigned form, and a re-signed one, must be filed.\n";
    let mut bench = Bench::new().paged("input/policy.pdf", "chunks/policy.md", 3, text);
    bench.ok("chunk_document", json!({"file_path": "input/policy.pdf"})).await;
    let mut seen = Vec::new();
    for number in 1..=8 {
        bench.ok("cite", json!({"passage": 1, "from": number})).await;
        let by_number = bench.rows.citations.last().unwrap().clone();
        let words = json!({"source": "input/policy.pdf", "page": by_number.page, "quote": by_number.quote});
        if by_number.quote.chars().count() >= 8 {
            bench.ok("cite", words).await;
            let by_words = bench.rows.citations.last().unwrap().clone();
            assert_eq!((by_words.id, by_words.page_to), (by_number.id, by_number.page_to), "{}", by_number.quote);
        }
        seen.push((by_number.quote, by_number.page, by_number.page_to));
    }
    for (quote, page, page_to) in [
        ("Invoices must be kept for all companies of the group.", 1, None),
        ("The archive, which is ours, must be locked – always.", 1, Some(2)),
        ("Keys shall be “counted”.", 2, None),
        ("Keys shall be “counted”.", 3, None),
        ("“Records” must be u\u{ad}sed. \u{200b}Cafés must pay\u{200b}.", 1, None),
    ] {
        let quote = quote.to_owned();
        assert!(seen.contains(&(quote, Some(page), page_to)), "{seen:#?}");
    }
}

#[tokio::test]
async fn a_sentence_that_the_text_no_longer_has_is_refused_by_its_number_too() {
    let text = |kept: &str| format!("Invoices must be kept for {kept} years.\n\nVisitors must sign in.\n");
    let mut bench = Bench::new().document("input/a.txt", text("ten").as_bytes());
    bench.ok("extract_document_text", json!({"file_path": "input/a.txt"})).await;
    bench.ok("chunk_document", json!({"file_path": "input/a.txt"})).await;
    bench.ok("cite", json!({"passage": 1, "from": 1})).await;
    bench.place("input/a.txt", &text("two"));
    bench.ok("extract_document_text", json!({"file_path": "input/a.txt"})).await;
    let refused = bench.refused("cite", json!({"passage": 1, "from": 1})).await;
    assert!(refused.contains("does not occur in input/a.txt"), "{refused}");
    bench.ok("cite", json!({"passage": 1, "from": 2})).await;
}

/// A list item may be a single word; for a sentence that occurs twice, the quoted place is the one pointed at.
#[tokio::test]
async fn a_pointer_takes_the_sentence_it_names_however_short_and_wherever_it_stands() {
    let text = "[page 1]\n\nThe archive must keep:\n\n- Logs\n- Keys\n\nVisitors must sign in.\n\n[page 2]\n\nVisitors must sign in.\n";
    let mut bench = Bench::new().extracted("input/policy.pdf", "chunks/policy.md", text);
    bench.ok("chunk_document", json!({"file_path": "input/policy.pdf"})).await;
    let shown = bench.ok("read_file", json!({"path": "chunks/chunk_001.md"})).await;
    assert!(shown.contains("[2] Logs") && shown.contains("[page 2]\n\n[5] Visitors"), "{shown}");
    for (from, quote, page) in [(2, "Logs", 1), (4, "Visitors must sign in.", 1), (5, "Visitors must sign in.", 2)] {
        bench.ok("cite", json!({"passage": 1, "from": from})).await;
        let cited = bench.rows.citations.last().unwrap();
        let place = cited.place.unwrap();
        assert_eq!((cited.quote.as_str(), cited.page, place.from, place.to), (quote, Some(page), from, from));
    }
}

#[tokio::test]
async fn a_quote_of_many_sentences_is_reported_to_count_for_none() {
    let sentences: String = (1..=9).map(|n| format!("Record {n} must be kept for {n} years. ")).collect();
    let mut bench = Bench::new().extracted("input/a.md", "chunks/a.md", &sentences);
    bench.ok("chunk_document", json!({"file_path": "input/a.md"})).await;
    let said = bench.ok("cite", json!({"source": "input/a.md", "quote": sentences.trim()})).await;
    assert!(said.contains("spans 9 sentences and counts for none of them"), "{said}");
}

/// The passage and the first sentence of the citation that a call produced.
fn place(done: &plumbline_engine::ToolReturn) -> (i32, i32) {
    let cited = done.products.iter().find_map(|product| match product {
        Product::AddCitation(citation) => citation.place,
        _ => None,
    });
    cited.map(|place| (place.passage, place.from)).unwrap_or_else(|| panic!("{done:?}"))
}

#[tokio::test]
async fn of_several_places_of_the_words_the_given_chunk_chooses() {
    let filler = "What is said here binds nobody and is of interest to some who read it. ".repeat(20);
    let part = |name: &str, words: &str| {
        format!("# {name}\n\n{filler}\n\nInvoices must be kept for ten years.\n\n{words}\n\n")
    };
    let text = format!("{}{}", part("First", "It is so."), part("Second", "Bills must be paid at once."));
    let mut bench = Bench::new().extracted("input/a.md", "chunks/a.md", &text);
    bench.ok("chunk_document", json!({"file_path": "input/a.md", "max_tokens": 400})).await;
    let cites = |source: &str, quote: &str| json!({"source": source, "quote": quote});
    let twice = "Invoices must be kept for ten years.";

    let second = bench.call("cite", cites("chunks/chunk_002.md", twice)).await;
    assert_eq!(place(&second).0, 2, "{second:?}");
    assert!(!second.content.contains("places"), "{second:?}");
    let first = bench.call("cite", cites("input/a.md", twice)).await;
    assert_eq!(place(&first).0, 1, "{first:?}");
    assert!(
        first.content.contains("the words stand at 2 places, of which the first, in passage 1, was recorded"),
        "{first:?}"
    );
    let of_passage = bench.call("cite", json!({"passage": 2, "quote": twice})).await;
    assert_eq!((place(&of_passage).0, &of_passage.content), (2, &second.content), "its number is as good as its path");
    let recorded = json!({"text": "Invoices are kept for ten years.", "name": "Retention", "type": "compliance",
        "priority": "high", "confidence": 0.9, "citations": [{"passage": 2, "quote": twice}]});
    let done = bench.call("add_requirement", recorded).await;
    assert!(!done.is_error && place(&done).0 == 2, "{done:?}");
    let refused = bench.refused("cite", json!({"passage": 9, "quote": twice})).await;
    assert!(refused.contains("there is no passage 9"), "{refused}");
    let refused = bench.refused("cite", json!({ "quote": twice })).await;
    assert!(refused.contains("`quote` and its `source` or `passage`"), "{refused}");
    let other = bench.call("cite", cites("chunks/chunk_001.md", "Bills must be paid at once.")).await;
    assert_eq!(place(&other).0, 2, "{other:?}");
    assert!(
        other.content.contains("the words are not in passage 1; passage 2, where they are, was recorded"),
        "{other:?}"
    );
}
