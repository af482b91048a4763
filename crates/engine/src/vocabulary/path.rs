//! Workspace paths: relative, `/`-separated, without `.` and `..`. One normal form, so that comparing paths is
//! comparing texts.

/// Longest path, in bytes.
const MAX_PATH: usize = 1024;
/// Longest component, in bytes: the limit of common file systems.
const MAX_COMPONENT: usize = 255;

/// The normal form of a path written by a model or a person. A leading `/`, `./`, `/workspace/` or `job_<id>/` is
/// removed.
///
/// # Errors
/// A sentence that says what is wrong with the path.
pub fn normalize(path: &str) -> Result<String, String> {
    let trimmed = path.trim();
    if trimmed.chars().any(char::is_control) {
        return Err(format!("the path {trimmed:?} contains a control character; use a plain relative path."));
    }
    let slashed = trimmed.replace('\\', "/");
    let mut parts: Vec<&str> = slashed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(format!(
            "the path '{trimmed}' leads out of the workspace; use a path inside it, such as output/report.md."
        ));
    }
    if slashed.starts_with('/') && parts.first() == Some(&"workspace") {
        parts.remove(0);
    }
    if parts.first().is_some_and(|part| part.len() == 40 && part.starts_with("job_")) {
        parts.remove(0);
    }
    let normal = parts.join("/");
    if normal.is_empty() {
        return Err(format!("the path '{trimmed}' names no file; use a relative path such as output/report.md."));
    }
    if normal.len() > MAX_PATH || parts.iter().any(|part| part.len() > MAX_COMPONENT) {
        return Err(format!("the path is too long: at most {MAX_PATH} bytes, and {MAX_COMPONENT} bytes a name."));
    }
    Ok(normal)
}

/// Whether a name matches a pattern, in which `*` matches anything.
pub fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let (between, last) = rest.rsplit_once('*').map_or((None, rest), |(between, last)| (Some(between), last));
    // Each part at its first occurrence: this leaves the longest rest for the others.
    for part in between.into_iter().flat_map(|between| between.split('*')) {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{matches_pattern, normalize};

    #[test]
    fn lesson_27_one_normal_form() {
        for (given, normal) in [
            ("output/report.md", "output/report.md"),
            ("./output//report.md", "output/report.md"),
            ("/output/report.md", "output/report.md"),
            ("/workspace/output/report.md", "output/report.md"),
            ("job_01234567-89ab-cdef-0123-456789abcdef/output/a.md", "output/a.md"),
            ("output\\report.md ", "output/report.md"),
            ("workspace/a.md", "workspace/a.md"),
        ] {
            assert_eq!(normalize(given).as_deref(), Ok(normal), "{given}");
        }
        for bad in ["", "/", "..", "a/../../b", "../etc/passwd", "a\0b", "a\nb"] {
            assert!(normalize(bad).is_err(), "{bad:?}");
        }
        assert!(normalize(&"x".repeat(256)).is_err());
    }

    #[test]
    fn a_star_matches_anything() {
        for (pattern, name) in
            [("gpt-5*", "gpt-5-mini"), ("*", ""), ("a*c*e", "abcde"), ("**b", "aab"), ("a*bc*bc", "abcbc")]
        {
            assert!(matches_pattern(name, pattern), "{pattern} {name}");
        }
        for (pattern, name) in
            [("gpt-5*", "gpt-4"), ("a*c", "abd"), ("gpt-5", "gpt-5-mini"), ("a*bc*bc", "abc"), ("ab*ba", "aba")]
        {
            assert!(!matches_pattern(name, pattern), "{pattern} {name}");
        }
        assert!(
            !matches_pattern(&"a".repeat(10_000), &"*a".repeat(300).replace("*a*", "*a*b*")),
            "and it takes no time"
        );
    }
}
