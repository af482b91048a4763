//! Reading, writing, editing, listing and deleting files.

use crate::bench::Bench;
use serde_json::json;

#[tokio::test]
async fn read_file_shows_lines_under_a_header() {
    let mut bench = Bench::with(&[("output/a.md", "one\ntwo\nthree\n"), ("empty.md", ""), ("no_end.md", "x")]);
    for (arguments, expected) in [
        (json!({"path": "output/a.md"}), "[output/a.md: lines 1-3 of 3]\none\ntwo\nthree\n"),
        (json!({"path": "./output/a.md", "offset": 2}), "[output/a.md: lines 2-3 of 3]\ntwo\nthree\n"),
        (json!({"path": "output/a.md", "offset": 2, "limit": 1}), "[output/a.md: lines 2-2 of 3]\ntwo\n"),
        (json!({"path": "output/a.md", "offset": 0, "limit": 99}), "[output/a.md: lines 1-3 of 3]\none\ntwo\nthree\n"),
        (json!({"path": "output/a.md", "limit": null}), "[output/a.md: lines 1-3 of 3]\none\ntwo\nthree\n"),
        (json!({"path": "empty.md"}), "[empty.md: empty]"),
        (json!({"path": "no_end.md"}), "[no_end.md: lines 1-1 of 1]\nx"),
    ] {
        assert_eq!(bench.ok("read_file", arguments).await, expected);
    }
}

#[tokio::test]
async fn read_file_refuses_with_what_to_do() {
    let mut bench = Bench::with(&[("output/report.md", "one\n"), ("input/scan.bin", "a\0b")]);
    for (arguments, expected) in [
        (json!({"path": "report.md"}), "there is no file `report.md`; similar: output/report.md"),
        (json!({"path": "output/reprot.md"}), "there is no file `output/reprot.md`; similar: output/report.md"),
        (json!({"path": "zzz"}), "there is no file `zzz`; list_files shows the files"),
        (json!({"path": "output"}), "`output` is a folder; list_files shows what is in it"),
        (json!({"path": "output/report.md", "offset": 9}), "`output/report.md` has 1 lines; offset 9 is after its end"),
        (json!({"path": "input/scan.bin"}), "`input/scan.bin` is no text file; extract_document_text gives its text"),
        (json!({"path": "../x"}), "the path `../x` leads out of the workspace"),
        (json!({"path": "a\u{0}"}), "the arguments contain a NUL character, which no text may have; leave it out"),
    ] {
        assert_eq!(bench.refused("read_file", arguments).await, expected);
    }
}

#[tokio::test]
async fn lesson_49_a_file_too_large_is_answered_with_ranges_that_fit() {
    let text: String = (0..1000).map(|n| format!("line {n} has a few words in it\n")).collect();
    let mut bench = Bench::with(&[("big.md", &text)]);
    bench.max_result_tokens = 2000;
    let refusal = bench.refused("read_file", json!({"path": "big.md"})).await;
    assert!(refusal.starts_with("lines 1-1000 of `big.md` are "), "{refusal}");
    assert!(!refusal.contains("has a few words"), "{refusal}");
    let ranges = refusal.split("read the parts you need: ").nth(1).unwrap();
    let mut next = 1;
    for range in ranges.split(", ") {
        let numbers: Vec<usize> = range.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers[0], next, "{refusal}");
        next += numbers[1];
        let part = bench.ok("read_file", json!({"path": "big.md", "offset": numbers[0], "limit": numbers[1]})).await;
        assert!(plumbline_tokens::count(&part) <= 2000, "the result with its header fits");
    }
    assert_eq!(next, 1001, "the ranges cover the file");
}

#[tokio::test]
async fn a_huge_file_is_not_even_fetched() {
    let text = "line\n".repeat(4 << 20);
    let mut bench = Bench::with(&[("huge.md", &text)]);
    let refusal = bench.refused("read_file", json!({"path": "huge.md", "limit": 1})).await;
    assert_eq!(
        refusal,
        "`huge.md` has 20971520 bytes, more than the 16 MiB that can be read; it can only be used as it is"
    );
    assert_eq!(bench.reads(), 0);
}

#[tokio::test]
async fn a_line_too_long_to_show_is_named() {
    let mut bench = Bench::with(&[("data.json", &format!("x\n{}\n", "word ".repeat(3000)))]);
    bench.max_result_tokens = 500;
    let refusal = bench.refused("read_file", json!({"path": "data.json"})).await;
    assert!(
        refusal.ends_with("line 2 alone is too long to be shown; find what you need with search_files"),
        "{refusal}"
    );
}

