//! `make size`: how large the house is, crate by crate, read from its sources, what became of the decided removals, and
//! how much of a run is reached from everywhere.
//!
//! The sources are formatted, so a line-based analysis is sufficient: an item begins at its keyword, and a function
//! ends at the brace with the same indent. Tests within a crate's `src` (`#[cfg(test)]` modules, files named
//! `tests.rs`) are excluded, as are blank lines.

use plumbline_system_tests::{circles::circles, removals::REMOVALS, walls::Walls};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

/// Functions with more lines are named.
const LONG: usize = 50;

/// The counts of a crate.
#[derive(Default)]
struct Size {
    lines: usize,
    files: usize,
    types: usize,
    pub_items: usize,
    /// Lines of each function, and its name.
    functions: Vec<(usize, String)>,
    /// Groups of files that need each other.
    circles: Vec<BTreeSet<String>>,
}

fn main() -> ExitCode {
    let said = || -> Result<String, String> {
        let (sizes, units) = (sizes(Path::new("crates"))?, units()?);
        match std::env::args().any(|argument| argument == "--json") {
            true => Ok(to_json(&sizes, units).to_string()),
            false => Ok(format!("{}\n{}\n{}", table(&sizes, units), removals(Path::new("crates"))?, walls_of_run()?)),
        }
    };
    match said() {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("size: {error}; run it in the repository, as `make size` does");
            ExitCode::FAILURE
        }
    }
}

/// The decided removals: how often the words of each still occur, and why it is kept.
fn removals(crates: &Path) -> Result<String, String> {
    let line = |removal: &plumbline_system_tests::removals::Removal| {
        let found = removal.occurrences(crates).map_err(|error| format!("the sources cannot be read ({error})"))?;
        let kept = removal.kept.map_or_else(String::new, |why| format!(", kept: {why}"));
        Ok(format!("removal: {}: {found}{kept}", removal.what))
    };
    Ok(REMOVALS.iter().map(line).collect::<Result<Vec<_>, String>>()?.join("\n"))
}

/// How much of the engine's `Run` is reached from everywhere.
fn walls_of_run() -> Result<String, String> {
    let walls = Walls::of("Run", Path::new("crates/engine/src"));
    let Walls { methods, changed_by, read_by, open_fields } =
        walls.map_err(|error| format!("the engine's sources cannot be read ({error})"))?;
    Ok(format!(
        "Run: {methods} methods, {open_fields} fields that are not private, {changed_by} functions that take &mut Run, \
         {read_by} that take &Run"
    ))
}

fn sizes(folder: &Path) -> Result<BTreeMap<String, Size>, String> {
    let mut sizes = BTreeMap::new();
    for krate in entries(folder)?.into_iter().filter(|path| path.join("src").is_dir()) {
        sizes.insert(name(&krate), of_crate(&krate.join("src"))?);
    }
    Ok(sizes)
}

fn of_crate(src: &Path) -> Result<Size, String> {
    let mut size = Size::default();
    for file in sources(src)? {
        let text = fs::read_to_string(&file).map_err(|error| format!("{} cannot be read ({error})", file.display()))?;
        let shipped: Vec<&str> = shipped(&text).collect();
        size.files += 1;
        size.lines += shipped.iter().filter(|line| !line.trim().is_empty()).count();
        count_items(&shipped, &mut size);
    }
    size.circles = circles(src).map_err(|error| format!("{} cannot be read ({error})", src.display()))?;
    Ok(size)
}

/// The lines in front of the tests that end a file.
fn shipped(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "#[cfg(test)]")
}

fn count_items(lines: &[&str], size: &mut Size) {
    for (at, line) in lines.iter().enumerate() {
        let item = line.trim_start();
        let words: Vec<&str> = item.split_whitespace().collect();
        let visible = words.first().is_some_and(|word| *word == "pub");
        let keyword = words.iter().copied().find(|word| {
            !word.starts_with("pub") && !matches!(*word, "async" | "const" | "unsafe" | "(crate)" | "(super)")
        });
        size.pub_items += usize::from(visible && !item.starts_with("pub use"));
        size.types += usize::from(matches!(keyword, Some("struct" | "enum" | "trait" | "union")));
        if keyword == Some("fn") {
            let indent = &line[..line.len() - item.len()];
            let end = format!("{indent}}}");
            let body = lines[at..]
                .iter()
                .position(|line| **line == end || (line.ends_with(" {}") && line.starts_with(indent)));
            let name = words.iter().skip_while(|word| **word != "fn").nth(1).unwrap_or(&"").split(['(', '<']).next();
            size.functions.extend(body.map(|lines| (lines + 1, name.unwrap_or_default().to_owned())));
        }
    }
}

