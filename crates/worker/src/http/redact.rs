//! Settings as they may be shown: whatever looks like a secret is left out.

use serde_json::Value;

/// In place of a secret.
const HIDDEN: &str = "[hidden]";
/// Parts of keys whose values are secrets. Keys that end in `_env` only name a variable.
const SECRET: [&str; 6] = ["password", "secret", "token", "api_key", "apikey", "authorization"];
/// Keys that contain one of those words and are no secrets.
const COUNTS: [&str; 2] = ["tokens", "token_budget"];

/// Hides secrets in place.
pub(super) fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                if is_secret(key) && !field.is_null() {
                    *field = HIDDEN.into();
                } else {
                    hide(field);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::String(text) => hide_login(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    !key.ends_with("_env")
        && !COUNTS.iter().any(|count| key.contains(count))
        && SECRET.iter().any(|word| key.contains(word))
}

/// `scheme://user:password@host` without the login.
fn hide_login(text: &mut String) {
    let Some(start) = text.find("://").map(|at| at + 3) else {
        return;
    };
    let end = text[start..].find(['/', '?', '#', ' ']).map_or(text.len(), |at| start + at);
    if let Some(at) = text[start..end].rfind('@') {
        text.replace_range(start..start + at, HIDDEN);
    }
}

#[cfg(test)]
mod tests {
    use super::hide;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_and_settings_are_not() {
        let mut value = json!({
            "llm": {"api_key": "sk-1", "api_key_env": "OPENAI_API_KEY", "base_url": "https://u:p@host/v1"},
            "limits": {"token_budget": 5, "max_result_tokens": 7},
            "list": [{"Password": "x"}, "plain"],
        });
        hide(&mut value);
        assert_eq!(
            value,
            json!({
                "llm": {"api_key": "[hidden]", "api_key_env": "OPENAI_API_KEY", "base_url": "https://[hidden]@host/v1"},
                "limits": {"token_budget": 5, "max_result_tokens": 7},
                "list": [{"Password": "[hidden]"}, "plain"],
            })
        );
    }
}
