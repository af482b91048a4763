//! Parses sentence numbers as models write them: `3`, `5-6`, `3:41` (lead and entry), `5, 7`.

use plumbline_engine::LONGEST_QUOTE;
use serde_json::Value;

/// The sentences that an item names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sentences {
    /// The leads named before an entry, the outermost first.
    pub(super) leads: Vec<u32>,
    /// The sentences that state the duty: ranges, first and last.
    pub(super) own: Vec<(u32, u32)>,
}

impl Sentences {
    /// Parses `s`, for a passage with `count` sentences.
    ///
    /// # Errors
    /// One sentence for the model.
    pub(super) fn read(s: &Value, count: u32) -> Result<Self, String> {
        let text = s.as_str().map_or_else(|| s.to_string(), str::to_owned);
        let mut parts: Vec<Vec<(u32, u32)>> =
            text.split(':').map(ranges).collect::<Option<_>>().ok_or_else(|| wrong(&text))?;
        let own = parts.pop().filter(|own| !own.is_empty()).ok_or_else(|| wrong(&text))?;
        let leads: Vec<u32> = parts.iter().flatten().flat_map(|(from, to)| *from..=*to).collect();
        let read = Self { leads, own };
        let all = || read.all();
        if let Some(beyond) = all().find(|number| *number > count) {
            return Err(format!("`s` is {text}, and the passage has sentences 1 to {count}, no sentence {beyond}"));
        }
        let n = all().count();
        if n > LONGEST_QUOTE as usize {
            return Err(format!(
                "`s` names {n} sentences, at most {LONGEST_QUOTE} belong to one requirement; make an item of each duty"
            ));
        }
        Ok(read)
    }

    /// Parses sentence numbers that belong to no requirement, without a maximum number.
    ///
    /// # Errors
    /// One sentence for the model.
    pub(super) fn read_any(s: &Value, count: u32) -> Result<Vec<i32>, String> {
        let text = s.as_str().map_or_else(|| s.to_string(), str::to_owned);
        let parts: Vec<(u32, u32)> =
            text.split(':').map(ranges).collect::<Option<Vec<_>>>().ok_or_else(|| wrong(&text))?.concat();
        if parts.is_empty() {
            return Err(wrong(&text));
        }
        let numbers: Vec<u32> = parts.into_iter().flat_map(|(from, to)| from..=to).collect();
        match numbers.iter().find(|number| **number > count) {
            Some(beyond) => {
                Err(format!("`s` is {text}, and the passage has sentences 1 to {count}, no sentence {beyond}"))
            }
            None => Ok(numbers.into_iter().filter_map(|number| i32::try_from(number).ok()).collect()),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.leads.iter().copied().chain(self.own.iter().flat_map(|(from, to)| *from..=*to))
    }

    /// The first sentence that states the duty.
    pub(super) fn first(&self) -> u32 {
        self.own.iter().map(|(from, _)| *from).min().unwrap_or_default()
    }
}

/// Parses `5-6, 8` into ranges.
fn ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |part: &str| {
        let (from, to) = part.split_once(['-', '–']).unwrap_or((part, part));
        let number = |text: &str| text.trim().trim_matches(['[', ']', '(', ')']).parse::<u32>().ok();
        let (from, to) = (number(from)?, number(to)?);
        (1 <= from && from <= to && to - from < 1000).then_some((from, to))
    };
    text.split([',', '+']).map(str::trim).filter(|part| !part.is_empty()).map(range).collect()
}

fn wrong(text: &str) -> String {
    format!("`s` is {text}; give sentence numbers as \"3\", \"5-6\" or, for a lead and its entry, \"3:41\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_ranges_and_leads_are_read() {
        let read = |s: Value| Sentences::read(&s, 50).map(|read| (read.leads, read.own));
        for (s, expected) in [
            (json!("3"), (vec![], vec![(3, 3)])),
            (json!(3), (vec![], vec![(3, 3)])),
            (json!("5-6"), (vec![], vec![(5, 6)])),
            (json!("[5] – [6]"), (vec![], vec![(5, 6)])),
            (json!("3:41"), (vec![3], vec![(41, 41)])),
            (json!("3:12:41-42"), (vec![3, 12], vec![(41, 42)])),
            (json!("5, 7"), (vec![], vec![(5, 5), (7, 7)])),
        ] {
            assert_eq!(read(s.clone()), Ok(expected), "{s}");
        }
        for (s, expected) in [
            (json!("third"), "give sentence numbers"),
            (json!(""), "give sentence numbers"),
            (json!("3:"), "give sentence numbers"),
            (json!("6-5"), "give sentence numbers"),
            (json!("0"), "give sentence numbers"),
            (json!("51"), "no sentence 51"),
            (json!("1-7"), "names 7 sentences"),
        ] {
            assert!(read(s.clone()).unwrap_err().contains(expected), "{s}");
        }
    }
}
