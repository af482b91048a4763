//! A rule that a configuration breaks.

/// A violated rule.
#[derive(Debug)]
pub struct RuleViolation {
    /// The contradicting keys, dotted.
    pub keys: Vec<String>,
    /// The sentence.
    pub message: String,
}

impl RuleViolation {
    /// The rule that these keys break.
    pub fn new(keys: &[&str], message: String) -> Self {
        Self { keys: keys.iter().map(ToString::to_string).collect(), message }
    }

    /// A key that names a variable which must not be a configuration's secret.
    pub(crate) fn refused_variable((key, name): (String, String)) -> Self {
        let message = format!(
            "`{key}` names the variable {name}, which no configuration may use; name another one, or list it in \
             PLUMBLINE_SECRETS (DATABASE_URL and PLUMBLINE_* never)"
        );
        Self::new(&[&key], message)
    }

    /// A key of `job_may_set` that does not exist.
    pub(crate) fn unknown_opened(key: &str) -> Self {
        let message =
            format!("`job_may_set` names `{key}`, which is no key of a configuration; correct it or take it out");
        Self::new(&["job_may_set"], message)
    }
}
