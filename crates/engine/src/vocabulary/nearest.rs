//! The nearest known name to a wrong one, for helpful errors.

use strsim::levenshtein;

/// The candidates closest to `wrong`, best first, at most three, each differing in at most half its letters.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    nearest_by(wrong, known, |name| name)
}

/// The same for things with names.
pub fn nearest_by<T>(wrong: &str, known: impl Iterator<Item = T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let wrong = wrong.to_lowercase();
    let mut scored: Vec<(usize, T)> = known
        .map(|known| (levenshtein(&wrong, &name(&known).to_lowercase()), known))
        .filter(|(distance, known)| *distance * 2 <= name(known).len().max(wrong.len()))
        .collect();
    scored.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| name(&one.1).cmp(name(&other.1))));
    scored.into_iter().take(3).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::{nearest, nearest_by};

    #[test]
    fn offers_the_close_names_only() {
        let known = ["read_file", "write_file", "todo_complete", "todo_write"];
        assert_eq!(nearest("readFile", known.into_iter()), ["read_file", "write_file"]);
        assert_eq!(nearest("todo_completed", known.into_iter())[0], "todo_complete");
        assert!(nearest("bash", known.into_iter()).is_empty());
        let files = ["a/notes.md", "b/note.md", "c/contract.md"];
        let by_name = nearest_by("Note.md", files.into_iter(), |path| &path[2..]);
        assert_eq!(by_name, ["b/note.md", "a/notes.md"]);
    }
}
