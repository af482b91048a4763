//! Models' own call syntaxes, as passed on by servers that do not know them: one row each, with an example in the
//! tests.

use plumbline_bounds::pattern;
use regex::{Captures, Regex};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// A form: the marks of a call, the text around calls, and the format of arguments.
struct Form {
    call: Regex,
    around: Option<Regex>,
    arguments: Arguments,
}

/// The format of arguments in a call.
enum Arguments {
    /// As JSON, in the group `json`.
    Json,
    /// As fields, in the group `fields`: each a match with `key` and `value`. A value is text; the tool's schema
    /// determines its type.
    Fields(Regex),
    /// The group `json` is an object with name and arguments, or a list of them.
    Named,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |call: &str, around: Option<&str>, arguments| Form {
        call: pattern(call),
        around: around.map(pattern),
        arguments,
    };
    let fields = |text: &str| Arguments::Fields(pattern(text));
    vec![
        // Qwen3-Coder, Nemotron.
        form(
            r"(?s)(?:<tool_call>\s*)?<function=(?P<name>[\w.-]+)>\s*(?P<fields>(?:<parameter=[\w.-]+>.*?</parameter>\s*)*)</function>(?:\s*</tool_call>)?",
            None,
            fields(r"(?s)<parameter=(?P<key>[\w.-]+)>\n?(?P<value>.*?)\n?</parameter>"),
        ),
        // GLM.
        form(
            r"(?s)<tool_call>\s*(?P<name>[\w.-]+)\s*(?P<fields>(?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)</tool_call>",
            None,
            fields(r"(?s)<arg_key>\s*(?P<key>.*?)\s*</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"),
        ),
        // Mistral, with a list after the mark.
        form(r"(?s)\[TOOL_CALLS\]\s*(?P<json>\[.*\])\s*(?:</s>)?\s*$", None, Arguments::Named),
        // Mistral since v11, one mark per call.
        form(
            r"(?s)\[TOOL_CALLS\]\s*(?P<name>[\w.-]+)(?:\[CALL_ID\][\w-]*)?\[ARGS\](?P<json>\{[^\[]*(?:\[[^T][^\[]*)*\})",
            Some(r"</s>"),
            Arguments::Json,
        ),
        // DeepSeek V3, R1 and V3.1.
        form(
            r"(?s)<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\w.-]+)(?:<｜tool▁sep｜>|\s)\s*(?:```json\s*)?(?P<json>\{.*?\})\s*(?:```\s*)?<｜tool▁call▁end｜>",
            Some(r"<｜tool▁calls▁(?:begin|end)｜>|<｜end▁of▁sentence｜>"),
            Arguments::Json,
        ),
        // Kimi K2.
        form(
            r"(?s)<\|tool_call_begin\|>\s*(?:functions\.)?(?P<name>[\w-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(?P<json>\{.*?\})\s*<\|tool_call_end\|>",
            Some(r"<\|tool_calls_section_(?:begin|end)\|>"),
            Arguments::Json,
        ),
        // Llama 3, the whole answer, with its mark or without.
        form(
            r"(?s)^\s*(?:<\|python_tag\|>)?\s*(?P<json>\{.*\})\s*(?:<\|eom_id\|>|<\|eot_id\|>)?\s*$",
            None,
            Arguments::Named,
        ),
        // Calls as XML, with any prefix of the names.
        form(
            r#"(?s)<(?:[\w｜|]+:?)?invoke name="(?P<name>[\w.-]+)">\s*(?P<fields>.*?)</(?:[\w｜|]+:?)?invoke>"#,
            Some(r"</?(?:[\w｜|]+:?)?function_calls>"),
            fields(
                r#"(?s)<(?:[\w｜|]+:?)?parameter name="(?P<key>[\w.-]+)"[^>]*>(?P<value>.*?)</(?:[\w｜|]+:?)?parameter>"#,
            ),
        ),
    ]
});

pub(super) fn pattern(text: &str) -> Regex {
    pattern::own(text)
}

/// The calls in a text, each a name and an object, and the text without them; none if there is none, or any ambiguity.
pub(super) fn recover(text: &str, bound: &[&str]) -> Option<(Vec<(String, Value)>, String)> {
    FORMS.iter().find_map(|form| {
        let found: Vec<Vec<(String, Value)>> =
            form.call.captures_iter(text).map(|found| form.calls(&found)).collect::<Option<_>>()?;
        let calls: Vec<(String, Value)> = found.into_iter().flatten().collect();
        let is_sure =
            !calls.is_empty() && calls.iter().all(|(name, it)| bound.contains(&name.as_str()) && it.is_object());
        let rest = form.call.replace_all(text, "");
        let rest =
            form.around.as_ref().map_or_else(|| rest.to_string(), |around| around.replace_all(&rest, "").to_string());
        is_sure.then(|| (calls, rest.trim().to_string()))
    })
}

impl Form {
    fn calls(&self, found: &Captures<'_>) -> Option<Vec<(String, Value)>> {
        let name = || Some(found.name("name")?.as_str().to_string());
        let json = || serde_json::from_str::<Value>(found.name("json")?.as_str()).ok();
        match &self.arguments {
            Arguments::Json => Some(vec![(name()?, json()?)]),
            Arguments::Fields(field) => Some(vec![(name()?, fields(field, found.name("fields")?.as_str())?)]),
            Arguments::Named => match json()? {
                Value::Array(calls) => calls.into_iter().map(named).collect(),
                call => Some(vec![named(call)?]),
            },
        }
    }
}

