//! The nearest known name to a wrong one, for errors that help.

/// The candidates closest to `wrong`, best first, at most three, none that differs in more than half its letters.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wrong = wrong.to_lowercase();
    let mut scored: Vec<(usize, &str)> = known
        .map(|name| (distance(&wrong, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance * 2 <= name.len().max(wrong.len()))
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn offers_the_close_names_only() {
        let known = ["read_file", "write_file", "todo_complete", "todo_write"];
        assert_eq!(nearest("readFile", known.into_iter()), ["read_file", "write_file"]);
        assert_eq!(nearest("todo_completed", known.into_iter())[0], "todo_complete");
        assert!(nearest("bash", known.into_iter()).is_empty());
    }
}
