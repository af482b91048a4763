//! The refusals of `job_complete`.

use crate::bench::Bench;
use plumbline_engine::Product;
use plumbline_tools::{Inspection, OwedContent, SchemaBudget};
use serde_json::{Value, json};
use std::time::Duration;

const REPORT: &str = "It says \"Invoices must be kept for ten years.\" and so on.";

fn quoting(mut bench: Bench) -> Bench {
    bench.inspection = Some(Inspection { files: Vec::new(), quoting: vec!["output/a.md".into()] });
    bench.place("output/a.md", REPORT);
    bench
}

async fn refusal(mut bench: Bench) -> String {
    bench.refused("job_complete", json!({})).await
}

/// A quote is not called wrong if there was no text to look it up in.
#[tokio::test]
async fn documents_without_a_text_are_the_reported_reason() {
    let none = refusal(quoting(Bench::new().document("input/x.md", b"Invoices must be kept for ten years."))).await;
    assert_eq!(
        none,
        "the job is not complete: output/a.md quotes \"Invoices must be kept for ten years.\", which could not be looked \
         up. input/x.md has no text yet, so no quote from there can be found: change no quote for it, but call \
         extract_document_text with file_path input/x.md in a tactical phase first. Correct what is wrong then."
    );
    let mut some =
        Bench::new().extracted("input/a.pdf", "chunks/a.md", "[page 1]\n\nInvoices must be kept for two years.\n");
    for number in 1..=7 {
        some = some.document(&format!("input/{number}.md"), b"x");
    }
    let some = refusal(quoting(some)).await;
    for words in [
        "which occurs in no document that has a text (the nearest passage is \"Invoices must be kept for two years.\")",
        "input/4.md, input/5.md, and 2 more have no text yet",
        "file_path input/1.md",
    ] {
        assert!(some.contains(words), "{words}: {some}");
    }
}

/// If all texts exist, or the quote is found, missing texts are not mentioned.
#[tokio::test]
async fn a_quote_that_every_text_lacks_is_wrong_and_one_that_is_found_is_not() {
    let all = Bench::new().extracted("input/a.pdf", "chunks/a.md", "[page 1]\n\nDelivery notes may be destroyed.\n");
    let all = refusal(quoting(all)).await;
    assert!(
        all.contains("which occurs in no document of the job (") && all.ends_with("). Correct these files."),
        "{all}"
    );
    let text = "[page 1]\n\nInvoices must be kept for ten years.\n";
    let found = Bench::new().extracted("input/a.pdf", "chunks/a.md", text).document("input/x.md", b"x");
    let done = quoting(found).turn(&[("job_complete", json!({}))]).await.remove(0);
    let counts: Value = serde_json::from_str(&done.content).expect(&done.content);
    assert_eq!(counts["quotes_checked"], 1, "{counts}");
    assert_eq!((&counts["documents"], &counts["documents_extracted"]), (&json!(2), &json!(1)));
    let [Product::AddCitation(citation)] = &done.products[..] else { panic!("{:?}", done.products) };
    assert_eq!((citation.source.as_str(), citation.page), ("input/a.pdf", Some(1)));
    assert_eq!(counts["rests_on"], json!({"output/a.md": [citation.id]}));
}

/// A file whose quotes must be found must contain some; the refusal says how to write them.
#[tokio::test]
async fn a_file_without_a_quote_is_refused() {
    let text = "[page 1]\n\nInvoices must be kept for ten years.\n";
    let mut bench = quoting(Bench::new().extracted("input/a.pdf", "chunks/a.md", text));
    bench.place("output/a.md", "Invoices must be kept for ten years, of \"a term\".");
    assert_eq!(
        refusal(bench).await,
        "the job is not complete: output/a.md holds no quote that could be looked up: 3 words or more count that stand in \
         quotation marks or in a block quote (`> …`). Correct these files."
    );
    let mut bench = Bench::new().extracted("input/a.pdf", "chunks/a.md", text);
    bench.place("output/a.json", "{\"answers\": [{\"answer\": \"Invoices must be kept for ten years.\"}]}");
    bench.inspection = Some(Inspection { files: Vec::new(), quoting: vec!["output/a.json".into()] });
    let refused = refusal(bench).await;
    assert!(
        refused.contains("output/a.json holds no quote") && refused.contains("whose name has one of `quote`, "),
        "{refused}"
    );
}

