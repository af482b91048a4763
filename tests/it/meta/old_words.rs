//! Names that were given up do not come back: `old_words.txt` has them, with what is said instead.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A line of the list.
#[derive(Debug, PartialEq, Eq)]
struct OldWord<'a> {
    kind: &'a str,
    old: &'a str,
    new: &'a str,
    /// Folders that it is for; none: all.
    within: Vec<&'a str>,
    /// Folders that still have it.
    but: Vec<&'a str>,
}

impl<'a> OldWord<'a> {
    fn read(line: &'a str) -> Option<Self> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (line, but) = line.split_once(" but ").unwrap_or((line, ""));
        let (line, within) = line.split_once(" in ").unwrap_or((line, ""));
        let mut words = line.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_else(|| panic!("a kind, the old name and the new one: {line}"));
        let (kind, old, new) = (next(), next(), next());
        assert!(["file", "type", "fn", "const", "variant", "cte"].contains(&kind), "no kind of name: {line}");
        Some(Self { kind, old, new, within: folders(within), but: folders(but) })
    }

    fn is_for(&self, path: &str) -> bool {
        let lies_in = |folder: &&str| path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
        (self.within.is_empty() || self.within.iter().any(lies_in)) && !self.but.iter().any(lies_in)
    }
}

fn folders(list: &str) -> Vec<&str> {
    list.split_whitespace().collect()
}

#[test]
fn no_name_that_was_given_up_is_used_again() {
    let list = include_str!("old_words.txt");
    let old_words: Vec<OldWord<'_>> = list.lines().filter_map(OldWord::read).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository has a folder");
    let mut paths = Vec::new();
    for folder in ["crates", "tests"] {
        collect(&root.join(folder), &mut paths);
    }
    let mut found = BTreeSet::new();
    for path in &paths {
        let relative = path.strip_prefix(&root).expect("it lies in the repository").to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{relative}: {error}"));
        let mut names = names_in(&relative, &text);
        names.extend(relative.split('/').map(|part| ("file", stem(part).to_owned())));
        for OldWord { kind, old, new, .. } in old_words.iter().filter(|word| word.is_for(&relative)) {
            if names.contains(&(*kind, (*old).to_owned())) {
                found.insert(format!("{relative}: {kind} `{old}`; say {new}"));
            }
        }
    }
    assert!(found.is_empty(), "names that were given up:\n{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Sources of programs and statements below a folder.
pub(super) fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "sql") {
            paths.push(path);
        }
    }
}

fn stem(part: &str) -> &str {
    part.rsplit_once('.').map_or(part, |(stem, _)| stem)
}

/// The names that a source gives to something, and the variants that it names.
fn names_in(path: &str, text: &str) -> BTreeSet<(&'static str, String)> {
    if path.ends_with(".sql") {
        return ctes(text);
    }
    let code = code_of(text);
    let tokens: Vec<&str> = tokens(&code).collect();
    let mut names = BTreeSet::new();
    for window in tokens.windows(2) {
        let kind = match window[0] {
            "struct" | "enum" | "trait" | "type" => "type",
            "fn" => "fn",
            "const" | "static" => "const",
            "mod" => "file",
            _ => continue,
        };
        names.insert((kind, window[1].to_owned()));
    }
    for window in tokens.windows(3).filter(|window| window[1] == "::") {
        names.insert(("variant", window.concat()));
    }
    names
}

/// Words before `AS (` and `AS MATERIALIZED (`.
fn ctes(text: &str) -> BTreeSet<(&'static str, String)> {
    let bare: Vec<&str> = text.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
    let bare = bare.join(" ").replace(" AS MATERIALIZED (", " AS (");
    let mut parts: Vec<&str> = bare.split(" AS (").collect();
    parts.pop();
    parts.iter().filter_map(|part| part.split_whitespace().last()).map(|word| ("cte", word.to_owned())).collect()
}

/// The code of a source, its comments and texts left out.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r\"") || rest.starts_with("r#") {
            raw_text(rest)
        } else if first == '"' {
            quoted(rest)
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').map_or(1, |end| end + 2)
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[skipped.max(1)..];
    }
    code
}

/// The length of a text in quotes, with its escapes.
fn quoted(text: &str) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw text, or of the `r` where it is none.
fn raw_text(text: &str) -> usize {
    let marks = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    let end = format!("\"{}", "#".repeat(marks));
    let begin = marks + 2;
    match text.as_bytes().get(begin - 1) {
        Some(b'"') => text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()),
        _ => 1,
    }
}

/// Identifiers and `::`.
fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !is_name(c) && c != ':');
        let end = match rest.chars().next()? {
            ':' if rest.starts_with("::") => 2,
            ':' => 1,
            _ => rest.find(|c: char| !is_name(c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

#[test]
fn the_list_is_held_to_names_and_to_nothing_else() {
    let source = r##"
        // type Desk, and mod held in a comment
        mod inbox;
        const SAID: &str = "type Giver; fn doubt()";
        const RAW: &str = r#"struct "Taker""#;
        fn quote(c: char) -> bool { c == '"' || matches!(x, Change::Left(_)) }
        pub(crate) struct Ear<'a>(&'a str);
    "##;
    let names = names_in("a.rs", source);
    let expected = [
        ("const", "RAW"),
        ("const", "SAID"),
        ("file", "inbox"),
        ("fn", "quote"),
        ("type", "Ear"),
        ("variant", "Change::Left"),
    ];
    assert_eq!(names, expected.map(|(kind, name)| (kind, name.to_owned())).into());
    let statement = "WITH said AS (SELECT 1), filed AS MATERIALIZED (SELECT 2 AS asked) -- given AS (\nSELECT 3";
    assert_eq!(ctes(statement), [("cte", "filed".to_owned()), ("cte", "said".to_owned())].into());
    let word = OldWord::read("file held active_jobs in crates/store tests but tests/it").expect("a line");
    assert_eq!((word.kind, word.old, word.new), ("file", "held", "active_jobs"));
    let paths = ["crates/store/src/held.rs", "crates/worker/src/held.rs", "tests/it/held.rs", "tests/src/held.rs"];
    assert_eq!(paths.map(|path| word.is_for(path)), [true, false, false, true]);
    assert_eq!(OldWord::read("# a comment"), None);
}
