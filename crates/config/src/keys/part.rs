//! Any of the keys of a section, in the schema.

use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    transform::{RecursiveTransform, Transform},
};
use serde_json::Value;
use std::{borrow::Cow, marker::PhantomData};

/// The schema of an object with any of the keys of `T`.
pub(crate) struct Part<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Part<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("PartOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        RecursiveTransform(|schema: &mut Schema| drop(schema.remove("required"))).transform(&mut schema);
        schema
    }
}

/// Takes keys out that have no meaning in this place.
pub(crate) fn without(keys: &'static [&'static str]) -> impl Fn(&mut Schema) {
    |schema| {
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }
}