/// A long file with a schema that tries many alternatives for each of its items; only the last item matches none.
fn costly() -> Bench {
    let alternatives: Vec<Value> = (0..40).map(|n| json!({"pattern": format!("^[a-z]+{n}$")})).collect();
    let schema = json!({"items": {"anyOf": alternatives}});
    let mut items = vec!["alongenoughitemthatmeetsthelastofthemalone39"; 8_000];
    items.push("none of them");
    let file =
        OwedContent::new("output/a.json".into(), true, Some(&schema), &mut SchemaBudget::default()).expect("a schema");
    let mut bench = Bench::new();
    bench.place("output/a.json", &json!(items).to_string());
    bench.inspection = Some(Inspection { files: vec![file], quoting: Vec::new() });
    bench
}

#[tokio::test]
async fn a_costly_schema_is_checked_off_the_event_loop() {
    let (mut ticks, began) = (0u32, std::time::Instant::now());
    let ticking = async {
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            ticks += 1;
        }
    };
    let refused = tokio::select! {
        refused = refusal(costly()) => refused,
        () = ticking => unreachable!("it ticks for ever"),
    };
    let took = began.elapsed();
    assert!(
        refused.contains("output/a.json does not meet its JSON Schema; it has too many values to say where"),
        "{refused}"
    );
    assert!(ticks > 20, "the one thread of this test's event loop was free meanwhile: {ticks} ticks in {took:?}");
}

#[tokio::test]
async fn a_look_into_files_has_the_time_of_a_call() {
    let bench = Bench { call_timeout: Some(Duration::from_millis(1)), ..costly() };
    let refused = refusal(bench).await;
    assert_eq!(
        refused,
        "job_complete did not finish within 0.001 s; nothing was changed; make the files that are owed smaller"
    );
}

/// The result of a write says at once where the file violates its schema, so that the model can fix it.
#[tokio::test]
async fn what_is_written_is_held_against_its_schema_at_once() {
    let schema = json!({"type": "object", "required": ["answers"]});
    let file =
        OwedContent::new("output/a.json".into(), true, Some(&schema), &mut SchemaBudget::default()).expect("a schema");
    let mut bench = Bench::new();
    bench.inspection = Some(Inspection { files: vec![file], quoting: Vec::new() });
    let written = bench.ok("write_file", json!({"path": "output/a.json", "content": "{\"answer\": 5}"})).await;
    assert!(
        written.ends_with("Not yet what the job owes: output/a.json does not meet its JSON Schema at its whole: \"answers\" is a required property."),
        "{written}"
    );
    let edited = bench.ok("edit_file", json!({"path": "output/a.json", "old": "answer", "new": "answers"})).await;
    assert!(!edited.contains("Not yet"), "{edited}");
    let other = bench.ok("write_file", json!({"path": "output/b.json", "content": "no JSON"})).await;
    assert!(!other.contains("Not yet"), "{other}");
}

