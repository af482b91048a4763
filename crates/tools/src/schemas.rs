//! JSON Schemas: the only place where validators are compiled. Built-in ones are trusted; those of a row are bounded in
//! memory and evaluation cost, because they are foreign input.

#![allow(clippy::disallowed_methods, reason = "this is the module that makes them")]

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum bytes of a row's schemas together, as JSON.
const MOST_BYTES: usize = 64 << 10;
/// Maximum patterns of a row's schemas together, and maximum memory of one: 4 MiB for all of them.
const MOST_PATTERNS: usize = 64;
const PATTERN_BYTES: usize = (4 << 20) / MOST_PATTERNS;
/// Maximum nesting of a schema, with `$ref`s resolved.
const DEEPEST: usize = 200;
/// Maximum subschemas of one, each counted as often as a `$ref` leads to it.
const MOST_SUBSCHEMAS: usize = 20_000;
/// Maximum product of patterns and bytes of a content.
const MOST_MATCHED: usize = 16 << 20;
/// Maximum product of subschemas and values of a content.
const MOST_EVALUATIONS: usize = 100_000_000;
/// The same for the arguments of a call, which are validated on the event loop.
const MOST_EVALUATIONS_OF_CALL: usize = 5_000_000;
/// Maximum product of subschemas and values if all errors are collected: each may be one, of 400 bytes.
const MOST_ERRORS: usize = 200_000;
/// How often the subschemas next to `unevaluatedProperties` or `unevaluatedItems` are evaluated: by their own keyword, and
/// twice to find the values that they evaluate.
const EVALUATIONS_NEXT_TO_UNEVALUATED: usize = 3;

/// Keywords that describe a part of the value: below them a recursive schema terminates with the value.
pub(crate) const DESCENDING: [&str; 11] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "dependentSchemas",
];
/// Keywords whose value is data, or schemas that cost nothing unless a `$ref` leads to them.
pub(crate) const PASSED_OVER: [&str; 7] = ["enum", "const", "default", "examples", "example", "$defs", "definitions"];
/// Keywords by which a schema refers elsewhere than by `$ref`, or changes where `$ref` leads to.
const ELSEWHERE: [&str; 8] =
    ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$vocabulary", "$id", "id"];

/// A validator of the program's own schema.
pub(crate) fn of_tool(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).expect("a tool's schema compiles: a test compiles them all")
}

/// The remaining budget for the schemas of one row.
#[derive(Debug)]
pub struct SchemaBudget {
    bytes: usize,
    patterns: usize,
}

impl Default for SchemaBudget {
    fn default() -> Self {
        Self { bytes: MOST_BYTES, patterns: MOST_PATTERNS }
    }
}

/// A compiled schema of a row.
#[derive(Debug)]
pub(crate) struct BoundedSchema {
    validator: Validator,
    cost: Cost,
}

/// The errors of a content.
pub(crate) struct Errors<'v> {
    /// The first ones, for the caller to count or name.
    pub(crate) named: Box<dyn Iterator<Item = ValidationError<'v>> + 'v>,
    /// Whether there may be more, which would take too much memory to collect.
    pub(crate) may_be_more: bool,
}

impl BoundedSchema {
    /// Compiles a schema within the budget of its row.
    ///
    /// # Errors
    /// Why it is invalid, or which bound it exceeds.
    pub(crate) fn new(schema: &Value, budget: &mut SchemaBudget) -> Result<Self, String> {
        let bytes = schema.to_string().len();
        budget.bytes = budget.bytes.checked_sub(bytes).ok_or_else(|| {
            format!("with {bytes} bytes it makes the schemas of a job larger than {} KiB together", MOST_BYTES >> 10)
        })?;
        let mut reading = Reading { root: schema, known: BTreeMap::new(), open: Vec::new() };
        let cost = reading.of(schema, "", 0, 0)?;
        budget.patterns = budget.patterns.checked_sub(cost.patterns).ok_or_else(too_many_patterns)?;
        if cost.refers_back > 1 {
            return Err("it refers to itself in more than one place, or next to `unevaluatedProperties` or `unevaluatedItems`, \
                        which may take for ever; name one place"
                .into());
        }
        let options = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        let options = jsonschema::options().with_pattern_options(options).should_validate_formats(false);
        let validator = options.build(schema).map_err(|error| reason(&error.to_string()))?;
        Ok(Self { validator, cost })
    }

    /// Whether a content may be validated: the cost grows with both schema and content.
    pub(crate) fn takes(&self, content: &[u8]) -> bool {
        self.evaluations(content) <= MOST_EVALUATIONS && self.matched(content) <= MOST_MATCHED
    }

