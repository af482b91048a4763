//! The reason of a judgement or a change: a sentence for the person who reads the row.

use plumbline_engine::says_something;
use serde::{Deserialize, Deserializer, de::Error};

/// Reads a reason; one without a letter or digit is none.
pub(crate) fn reason<'de, D: Deserializer<'de>>(argument: D) -> Result<String, D::Error> {
    let reason = String::deserialize(argument)?;
    match says_something(&reason) {
        true => Ok(reason),
        false => Err(D::Error::custom("a `reason` has no words; say in one sentence why")),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Call {
        #[serde(deserialize_with = "super::reason")]
        reason: String,
    }

    #[test]
    fn a_reason_has_a_letter_or_a_digit() {
        for said in ["a definition", "R-0007", "定義"] {
            let read: Call = serde_json::from_value(json!({"reason": said})).expect("it is a reason");
            assert_eq!(read.reason, said);
        }
        for said in ["   ", "...", "\u{200b}\u{200b}\u{200b}", "- - -"] {
            assert!(serde_json::from_value::<Call>(json!({"reason": said})).is_err(), "{said:?}");
        }
    }
}