/// The fields of a call; none if there is other text between them.
fn fields(field: &Regex, text: &str) -> Option<Value> {
    let fields: Map<String, Value> =
        field.captures_iter(text).map(|found| (found["key"].to_string(), Value::from(&found["value"]))).collect();
    field.replace_all(text, "").trim().is_empty().then_some(Value::Object(fields))
}

/// An object with name and arguments, and at most a type field.
pub(super) fn named(call: Value) -> Option<(String, Value)> {
    let Value::Object(mut fields) = call else { return None };
    let name = fields.remove("name")?.as_str()?.to_string();
    let arguments = fields.remove("arguments").or_else(|| fields.remove("parameters"))?;
    fields.retain(|key, _| !matches!(key.as_str(), "type" | "id"));
    fields.is_empty().then_some((name, arguments))
}

#[cfg(test)]
mod tests {
    use super::recover;
    use serde_json::json;

    const BOUND: [&str; 2] = ["read_file", "todo_complete"];

    #[test]
    fn each_form_becomes_its_calls() {
        let lines = json!({"path": "a.md", "offset": "3"});
        let typed = json!({"path": "a.md", "offset": 3});
        for (text, arguments) in [
            (
                "Reading.\n<tool_call>\n<function=read_file>\n<parameter=path>\na.md\n</parameter>\n<parameter=offset>\n3\n</parameter>\n</function>\n</tool_call>",
                &lines,
            ),
            (
                "Reading.\n<function=read_file>\n<parameter=path>a.md</parameter><parameter=offset>3</parameter></function>",
                &lines,
            ),
            (
                "Reading.\n<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.md</arg_value>\n<arg_key>offset</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
                &lines,
            ),
            (
                "Reading. [TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.md\", \"offset\": 3}}]",
                &typed,
            ),
            ("Reading.[TOOL_CALLS]read_file[ARGS]{\"path\": \"a.md\", \"offset\": 3}</s>", &typed),
            ("Reading.[TOOL_CALLS]read_file[CALL_ID]a1B2[ARGS]{\"path\": \"a.md\", \"offset\": 3}", &typed),
            (
                "Reading.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{\"path\": \"a.md\", \"offset\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                &typed,
            ),
            (
                "Reading.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\": \"a.md\", \"offset\": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                &typed,
            ),
            (
                "Reading.<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{\"path\": \"a.md\", \"offset\": 3}<|tool_call_end|><|tool_calls_section_end|>",
                &typed,
            ),
            (
                "Reading.\n<function_calls>\n<invoke name=\"read_file\">\n<parameter name=\"path\">a.md</parameter>\n<parameter name=\"offset\">3</parameter>\n</invoke>\n</function_calls>",
                &lines,
            ),
            (
                "Reading.\n<x:function_calls>\n<x:invoke name=\"read_file\">\n<x:parameter name=\"path\">a.md</x:parameter><x:parameter name=\"offset\">3</x:parameter>\n</x:invoke>\n</x:function_calls>",
                &lines,
            ),
        ] {
            let (calls, rest) = recover(text, &BOUND).unwrap_or_else(|| panic!("not found: {text}"));
            assert_eq!(
                (calls, rest.as_str()),
                (vec![("read_file".to_string(), arguments.clone())], "Reading."),
                "{text}"
            );
        }
    }

    #[test]
    fn a_whole_answer_may_be_a_call() {
        for text in [
            "{\"name\": \"read_file\", \"parameters\": {\"path\": \"a.md\"}}",
            "<|python_tag|>{\"name\": \"read_file\", \"parameters\": {\"path\": \"a.md\"}}<|eom_id|>",
            "<|python_tag|>{\"type\": \"function\", \"name\": \"read_file\", \"parameters\": {\"path\": \"a.md\"}}",
        ] {
            let expected = (vec![("read_file".to_string(), json!({"path": "a.md"}))], String::new());
            assert_eq!(recover(text, &BOUND), Some(expected), "{text}");
        }
    }

    #[test]
    fn several_calls_of_a_form_are_read_in_their_order() {
        for text in [
            "[TOOL_CALLS]read_file[ARGS]{\"path\": \"a[1].md\"}[TOOL_CALLS]todo_complete[ARGS]{}",
            "[TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": {\"path\": \"a[1].md\"}}, {\"name\": \"todo_complete\", \"arguments\": {}}]",
            "<tool_call>read_file\n<arg_key>path</arg_key><arg_value>a[1].md</arg_value></tool_call><tool_call>todo_complete</tool_call>",
        ] {
            let (calls, rest) = recover(text, &BOUND).unwrap_or_else(|| panic!("not found: {text}"));
            assert_eq!(calls[0], ("read_file".to_string(), json!({"path": "a[1].md"})), "{text}");
            assert_eq!((calls[1].0.as_str(), calls.len(), rest.as_str()), ("todo_complete", 2, ""), "{text}");
        }
    }

    #[test]
    fn any_doubt_leaves_the_text_alone() {
        for text in [
            "{\"name\": \"remove_all\", \"parameters\": {}}",
            "{\"name\": \"read_file\", \"parameters\": {}, \"why\": \"an example\"}",
            "The call would be {\"name\": \"read_file\", \"parameters\": {}}.",
            "<invoke name=\"read_file\">the file a.md</invoke>",
            "<tool_call>read_file path=a.md</tool_call>",
            "[TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": \"a.md\"}]",
            "",
        ] {
            assert_eq!(recover(text, &BOUND), None, "{text}");
        }
    }
}
