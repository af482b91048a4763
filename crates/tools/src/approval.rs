//! The digest of a call's arguments for approval, if the call could run and people can be shown it.

use crate::arguments::ArgumentsSchema;
use crate::digest::digest;
use crate::registry::BUILT_IN;
use crate::schemas::SchemaBudget;
use crate::tool::Registry;
use plumbline_engine::{Digest, inexact_number};
use serde_json::Value;

/// Maximum bytes of the arguments of a call that needs approval.
pub const MOST_BYTES: usize = 64 << 10;

/// The digest of a call's arguments by RFC 8785; `own` are the job's own tools besides the built-in ones.
///
/// # Errors
/// A sentence, if the call would not run or cannot be shown to people: its arguments do not fit the tool's schema, are
/// larger than [`MOST_BYTES`], or contain a number that a double cannot represent.
pub fn digest_of_arguments(own: &Registry, name: &str, arguments: &str) -> Result<Digest, String> {
    let tool = BUILT_IN.get(name).or_else(|| own.get(name)).ok_or_else(|| format!("there is no tool `{name}`"))?;
    read(name, &tool.schema, arguments).map(|arguments| digest(&arguments))
}

/// Whether a call of a tool could run with these arguments and be shown to people. `own` is the schema of a job's own tool
/// as stored with the job.
///
/// # Errors
/// As [`digest_of_arguments`].
pub fn check_arguments(name: &str, own: Option<&Value>, arguments: &str) -> Result<(), String> {
    match own {
        None => digest_of_arguments(Registry::EMPTY, name, arguments).map(drop),
        Some(schema) => {
            let schema = ArgumentsSchema::foreign(schema.clone(), &mut SchemaBudget::default())?;
            read(name, &schema, arguments).map(drop)
        }
    }
}

fn read(name: &str, schema: &ArgumentsSchema, arguments: &str) -> Result<Value, String> {
    schema.read(arguments).map_err(|error| error.to_string())?;
    if arguments.len() > MOST_BYTES {
        return Err(format!(
            "{name} needs a person's approval, and its arguments have {} bytes, more than the {MOST_BYTES} that people are shown; \
             make them smaller",
            arguments.len()
        ));
    }
    if let Some(number) = inexact_number(arguments) {
        let shown: String = number.chars().take(40).collect();
        return Err(format!(
            "{name} needs a person's approval, and its arguments have the number {shown}, which a 64-bit floating point number does \
             not hold exactly; write it as a string, or with fewer digits"
        ));
    }
    serde_json::from_str(arguments).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, digest_of_arguments};
    use crate::tool::Registry;

    #[test]
    fn a_call_that_would_not_run_or_could_not_be_shown_has_no_digest() {
        let digest = |arguments: &str| digest_of_arguments(Registry::EMPTY, "list_requirements", arguments);
        assert_eq!(digest(r#"{"limit": 10, "after": "r1"}"#), digest(r#"{ "after":"r1","limit":1e1 }"#));
        assert!(digest(r#"{"limit": 10}"#).is_ok() && digest(r#"{"limit": 10}"#) != digest(r#"{"limit": 11}"#));
        for (arguments, why) in [
            (r#"{"limits": 10}"#.to_owned(), "is not a parameter"),
            (format!(r#"{{"after": "{}"}}"#, "a".repeat(MOST_BYTES)), "more than the 65536"),
        ] {
            let said = digest(&arguments).expect_err("it is refused");
            assert!(said.contains(why), "{said}");
        }
        let query = r#"{"query": "RETURN $a", "params": {"a": 9007199254740993}}"#;
        let said = digest_of_arguments(Registry::EMPTY, "execute_cypher_query", query);
        assert!(said.as_ref().is_err_and(|said| said.contains("the number 9007199254740993")), "{said:?}");
        assert!(digest_of_arguments(Registry::EMPTY, "none", "{}").is_err());
    }
}
