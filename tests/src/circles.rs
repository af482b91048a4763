//! Files of a crate that need each other, read from their `use` items and paths.
//!
//! A file with modules below it (`mod.rs`, `lib.rs`, `x.rs` beside a folder `x`) declares and re-exports them, so it and
//! they need each other by the language's rules; such files are not counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

/// The path of a module in its crate: `["run", "step"]`.
type Module = Vec<String>;

/// Groups of files below `src` that reach each other, each group once.
///
/// # Errors
/// If a file cannot be read.
pub fn circles(src: &Path) -> io::Result<Vec<BTreeSet<String>>> {
    let mut files = BTreeMap::new();
    modules(src, &mut Vec::new(), &mut files)?;
    let is_leaf = |module: &Module| {
        !module.is_empty() && !files.keys().any(|other| other.len() > module.len() && other.starts_with(module))
    };
    let mut needs: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (module, file) in files.iter().filter(|(module, _)| is_leaf(module)) {
        let code = shipped_code(&fs::read_to_string(file)?);
        let named = paths(&code).filter_map(|path| absolute(module, &path));
        let targets = named.filter_map(|path| (0..=path.len()).rev().find_map(|n| files.get_key_value(&path[..n])));
        let targets = targets.map(|(target, _)| target).filter(|target| *target != module && is_leaf(target));
        needs.insert(module, targets.collect());
    }
    Ok(groups(&needs))
}

fn modules(folder: &Path, at: &mut Module, files: &mut BTreeMap<Module, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem == "tests" || (path.is_file() && path.extension().is_none_or(|extension| extension != "rs")) {
            continue;
        }
        let own = matches!(&*stem, "mod" | "lib" | "main");
        if !own {
            at.push(stem);
        }
        match path.is_dir() {
            true => modules(&path, at, files)?,
            false => _ = files.insert(at.clone(), path),
        }
        if !own {
            at.pop();
        }
    }
    Ok(())
}

/// The code in front of the tests that end a file, without comments.
fn shipped_code(text: &str) -> String {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths that begin with `crate`, `super` or `self`, those in braces written out.
fn paths(code: &str) -> impl Iterator<Item = Module> {
    let begins = ["crate::", "super::", "self::"].into_iter().flat_map(|root| code.match_indices(root));
    let whole = begins.filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
    whole.flat_map(|(at, _)| {
        let mut found = Vec::new();
        tree(&code[at..], &mut Vec::new(), &mut found);
        found
    })
}

/// Reads one path, with its branches if it ends in braces; returns the rest of the text.
fn tree<'a>(text: &'a str, at: &mut Module, found: &mut Vec<Module>) -> &'a str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if let Some(inside) = text.strip_prefix('{') {
        let mut rest = inside;
        while !rest.trim_start().starts_with('}') && !rest.is_empty() {
            rest = tree(rest, at, found);
            rest = &rest[rest.find([',', '}']).unwrap_or(rest.len())..];
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        return rest.trim_start().strip_prefix('}').unwrap_or_default();
    }
    at.push(name.to_owned());
    let rest = match rest.strip_prefix("::") {
        Some(deeper) if deeper.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '{') => {
            tree(deeper, at, found)
        }
        _ => {
            found.push(at.clone());
            rest
        }
    };
    at.pop();
    rest
}

/// A path from the crate's root.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let (root, mut rest) = path.split_first()?;
    let mut base = match root.as_str() {
        "crate" => return Some(rest.to_vec()),
        "super" => module[..module.len() - 1].to_vec(),
        _ => module.clone(),
    };
    while let Some(deeper) = rest.strip_prefix(&["super".to_owned()]) {
        base.pop();
        rest = deeper;
    }
    base.extend_from_slice(rest);
    Some(base)
}

fn groups(needs: &BTreeMap<&Module, BTreeSet<&Module>>) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&Module, BTreeSet<&Module>> =
        needs.keys().map(|from| (*from, reachable(from, needs))).collect();
    let mutual = |from: &Module| -> BTreeSet<String> {
        let both = |to: &&&Module| reach[from].contains(**to) && reach[**to].contains(from);
        needs.keys().filter(both).map(|module| module.join("/")).collect()
    };
    let groups: BTreeSet<BTreeSet<String>> = needs.keys().map(|module| mutual(module)).collect();
    groups.into_iter().filter(|group| group.len() > 1).collect()
}

fn reachable<'a>(from: &'a Module, needs: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> BTreeSet<&'a Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = needs.get(module).into_iter().flatten().copied();
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{circles, paths};
    use std::fs;

    #[test]
    fn paths_in_braces_are_written_out() {
        let code = "use super::{a::{B, c::D}, e};\nlet f = crate::g::h(1);\nlet supercrate::x = 1;";
        let found: Vec<String> = paths(code).map(|path| path.join("::")).collect();
        assert_eq!(found, ["crate::g::h", "super::a::B", "super::a::c::D", "super::e"]);
    }

    #[test]
    fn files_that_need_each_other_are_a_circle_and_their_common_module_is_none() {
        let src = std::env::temp_dir().join(format!("circles-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(src.join("run")).unwrap();
        for (name, text) in [
            ("lib.rs", "mod run;\nmod other;\npub use run::Step;"),
            ("run/mod.rs", "mod step;\nmod next;\nmod last;\nuse step::Step;"),
            ("run/step.rs", "use super::{next::{Next, more}, last};\npub struct Step;"),
            ("run/next.rs", "use crate::other::Other;\nfn f(of: crate::run::step::Step) {}"),
            ("run/last.rs", "// use super::step::Step;\n#[cfg(test)]\nuse super::step::Step;"),
            ("other.rs", "use crate::Step;"),
        ] {
            fs::write(src.join(name), text).unwrap();
        }
        let found = circles(&src).unwrap();
        fs::remove_dir_all(&src).unwrap();
        assert_eq!(found, [["run/next".to_owned(), "run/step".to_owned()].into()]);
    }
}
