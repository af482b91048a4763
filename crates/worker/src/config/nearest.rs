//! "Did you mean …": the known name nearest to one that is not known.

/// Least Jaro–Winkler similarity at which a name is worth offering.
const SIMILAR: f64 = 0.75;

/// The known name most like `name`, if any is like it at all.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The end of an error about an unknown name: the nearest known name, or all of them.
pub(crate) fn advice(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known are {}", quoted(known)),
    }
}

/// `` `a`, `b` `` for a sentence.
pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_key_and_nonsense_finds_none() {
        let known = ["max_iterations", "token_budget", "deadline_s"];
        for (typo, expected) in
            [("max_iteration", Some("max_iterations")), ("TOKEN_BUDGET", Some("token_budget")), ("qqq", None)]
        {
            assert_eq!(nearest(typo, known), expected, "{typo}");
        }
    }
}
