//! JSON written by users.

use serde::{Serialize, Serializer};
use serde_json::Value;
use sqlx::{
    Decode, Postgres, Type,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueRef},
    types::{Json, JsonRawValue},
};
use std::ops::Deref;

/// JSON written by a user. The database accepts values that a worker cannot represent: numbers beyond 64-bit floating
/// point, and more than 127 levels. Such a value must not be an error if it is read together with those of other jobs,
/// or no worker could claim any of them: it reads as null, with the reason. The same holds for a requirement, which
/// another program may have written: otherwise its validator would never see the others.
#[derive(Clone, Debug, PartialEq)]
pub struct UserJson(Result<Value, String>);

impl UserJson {
    /// The reason if it cannot be read.
    pub fn unreadable(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    fn of(text: &str) -> Self {
        Self(serde_json::from_str(text).map_err(|error| error.to_string()))
    }
}

impl Deref for UserJson {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.0.as_ref().unwrap_or(&Value::Null)
    }
}

impl From<Value> for UserJson {
    fn from(value: Value) -> Self {
        Self(Ok(value))
    }
}

impl From<UserJson> for Value {
    fn from(given: UserJson) -> Self {
        given.0.unwrap_or_default()
    }
}

impl Serialize for UserJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::serialize(self, serializer)
    }
}

impl Type<Postgres> for UserJson {
    fn type_info() -> PgTypeInfo {
        <Json<Value> as Type<Postgres>>::type_info()
    }

    fn compatible(found: &PgTypeInfo) -> bool {
        <Json<Value> as Type<Postgres>>::compatible(found)
    }
}

impl<'r> Decode<'r, Postgres> for UserJson {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let Json(raw) = <Json<&'r JsonRawValue> as Decode<'r, Postgres>>::decode(value)?;
        Ok(Self::of(raw.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::UserJson;
    use serde_json::json;

    #[test]
    fn what_cannot_be_held_reads_as_null_and_says_why() {
        assert_eq!(UserJson::of(r#"{"a": [1]}"#), UserJson::from(json!({"a": [1]})));
        let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
        for (text, why) in [(r#"{"a": 1e400}"#, "number out of range"), (deep.as_str(), "recursion limit exceeded")] {
            let given = UserJson::of(text);
            assert!(given.is_null() && given.unreadable().unwrap().starts_with(why), "{given:?}");
        }
    }
}