    /// Whether the arguments of a call may be validated.
    pub(crate) fn takes_call(&self, arguments: &[u8]) -> bool {
        self.evaluations(arguments) <= MOST_EVALUATIONS_OF_CALL && self.matched(arguments) <= MOST_MATCHED
    }

    fn evaluations(&self, content: &[u8]) -> usize {
        (self.cost.subschemas + self.cost.compared).saturating_mul(plumbline_llm::values_in(content))
    }

    fn matched(&self, content: &[u8]) -> usize {
        self.cost.patterns.saturating_mul(content.len())
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// The errors of a parsed content: all of them, or if they may be too many, the first one; none if even that may have too
    /// many below it, one for each alternative.
    pub(crate) fn errors<'v>(&'v self, content: &[u8], value: &'v Value) -> Option<Errors<'v>> {
        let values = plumbline_llm::values_in(content);
        let may_be = |subschemas: usize| subschemas.saturating_mul(values) > MOST_ERRORS;
        if !may_be(self.cost.subschemas) {
            return Some(Errors { named: Box::new(self.validator.iter_errors(value)), may_be_more: false });
        }
        if self.is_valid(value) {
            return Some(Errors { named: Box::new(std::iter::empty()), may_be_more: false });
        }
        match may_be(self.cost.alternatives) {
            true => None,
            false => {
                Some(Errors { named: Box::new(self.validator.validate(value).err().into_iter()), may_be_more: true })
            }
        }
    }
}

/// The library does not say which patterns it would accept.
fn reason(said: &str) -> String {
    let said = shortened(said);
    match said.ends_with("is not a \"regex\"") {
        true => format!("{said} of at most {} KiB once it is made, without look-around", PATTERN_BYTES >> 10),
        false => said,
    }
}

fn shortened(reason: &str) -> String {
    const MOST: usize = 300;
    reason.chars().take(MOST).collect()
}

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// This schema and its subschemas, including the targets of each `$ref`.
    subschemas: usize,
    /// Patterns, counted in the same way: each is compiled as often.
    patterns: usize,
    /// How often it refers to an enclosing schema.
    refers_back: usize,
    /// Values of `enum` and `const`, with which a content's values are compared.
    compared: usize,
    /// Subschemas below `anyOf` and `oneOf`, whose one error has the errors of each.
    alternatives: usize,
}

impl Cost {
    fn add(&mut self, other: Self) -> Result<(), String> {
        self.subschemas += other.subschemas;
        self.patterns += other.patterns;
        self.refers_back += other.refers_back;
        self.compared += other.compared;
        self.alternatives += other.alternatives;
        if self.patterns > MOST_PATTERNS {
            return Err(too_many_patterns());
        }
        match self.subschemas > MOST_SUBSCHEMAS {
            true => Err(format!(
                "its `$ref`s lead to more than {MOST_SUBSCHEMAS} subschemas, counted as often as they are evaluated"
            )),
            false => Ok(()),
        }
    }

    /// Adds what is evaluated this often.
    fn add_times(&mut self, times: usize, other: Self) -> Result<(), String> {
        (0..times).try_for_each(|_| self.add(other))
    }
}

/// All values of a JSON value.
fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

fn too_many_patterns() -> String {
    format!("the schemas of a job have more than {MOST_PATTERNS} patterns together")
}

/// Traverses a schema like an evaluation, each place once.
struct Reading<'s> {
    root: &'s Value,
    /// The cost of each `$ref` target.
    known: BTreeMap<&'s str, Cost>,
    /// The `$ref`s being resolved, each with the depth in the value at which it began.
    open: Vec<(&'s str, usize)>,
}

