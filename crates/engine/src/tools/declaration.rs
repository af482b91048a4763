//! A tool declared by the type of its arguments: the JSON Schema of a request and the documentation come from its doc
//! comments.
//!
//! The comment of the type is the documentation; a line `{arguments}` in it marks the place of the argument table. The
//! comment of a field is its row in the table. A heading at its beginning (`/// # …`) is the field's description in
//! every request, and is therefore short; a field without a heading has no description in the request. If a field has
//! only a heading, that is its row, and a field without a comment shares the row of the previous field.

use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, Transform},
};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor, value::Error};
use serde_json::{Map, Value};

/// The line of a documentation that is replaced by the table.
const TABLE: &str = "{arguments}";

/// The declaration in a type of arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// JSON Schema of the arguments, as sent in requests.
    pub parameters: Value,
    /// The documentation, Markdown without a heading.
    pub documentation: String,
}

impl Declaration {
    /// The declaration of the type `A`.
    pub fn of<A: JsonSchema + DeserializeOwned>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<A>();
        let prose =
            schema.remove("description").and_then(|prose| prose.as_str().map(str::to_owned)).unwrap_or_default();
        let documentation = prose.replace(TABLE, &table(&schema, fields_of::<A>()));
        schema.remove("title");
        RecursiveTransform(for_requests).transform(&mut schema);
        schema.ensure_object().entry("properties").or_insert_with(|| Map::new().into());
        Self { parameters: schema.to_value(), documentation }
    }
}

/// The rows of the table, in the order of the type's fields.
fn table(schema: &Schema, fields: &[&str]) -> String {
    let mut rows: Vec<(Vec<String>, String)> = Vec::new();
    let is_offered = |field: &&&str| schema.pointer(&format!("/properties/{field}")).is_some();
    for field in fields.iter().filter(is_offered) {
        let said = |key| schema.pointer(&format!("/properties/{field}/{key}")).and_then(Value::as_str);
        let row = said("description").or_else(|| said("title"));
        match (row, rows.last_mut()) {
            (None, Some((names, _))) => names.push(format!("`{field}`")),
            (row, _) => rows.push((vec![format!("`{field}`")], row.unwrap_or_default().replace('\n', " "))),
        }
    }
    let rows = rows.into_iter().map(|(names, row)| format!("\n| {} | {row} |", names.join(", ")));
    format!("| argument | meaning |\n|---|---|{}", rows.collect::<String>())
}

/// Removes what only other readers need from doc comments and types, because every request carries the schema.
fn for_requests(schema: &mut Schema) {
    for key in ["description", "default", "format"] {
        schema.remove(key);
    }
    if let Some(heading) = schema.remove("title") {
        schema.insert("description".to_owned(), heading);
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
        schema.remove("additionalProperties");
    }
    if let Some(members) = schema.as_object_mut() {
        without_null(members);
    }
}

/// Optional fields may also be null: the null is removed when arguments are read, and need not be in the schema.
fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = &kinds[..] {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &mut choices[..] {
            let only = std::mem::take(only);
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
}

/// The names of a type's fields in declaration order, which the schema does not preserve.
fn fields_of<A: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // It always fails: nothing is read.
    let _ = A::deserialize(FieldNames(&mut fields));
    fields
}

struct FieldNames<'f>(&'f mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("nothing is read"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("arguments are a struct"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::Declaration;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    /// Reads a file.
    ///
    /// {arguments}
    ///
    /// Example: `{"path": "a"}`
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what it says is read")]
    struct Arguments {
        /// # Workspace path
        /// the file, relative to
        /// the workspace
        path: String,
        /// first and last line
        #[schemars(range(min = 1))]
        from: Option<u32>,
        to: Option<u32>,
        /// # At most
        #[serde(default)]
        limit: usize,
        /// how
        mode: Option<Mode>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Text,
        Regex,
    }

    #[test]
    fn schema_and_documentation_are_what_the_comments_say() {
        let Declaration { parameters, documentation } = Declaration::of::<Arguments>();
        assert_eq!(
            parameters,
            json!({"type": "object", "properties": {
                "path": {"type": "string", "description": "Workspace path"},
                "from": {"type": "integer", "minimum": 1},
                "to": {"type": "integer", "minimum": 0},
                "limit": {"type": "integer", "minimum": 0, "description": "At most"},
                "mode": {"type": "string", "enum": ["text", "regex"]}
            }, "required": ["path"], "additionalProperties": false})
        );
        assert_eq!(
            documentation,
            "Reads a file.\n\n| argument | meaning |\n|---|---|\n| `path` | the file, relative to the workspace |\n\
             | `from`, `to` | first and last line |\n| `limit` | At most |\n| `mode` | how |\n\nExample: `{\"path\": \"a\"}`"
        );
    }
}
