use super::*;
use plumbline_engine::{Candidate, PassageState, Source};
use serde_json::json;

const ID: Uuid = Uuid::nil();

fn source(path: &str, text_path: Option<&str>) -> Source {
    Source { path: path.into(), size: 1, pages: Some(2), text_path: text_path.map(str::to_owned), ..Source::default() }
}

fn passage(document: &str, number: i32, open: &[&str]) -> Passage {
    let candidate = |text: &&str| Candidate { sentence: 1, text: (*text).to_owned(), ..Candidate::default() };
    Passage {
        pages: Some((1, 2)),
        chunk_path: Some(format!("chunks/chunk_{number:03}.md")),
        candidates: open.iter().map(candidate).collect(),
        state: PassageState::Read,
        read_step: Some(2),
        ..Passage::unread(number, document, number)
    }
}

fn citation(id: &str, source: &str, page: i32, quote: &str) -> Citation {
    Citation {
        id: id.into(),
        source: source.into(),
        page: Some(page),
        page_to: None,
        quote: quote.into(),
        verified: true,
        place: None,
        continues: Vec::new(),
        again: Vec::new(),
    }
}

fn requirement(id: &str, name: &str, source: &str, quote: &str) -> RecordedRequirement {
    let requirement = Requirement {
        number: Some(1),
        candidate_id: id.into(),
        content_key: Vec::new(),
        text: format!("{name}, in full."),
        name: name.into(),
        r#type: "functional".into(),
        priority: "high".into(),
        source_document: Some(source.into()),
        source_location: json!({}),
        gobd_relevant: false,
        gdpr_relevant: false,
        citations: json!([{"source": source, "page": 1, "quote": quote, "verified": true}]),
        mentioned_objects: Vec::new(),
        mentioned_messages: Vec::new(),
        reasoning: None,
        research_notes: None,
        confidence: 0.9,
        tags: Vec::new(),
    };
    RecordedRequirement { status: "pending".into(), requirement }
}

/// The report of documents with these passages, citations and requirements.
fn html(
    sources: &[Source],
    texts: &[&[&str]],
    passages: &[Passage],
    citations: Vec<Citation>,
    recorded: &[RecordedRequirement],
) -> String {
    let passages: Vec<&Passage> = passages.iter().collect();
    let marks = Marks::of(citations, &passages);
    html_of(&Facts { passages, recorded, ..nothing() }, sources, texts, marks)
}

fn nothing() -> Facts<'static> {
    Facts {
        job_id: ID,
        prompt: "Find <all> of it",
        headline: None,
        passages: Vec::new(),
        result: None,
        no_sources: &[],
        recorded: &[],
        changes: &[],
    }
}

fn html_of(facts: &Facts<'_>, sources: &[Source], texts: &[&[&str]], marks: Marks) -> String {
    let mut writer = Writer::new(facts, sources, marks);
    for parts in texts {
        writer.begin_document();
        for (at, part) in parts.iter().enumerate() {
            writer.write_part(part, parts.get(at + 1).copied().unwrap_or_default());
        }
    }
    writer.finish()
}

#[test]
fn a_quote_is_marked_on_its_page_with_its_requirement_next_to_it() {
    let text = "[page 1]\n\nRecords must be kept.\nAccess is <b>logged</b> & must be\n\n[page 2]\n\nreviewed. Nobody shall leave.\n";
    let quote = "Access is <b>logged</b> & must be reviewed.";
    let citations = vec![
        citation("cit_1", "input/a.pdf", 1, "Records must be kept."),
        citation("cit_2", "input/a.pdf", 1, quote),
        citation("cit_3", "input/a.pdf", 2, "never said in it"),
    ];
    let recorded = [
        requirement("req_1", "Keeping", "input/a.pdf", "Records must be kept."),
        requirement("req_2", "Logging <i>", "input/a.pdf", quote),
    ];
    let passages = [passage("input/a.pdf", 1, &["Nobody shall leave."])];
    let html = html(&[source("input/a.pdf", Some("chunks/a.md"))], &[&[text]], &passages, citations, &recorded);
    let page = |id: &str| {
        let rest = html.split(&format!("<section id=\"{id}\">")).nth(1).expect("it has the page");
        rest.split("</section>").next().unwrap_or_default()
    };
    let (one, two) = (page("page-1"), page("page-2"));
    assert!(one.contains("<mark id=\"c-cit_1\">Records must be kept.</mark>"), "{one}");
    assert!(
        one.contains("<mark id=\"c-cit_2\">Access is &lt;b&gt;logged&lt;&#x2f;b&gt; &amp; must be</mark>"),
        "{one}"
    );
    assert!(one.contains("id=\"r-req_1\"") && one.contains("<h4>Logging &lt;i&gt;</h4>"), "{one}");
    assert!(one.contains("Not cited: Nobody shall leave."), "{one}");
    assert!(two.contains("<mark>reviewed.</mark> <u>Nobody shall leave.</u>"), "{two}");
    assert!(!two.contains("Not cited") && two.contains("Passage 1: read, and not answered"), "{two}");
    assert!(html.contains("page 2: <mark id=\"c-cit_3\">never said in it</mark>"), "a quote without a place is listed");
    assert!(html.contains("Find &lt;all&gt; of it") && html.contains("<a href=\"#page-1\">Passage 1</a>"), "{html}");
    assert_eq!(html.matches("id=\"c-").count(), 3);
    assert!(!html.contains("<script") && !html.contains("http:") && !html.contains("https:"));
}

