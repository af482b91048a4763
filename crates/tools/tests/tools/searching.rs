//! `search_files`.

use crate::bench::Bench;
use serde_json::json;

fn bench() -> Bench {
    Bench::with(&[
        ("chunks/chunk_001.md", "# Retention\nInvoices must be kept  for ten years.\nNothing here.\n"),
        ("chunks/chunk_002.md", "The period of retention is ten years.\n"),
        ("output/report.md", "Retention: see chunk 1.\n"),
        ("input/policy.pdf", "%PDF retention"),
        ("input/data", "a\u{fffd}b retention"),
    ])
}

#[tokio::test]
async fn lines_are_found_by_words_and_by_expressions() {
    for (arguments, expected) in [
        (json!({"query": "kept for"}), "chunks/chunk_001.md:2: Invoices must be kept  for ten years."),
        (
            json!({"query": "RETENTION", "path": "chunks"}),
            "chunks/chunk_001.md:1: # Retention\nchunks/chunk_002.md:1: The period of retention is ten years.",
        ),
        (json!({"query": "retention", "path": "output/report.md"}), "output/report.md:1: Retention: see chunk 1."),
        (
            json!({"query": "retention", "path": "chunks/*2.md"}),
            "chunks/chunk_002.md:1: The period of retention is ten years.",
        ),
        (
            json!({"query": "^The .* years\\.$", "mode": "regex"}),
            "chunks/chunk_002.md:1: The period of retention is ten years.",
        ),
        (json!({"query": "(?i)RETENTION:", "mode": "regex"}), "output/report.md:1: Retention: see chunk 1."),
        (json!({"query": "RETENTION", "mode": "regex"}), "(nothing found in 4 text files)"),
        (json!({"query": "a.b"}), "(nothing found in 4 text files)"),
        (
            json!({"query": "retention period", "path": "chunks"}),
            "(no line has exactly these words together; these lines have all of them)\nchunks/chunk_002.md:1: The period of retention is ten years.",
        ),
        (
            json!({"query": "kept for", "mode": "semantic"}),
            "(no embeddings are configured, so this is a text search)\nchunks/chunk_001.md:2: Invoices must be kept  for ten years.",
        ),
    ] {
        assert_eq!(bench().ok("search_files", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn unusable_searches_are_refused() {
    for (arguments, says) in [
        (json!({"query": "(", "mode": "regex"}), "the regular expression is not usable: unclosed group"),
        (json!({"query": "a{99999}{99999}", "mode": "regex"}), "the regular expression is not usable"),
        (json!({"query": "  "}), "`query` is blank"),
        (json!({"query": "x", "path": "nowhere"}), "there is no file `nowhere`"),
        (json!({"query": "x", "path": "chunks/[.md"}), "the pattern `chunks/[.md` is not usable"),
        (json!({"query": "x", "mode": "fuzzy"}), "`mode` is \"fuzzy\", expected one of text, regex, semantic, hybrid"),
    ] {
        let refusal = bench().refused("search_files", arguments).await;
        assert!(refusal.contains(says), "{refusal}");
    }
}

/// The worst case of an expression and its text: each character begins a match that fails late.
#[tokio::test]
async fn a_costly_expression_times_out_without_blocking_the_event_loop() {
    let text: String = (0u32..4 * 1024 * 1024)
        .map(|n| if (n.wrapping_mul(2_654_435_761) >> 13).is_multiple_of(2) { 'a' } else { 'b' })
        .collect();
    let arguments = |query: &str| json!({"query": query, "path": "input/ab.txt", "mode": "regex"});
    let refusal = Bench::with(&[("input/ab.txt", &text)]).refused("search_files", arguments("a[ab]{12000}[X-Y]")).await;
    assert!(refusal.contains("the regular expression is not usable") && refusal.contains("size limit"), "{refusal}");

    let mut bench = Bench::with(&[("input/ab.txt", &text)]);
    let mut ticks = 0u32;
    let ticking = async {
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            ticks += 1;
        }
    };
    let refusal = tokio::select! {
        refusal = bench.refused("search_files", arguments("a[ab]{2400}[X-Y]")) => refusal,
        () = ticking => unreachable!("it ticks for ever"),
    };
    assert!(refusal.contains("given up in `input/ab.txt` after 10 s"), "{refusal}");
    assert!(ticks > 100, "the one thread of this test's event loop was free meanwhile: {ticks}");
}

/// A very long line is scanned in pieces; matches are found at their positions, even across borders.
#[tokio::test]
async fn a_long_line_is_searched_whole() {
    for before in [0, 8_000, 8_190, 15_300, 100_000] {
        let line = format!("{}needle no. 7{}", "ä".repeat(before / 2), "x".repeat(20_000));
        let found = Bench::with(&[("long.md", &line)])
            .ok("search_files", json!({"query": "needle no\\. \\d", "mode": "regex"}))
            .await;
        assert!(found.starts_with("long.md:1: ") && found.contains("needle no. 7"), "{before}: {found}");
    }
}

#[tokio::test]
async fn answers_are_bounded() {
    let many = "hit\n".repeat(50);
    let names: Vec<String> = (0..10).map(|n| format!("f{n}.md")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), many.as_str())).collect();
    let long = format!("{} needle {}", "x".repeat(1000), "y".repeat(1000));
    files.push(("long.md", &long));
    let mut bench = Bench::with(&files);
    let found = bench.ok("search_files", json!({"query": "hit"})).await;
    assert_eq!(found.lines().count(), 101);
    assert_eq!(found.lines().filter(|line| line.starts_with("f0.md:")).count(), 20);
    assert!(found.ends_with("(100 of 500 lines are shown; give a narrower query or a path)"), "{found}");
    let found = bench.ok("search_files", json!({"query": "needle"})).await;
    assert!(found.contains("needle") && found.chars().count() < 350, "{found}");
}