impl<'s> Reading<'s> {
    /// `below` is the depth in the value between the root and this place, `depth` the nesting of the schema here.
    fn of(&mut self, schema: &'s Value, keyword: &str, below: usize, depth: usize) -> Result<Cost, String> {
        if depth > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} deep"));
        }
        let mut cost = Cost { subschemas: 1, ..Cost::default() };
        match schema {
            Value::Object(fields) => self.of_fields(fields, keyword, below, depth, &mut cost)?,
            Value::Array(items) => {
                for item in items {
                    cost.add(self.of(item, "", below, depth + 1)?)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(cost)
    }

    fn of_fields(
        &mut self,
        fields: &'s Map<String, Value>,
        keyword: &str,
        below: usize,
        depth: usize,
        cost: &mut Cost,
    ) -> Result<(), String> {
        // The members of these are user-chosen names.
        let is_named = matches!(keyword, "properties" | "patternProperties" | "dependentSchemas");
        let unevaluated =
            ["unevaluatedProperties", "unevaluatedItems"].map(|key| !is_named && fields.contains_key(key));
        let times = EVALUATIONS_NEXT_TO_UNEVALUATED.pow(unevaluated.map(u32::from).iter().sum());
        for (key, value) in fields {
            if keyword == "patternProperties" || (!is_named && key == "pattern") {
                cost.add(Cost { patterns: 1, ..Cost::default() })?;
            }
            let names_the_whole = depth == 0 && matches!(key.as_str(), "$id" | "id");
            if !is_named && ELSEWHERE.contains(&key.as_str()) && !names_the_whole {
                return Err(format!("`{key}` is not taken in a schema of a job; use `$ref` with `#` or `#/…`"));
            }
            match (is_named, key.as_str(), value) {
                (false, "$ref", Value::String(to)) => cost.add_times(times, self.led_to(to, below, depth)?)?,
                (false, "enum" | "const", value) => cost.compared += values(value),
                (false, key, _) if PASSED_OVER.contains(&key) => {}
                (false, key, value) => {
                    let below = below + usize::from(DESCENDING.contains(&key));
                    let mut within = self.of(value, key, below, depth + 1)?;
                    if matches!(key, "anyOf" | "oneOf") {
                        within.alternatives = within.subschemas;
                    }
                    cost.add_times(times, within)?;
                }
                (true, _, value) => cost.add(self.of(value, "", below, depth + 1)?)?,
            }
        }
        Ok(())
    }

    fn led_to(&mut self, to: &'s str, below: usize, depth: usize) -> Result<Cost, String> {
        if let Some((_, began)) = self.open.iter().find(|(open, _)| *open == to) {
            return match *began < below {
                true => Ok(Cost { subschemas: 1, refers_back: 1, ..Cost::default() }),
                false => Err(format!("`$ref` to {} leads back to itself at the same value", shortened(to))),
            };
        }
        if let Some(known) = self.known.get(to) {
            return Ok(*known);
        }
        let elsewhere = || format!("`$ref` to {} leads to no place of the schema; write `#` or `#/…`", shortened(to));
        let target = to.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)).ok_or_else(elsewhere)?;
        self.open.push((to, below));
        let cost = self.of(target, "", below, depth + 1)?;
        self.open.pop();
        self.known.insert(to, cost);
        Ok(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn taken(schema: &Value) -> Result<BoundedSchema, String> {
        BoundedSchema::new(schema, &mut SchemaBudget::default())
    }

    fn chain(length: usize, keyword: &str) -> Value {
        let mut defs = Map::new();
        defs.insert("d0".into(), json!({"type": "object"}));
        for n in 1..=length {
            let before = json!({"$ref": format!("#/$defs/d{}", n - 1)});
            let twice = match keyword {
                "properties" => json!({"a": before, "b": before}),
                _ => json!([before, before]),
            };
            defs.insert(format!("d{n}"), json!({ keyword: twice }));
        }
        json!({"$defs": defs, "$ref": format!("#/$defs/d{length}")})
    }

    #[test]
    fn what_rows_cannot_pay_for_is_refused() {
        let patterns = |n: usize, pattern: &str| {
            let properties: Map<String, Value> =
                (0..n).map(|n| (format!("p{n}"), json!({"pattern": format!("{pattern}{n}")}))).collect();
            json!({"properties": properties})
        };
        let unevaluated = |keyword: &str, within: &str| {
            (0..20).fold(json!({"properties": {"a": {}}}), |inner, _| match within {
                "dependentSchemas" => json!({keyword: false, within: {"a": inner}}),
                _ => json!({keyword: false, within: [inner]}),
            })
        };
        let named: Map<String, Value> = (0..100).map(|n| (format!("a{n}"), json!({}))).collect();
        let wide: Map<String, Value> = (0..9_000).map(|n| (format!("{n}"), json!({}))).collect();
        let deep = (0..250).fold(json!({}), |inner, _| json!({"items": inner}));
        for (schema, says) in [
            (patterns(120, r"\pL{100}x"), "patterns"),
            (patterns(1, r"\pL{100}x"), "KiB once"),
            (patterns(1, r"[\w0]{30}\pL{30}0"), "KiB once"),
            (json!({"patternProperties": {r"(\pL{1,50}){1,50}": {}}}), "KiB once"),
            (json!({"patternProperties": named}), "patterns"),
            (json!({"properties": {"a": {"anyOf": [{"not": patterns(70, "a")}]}}}), "patterns"),
            (chain(44, "allOf"), "subschemas"),
            (chain(44, "anyOf"), "subschemas"),
            (chain(44, "properties"), "subschemas"),
            (unevaluated("unevaluatedProperties", "anyOf"), "subschemas"),
            (unevaluated("unevaluatedItems", "oneOf"), "subschemas"),
            (unevaluated("unevaluatedProperties", "dependentSchemas"), "subschemas"),
            (json!({"anyOf": [{"prefixItems": [{"$ref": "#"}]}], "unevaluatedItems": false}), "more than one place"),
            (json!({"properties": wide}), "KiB"),
            (json!({"enum": ["x".repeat(70_000)]}), "KiB"),
            (deep, "deep"),
            (json!({"$ref": "#"}), "at the same value"),
            (
                json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
                "at the same value",
            ),
            (
                json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}),
                "more than one place",
            ),
            (json!({"$dynamicRef": "#a"}), "$dynamicRef"),
            (json!({"items": {"$id": "https://a/"}}), "$id"),
            (json!({"$ref": "https://example.com/a.json"}), "leads to no place"),
            (json!({"$ref": "#/nowhere"}), "leads to no place"),
        ] {
            let refused = taken(&schema).err().unwrap_or_default();
            assert!(refused.contains(says), "{says}: {refused}");
            assert!(refused.len() < 400, "{refused}");
        }
    }

    #[test]
    fn ordinary_schemas_are_taken() {
        for schema in [
            json!({"type": "object", "required": ["answers"], "properties": {"answers": {"type": "array", "items": {"type": "string"}}}}),
            json!({"$id": "https://example.com/answers", "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}),
            json!({"properties": {"id": {"pattern": "^[A-Z]{2}-\\d{1,6}$"}, "pattern": {"type": "string"}, "$anchor": {}}}),
            json!({"$defs": {"page": {"type": "integer", "minimum": 1}}, "properties": {"from": {"$ref": "#/$defs/page"}, "to": {"$ref": "#/$defs/page"}}}),
            json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}),
            json!({"$defs": {"tree": {"properties": {"next": {"$ref": "#/$defs/tree"}}}}, "items": {"$ref": "#/$defs/tree"}}),
            json!({"enum": [{"$ref": "#/nowhere"}, {"pattern": "("}]}),
            json!({"$defs": {"page": {"properties": {"page": {}}}}, "$ref": "#/$defs/page", "unevaluatedProperties": false}),
            json!({"properties": {"children": {"items": {"$ref": "#"}}, "unevaluatedItems": {}}, "type": "object"}),
            json!(true),
        ] {
            assert!(taken(&schema).is_ok(), "{schema}: {:?}", taken(&schema).err());
        }
    }

    /// Thousands of errors for each of thousands of values would take gigabytes.
    #[test]
    fn no_more_errors_are_collected_than_fit_into_memory() {
        let list = format!("[{}]", vec!["1"; 10_000].join(","));
        let value: Value = serde_json::from_str(&list).expect("a list");
        let named = |schema: Value| {
            let schema = taken(&schema).expect("a schema");
            assert!(schema.takes(list.as_bytes()));
            let errors = schema.errors(list.as_bytes(), &value);
            errors.map(|errors| (errors.named.take(11_000).count(), errors.may_be_more))
        };
        assert_eq!(named(json!({"items": {"allOf": vec![false; 9_000]}})), Some((1, true)));
        assert_eq!(named(json!({"items": {"allOf": vec![json!({"type": "array"}); 3_000]}})), Some((1, true)));
        assert_eq!(named(json!({"anyOf": vec![json!({"items": {"type": "array"}}); 1_000]})), None);
        assert_eq!(named(json!({"items": {"oneOf": vec![false; 9_000]}})), None);
        assert_eq!(named(json!({"items": {"allOf": vec![true; 9_000]}})), Some((0, false)));
        assert_eq!(named(json!({"items": {"type": "string"}})), Some((10_000, false)));
    }

    #[test]
    fn the_schemas_of_a_row_share_a_budget() {
        let schema = json!({"description": "x".repeat(30_000)});
        let mut budget = SchemaBudget::default();
        let taken = (0..3).map(|_| BoundedSchema::new(&schema, &mut budget).is_ok()).collect::<Vec<_>>();
        assert_eq!(taken, [true, true, false]);
    }

    #[test]
    fn an_evaluation_is_bounded_by_both() {
        let schema = taken(&chain(11, "allOf")).expect("thousands of subschemas");
        assert!(schema.takes(b"{\"a\": 1}"));
        assert!(!schema.takes("[0],".repeat(50_000).as_bytes()));
        let compared = taken(&json!({"items": {"enum": vec![json!([0]); 5_000]}})).expect("a schema");
        assert!(compared.takes(b"[[1], [2]]") && !compared.takes("[1],".repeat(20_000).as_bytes()));
        let matching = taken(&json!({"items": {"pattern": "a+b"}})).expect("a schema");
        assert!(matching.takes(&[b'a'; 1 << 20]) && !matching.takes(&vec![b'a'; 17 << 20]));
        assert!(
            taken(&json!({"items": {"type": "integer"}})).expect("a schema").takes("[0],".repeat(50_000).as_bytes())
        );
    }
}
