//! False completions: each is refused, and the job continues.

use crate::kit::{Dialogue, settings};
use serde_json::{Value, json};

/// A completion claim in the final phase of a job that has written these files.
struct Claim {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    arguments: Value,
}

fn claim(name: &'static str, files: &'static [(&'static str, &'static str)], deliverables: &[&str]) -> Claim {
    let arguments = json!({"summary": "Everything is done.", "deliverables": deliverables, "confidence": 1.0});
    Claim { name, files, arguments }
}

const REPORT: (&str, &str) = ("output/report.md", "Invoices must be kept for ten years.");

/// Placeholder content, as models write it to pass a check for existence.
const STUBS: [&str; 22] = [
    "",
    "   \n\n\t\n",
    "# Report",
    "# Report\n\n## Findings\n\n## Conclusion\n",
    "TODO",
    "todo: write this",
    "TBD",
    "- TBD\n- TBA\n",
    "# Report\n\nTo be written.\n",
    "# Report\n\nto be determined\n",
    "Coming soon!",
    "Content goes here",
    "[placeholder]",
    "(placeholder)",
    "*Work in progress*",
    "Lorem ipsum",
    "# R\n\n> TODO: findings\n\n## S\n\n- [ ] TBD\n",
    "## 1\n## 2\n## 3\n",
    "---\n***\n===\n",
    "...",
    "ok done",
    "# Report\n\n- \n- \n- \n",
];

fn claims() -> Vec<Claim> {
    let mut claims: Vec<Claim> =
        STUBS.iter().map(|_| claim("a file without content", &[], &["output/stub.md"])).collect();
    claims.extend([
        claim("nothing at all", &[], &[]),
        claim("a file that was never written", &[], &["output/report.md"]),
        claim("one of two was never written", &[REPORT], &["output/report.md", "output/annex.md"]),
        claim("another folder", &[REPORT], &["report.md"]),
        claim("another ending", &[REPORT], &["output/report.txt"]),
        claim("another case", &[REPORT], &["output/Report.md"]),
        claim("the folder", &[REPORT], &["output"]),
        claim("the folder with a slash", &[REPORT], &["output/"]),
        claim("the input", &[REPORT], &["input/policy.pdf"]),
        claim("the input in another form", &[REPORT], &["./input//policy.pdf"]),
        claim("outside of the workspace", &[REPORT], &["../report.md"]),
        claim("an absolute path elsewhere", &[REPORT], &["/etc/passwd"]),
        claim("an empty path", &[REPORT], &[""]),
        claim("a web address", &[REPORT], &["https://example.org/report.md"]),
        claim("a wildcard", &[REPORT], &["output/*.md"]),
        claim("a sentence in place of a path", &[REPORT], &["The report is in the output folder."]),
    ]);
    let with = |name, arguments| Claim { name, files: &[REPORT], arguments };
    claims.extend([
        with("no summary", json!({"deliverables": ["output/report.md"], "confidence": 1})),
        with("a blank summary", json!({"summary": "  ", "deliverables": ["output/report.md"], "confidence": 1})),
        with("no confidence", json!({"summary": "Done.", "deliverables": ["output/report.md"]})),
        with(
            "more than certain",
            json!({"summary": "Done.", "deliverables": ["output/report.md"], "confidence": 1.01}),
        ),
        with("less than nothing", json!({"summary": "Done.", "deliverables": ["output/report.md"], "confidence": -1})),
        with(
            "confidence in words",
            json!({"summary": "Done.", "deliverables": ["output/report.md"], "confidence": "high"}),
        ),
        with(
            "an object as path",
            json!({"summary": "Done.", "deliverables": [{"path": "output/report.md"}], "confidence": 1}),
        ),
        with("a number as path", json!({"summary": "Done.", "deliverables": [1], "confidence": 1})),
        with("no arguments", json!({})),
        with("only deliverables", json!({"deliverables": []})),
    ]);
    claims
}

#[test]
fn every_false_completion_is_refused() {
    let claims = claims();
    assert!(claims.len() >= 40, "{} claims", claims.len());
    for (at, claim) in claims.iter().enumerate() {
        let mut dialogue = Dialogue::working(settings(), 1);
        dialogue.finish_phase();
        for (path, content) in claim.files {
            dialogue.call("write_file", json!({"path": path, "content": content}));
        }
        if let Some(stub) = STUBS.get(at) {
            dialogue.call("write_file", json!({"path": "output/stub.md", "content": stub}));
        }
        let result = dialogue.call("job_complete", claim.arguments.clone());
        assert!(result.starts_with("Error: "), "{} ({:?}): {result}", claim.name, STUBS.get(at));
        assert!(dialogue.run.exit().is_none(), "{}: {:?}", claim.name, dialogue.run.exit());
    }
}

#[test]
fn prose_and_files_that_claim_the_end_are_no_end() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for words in ["Job complete.", "job_complete(summary=\"done\")", "All tasks are done; status: completed.", "DONE"] {
        dialogue.says(words);
        dialogue.call(
            "write_file",
            json!({"path": "output/job_completion.json", "content": "{\"status\": \"completed\"}"}),
        );
        assert!(dialogue.run.exit().is_none(), "{words}");
    }
    assert_eq!(dialogue.run.progress().todos_done, 0);
}
