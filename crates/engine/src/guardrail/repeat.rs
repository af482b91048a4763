//! The latest calls, in the form of the checkpoint.
//!
//! Each step writes them anew, so that they are one short text and not an object each: `c795abc0.425f6aa8` is a call and
//! its result by their fingerprints, and what is seldom there follows as `.3` (its count, when it is not 1),
//! `.1a2b3c4d` (what it looks at) and `.f` (fresh). A call's fields are divided by dots, calls by spaces.
//!
//! The objects of older checkpoints are read as well. They stand under another key, so that a worker of the release
//! before overlooks the text and goes on, with its counts begun anew.

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};
use std::{collections::VecDeque, fmt};

/// A call and how often in a row it gave the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Repeat {
    /// Fingerprint of the call.
    #[serde(rename = "c")]
    pub call: u32,
    /// Fingerprint of the result.
    #[serde(rename = "r")]
    pub result: u32,
    /// How often in a row.
    #[serde(rename = "n")]
    pub count: u32,
    /// For a call that changes nothing: fingerprint of the path that it looks at.
    #[serde(rename = "p", default)]
    pub looks_at: Option<u32>,
    /// Whether that has changed since, so that the call is worth making again.
    #[serde(rename = "f", default)]
    pub fresh: bool,
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, result, count, looks_at, fresh } = *self;
        write!(f, "{call:x}.{result:x}")?;
        // A field can be left out only where none follows it.
        if (count, looks_at, fresh) == (1, None, false) {
            return Ok(());
        }
        write!(f, ".{count}")?;
        match looks_at {
            Some(path) => write!(f, ".{path:x}")?,
            None if fresh => f.write_str(".")?,
            None => {}
        }
        if fresh { f.write_str(".f") } else { Ok(()) }
    }
}

impl Repeat {
    /// Reads what [`Display`](fmt::Display) wrote; nothing else.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('.');
        let print = |field| u32::from_str_radix(field, 16).ok();
        let (call, result) = (print(fields.next()?)?, print(fields.next()?)?);
        let count = fields.next().map_or(Some(1), |field| field.parse().ok())?;
        let looks_at = match fields.next() {
            None | Some("") => None,
            Some(path) => Some(print(path)?),
        };
        let fresh = match (fields.next(), fields.next()) {
            (None, None) => false,
            (Some("f"), None) => true,
            _ => return None,
        };
        Some(Self { call, result, count, looks_at, fresh })
    }
}

/// Writes the text.
pub(crate) fn serialize<S: Serializer>(repeats: &VecDeque<Repeat>, serializer: S) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = repeats.iter().map(Repeat::to_string).collect();
    serializer.serialize_str(&texts.join(" "))
}

/// Reads the text, or the objects of older checkpoints.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<VecDeque<Repeat>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Text(String),
        Objects(VecDeque<Repeat>),
    }
    match Stored::deserialize(deserializer)? {
        Stored::Text(text) => {
            let odd =
                |text| D::Error::custom(format!("`{text}` is no call with its result, such as c795abc0.425f6aa8.3"));
            text.split_whitespace().map(|text| Repeat::parse(text).ok_or_else(|| odd(text))).collect()
        }
        Stored::Objects(repeats) => Ok(repeats),
    }
}

#[cfg(test)]
mod tests {
    use super::Repeat;
    use crate::Guards;
    use serde_json::json;

    const PLAIN: Repeat = Repeat { call: 0xc795_abc0, result: 0x425f, count: 1, looks_at: None, fresh: false };

    #[test]
    fn each_call_reads_back_from_its_text() {
        let calls = [
            (PLAIN, "c795abc0.425f"),
            (Repeat { count: 3, ..PLAIN }, "c795abc0.425f.3"),
            (Repeat { looks_at: Some(0), ..PLAIN }, "c795abc0.425f.1.0"),
            (Repeat { fresh: true, ..PLAIN }, "c795abc0.425f.1..f"),
            (
                Repeat { count: u32::MAX, looks_at: Some(u32::MAX), fresh: true, ..PLAIN },
                "c795abc0.425f.4294967295.ffffffff.f",
            ),
        ];
        for (call, text) in calls {
            assert_eq!((call.to_string().as_str(), Repeat::parse(text)), (text, Some(call)));
        }
        for odd in ["", "x", "c795abc0", "1.2.x", "1.2.3.x", "1.2.3.4.g", "1.2.3.4.f.5", "123456789.1"] {
            assert_eq!(Repeat::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn the_objects_of_older_checkpoints_are_read_and_written_as_text() {
        let older = json!({"silent_turns": 0, "truncated_turns": 0, "idle_turns": 2, "forced_replans": 0, "compactions_in_row": 0,
            "repeats": [{"c": PLAIN.call, "n": 1, "r": PLAIN.result}, {"c": 7, "n": 2, "r": 8, "p": 9, "f": true}]});
        let guards: Guards = serde_json::from_value(older).expect("older checkpoints are read");
        let later = Repeat { call: 7, result: 8, count: 2, looks_at: Some(9), fresh: true };
        assert_eq!(guards.repeats, [PLAIN, later]);
        let stored = serde_json::to_value(&guards).expect("a state can be written");
        assert_eq!(stored["calls"], "c795abc0.425f 7.8.2.9.f");
        assert!(stored.get("repeats").is_none(), "a worker of the release before would refuse the text");
        assert_eq!(serde_json::from_value::<Guards>(stored.clone()).expect("its own form is read"), guards);
        let mut odd = stored;
        odd["calls"] = "7.8 1.2.x".into();
        let error = serde_json::from_value::<Guards>(odd).expect_err("one of the calls is none");
        assert!(error.to_string().contains("`1.2.x` is no call"), "{error}");
    }
}