#[test]
fn documents_after_the_first_have_their_own_ids_and_a_long_page_continues() {
    let sources = [
        source("input/a.scan", None),
        source("input/b.pdf", Some("chunks/b.md")),
        source("input/c.pdf", Some("chunks/c.md")),
    ];
    let mut sources = sources;
    sources[1].warnings = vec!["Page 2: 5 characters could not be decoded <x>.".into()];
    let mut without = passage("input/a.scan", 1, &[]);
    (without.chunk_path, without.pages, without.reason) = (None, None, Some("it has no text".into()));
    without.state = PassageState::Unread;
    let parts = ["[page 1]\n\nIt begins\n", "[page 1]\n\nand ends.\n"];
    let citations =
        vec![citation("cit_1", "input/b.pdf", 1, "begins and ends"), citation("cit_2", "input/c.pdf", 1, "begins")];
    let html = html(&sources, &[&[], &parts, &parts[..1]], &[without], citations, &[]);
    assert!(html.contains("Passage 1: not read to its end: it has no text"), "{html}");
    assert!(html.contains("<li>Page 2: 5 characters could not be decoded &lt;x&gt;.</li>"), "{html}");
    for id in ["id=\"page-1\"", "id=\"document-3-page-1\"", "id=\"c-cit_1\"", "id=\"c-cit_2\""] {
        assert_eq!(html.matches(id).count(), 1, "{id}");
    }
    assert!(html.contains("It <mark id=\"c-cit_1\">begins</mark>"), "{html}");
    assert!(html.contains("<h3>Page 1, continued</h3>") && html.contains("<mark>and ends</mark>."), "{html}");
}

#[test]
fn hidden_content_is_reported() {
    let source = [source("input/a.pdf", Some("chunks/a.md"))];
    let recorded: Vec<RecordedRequirement> =
        (0..5_003).map(|n| requirement(&format!("req_{n}"), "One", "input/a.pdf", "elsewhere")).collect();
    let facts = Facts { prompt: "", recorded: &recorded, ..nothing() };
    let mut writer = Writer::new(&facts, &source, Marks::of(Vec::new(), &[]));
    writer.begin_document();
    writer.write_part("[page 7]\n\nSome text.\n", "");
    writer.leave_out();
    let html = writer.finish();
    assert!(html.contains("The text behind page 7 is not shown: this file shows 8 MiB of text."), "{html}");
    assert!(html.contains("3 more requirements are not shown"));
    assert_eq!(html.matches("class=\"requirement\"").count(), 5_000);
}

/// Without passages nothing is said about coverage; each file is listed with what it rests on.
#[test]
fn files_of_a_job_without_coverage_are_listed_with_their_quotes() {
    let sources = [source("input/a.pdf", Some("chunks/a.md")), source("input/questions.csv", Some("chunks/q.md"))];
    let citations = vec![citation("cit_1", "input/a.pdf", 1, "Logs are kept.")];
    let marks = Marks::of(citations, &[]);
    let result = json!({"rests_on": {"output/answers.json": ["cit_1"]}});
    let no_sources = ["questions*".to_owned()];
    let facts = Facts { result: Some(&result), no_sources: &no_sources, ..nothing() };
    let html = html_of(&facts, &sources, &[&["[page 1]\n\nLogs are kept.\n"], &["Are logs kept?\n"]], marks);
    assert!(
        html.contains("<a href=\"#c-cit_1\">Logs are kept.</a> <span class=\"sub\">input&#x2f;a.pdf, page 1</span>"),
        "{html}"
    );
    assert!(html.contains("It rests on 1 quote found") && html.contains("<mark id=\"c-cit_1\">"), "{html}");
    assert!(html.contains("<td>no source</td>") && html.contains("Nothing is quoted from this document"), "{html}");
    for words in ["passages", "Not answered", "candidate"] {
        assert!(!html.contains(words), "{words}: {html}");
    }
}
