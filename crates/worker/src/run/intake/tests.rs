use super::{IntakeJob, ingest, shared};
use plumbline_documents::Parser;
use plumbline_engine::{Handler, Intake, Outcome, Phases, Replay, ToolSpec};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink, path::Path};
use tempfile::TempDir;

fn parser() -> Parser {
    Parser::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/run/intake/parser_double.sh"))
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: "read_file".into(),
        phases: Phases::Both,
        description: "Reads.".into(),
        parameters: json!({}).into(),
        documentation: "Reads by lines.".into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

/// An import folder with these files.
fn import(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn job(document_path: Option<&str>) -> IntakeJob {
    let document_path = document_path.map(str::to_owned);
    IntakeJob { prompt: "Extract the requirements".into(), context: json!({}), document_path, ..IntakeJob::default() }
}

async fn take(job: &IntakeJob, root: &Path) -> Outcome {
    ingest(job.clone(), root, &parser(), "Extract {{ carefully }}.\n", &shared(&[tool()])).await
}

async fn taken(job: &IntakeJob, root: &Path) -> Intake {
    match take(job, root).await {
        Outcome::IntakeDone(intake) => intake,
        other => panic!("{other:?}"),
    }
}

async fn refused(job: &IntakeJob, root: &Path) -> String {
    match take(job, root).await {
        Outcome::IntakeRefused { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

fn text<'a>(intake: &'a Intake, path: &str) -> &'a str {
    let file = intake.files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}"));
    std::str::from_utf8(&file.content).unwrap()
}

#[tokio::test]
async fn a_file_becomes_the_first_workspace() {
    let root = import(&[("policy.pdf", "%PDF-1.7 pages=193\n")]);
    let mut job = job(Some("policy.pdf"));
    job.context = json!({"client": "ACME"});
    let intake = taken(&job, root.path()).await;
    let paths: Vec<&str> = intake.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["instructions.md", "workspace.md", "input/context.json", "input/policy.pdf"]);
    assert_eq!(text(&intake, "instructions.md"), "Extract {{ carefully }}.\n\n# The job\n\nExtract the requirements\n");
    assert_eq!(serde_json::from_str::<Value>(text(&intake, "input/context.json")).unwrap(), job.context);
    let documentation = &intake.shared.as_ref().unwrap().files[0];
    assert_eq!(
        (&*documentation.path, &*documentation.content),
        ("tools/read_file.md", &b"# read_file\n\nReads.\n\nReads by lines.\n"[..])
    );
    let source = &intake.sources[0];
    assert_eq!((source.path.as_str(), source.size, source.pages), ("input/policy.pdf", 19, Some(193)));
}

#[tokio::test]
async fn every_form_of_a_path_within_the_import_folder_is_fine() {
    let root = import(&[("a/x.txt", "Text of x."), (".hidden", "no"), ("a/b/y.md", "# y")]);
    let absolute = root.path().join("a/x.txt");
    for path in ["a/x.txt", "./a/x.txt", absolute.to_str().unwrap()] {
        assert_eq!(text(&taken(&job(Some(path)), root.path()).await, "input/x.txt"), "Text of x.", "{path}");
    }
    for path in ["a", "a/", root.path().join("a").to_str().unwrap()] {
        let intake = taken(&job(Some(path)), root.path()).await;
        let sources: Vec<&str> = intake.sources.iter().map(|source| source.path.as_str()).collect();
        assert_eq!(sources, ["input/b/y.md", "input/x.txt"], "{path}");
    }
    let whole = root.path().to_str().unwrap();
    assert_eq!(taken(&job(Some(whole)), root.path()).await.sources.len(), 2, "hidden files are no documents");
    symlink("a/x.txt", root.path().join("link.txt")).unwrap();
    assert_eq!(text(&taken(&job(Some("link.txt")), root.path()).await, "input/link.txt"), "Text of x.");
}

#[tokio::test]
async fn nothing_outside_the_import_folder_is_read() {
    let outside = import(&[("secret.txt", "SECRET of the host")]);
    let root = import(&[("a/x.txt", "x")]);
    symlink(outside.path().join("secret.txt"), root.path().join("a/link.txt")).unwrap();
    symlink(outside.path(), root.path().join("folder")).unwrap();
    let secret = outside.path().join("secret.txt");
    for path in [
        "../secret.txt",
        "a/../../secret.txt",
        secret.to_str().unwrap(),
        "/etc/passwd",
        "a/link.txt",
        "folder",
        "a",
        "folder/secret.txt",
    ] {
        let reason = refused(&job(Some(path)), root.path()).await;
        assert!(reason.contains("outside the import folder"), "{path}: {reason}");
        assert!(!reason.contains("SECRET"), "{reason}");
    }
}

#[tokio::test]
async fn a_type_may_be_kept_to_folders_of_the_import_folder() {
    let root = import(&[("policies/x.txt", "x"), ("policies2/y.txt", "y"), ("people/z.txt", "SECRET")]);
    symlink("../people/z.txt", root.path().join("policies/link.txt")).unwrap();
    let kept = |path: &str| IntakeJob { document_roots: Some(vec!["policies/".into()]), ..job(Some(path)) };
    for path in ["policies/x.txt", "./policies/./x.txt", root.path().join("policies/x.txt").to_str().unwrap()] {
        assert_eq!(text(&taken(&kept(path), root.path()).await, "input/x.txt"), "x", "{path}");
    }
    for path in ["people/z.txt", "policies2/y.txt", ".", "people", "policies/../people/z.txt", "policies/link.txt"] {
        let reason = refused(&kept(path), root.path()).await;
        assert!(!reason.contains("SECRET") && reason.contains(path), "{path}: {reason}");
    }
    fs::remove_file(root.path().join("policies/link.txt")).unwrap();
    assert_eq!(taken(&kept("policies"), root.path()).await.sources.len(), 1);
    let none = IntakeJob { document_roots: Some(Vec::new()), ..job(Some("policies/x.txt")) };
    assert!(refused(&none, root.path()).await.contains("none of the folders"));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_one_sentence() {
    let root = import(&[
        ("text.pdf", "This is plain text."),
        ("locked.pdf", "%PDF-1.7 encrypted\n"),
        ("broken.pdf", "%PDF-1.7 broken\n"),
        ("empty.txt", ""),
        ("more/context.json", "{}"),
        ("end.md ", "Records must be kept."),
        ("red\u{1b}[31m.md", "Records must be kept."),
    ]);
    fs::create_dir(root.path().join("nothing")).unwrap();
    for (path, expected) in [
        ("gone.pdf", "the document `gone.pdf` was not found under the import folder"),
        ("text.pdf", "input/text.pdf is not a PDF"),
        ("locked.pdf", "input/locked.pdf is encrypted"),
        ("broken.pdf", "input/broken.pdf"),
        ("empty.txt", "input/empty.txt"),
        ("nothing", "the folder `nothing` in document_path has no files"),
        ("more", "a document is called `context.json`"),
        ("end.md ", "`end.md ` is no readable file name; rename it"),
        ("red\u{1b}[31m.md", "`red\u{fffd}[31m.md` is no readable file name; rename it"),
        (" ", "document_path is empty"),
    ] {
        let reason = refused(&job(Some(path)), root.path()).await;
        assert!(reason.contains(expected), "{path}: {reason}");
    }
    let nowhere = root.path().join("no/such/folder");
    assert!(refused(&job(Some("x.pdf")), &nowhere).await.contains("cannot be opened"));
}

#[tokio::test]
async fn one_document_that_cannot_be_read_leaves_the_others_to_do() {
    let files = [("a/locked.pdf", "%PDF-1.7 encrypted\n"), ("a/policy.pdf", "%PDF-1.7 pages=3\n"), ("b/empty.txt", "")];
    let root = import(&files);
    let intake = taken(&job(Some("a")), root.path()).await;
    let mut sources: Vec<_> = intake.sources.iter().map(|source| (source.path.as_str(), source.pages)).collect();
    sources.sort_unstable();
    assert_eq!(sources, [("input/locked.pdf", None), ("input/policy.pdf", Some(3))]);
    assert!(refused(&job(Some("b")), root.path()).await.contains("input/empty.txt is empty"));
}

#[tokio::test]
async fn one_bad_entry_of_a_folder_is_one_document_that_cannot_be_read() {
    use std::os::unix::ffi::OsStrExt as _;
    let root = import(&[("a/good.md", "Records must be kept."), ("a/Twin.md", "one"), ("a/twin.md", "two")]);
    let decomposed = root.path().join("a/u\u{308}ber.md");
    fs::write(&decomposed, "It shall.").unwrap();
    let a = root.path().join("a");
    symlink("nowhere", a.join("old.md")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(a.join("pipe.txt")).status().unwrap().success());
    fs::write(a.join(std::ffi::OsStr::from_bytes(b"odd\xff.md")), "x").unwrap();
    fs::write(a.join("end.md "), "x").unwrap();
    let intake = taken(&job(Some("a")), root.path()).await;
    let unread: Vec<(&str, &str)> = intake
        .sources
        .iter()
        .filter_map(|source| Some((source.path.as_str(), source.warnings.first()?.as_str())))
        .collect();
    let expected = [
        ("input/odd\u{fffd}.md", "no readable file name"),
        ("input/end.md ", "no readable file name"),
        ("input/old.md", "is a link to a file that is not there"),
        ("input/pipe.txt", "no regular file"),
        ("input/twin.md", "the names `Twin.md` and `twin.md`"),
    ];
    assert_eq!(unread.len(), expected.len(), "{unread:?}");
    for (path, why) in expected {
        assert!(unread.iter().any(|(known, said)| *known == path && said.contains(why)), "{path}: {unread:?}");
        assert!(intake.files.iter().all(|file| file.path != path), "{path} has no file");
    }
    assert_eq!(text(&intake, "input/\u{fc}ber.md"), "It shall.");
    assert_eq!(text(&intake, "input/Twin.md"), "one");
    fs::create_dir(root.path().join("b")).unwrap();
    symlink("nowhere", root.path().join("b/old.md")).unwrap();
    let outcome = take(&job(Some("b")), root.path()).await;
    assert!(
        matches!(&outcome, Outcome::IntakeRefused { no_text: true, reason } if reason.contains("old.md")),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_pipe_is_no_document() {
    let root = import(&[]);
    let pipe = root.path().join("pipe.txt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(refused(&job(Some("pipe.txt")), root.path()).await.contains("no regular file"));
}

#[tokio::test]
async fn an_inline_document_is_taken_in_under_its_name() {
    let root = import(&[("policy.txt", "Invoices must be kept.")]);
    let mut inline = job(None);
    inline.document = Some(b"%PDF-1.4 pages=2\n".to_vec());
    inline.context = json!({"document_name": "Policy.pdf"});
    let intake = taken(&inline, &root.path().join("missing is fine here")).await;
    assert_eq!((intake.sources[0].path.as_str(), intake.sources[0].pages), ("input/Policy.pdf", Some(2)));
    inline.document = Some(b"Records shall be complete.".to_vec());
    inline.context = json!({"document_name": "POLICY.txt"});
    inline.document_path = Some("policy.txt".into());
    assert!(refused(&inline, root.path()).await.contains("two documents are called `POLICY.txt`"));
}

#[tokio::test]
async fn lesson_16_an_empty_brief_is_refused_before_it_costs_anything() {
    let root = import(&[]);
    for prompt in ["", "  \n", "...", "?"] {
        let empty = IntakeJob { prompt: prompt.into(), ..job(None) };
        assert!(refused(&empty, root.path()).await.contains("prompt is empty"), "{prompt:?}");
    }
    for prompt in ["Summarize", " x ", "提取"] {
        let short = IntakeJob { prompt: prompt.into(), context: Value::Null, ..job(None) };
        assert_eq!(text(&taken(&short, root.path()).await, "input/context.json"), "{}\n", "{prompt:?}");
    }
}

/// Prefixes of a target that try to leave the import folder.
const WAYS: [&str; 26] = [
    "../",
    "../../",
    "./../",
    ".//..//",
    "a/../../",
    "a/b/../../../",
    "/",
    "//",
    "/./",
    "/../",
    "/proc/self/root/",
    "/proc/self/cwd/",
    "/dev/fd/3/",
    "file:///",
    "C:\\",
    "..\\",
    "%2e%2e/",
    "..%2f",
    "....//",
    "..;/",
    "~/",
    "\u{ff0e}\u{ff0e}/",
    "..\u{2215}",
    "folder/",
    "folder/../",
    "loop/",
];

#[tokio::test]
async fn no_form_of_a_path_reads_anything_outside() {
    let outside = import(&[("secret.txt", "SECRET of the host"), ("b/secret.txt", "SECRET of the host")]);
    let root = import(&[("a/b/x.txt", "x")]);
    symlink(outside.path(), root.path().join("folder")).unwrap();
    symlink(root.path().join("loop"), root.path().join("loop")).unwrap();
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let absolute = outside.path().to_str().unwrap().trim_start_matches('/');
    let targets = ["secret.txt", "b/secret.txt", "etc/passwd", "", "..", "x.txt\0", " secret.txt"].map(str::to_owned);
    let named =
        [format!("{name}/secret.txt"), format!("{absolute}/secret.txt"), format!("{absolute}/./b/../secret.txt")];
    let mut count = 0;
    for target in targets.iter().chain(&named) {
        for way in WAYS {
            let path = format!("{way}{target}");
            let outcome = ingest(job(Some(&path)), root.path(), &parser(), "Extract.", &shared(&[])).await;
            let said = format!("{outcome:?}");
            let secret = b"SECRET".map(|byte| byte.to_string()).join(", ");
            assert!(!said.contains("SECRET") && !said.contains(&secret) && !said.contains("root:x:"), "{path}: {said}");
            count += 1;
        }
    }
    assert!(count >= 200, "{count} forms");
}

#[test]
fn a_folder_that_turns_into_a_link_leads_nowhere() {
    let outside = import(&[("x.txt", "SECRET of the host")]);
    let root = import(&[("a/x.txt", "inside")]);
    let (real, link, at) = (root.path().join("real"), root.path().join("link"), root.path().join("a"));
    symlink(outside.path(), &link).unwrap();
    let over = std::sync::atomic::AtomicBool::new(false);
    let inside_bytes = super::Content::Bytes(b"inside".to_vec());
    let (mut inside, mut leaks) = (0, Vec::new());
    let swaps = std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            let mut swaps = 0;
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&at, &real).and_then(|()| fs::rename(&link, &at)).unwrap();
                fs::rename(&at, &link).and_then(|()| fs::rename(&real, &at)).unwrap();
                swaps += 1;
            }
            swaps
        });
        for turn in 0..20_000 {
            // By its own name and by the folder's.
            match super::import::read(root.path(), None, if turn % 2 == 0 { "a/x.txt" } else { "a" }) {
                Ok(documents) if documents.iter().all(|document| document.content == inside_bytes) => inside += 1,
                // Read between the two renames, it does not exist.
                Ok(documents)
                    if documents.iter().all(|document| matches!(document.content, super::Content::Unread(_))) => {}
                Ok(documents) => leaks.push(format!("{documents:?}")),
                Err(reason) => leaks.extend(reason.contains("SECRET").then_some(reason)),
            }
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        swapping.join().unwrap()
    });
    assert_eq!(leaks, Vec::<String>::new());
    assert!(inside > 0 && swaps > 100, "{inside} reads inside, {swaps} swaps: nothing was tried");
}

#[tokio::test]
async fn no_document_is_a_folder_of_another() {
    let root = import(&[]);
    let words = || b"Invoices must be kept.".to_vec();
    for (names, says) in [
        (["a.md", "a.md/b.md"], "`a.md/b.md` lies in a folder `a.md`, and another document is called `a.md`"),
        (["A.md/x/b.md", "a.MD"], "`A.md/x/b.md` lies in a folder `A.md`"),
        (["x/y.md", "x/y.md/z.md"], "lies in a folder `x/y.md`"),
        (["b.md", "context.json/x.md"], "the job's context is written to `context.json`"),
        (["b.md", "Context.json"], "the job's context is written to `context.json`"),
    ] {
        let documents = names.map(|name| (name.to_owned(), words())).to_vec();
        let refusal = refused(&IntakeJob { documents, ..job(None) }, root.path()).await;
        assert!(refusal.contains(says), "{names:?}: {refusal}");
    }
    let documents = ["a.md", "a/a.md"].map(|name| (name.to_owned(), words())).to_vec();
    taken(&IntakeJob { documents, ..job(None) }, root.path()).await;
}
