//! The YAML parser: strict, bounded, with positions.
//!
//! Unquoted YAML causes silent errors: `no` becomes false, `017` becomes 17, `1_000` becomes a thousand, one of two
//! duplicate keys is dropped. Here only `true` and `false` are booleans, a plain scalar is a number only by YAML 1.2's
//! core schema, and duplicate keys are errors. Alias bombs and deep nesting exceed the parser's budget instead of the
//! machine's memory.

use super::locate::{Lines, child};
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Number, Value};
use serde_yaml::{DuplicateKeyPolicy, MergeKeyPolicy, Options, Spanned};
use std::fmt;

/// Why a text is not the expected YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub(crate) struct YamlError {
    /// From 1; 0 if the parser reports no place.
    pub line: u64,
    /// From 1, in characters; 0 if the parser reports no place.
    pub column: u64,
    /// What is wrong, without the place.
    pub message: String,
}

/// Parses a text as `T`. If `T` requires a string, a plain scalar is taken literally (`017` stays `017`).
///
/// # Errors
/// The text is not YAML, not a `T`, has a key twice, or is larger than the parser's budget.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    serde_yaml::from_str_with_options(text, options()).map_err(|error| YamlError::from_parser(&error))
}

/// Parses a text without knowing its shape. Plain scalars that are numbers only in older YAML (`017`, `1_000`) are
/// strings, so that code which expects a number can report an error.
///
/// # Errors
/// As for [`parse`].
pub(crate) fn parse_value(text: &str) -> Result<(Value, Lines), YamlError> {
    let node: Node = parse(text)?;
    let mut lines = Lines::default();
    node.locate("", &mut lines);
    Ok((node.into_value(&text.lines().collect::<Vec<_>>()), lines))
}

/// The lines of the keys of a JSON text, which is also YAML; none if the parser takes it for something else.
pub(crate) fn lines_of_json(text: &str) -> Lines {
    let options = serde_yaml::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        with_snippet: false,
    };
    let mut lines = Lines::default();
    // Outside of strings a tab is white space, and in a string JSON has none. YAML has other rules for tabs.
    if let Ok(node) = serde_yaml::from_str_with_options::<Node>(&text.replace('\t', " "), options) {
        node.locate("", &mut lines);
    }
    lines
}

fn options() -> Options {
    serde_yaml::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: true,
        legacy_octal_numbers: false,
        with_snippet: false,
    }
}

impl YamlError {
    fn from_parser(error: &serde_yaml::Error) -> Self {
        let location = error.location();
        let text = error.without_snippet().to_string();
        Self {
            line: location.map_or(0, |at| at.line()),
            column: location.map_or(0, |at| at.column()),
            message: without_place(&text),
        }
    }
}

/// The parser's messages end with the place, which [`YamlError`] already contains; one has advice for programmers before
/// it.
fn without_place(text: &str) -> String {
    let cut = text.find(", set DuplicateKeyPolicy").or_else(|| text.rfind(" at line ")).unwrap_or(text.len());
    text[..cut].trim().to_string()
}

/// An untyped node with its place, so that a number can be checked against its spelling.
#[derive(Deserialize)]
#[serde(transparent)]
struct Node(Spanned<Shape>);

