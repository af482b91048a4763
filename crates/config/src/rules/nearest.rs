//! "Did you mean …": the known name nearest to an unknown one.

/// The end of an error about an unknown name: the nearest known name, or all of them.
pub fn advice(name: &str, known: &[&str]) -> String {
    match plumbline_engine::nearest(name, known.iter().copied()).first() {
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
    use super::advice;

    #[test]
    fn a_typo_finds_its_key_and_nonsense_finds_none() {
        let known = ["max_iterations", "token_budget", "deadline_s"];
        for (typo, expected) in
            [("max_iteration", Some("max_iterations")), ("TOKEN_BUDGET", Some("token_budget")), ("qqq", None)]
        {
            let expected = expected
                .map_or("known are `max_iterations`, `token_budget`, `deadline_s`".to_owned(), |known| {
                    format!("did you mean `{known}`?")
                });
            assert_eq!(advice(typo, &known), expected, "{typo}");
        }
    }
}
