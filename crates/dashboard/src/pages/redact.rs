//! A job's own settings with secrets redacted. Only values that are known to be harmless are shown: a denylist of words
//! for secrets would miss some.

use plumbline_config::{Place, visit};
use serde_json::Value;

/// Replaces a value that may be a secret.
const HIDDEN: &str = "[hidden]";
/// The key with addresses, headers and logins of other services.
const CONNECTIONS: &str = "connections";

/// Keeps the values of known keys, without logins in strings; hides values under unknown keys and under `connections`.
pub(crate) fn hide(config: &mut Value) {
    if let Some(connections) = config.get_mut(CONNECTIONS) {
        hide_each(connections);
    }
    visit(config, &mut |key, value, place| match (value, place) {
        (value, Place::Known { .. }) if key.ends_with("_env") && !names_a_variable(value) => hide_all(value),
        (Value::Array(_), Place::Known { fitting: schema, .. }) if schema.get("items").is_some() => {}
        (Value::String(text), Place::Known { fitting: schema, .. }) if is_text(schema) => *text = without_logins(text),
        (Value::Null | Value::Bool(_) | Value::Number(_), Place::Known { .. }) => {}
        (unexpected, _) => hide_all(unexpected),
    });
}

/// Hides the values of an object, and keeps its keys.
fn hide_each(value: &mut Value) {
    match value {
        Value::Null => {}
        Value::Object(fields) => fields.values_mut().for_each(hide_all),
        _ => hide_all(value),
    }
}

fn hide_all(value: &mut Value) {
    if !value.is_null() {
        *value = HIDDEN.into();
    }
}

fn is_text(schema: &Value) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().any(|kind| kind == "string"),
        kind => kind == "string",
    }
}

/// Whether it looks like the name of an environment variable, not like a misplaced secret.
fn names_a_variable(value: &Value) -> bool {
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    value.is_null() || value.as_str().is_some_and(|name| name.bytes().all(allowed))
}

/// Text with the login, the query and the fragment of each URL hidden. A password may contain any character, so
/// everything between the scheme and the last `@` before the next URL is hidden.
fn without_logins(text: &str) -> String {
    let mut parts = text.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str("://");
        let place = part.rsplit_once('@').map_or(part, |(_login, place)| {
            shown.extend([HIDDEN, "@"]);
            place
        });
        let (url, rest) = place.split_at(place.find(char::is_whitespace).unwrap_or(place.len()));
        let (open, secret) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
        shown.extend([open, if secret.is_empty() { "" } else { HIDDEN }, rest]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::hide;
    use serde_json::{Value, json};

    fn shown(mut value: Value) -> Value {
        hide(&mut value);
        value
    }

    #[test]
    fn known_keys_are_shown() {
        let known = json!({
            "display_name": "Policies",
            "llm": {"model": "m", "api_key_env": "OPENAI_API_KEY", "base_url": "https://host/v1", "prices": {"input": 1.5}},
            "llm_by_purpose": {"summary": {"model": "small"}},
            "limits": {"token_budget": 5, "cost_budget_usd": null, "repeated_calls": {"nudge": 3}},
            "tools": {"domain": ["search_files"]},
        });
        assert_eq!(shown(known.clone()), known);
    }

    #[test]
    fn the_value_of_an_unknown_key_is_hidden_wherever_it_is() {
        let unknown = json!({
            "dsn": "host=db user=me password=canary",
            "X-Auth": "canary",
            "llm": {"headers": {"X-Auth": "canary"}, "model": {"name": "canary"}, "temperature": ["canary"], "timeout_s": "canary"},
            "limits": "canary",
            "tools": {"domain": [{"name": "canary"}, "search_files"], "own": ["canary"]},
            "none": null,
        });
        let expected = json!({
            "dsn": "[hidden]",
            "X-Auth": "[hidden]",
            "llm": {"headers": "[hidden]", "model": "[hidden]", "temperature": "[hidden]", "timeout_s": "[hidden]"},
            "limits": "[hidden]",
            "tools": {"domain": ["[hidden]", "search_files"], "own": "[hidden]"},
            "none": null,
        });
        assert_eq!(shown(unknown), expected);
    }

    #[test]
    fn of_connections_only_the_names_are_shown() {
        let connections = json!({"connections": {
            "neo4j": {"uri": "bolt://graph", "user": "canary", "dsn": "host=db password=canary"},
            "mcp": {"files": {"headers": {"X-Auth": "canary"}}},
            "web_search": null,
        }});
        let expected = json!({"connections": {"neo4j": "[hidden]", "mcp": "[hidden]", "web_search": null}});
        assert_eq!(shown(connections), expected);
        assert_eq!(shown(json!({"connections": "canary"})), json!({"connections": "[hidden]"}));
        assert_eq!(shown(json!("canary")), json!("[hidden]"));
    }

    #[test]
    fn every_url_in_a_string_loses_its_login_and_its_query() {
        let text = "see http://u:canary@a/x and postgres://v:c@nar?y #@b/db?password=canary then https://c#canary";
        let expected = "see http://[hidden]@a/x and postgres://[hidden]@b/db[hidden] then https://c[hidden]";
        assert_eq!(shown(json!({"display_name": text})), json!({"display_name": expected}));
    }

    #[test]
    fn a_key_in_place_of_a_variable_s_name_is_hidden() {
        assert_eq!(shown(json!({"llm": {"api_key_env": "sk-canary"}})), json!({"llm": {"api_key_env": "[hidden]"}}));
    }
}
