//! `llm.prices`, and the budget that needs them.

use crate::{Resolved, error::Problem, keys::llm::SECTIONS, rules::violation::RuleViolation};
use plumbline_engine::Purpose;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a model's tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Prices {
    /// Prices per token.
    PerMillion(PriceTable),
    /// Free, as declared by the operator.
    Free(Free),
}

/// The word `free`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Free {
    /// Requests cost nothing.
    #[serde(rename = "free")]
    Free,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// Prompt tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub input: f64,
    /// Prompt tokens read from the provider's cache.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub cached_input: f64,
    /// Prompt tokens written to the provider's cache; `input` when absent.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Completion tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub output: f64,
}

impl Prices {
    /// The prices as numbers; those of a free model are zero.
    pub fn table(self) -> PriceTable {
        match self {
            Self::PerMillion(table) => table,
            Self::Free(Free::Free) => PriceTable { input: 0.0, cached_input: 0.0, cache_write: None, output: 0.0 },
        }
    }

    /// Whether the model's price is unknown: every price is zero, and it is not declared free.
    pub(crate) fn is_unknown(self) -> bool {
        matches!(self, Self::PerMillion(PriceTable { input: 0.0, cached_input: 0.0, output: 0.0, .. }))
    }
}

impl From<Prices> for plumbline_engine::Prices {
    fn from(prices: Prices) -> Self {
        let PriceTable { input, cached_input, cache_write, output } = prices.table();
        Self { input, cached_input, cache_write: cache_write.unwrap_or(input), output }
    }
}

/// An object with the prices, or the word `free`; the object first, because keys are looked up in it.
impl JsonSchema for Prices {
    fn schema_name() -> Cow<'static, str> {
        "Prices".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<PriceTable>();
        json_schema!({"anyOf": [table, {"type": "string", "enum": ["free"]}]})
    }
}

/// The remedy for a budget that counts nothing.
const REMEDY: &str = "set `llm.prices` (US dollars per million tokens), or `llm.prices: free` if its requests cost nothing, or \
                      take the budget out and set `limits.token_budget`";

/// The error for a budget that counts nothing, because no model of the job has a price; such a job does not start.
pub(crate) fn budget_without_prices(resolved: &Resolved) -> Option<Problem> {
    let budget = resolved.config.limits.cost_budget_usd?;
    let prices = SECTIONS.map(|(_, purpose)| resolved.llm(purpose).prices);
    let has_price = |prices: &Prices| prices.table() != Prices::Free(Free::Free).table();
    let works = prices.iter().any(has_price) || prices.iter().all(|prices| matches!(prices, Prices::Free(_)));
    (!works).then(|| Problem::new("limits", None, no_budget(budget, &model(resolved, Purpose::Tactical))))
}

fn no_budget(budget: f64, model: &str) -> String {
    format!(
        "`limits.cost_budget_usd` is {budget} and would never be reached: every price of {model} is 0 in `llm.prices`; {REMEDY}"
    )
}

/// Budgets that count nothing, or not all.
pub(crate) fn warnings(resolved: &Resolved) -> Vec<RuleViolation> {
    let of =
        |section: &str, message| RuleViolation::new(&["limits.cost_budget_usd", &format!("{section}.prices")], message);
    if let Some(problem) = budget_without_prices(resolved) {
        return vec![of("llm", problem.message)];
    }
    if resolved.config.limits.cost_budget_usd.is_none() {
        return Vec::new();
    }
    let unpriced = SECTIONS.into_iter().filter(|(_, purpose)| resolved.llm(*purpose).prices.is_unknown());
    let said = |(section, purpose): (&str, Purpose)| {
        let model = model(resolved, purpose);
        let message = format!(
            "`limits.cost_budget_usd` does not count the requests of `{section}`: every price of {model} is 0 there; set \
             `{section}.prices`, or `free` if they cost nothing"
        );
        of(section, message)
    };
    unpriced.map(said).collect()
}

fn model(resolved: &Resolved, purpose: Purpose) -> String {
    resolved.llm(purpose).model.map_or_else(|| "the model".to_owned(), |name| format!("the model {name}"))
}