/// Packages that the binary is made of, its own included.
fn units() -> Result<usize, String> {
    let tree = ["tree", "--locked", "-p", "plumbline", "-e", "normal,build", "--prefix", "none", "--no-dedupe"];
    let said = Command::new("cargo").args(tree).output().map_err(|error| format!("cargo cannot be run ({error})"))?;
    if !said.status.success() {
        return Err(format!("`cargo tree` failed: {}", String::from_utf8_lossy(&said.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&said.stdout);
    Ok(text.lines().map(|line| line.trim_end_matches(" (proc-macro)")).collect::<BTreeSet<_>>().len())
}

fn table(sizes: &BTreeMap<String, Size>, units: usize) -> String {
    let mut lines = vec![
        "| crate | lines | files | types | pub items | functions | median | p90 | longest | circles |".to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut all = Size::default();
    for (name, size) in sizes {
        lines.push(row(name, size));
        all.lines += size.lines;
        all.files += size.files;
        all.types += size.types;
        all.pub_items += size.pub_items;
        all.functions.extend(size.functions.iter().cloned());
        all.circles.extend(size.circles.iter().cloned());
    }
    lines.push(row("all", &all));
    let named = |(name, size): (&String, &Size)| {
        let circles = size.circles.iter().map(|circle| circle.iter().cloned().collect::<Vec<_>>().join(", "));
        circles.map(|circle| format!("circle in {name}: {circle}")).collect::<Vec<_>>()
    };
    lines.extend(sizes.iter().flat_map(named));
    lines.push(format!("{units} units in the binary"));
    lines.join("\n")
}

fn row(name: &str, size: &Size) -> String {
    let Size { lines, files, types, pub_items, circles, .. } = size;
    let (count, median, p90, longest) = spread(&size.functions);
    format!(
        "| {name} | {lines} | {files} | {types} | {pub_items} | {count} | {median} | {p90} | {longest} | {} |",
        circles.len()
    )
}

/// How many there are, their median, 90th percentile and maximum.
fn spread(functions: &[(usize, String)]) -> (usize, usize, usize, usize) {
    let mut sorted: Vec<usize> = functions.iter().map(|(lines, _)| *lines).collect();
    sorted.sort_unstable();
    let at = |percent: usize| sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied();
    (sorted.len(), at(50).unwrap_or(0), at(90).unwrap_or(0), at(100).unwrap_or(0))
}

fn to_json(sizes: &BTreeMap<String, Size>, units: usize) -> Value {
    let of = |size: &Size| {
        let (count, median, p90, longest) = spread(&size.functions);
        let long: BTreeMap<&str, usize> =
            size.functions.iter().filter(|(lines, _)| *lines > LONG).map(|(lines, name)| (&**name, *lines)).collect();
        json!({
            "lines": size.lines, "files": size.files, "types": size.types, "pub_items": size.pub_items,
            "functions": {"count": count, "median": median, "p90": p90, "longest": longest, "long": long},
            "circles": size.circles,
        })
    };
    let crates: serde_json::Map<String, Value> = sizes.iter().map(|(name, size)| (name.clone(), of(size))).collect();
    json!({"crates": crates, "units": units})
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        match path.is_dir() {
            true if name(&path) != "tests" => found.extend(sources(&path)?),
            false if name(&path) != "tests.rs" && path.extension().is_some_and(|ext| ext == "rs") => found.push(path),
            _ => {}
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    let mut entries: Vec<PathBuf> = read.map_err(|error| format!("{} cannot be read ({error})", folder.display()))?;
    entries.sort();
    Ok(entries)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