/// A document that is not a source proves nothing, wherever it is quoted.
#[tokio::test]
async fn nothing_is_quoted_from_what_is_no_source() {
    let text = "[page 1]\n\nInvoices must be kept for ten years.\n";
    let mut bench = quoting(
        Bench::new()
            .extracted("input/questions.md", "chunks/q.md", text)
            .document("input/questions-2.md", b"x")
            .extracted("input/policy.md", "chunks/p.md", "[page 1]\n\nLogs are kept for a year.\n"),
    );
    bench.no_sources = vec!["questions*".into()];
    let cited = json!({"source": "input/questions.md", "quote": "Invoices must be kept for ten years."});
    let refused = bench.refused("cite", cited).await;
    assert!(refused.starts_with("input/questions.md is no source of this job"), "{refused}");
    let refused = bench.refused("job_complete", json!({})).await;
    assert!(
        refused.contains(
            "quotes \"Invoices must be kept for ten years.\", which stands only in input/questions.md, which is no source"
        ),
        "{refused}"
    );
    assert!(!refused.contains("questions-2.md"), "no text of it is asked for: {refused}");
}

/// A heading repeats a question with its quotation marks; elsewhere the same text is a quote.
#[tokio::test]
async fn a_heading_may_repeat_what_is_no_source() {
    let question = br#"{"questions": ["Who is the \"sole and final owner\" of a package?"]}"#;
    let mut bench = Bench::new().document("input/questionnaire.json", question).extracted(
        "input/policy.md",
        "chunks/p.md",
        "[page 1]\n\nLogs are kept for a year.\n",
    );
    bench.no_sources = vec!["questionnaire*".into()];
    let heading = "## Who is the \"sole and final owner\" of a package?\n\n";
    let mut bench = quoting(bench);
    bench.place("output/a.md", &format!("{heading}> Logs are kept for a year.\n"));
    let done = bench.turn(&[("job_complete", json!({}))]).await.remove(0);
    let counts: Value = serde_json::from_str(&done.content).expect(&done.content);
    assert_eq!(counts["quotes_checked"], 1, "the heading quotes nothing");
    for (text, said) in [
        ("A \"sole and final owner\" is named.", "which stands only in input/questionnaire.json, which is no source"),
        ("## The \"one and only owner\"", "which occurs in no document of the job"),
    ] {
        bench.place("output/a.md", &format!("{heading}> Logs are kept for a year.\n\n{text}\n"));
        let refused = bench.refused("job_complete", json!({})).await;
        assert!(refused.contains(said), "{text}: {refused}");
    }
}

/// A file that is not delivered is not checked, although it exists.
#[tokio::test]
async fn an_undelivered_file_is_not_checked() {
    let file =
        OwedContent::new("output/b.json".into(), true, None, &mut SchemaBudget::default()).expect("it has no schema");
    let mut bench = quoting(Bench::new().extracted("input/a.pdf", "chunks/a.md", "[page 1]\n\nNothing is kept.\n"));
    bench.inspection = Some(Inspection { files: vec![file], quoting: vec!["output/a.md".into()] });
    bench.place("output/b.json", "no JSON");
    let item = |path: &str| json!({"item": path, "reason": "no document answers it"});
    let refused = bench.refused("job_complete", json!({"undelivered": [item("output/a.md")]})).await;
    assert!(refused.contains("output/b.json is no JSON") && !refused.contains("output/a.md"), "{refused}");
    let both = json!({"undelivered": [item("output/a.md"), "output/b.json: no document answers it"]});
    let done = bench.turn(&[("job_complete", both)]).await.remove(0);
    assert!(!done.is_error, "{}", done.content);
}

/// A job with two documents, one of which has pages, that delivers this file.
fn placed(path: &str, content: &str) -> Bench {
    let plan =
        "[page 1]\n\nThe plan is exercised twice a year.\n\n[page 2]\n\nEach exercise is recorded by its owner.\n";
    let policy = "Logs are kept for a year.\n\nThe plan of the office is secret.\n";
    let mut bench = Bench::new().extracted("input/security-plan.pdf", "chunks/plan.md", plan).extracted(
        "input/policy.md",
        "chunks/policy.md",
        policy,
    );
    bench.inspection = Some(Inspection { files: Vec::new(), quoting: vec![path.into()] });
    bench.place(path, content);
    bench
}

