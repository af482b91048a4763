//! Honest completions: each is accepted, however short, odd or incomplete the work is, if it says so.

use crate::kit::{Dialogue, settings};
use plumbline_engine::JobExit;
use serde_json::{Value, json};

/// Short or odd, but real content.
const CONTENTS: [&str; 24] = [
    "Invoices must be kept for ten years.",
    "# Report\n\nInvoices must be kept for ten years.\n",
    "id,page\nreq_1,3\nreq_2,5\nreq_3,7\n",
    "{\"requirements\": [], \"reason\": \"the document has none\"}",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]",
    "- [x] Section 1 was read\n- [x] Section 2 was read\n",
    "Das Dokument enthält keine Anforderungen.",
    "この文書には保存期間に関する要件が一つも含まれていません。",
    "No requirement was found in the document.",
    "The TODO list of the policy names three duties.",
    "What is still to be done by the controller: sign, file, keep.",
    "| id | text |\n|---|---|\n| 1 | Keep invoices. |\n| 2 | Sign them. |\n",
    "phase: all\nresult: three requirements\nconfidence: 0.4\n",
    "<html><body><p>Invoices must be kept for ten years.</p></body></html>",
    "MATCH (r:Requirement) RETURN r.name, r.text;",
    "Invoices\nmust\nbe\nkept\nfor\nten\nyears\n",
    "1. Keep invoices.\n2. Sign them.\n3. File them.\n",
    "> Invoices shall be kept for ten years (section 4.2).\n",
    "```\nkeep(invoice, years=10)\nsign(invoice)\n```\n",
    "Ten years: invoices. Six years: letters.",
    "Summary\n=======\n\nInvoices are kept for ten years.\n",
    "a1b2c3d4e5f6a7b8c9d0e1f2",
    "The placeholder names in annex B stand for customers.",
    "## Findings\n\nNone; the document is a price list.\n",
];

/// Other spellings of the report's path.
const PATHS: [&str; 8] = [
    "output/report.md",
    "./output/report.md",
    "/workspace/output/report.md",
    "output//report.md",
    "output\\report.md",
    " output/report.md ",
    "/output/report.md",
    "job_00000000-0000-0000-0000-000000000007/output/report.md",
];

fn claims() -> Vec<Value> {
    let report = json!(["output/report.md"]);
    vec![
        json!({"summary": "Done.", "deliverables": report, "confidence": 0}),
        json!({"summary": "Done.", "deliverables": report, "confidence": 1}),
        json!({"summary": "Done.", "deliverables": report, "confidence": 0.5, "notes": "Annex B was hard to read."}),
        json!({"summary": "Done.", "deliverables": report, "confidence": 0.5, "undelivered": []}),
        json!({"summary": "Half done.", "deliverables": report, "confidence": 0.3, "undelivered": ["annex B: it is empty"]}),
        json!({"summary": "Done.", "deliverables": "output/report.md", "confidence": 0.9}),
        json!({"summary": "Done.", "deliverables": ["output/report.md", "output/report.md"], "confidence": 0.9}),
        json!({"summary": "Done.", "deliverables": ["output/report.md", "workspace_summary.md"], "confidence": 0.9}),
        json!({"summary": "Done.\nIn two lines.", "deliverables": report, "confidence": 0.9, "notes": null}),
    ]
}

fn ends_well(content: &str, arguments: Value) {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    dialogue.call("write_file", json!({"path": "output/report.md", "content": content}));
    let result = dialogue.call("job_complete", arguments.clone());
    assert_eq!(result, "The job is complete.", "{content:?} {arguments}");
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
}

#[test]
fn every_honest_completion_is_accepted() {
    let ordinary = |path: &str| json!({"summary": "Done.", "deliverables": [path], "confidence": 0.9});
    assert!(CONTENTS.len() + PATHS.len() + claims().len() >= 40);
    for content in CONTENTS {
        ends_well(content, ordinary("output/report.md"));
    }
    for path in PATHS {
        ends_well(CONTENTS[0], ordinary(path));
    }
    for arguments in claims() {
        ends_well(CONTENTS[0], arguments);
    }
}

#[test]
fn a_job_that_could_not_deliver_may_say_so() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    let undelivered = json!(["the requirements: the document cannot be read"]);
    dialogue.call(
        "job_complete",
        json!({"summary": "None.", "deliverables": [], "undelivered": undelivered, "confidence": 1}),
    );
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "finished, and not delivered: {:?}", dialogue.exit());
}
