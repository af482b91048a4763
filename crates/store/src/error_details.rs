//! `jobs.error_details`: the same members for every kind of error, so that queries need no case distinction.

use crate::bind::json;
use plumbline_engine::JobError;
use serde_json::{Map, Value};

/// The hint if there is no better one.
const HINT: &str = "put right what the message says, then run the job again with retry_job";

/// `{kind, stage, attempts, first_error, last_error, hint}` and any further details, as JSON text. For a failure in the
/// first attempt, the first error is also the last.
pub(crate) fn of(error: &JobError) -> String {
    let mut details = error.details.clone();
    let mut fill = |name: &str, value: Value| fill(&mut details, name, value);
    fill("kind", "internal".into());
    fill("stage", "run".into());
    fill("attempts", 1.into());
    fill("first_error", error.message.clone().into());
    fill("last_error", error.message.clone().into());
    fill("hint", HINT.into());
    json(&details)
}

fn fill(details: &mut Map<String, Value>, name: &str, value: Value) {
    if details.get(name).is_none_or(Value::is_null) {
        details.insert(name.into(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::{HINT, of};
    use plumbline_engine::JobError;
    use serde_json::{Value, json};

    #[test]
    fn every_error_has_every_member_and_keeps_what_it_knows() {
        let read = |error: JobError| serde_json::from_str::<Value>(&of(&error)).expect("it is JSON");
        assert_eq!(
            read(JobError::new("input", "no document").with("stage", "intake").with("last_error", Value::Null)),
            json!({"kind": "input", "stage": "intake", "attempts": 1, "first_error": "no document",
                   "last_error": "no document", "hint": HINT})
        );
        let known = json!({"kind": "model", "stage": "model", "attempts": 8, "first_error": "slow", "last_error": "gone",
                           "hint": "look", "class": "transient"});
        let mut error = JobError::new("model", "the model call failed");
        for (name, value) in known.as_object().expect("an object") {
            error = error.with(name, value.clone());
        }
        assert_eq!(read(error), known);
    }
}