async fn outcome(path: &str, content: &str) -> Result<(), String> {
    let bench = placed(path, content);
    let done = bench.turn(&[("job_complete", json!({}))]).await.remove(0);
    if done.is_error { Err(done.content) } else { Ok(()) }
}

/// The place beside a quote is checked as the quote is: in keys, in a source behind it, in a line with a dash.
#[tokio::test]
async fn a_wrong_place_beside_a_quote_is_refused_with_the_right_one() {
    let words = "The plan is exercised twice a year";
    let of = |rest: Value| {
        let mut fields = json!({"quote": words});
        fields.as_object_mut().expect("an object").extend(rest.as_object().cloned().unwrap_or_default());
        ("output/a.json", json!({"answers": [fields]}).to_string())
    };
    let text = |text: String| ("output/a.md", text);
    let cases = [
        (
            of(json!({"document": "annual-report-2019.pdf"})),
            "is no document of the job; the words are in input/security-plan.pdf, page 1",
        ),
        (
            of(json!({"source": "annual-report-2019.pdf, page 1"})),
            "is no document of the job; the words are in input/security-plan.pdf, page 1",
        ),
        (
            of(json!({"document": "policy.md"})),
            "gives input/policy.md for \"The plan is exercised twice a year\", but the words are in input/security-plan.pdf, page 1",
        ),
        (
            of(json!({"document": "security-plan.pdf", "page": 77})),
            "gives page 77 for \"The plan is exercised twice a year\", but the words are on page 1 of input/security-plan.pdf",
        ),
        (of(json!({"pages": "2-3"})), "gives page 2, 3 for"),
        (of(json!({"page": "p. 2"})), "but the words are on page 1 of input/security-plan.pdf"),
        (
            ("output/a.json", json!({"source": "policy.md", "quotes": [{"quote": words}]}).to_string()),
            "but the words are in input/security-plan.pdf",
        ),
        (
            ("output/a.jsonl", format!("{}\n", json!({"verbatim": words, "file": "policy.md"}))),
            "but the words are in input/security-plan.pdf",
        ),
        (text(format!("> {words}.\n> — policy.md, page 12\n")), "gives input/policy.md for"),
        (text(format!("> {words}.\n\n— annual-report-2019.pdf, page 3\n")), "is no document of the job"),
        (text(format!("> {words}. (annual-report-2019.pdf)\n")), "is no document of the job"),
        (text(format!("It says \"{words}\" (security-plan.pdf, page 2).\n")), "but the words are on page 1"),
        (
            text(format!(
                "| No | Quote | Document | Page |\n|---|---|---|---|\n| 1 | \"{words}\" | security-plan.pdf | 2 |\n"
            )),
            "gives page 2 for \"The plan is exercised twice a year\", but the words are on page 1 of input/security-plan.pdf",
        ),
        (
            text(format!("Nr | Zitat | Quelle\n--- | --- | ---\n1 | \u{201e}{words}\u{201c} | policy.md, Seite 1\n")),
            "gives input/policy.md for",
        ),
        (
            ("output/a.csv", format!("id,quote,document,page\n1,\"{words}\",annual-report-2019.pdf,1\n")),
            "is no document of the job; the words are in input/security-plan.pdf, page 1",
        ),
        (("output/a.csv", format!("Nr;Zitat;Seite\n1;{words};2\n")), "gives page 2 for"),
        (("output/a.tsv", "quote\tpage\nThe plan is exercised weekly\t1\n".into()), "which occurs in no document"),
        (
            text("> Logs are kept for a year.\n> — policy.md, page 12\n".into()),
            "gives page 12 for \"Logs are kept for a year.\", but input/policy.md has no pages",
        ),
    ];
    for ((path, content), expected) in cases {
        let refused = outcome(path, &content).await.expect_err(&content);
        assert!(refused.contains(expected), "{content}\n{refused}");
    }
}

