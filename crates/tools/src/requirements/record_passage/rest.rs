//! Decides the candidates of a passage that no item records.

use super::numbers::Sentences;
use plumbline_engine::{Account, PassageDecision, SHORTEST_REASON, is_reason, says_something};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Sentences that are no requirements, or are in one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rest {
    /// # Sentence numbers; all that are open when left out
    #[schemars(extend("type" = ["string", "integer"]))]
    s: Option<Value>,
    /// # Why they are no requirements
    #[schemars(length(max = 2000))]
    why: Option<String>,
    /// # Or the requirement that has them: "r12", or "#2" for the second item
    #[schemars(extend("type" = ["string", "integer"]))]
    r#in: Option<Value>,
}

impl Rest {
    /// Adds it to a decision. `items` are the numbers of the requirements that the items of this call recorded.
    ///
    /// # Errors
    /// One sentence for the model.
    pub(super) fn add_to(
        &self,
        decision: &mut PassageDecision,
        count: u32,
        items: &[Option<i32>],
    ) -> Result<(), String> {
        let why = self.why.as_deref().map(str::trim).filter(|why| says_something(why));
        let account = match (why, &self.r#in) {
            (Some(why), None) => Account::Why(why.to_owned()),
            (None, Some(named)) => Account::In(requirement(named, items)?),
            (Some(_), Some(_)) => return Err("give `why` or `in`, not both".into()),
            (None, None) => return Err("give `why` in words, or `in` with the requirement that has them".into()),
        };
        match (&self.s, account) {
            (Some(s), account) => {
                let sentences = Sentences::read_any(s, count)?;
                decision.by_number.extend(sentences.into_iter().map(|number| (number, account.clone())));
            }
            (None, Account::Why(why)) if !is_reason(&why) => {
                return Err(format!(
                    "`why` for all that is left must have {SHORTEST_REASON} characters or more, in words"
                ));
            }
            (None, Account::Why(why)) => decision.why = Some(why),
            (None, Account::In(_)) => return Err("`in` needs `s`, the sentences that the requirement has".into()),
        }
        Ok(())
    }
}

/// Parses `r12`, `12`, or `#2` for an item of this call.
fn requirement(named: &Value, items: &[Option<i32>]) -> Result<i32, String> {
    let text = named.as_str().map_or_else(|| named.to_string(), |text| text.trim().to_lowercase());
    if let Some(item) = text.strip_prefix('#') {
        let at = item.parse::<usize>().ok().and_then(|item| item.checked_sub(1));
        let recorded = at.and_then(|at| items.get(at).copied().flatten());
        return recorded
            .ok_or_else(|| format!("`in` is {text}, and no item of this call with that place was recorded"));
    }
    let number = text.strip_prefix('r').unwrap_or(&text).parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`in` is {text}; give \"r12\", or \"#2\" for the second item of this call"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn a_why_says_something() {
        let add = |why: &str| {
            let rest: Rest = from_value(json!({"s": "3", "why": why})).expect("it is read");
            rest.add_to(&mut PassageDecision::default(), 9, &[])
        };
        assert_eq!(add("a definition"), Ok(()));
        for why in ["", "  ", "...", "\u{200b}"] {
            assert!(add(why).is_err_and(|said| said.contains("give `why` in words")), "{why:?}");
        }
    }
}