enum Shape {
    Scalar(Value),
    List(Vec<Node>),
    Object(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// Adds the lines of its keys and entries, which are below `path`.
    fn locate(&self, path: &str, lines: &mut Lines) {
        let mut add = |path: String, line: u64, node: &Self| {
            lines.insert(&path, usize::try_from(line).unwrap_or(usize::MAX));
            node.locate(&path, lines);
        };
        match &self.0.value {
            Shape::Scalar(_) => {}
            Shape::List(items) => {
                (0_usize..)
                    .zip(items)
                    .for_each(|(at, item)| add(child(path, &at.to_string()), item.0.defined.line(), item));
            }
            Shape::Object(entries) => {
                entries.iter().for_each(|(key, node)| add(child(path, &key.value), key.defined.line(), node));
            }
        }
    }

    fn into_value(self, lines: &[&str]) -> Value {
        match self.0.value {
            Shape::Scalar(Value::Number(number)) => match spelling(lines, &self.0.defined) {
                Some(plain) if !is_core_number(&plain) => Value::String(plain),
                Some(_) | None => Value::Number(number),
            },
            Shape::Scalar(value) => value,
            Shape::List(items) => items.into_iter().map(|item| item.into_value(lines)).collect(),
            Shape::Object(entries) => Value::Object(
                entries.into_iter().map(|(key, node)| (key.value, node.into_value(lines))).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// The plain scalar at this place: up to white space or a character that ends it in a flow collection.
fn spelling(lines: &[&str], at: &serde_yaml::Location) -> Option<String> {
    let line = lines.get(usize::try_from(at.line()).ok()?.checked_sub(1)?)?;
    let rest = line.chars().skip(usize::try_from(at.column()).ok()?.checked_sub(1)?);
    let plain: String = rest.take_while(|c| !c.is_whitespace() && !matches!(c, ',' | ']' | '}')).collect();
    plain.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)).then_some(plain)
}

/// Whether this spelling is an unambiguous number in YAML 1.2's core schema.
fn is_core_number(plain: &str) -> bool {
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let leading_zero =
        digits.len() > 1 && digits.starts_with('0') && !digits[1..].starts_with(['.', 'x', 'o', 'e', 'E']);
    !plain.contains('_') && !leading_zero
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Shape, E> {
        self.visit_unit()
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Shape, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Shape::Scalar(Value::Number(number)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Shape::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Shape::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expected: &Value) {
        assert_eq!(parse_value(text).map(|(value, _)| value).as_ref(), Ok(expected), "{text}");
    }

    #[test]
    fn plain_scalars_are_what_they_look_like() {
        check("a: no\nb: on\nc: yes\nd: 'off'", &json!({"a": "no", "b": "on", "c": "yes", "d": "off"}));
        check("a: true\nb: false\nc: null\nd: ~\ne:", &json!({"a": true, "b": false, "c": null, "d": null, "e": null}));
        check("a: 017\nb: 1_000\nc: [007, 8, -09]", &json!({"a": "017", "b": "1_000", "c": ["007", 8, "-09"]}));
        check(
            "a: 17\nb: -3\nc: 0.5\nd: 0\ne: 1e3\nf: 0x1f",
            &json!({"a": 17, "b": -3, "c": 0.5, "d": 0, "e": 1000.0, "f": 31}),
        );
        check("{a: 1, b: [1_0, 2]}", &json!({"a": 1, "b": ["1_0", 2]}));
        check("a: &x 1_000\nb: *x", &json!({"a": "1_000", "b": "1_000"}));
        check("no: 1\n017: 2", &json!({"no": 1, "017": 2}));
        check("a: \"1_000\"\nb: |\n  017\n", &json!({"a": "1_000", "b": "017\n"}));
        check("", &Value::Null);
    }

    #[test]
    fn a_typed_string_keeps_its_spelling() {
        let list: Vec<String> = parse("- no\n- 017\n- 1_000\n- 1.50").unwrap();
        assert_eq!(list, ["no", "017", "1_000", "1.50"]);
        assert!(parse::<Vec<bool>>("- yes").is_err());
    }

    #[test]
    fn a_key_given_twice_is_an_error_with_its_place() {
        let error = parse_value("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!((error.line, error.column), (3, 1), "{error}");
        assert!(error.message.contains("duplicate"), "{error}");
    }

    #[test]
    fn errors_say_where_and_what_once() {
        let error = parse::<Vec<i64>>("- 1\n- x\n").unwrap_err();
        assert_eq!((error.line, error.column), (2, 3));
        assert!(!error.message.contains("line"), "{error}");
        assert!(!error.message.contains('\n'), "{error}");
        assert!(parse_value("a: [1, 2").is_err());
    }

    #[test]
    fn the_lines_of_any_json_are_found() {
        let text = "{\n\t\"a\": \"\\ud83d\\ude00 \\/ \\\\user \\b\",\n\t\"<<\": {\"a\": 1},\n\t\"b\": [\n\t\t1,\n\t\t{\"no\": null}\n\t]\n}\n";
        assert!(serde_json::from_str::<Value>(text).is_ok());
        let lines = lines_of_json(text);
        for (path, line) in [("a", 2), ("<<.a", 3), ("b", 4), ("b.0", 5), ("b.1.no", 6)] {
            assert_eq!(lines.of(path), Some(line), "{path}");
        }
        assert_eq!(lines_of_json("{\"a\": {\"x\": 1},\n\"a\": 2}").twice(), Some(("a", 2)));
    }

    #[test]
    fn bombs_are_refused() {
        let mut aliases = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..10 {
            let parts = vec![format!("*a{}", level - 1); 9].join(", ");
            aliases.push_str(&format!("a{level}: &a{level} [{parts}]\n"));
        }
        assert!(parse_value(&aliases).is_err(), "nine-fold aliases, ten levels");
        assert!(parse_value(&"[".repeat(20_000)).is_err(), "unclosed nesting");
        let nested = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(parse_value(&nested).is_err(), "closed nesting");
    }

    /// A worker reads its files on threads of 2 MiB, as tests run.
    #[test]
    fn the_deepest_nesting_that_is_read_fits_the_stack_of_a_thread() {
        let deep = |levels: usize| "{\"a\":\n".repeat(levels) + "1" + &"}".repeat(levels);
        assert_eq!(lines_of_json(&deep(60)).of(&["a"; 60].join(".")), Some(60));
        assert!(parse_value(&deep(60)).is_ok());
    }
}