/// The right place is accepted in each of its spellings, and so are words that name no place.
#[tokio::test]
async fn a_right_place_beside_a_quote_is_accepted() {
    let words = "The plan is exercised twice a year";
    for place in [
        json!({"document": "input/security-plan.pdf", "page": 1}),
        json!({"document": "Security Plan", "pages": [1, 2]}),
        json!({"source": "security-plan.pdf, p. 1"}),
        json!({"source": "the second annex"}),
        json!({"document": "chunks/plan.md"}),
        json!({"document": null, "page": null}),
        json!({"document_type": "report", "page_count": 9}),
        json!({"source": "https://example.com/plan.html"}),
    ] {
        let mut fields = json!({"quote": words});
        fields.as_object_mut().expect("an object").extend(place.as_object().cloned().unwrap_or_default());
        assert_eq!(outcome("output/a.json", &json!([fields]).to_string()).await, Ok(()), "{place}");
    }
    let title = json!({"document": "Answers of 2026", "answers": [{"quotes": [{"quote": words}]}]});
    outcome("output/a.json", &title.to_string()).await.expect("the outer `document` is the file's own title");
    let page_one = json!({"quote": "Logs are kept for a year.", "document": "policy.md", "page": 1});
    outcome("output/a.json", &page_one.to_string()).await.expect("a document without pages is one page");
    for text in [
        format!("> {words}.\n> — security-plan.pdf, page 1\n"),
        format!("> {words}.\n\n— Security plan, section 7\n"),
        format!("> {words}.\n\n- The next item of a list, page 9\n"),
        format!("It says \"{words}\" (twice, that is) and no more.\n"),
        format!("| Quote | Document | Page |\n|---|---|---|\n| \"{words}\" | Security plan | p. 1 |\n"),
        format!("| Quote | Page | Owner |\n|---|---|---|\n| \"{words}\" | | Legal, page 9 |\n"),
        format!("| Source | Quote |\n|---|---|\n| the second annex | \"{words}\" |\n"),
    ] {
        outcome("output/a.md", &text).await.expect(&text);
    }
    let csv = format!("id,answer,quote,file,page\n1,\"yes, and more, in a cell\",\"{words}\",security-plan.pdf,1\n");
    outcome("output/a.csv", &csv).await.expect("a cell with commas is no quote");
}

/// A quote key makes one word a quote; in running text it is a term.
#[tokio::test]
async fn short_quotes_under_keys_are_looked_up() {
    for (word, found) in [("secret", true), ("twice", true), ("secre", false), ("ten years", false)] {
        let content = json!([{"quote": word}, {"quote": "Logs are kept for a year."}]).to_string();
        assert_eq!(outcome("output/a.json", &content).await.is_ok(), found, "{word}");
    }
    outcome("output/a.md", "A \"ten years\" rule.\n\n> Logs are kept for a year.\n").await.expect("a term");
}

/// The result of a write says at once which quotes are in no document, and which are elsewhere.
#[tokio::test]
async fn what_is_written_is_looked_up_at_once() {
    let mut bench = placed("output/a.md", "");
    let content = "> The plan is exercised twice a year.\n\n> The plan is exercised every week.\n\n> Logs are kept for a year.\n> — security-plan.pdf\n";
    let written = bench.ok("write_file", json!({"path": "output/a.md", "content": content})).await;
    let (_, said) = written.split_once("Not yet what the job owes: ").expect(&written);
    assert_eq!(said.matches("output/a.md ").count(), 2, "{said}");
    for words in [
        "quotes \"The plan is exercised every week.\", which occurs in no document of the job (the nearest passage is \"The plan is exercised\")",
        "but the words are in input/policy.md",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let other = bench.ok("write_file", json!({"path": "output/b.md", "content": content})).await;
    assert!(!other.contains("Not yet"), "{other}");
    let appended = bench
        .ok("write_file", json!({"path": "output/a.md", "content": "\n> Each exercise is recorded.\n", "append": true}))
        .await;
    assert!(!appended.contains("Not yet"), "only what was added is looked up: {appended}");
}
