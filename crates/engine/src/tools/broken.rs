//! Diagnoses arguments that are not a JSON object: a model that reads the exact error can fix it, one that reads
//! another repeats it.

use crate::beginning;
use serde_json::Value;

/// Maximum characters quoted.
const MAX_SHOWN: usize = 40;

/// Several consecutive objects, as some servers send for several calls of one tool; none if the text is anything else.
pub(crate) fn several_objects(text: &str) -> Option<Vec<Value>> {
    let objects: Vec<Value> = serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .collect::<Result<_, _>>()
        .ok()
        .filter(|values: &Vec<Value>| values.iter().all(Value::is_object))?;
    (objects.len() > 1).then_some(objects)
}

/// The error message for a text that is not a JSON object.
pub(crate) fn describe_fault(text: &str) -> String {
    format!("the arguments are not a valid JSON object: {}", fault(text))
}

fn fault(text: &str) -> String {
    let trimmed = text.trim_start();
    if trimmed.starts_with("```") {
        return "they stand in a code fence. Send the object alone, without the fence.".into();
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(_))) => {
            let rest = text[values.byte_offset()..].trim_start();
            let at = text.len() - rest.len();
            format!(
                "text follows the object, from byte {at} on: `{}`. Send the object alone.",
                beginning(rest.trim_end(), MAX_SHOWN)
            )
        }
        Some(Ok(Value::String(inner))) if inner.trim_start().starts_with(['{', '"']) => {
            "they are a string that holds the object, encoded once more. Send the object itself, not its text.".into()
        }
        Some(Ok(other)) => {
            format!("they are {}. Send an object with the tool's arguments by name.", super::arguments::kind(&other))
        }
        Some(Err(error)) => format!("{}.", of_syntax(&error)),
        None => "they are empty. Send an object, `{}` for no arguments.".into(),
    }
}

fn of_syntax(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let at = format!("at line {} column {}", error.line(), error.column());
    if said.starts_with("recursion limit") {
        return format!("they are nested too deeply {at}. Send at most 128 levels");
    }
    if said.starts_with("number out of range") {
        return format!("a number {at} is larger than any that can be read. Send a smaller one, or its text");
    }
    format!("{said}. Send them again as one object, with every quote and line break inside a string escaped")
}

#[cfg(test)]
mod tests {
    use super::{describe_fault, several_objects};

    #[test]
    fn each_fault_has_its_own_words() {
        let deep = format!("{{\"a\": {}", "[".repeat(500));
        for (text, says) in [
            ("{\"path\": \"a\"}</tool_call>", "text follows the object, from byte 13 on: `</tool_call>`."),
            ("```json\n{\"path\": \"a\"}\n```", "they stand in a code fence."),
            ("\"{\\\"path\\\": \\\"a\\\"}\"", "encoded once more."),
            ("\"\\\"{}\\\"\"", "encoded once more."),
            ("{\"n\": 1e999}", "a number at line 1 column 11 is larger than any that can be read."),
            (deep.as_str(), "they are nested too deeply at line 1 column"),
            ("[1]", "they are a list."),
            ("\"a\"", "they are a text."),
            ("{\"path\": \"a", "EOF while parsing a string at line 1 column 11. Send them again as one object"),
            ("{\"path\": \"a\"b\"}", "expected `,` or `}` at line 1 column 13. Send them again as one object"),
        ] {
            let said = describe_fault(text);
            assert!(said.starts_with("the arguments are not a valid JSON object: ") && said.contains(says), "{said}");
        }
    }

    #[test]
    fn consecutive_objects_are_several_calls() {
        let several = |text: &str| several_objects(text).map(|objects| objects.len());
        assert_eq!(several("{\"a\": 1}{\"a\": 2} \n{}"), Some(3));
        for one in ["{}", "{} x", "[1][2]", "{\"a\"", ""] {
            assert_eq!(several(one), None, "{one}");
        }
    }
}