#[tokio::test]
async fn write_file_confirms_and_never_repeats_the_content() {
    let mut bench = Bench::new();
    for (arguments, says, content) in [
        (
            json!({"path": "output/a.md", "content": "secret words\n"}),
            "wrote output/a.md: 1 line, 13 bytes",
            "secret words\n",
        ),
        (
            json!({"path": "/workspace/output/a.md", "content": "a\nb"}),
            "replaced output/a.md: 2 lines, 3 bytes",
            "a\nb",
        ),
        (
            json!({"path": "output/a.md", "content": "c\n", "append": true}),
            "added 2 lines to output/a.md, now 6 bytes",
            "a\nb\nc\n",
        ),
        (
            json!({"path": "output/a.md", "content": "d\n", "append": true}),
            "added 1 line to output/a.md, now 8 bytes",
            "a\nb\nc\nd\n",
        ),
    ] {
        assert_eq!(bench.ok("write_file", arguments).await, says);
        assert_eq!(bench.text("output/a.md"), Some(content));
    }
    assert_eq!(
        bench.ok("write_file", json!({"path": "new.md", "content": "x", "append": true})).await,
        "added 1 line to new.md, now 1 bytes"
    );
    assert_eq!(bench.text("new.md"), Some("x"));
}

#[tokio::test]
async fn files_have_their_writers() {
    let files = [("main_plan.md", "# Plan\n"), ("progress.md", "x"), ("output/requirements.json", "[]")];
    let mut bench = Bench::with(&files);
    let calls = |path: &str, old: &str| {
        [
            ("write_file", json!({"path": path, "content": "new"})),
            ("write_file", json!({"path": path, "content": "new", "append": true})),
            ("edit_file", json!({"path": path, "old": old, "new": "new"})),
            ("delete_file", json!({"path": path})),
        ]
    };
    bench.is_tactical = true;
    for path in ["main_plan.md", "./main_plan.md", "output/../main_plan.md"] {
        for (name, arguments) in calls(path, "Plan") {
            let refused = bench.refused(name, arguments).await;
            assert!(refused.starts_with("`main_plan.md` is read only: the plan is written in strategic"), "{refused}");
        }
    }
    for is_tactical in [true, false] {
        bench.is_tactical = is_tactical;
        for path in ["progress.md", "workspace_summary.md", "error.md"] {
            for (name, arguments) in calls(path, "x") {
                let refused = bench.refused(name, arguments).await;
                assert!(refused.contains("is read only: the system"), "{refused}");
            }
        }
    }
    bench.records_requirements = true;
    let lists = ["output/requirements.json", "output/requirements.csv", "output/requirements.md"];
    let rendered = lists.into_iter().chain(["requirements/r1.md", "candidates/candidates.md"]);
    for (name, arguments) in rendered.flat_map(|path| calls(path, "[]")) {
        let refused = bench.refused(name, arguments).await;
        assert!(refused.contains("is read only: the system renders it"), "{refused}");
    }
    for path in ["output/requirements_part_1.md", "output/requirements/a.md", "requirements.md"] {
        bench.ok("write_file", json!({"path": path, "content": "x"})).await;
    }
    // A job type that records no requirements may use these names for its own files.
    bench.records_requirements = false;
    bench.ok("write_file", json!({"path": "output/requirements.md", "content": "x"})).await;
}

#[tokio::test]
async fn a_write_of_the_plan_returns_what_was_understood() {
    let mut bench = Bench::new();
    let wrote = bench.ok("write_file", json!({"path": "main_plan.md", "content": "1. Read\n2. Report\n"})).await;
    assert_eq!(wrote, "wrote main_plan.md: 2 lines, 18 bytes; it is read as a plan with 2 phases: Read; Report");
    let added = json!({"path": "main_plan.md", "content": "3. Check\n", "append": true});
    assert!(bench.ok("write_file", added).await.ends_with("; it is read as a plan with 3 phases: Read; Report; Check"));
    let edited = bench.ok("edit_file", json!({"path": "main_plan.md", "old": "Check", "new": "Verify"})).await;
    assert!(edited.ends_with("3 phases: Read; Report; Verify"), "{edited}");
    let prose = bench.ok("write_file", json!({"path": "main_plan.md", "content": "All is read.\n"})).await;
    assert!(prose.contains(". No phases were recognised in it: begin each with a heading"), "{prose}");
}

