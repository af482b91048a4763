//! More than two hundred ways to name a file outside of the workspace, tried on every tool that takes a path. A tool
//! may refuse one or treat it as an odd name inside the workspace; no product may lead outside.

use crate::bench::Bench;
use plumbline_engine::Product;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The targets.
const TARGETS: [&str; 6] =
    ["etc/passwd", "secret.txt", "proc/self/environ", "../secret.txt", "input/../../secret.txt", ".ssh/id_ed25519"];

/// Prefixes that lead outside, to be put before a target.
const WAYS: [&str; 46] = [
    "../",
    "../../",
    "../../../../../../../../../../../../",
    "./../",
    ".//..//",
    "a/../../",
    "a/b/../../../",
    "output/./.././../",
    "input/../output/../../",
    "/",
    "//",
    "///",
    "/./",
    "/../",
    "/workspace/../",
    "/workspace/../../",
    "/workspace/./../",
    "/workspace//../",
    "/workspaces/",
    "/workspace../",
    "job_0190a6f2-3c1b-7d2e-8f00-1234567890ab/../",
    "job_0190a6f2-3c1b-7d2e-8f00-1234567890ab/../../",
    "/workspace/job_0190a6f2-3c1b-7d2e-8f00-1234567890ab/../../",
    "../job_0190a6f2-3c1b-7d2e-8f00-1234567890ac/",
    "/workspace//",
    "./workspace/../../",
    "/proc/self/root/",
    "/proc/self/cwd/../",
    "/dev/fd/3/",
    "~/",
    "~root/",
    "$HOME/",
    "file:///",
    "file://localhost/",
    "C:\\",
    "\\\\server\\share\\",
    "..\\",
    "..\\/",
    "%2e%2e/",
    "..%2f",
    "..%252f",
    "....//",
    "..;/",
    "\u{ff0e}\u{ff0e}/",
    "..\u{2215}",
    "..\u{ff0f}",
];

/// Characters that some programs drop or stop at.
const NOISE: [&str; 8] = ["\0", "\n", "\r", "\t", " ", "\u{feff}", "\u{202e}", "\u{200b}"];

/// All forms: each prefix with each target, and with noise before, in and after it.
fn forms() -> BTreeSet<String> {
    let plain = WAYS.iter().flat_map(|way| TARGETS.iter().map(move |target| format!("{way}{target}")));
    let noisy = NOISE.iter().flat_map(|noise| {
        ["../secret.txt", "/etc/passwd"].into_iter().flat_map(move |path| {
            let inside = path.replacen("..", &format!(".{noise}."), 1).replacen("/e", &format!("/{noise}e"), 1);
            [format!("{noise}{path}"), inside, format!("{path}{noise}"), format!("..{noise}/{path}")]
        })
    });
    plain.chain(noisy).collect()
}

/// Whether a path stays within, for any reader: only plain names that the mirror can represent.
fn stays_within(path: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    !path.contains(['\\', '\0']) && !path.chars().any(char::is_control) && path.split('/').all(plain)
}

/// Calls of every tool with a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "planted"})),
        ("write_file", json!({"path": path, "content": "planted", "append": true})),
        ("edit_file", json!({"path": path, "old": "root", "new": "planted"})),
        ("delete_file", json!({"path": path})),
        ("create_folder", json!({"path": path})),
        ("list_files", json!({"path": path})),
        ("search_files", json!({"query": "root", "path": path})),
        ("extract_document_text", json!({"file_path": path})),
        ("chunk_document", json!({"file_path": path})),
        ("cite", json!({"source": path, "quote": "root:x:0:0:root"})),
    ]
}

#[tokio::test]
async fn no_form_of_a_path_leads_out_of_the_workspace() {
    let forms = forms();
    assert!(forms.len() >= 200, "{} forms", forms.len());
    let bench = Bench::with(&[("output/a.md", "inside")]).document("input/policy.md", b"# Policy");
    let (mut refused, mut inside) = (0, BTreeSet::new());
    for form in &forms {
        for call in calls(form) {
            let done = bench.turn(std::slice::from_ref(&call)).await.remove(0);
            assert!(!done.content.contains("root:x:0"), "{call:?}: {}", done.content);
            refused += usize::from(done.is_error);
            for product in done.products {
                let (Product::WriteFile(plumbline_engine::FileWrite { path, .. })
                | Product::AppendFile { path, .. }
                | Product::DeleteFile { path }) = product
                else {
                    panic!("{call:?} made {product:?}");
                };
                assert!(stays_within(&path), "{call:?} writes {path}");
                inside.insert(path);
            }
        }
    }
    println!("{} forms: {refused} refusals, {} odd names inside the workspace", forms.len(), inside.len());
    // Forms without special meaning, such as `%2e%2e`, are ordinary names; climbing and absolute ones are refused.
    for climbing in ["../", "/etc", "/proc", "..\\", "\0"] {
        assert!(inside.iter().all(|path| !path.starts_with(climbing)), "{inside:?}");
    }
    assert!(inside.contains("%2e%2e/secret.txt") && refused > forms.len() * 8, "{refused} refusals, {inside:?}");
}