#[tokio::test]
async fn what_the_system_keeps_is_read_only() {
    let mut bench = Bench::with(&[("output/a.md", "x")]).extracted("input/p.pdf", "chunks/p.md", "text");
    for (path, reason) in [
        ("input/new.txt", "`input/new.txt` is read only: input/ holds"),
        ("archive/phase_1.yaml", "`archive/phase_1.yaml` is read only: archive/ holds"),
        ("tools/cite.md", "`tools/cite.md` is read only: tools/ holds"),
        (".plumbline/mirror.json", "is read only: the system keeps"),
        ("instructions.md", "`instructions.md` is read only: it holds the job's instructions"),
        ("output/../instructions.md", "`instructions.md` is read only"),
        ("todos.yaml", "call todo_write"),
        ("chunks/p.md", "`chunks/p.md` is read only: it is the extracted text of input/p.pdf"),
        ("output", "`output` is a folder"),
        ("output/a.md/b", "`output/a.md` is a file, so `output/a.md/b` cannot be in it"),
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("write_file", json!({"path": path, "content": "x", "append": true})),
            ("edit_file", json!({"path": path, "old": "x", "new": "y"})),
            ("delete_file", json!({"path": path})),
        ] {
            let refusal = bench.refused(tool, arguments).await;
            assert!(refusal.contains(reason), "{tool} {path}: {refusal}");
        }
    }
    for path in ["main_plan.md", "workspace.md", "chunks/notes.md", "inputs/a.md"] {
        bench.ok("write_file", json!({"path": path, "content": "x"})).await;
    }
}

#[tokio::test]
async fn edit_file_replaces_exactly_one_passage() {
    let mut bench = Bench::with(&[("a.md", "one two\nthree  four\none five\n")]);
    assert_eq!(
        bench.ok("edit_file", json!({"path": "a.md", "old": "three", "new": "3"})).await,
        "edited a.md at line 2, now 25 bytes"
    );
    assert_eq!(bench.text("a.md"), Some("one two\n3  four\none five\n"));
    for (old, new, expected) in [
        ("one", "1", "`old` occurs 2 times in `a.md` (lines 1, 3); give more of the text around the one that is meant"),
        ("six", "6", "`old` does not occur in `a.md` (0 matches); read the file and copy the passage exactly"),
        (
            "3 four",
            "x",
            "`old` does not occur in `a.md` (0 matches); it occurs with other white space or line ends; copy it exactly as read_file shows it",
        ),
        ("two", "two", "`old` and `new` are the same; nothing to change"),
        ("", "x", "the arguments do not fit: `old` must have at least 1 characters"),
    ] {
        assert_eq!(bench.refused("edit_file", json!({"path": "a.md", "old": old, "new": new})).await, expected);
    }
    bench.refused("edit_file", json!({"path": "b.md", "old": "x", "new": "y"})).await;
    bench.ok("edit_file", json!({"path": "a.md", "old": "one five\n", "new": ""})).await;
    assert_eq!(bench.text("a.md"), Some("one two\n3  four\n"));
}

#[tokio::test]
async fn list_files_shows_paths_and_sizes() {
    let mut bench =
        Bench::with(&[("output/b.md", "12"), ("output/a.md", "1"), ("outputs.md", "123"), ("input/x.pdf", "1234")]);
    for (arguments, expected) in [
        (json!({}), "input/x.pdf  4\noutput/a.md  1\noutput/b.md  2\noutputs.md  3"),
        (json!({"path": "."}), "input/x.pdf  4\noutput/a.md  1\noutput/b.md  2\noutputs.md  3"),
        (json!({"path": "output/"}), "output/a.md  1\noutput/b.md  2"),
        (json!({"path": "outputs.md"}), "outputs.md  3"),
        (json!({"path": "candidates"}), "(no files in candidates)"),
    ] {
        assert_eq!(bench.ok("list_files", arguments).await, expected);
    }
    assert_eq!(Bench::new().ok("list_files", json!({})).await, "(no files in the workspace)");
}

#[tokio::test]
async fn a_long_list_is_cut_and_says_so() {
    let names: Vec<String> = (0..612).map(|n| format!("chunks/{n:03}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let list = Bench::with(&files).ok("list_files", json!({})).await;
    assert_eq!(list.lines().count(), 501);
    assert!(list.ends_with("(112 more files are not listed; give a folder)"), "{list}");
}

#[tokio::test]
async fn delete_file_deletes_one_file() {
    let mut bench = Bench::with(&[("output/a.md", "1"), ("output/b.md", "2")]);
    assert_eq!(bench.ok("delete_file", json!({"path": "output/a.md"})).await, "deleted output/a.md");
    assert_eq!(bench.paths(), ["output/b.md"]);
    bench.refused("delete_file", json!({"path": "output/a.md"})).await;
    bench.refused("delete_file", json!({"path": "output"})).await;
}

#[tokio::test]
async fn create_folder_changes_nothing_and_says_what_holds() {
    let mut bench = Bench::with(&[("output/a.md", "1")]);
    assert_eq!(
        bench.ok("create_folder", json!({"path": "output/parts/"})).await,
        "output/parts/ is ready; it appears with its first file"
    );
    assert_eq!(bench.ok("create_folder", json!({"path": "output"})).await, "output/ is there already");
    bench.refused("create_folder", json!({"path": "output/a.md"})).await;
    bench.refused("create_folder", json!({"path": "input/x"})).await;
    assert_eq!(bench.paths(), ["output/a.md"]);
}
