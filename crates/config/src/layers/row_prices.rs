//! The prices of a model chosen by a job's row. Prices in the operator's files apply to the models that they name; with
//! another model's prices a job would exceed its cost budget.

use super::{Kind, Layer, merge::overlaid};
use crate::{
    Prices, Profiles, Resolved,
    keys::llm::SECTIONS,
    rules::{level::Level, levels::Forbidden, violation::RuleViolation},
};
use plumbline_engine::Purpose;
use serde_json::{Value, json};

/// The parts of a configuration whose model a row may choose.
fn parts() -> [&'static str; 3] {
    SECTIONS.map(|(_, purpose)| purpose.as_str())
}

/// The layer that replaces the prices of the models without the row by those of the models with it; none if the row
/// changes no model. `below` is the configuration without the row, `row` with it.
pub(crate) fn layer(below: &Value, row: &Value, profiles: &Profiles) -> Option<Layer> {
    let is_changed = |part: &&str| is_another(&whole(below, part), &whole(row, part));
    let changed: Vec<&str> = parts().into_iter().chain([""]).filter(is_changed).collect();
    if changed.is_empty() {
        return None;
    }
    let known = said(below);
    let prices = |part: &str| {
        let (before, now) = (whole(below, part), whole(row, part));
        match changed.contains(&part) {
            true => prices_of(&now, &known, profiles),
            false => before["prices"].clone(),
        }
    };
    let of_llm = prices("");
    let mut value = json!({"llm": {"prices": of_llm, "fallback": without_tiers(&below["llm"]["fallback"])}});
    for part in parts() {
        let of_part = prices(part);
        if of_part != of_llm || !below["llm_by_purpose"][part]["prices"].is_null() {
            value["llm_by_purpose"][part]["prices"] = of_part;
        }
    }
    Some(Layer::synthetic_file("the prices of the job's model", value, Kind::RowPrices))
}

/// The section `llm` with a part merged over it; only `llm` if the part has no name.
fn whole(config: &Value, part: &str) -> Value {
    overlaid(&config["llm"], &config["llm_by_purpose"][part])
}

/// Whether a section that had a model has a different one.
fn is_another(before: &Value, now: &Value) -> bool {
    before["model"].is_string() && !is_same(before, now)
}

/// The keys that determine prices.
const PRICED_BY: [&str; 3] = ["model", "base_url", "service_tier"];

/// Whether two sections have the same prices.
fn is_same(one: &Value, other: &Value) -> bool {
    PRICED_BY.iter().all(|key| one[*key] == other[*key])
}

/// Every model with prices in the operator's configuration, as a section of `llm`.
fn said(below: &Value) -> Vec<Value> {
    let llm = &below["llm"];
    let parts = parts().map(|part| whole(below, part));
    let priced = |entry: &&Value| !entry["llm"]["prices"].is_null() && !entry["llm"]["model"].is_null();
    let fallbacks = llm["fallback"].as_array().into_iter().flatten();
    let fallbacks = fallbacks.filter(priced).map(|entry| overlaid(llm, &entry["llm"]));
    let is_known = |section: &Value| !is_unknown(&section["prices"]);
    [llm.clone()].into_iter().chain(parts).chain(fallbacks).filter(is_known).collect()
}

fn is_unknown(prices: &Value) -> bool {
    serde_json::from_value(prices.clone()).map_or(true, Prices::is_unknown)
}

fn prices_of(section: &Value, known: &[Value], profiles: &Profiles) -> Value {
    let said = known.iter().find(|other| is_same(other, section)).map(|other| other["prices"].clone());
    let mut prices = said.unwrap_or_else(|| profiles.prices_of(section));
    if prices.is_null() {
        return json!({"input": 0.0, "cached_input": 0.0, "cache_write": 0.0, "output": 0.0});
    }
    // Set explicitly, because the price of another model would fill an omitted value.
    if prices.is_object() && prices["cache_write"].is_null() {
        prices["cache_write"] = prices["input"].clone();
    }
    prices
}

/// Values of another tier of a model apply only to that model.
fn without_tiers(fallback: &Value) -> Value {
    let mut fallback = fallback.clone();
    let parts = fallback.as_array_mut().into_iter().flatten().filter_map(|entry| entry.get_mut("llm")?.as_object_mut());
    for part in parts.filter(|part| !part.contains_key("model")) {
        part.remove("prices");
    }
    fallback
}

/// A model that the row chooses although the job's cost budget cannot count it.
///
/// # Errors
/// The key, its level and a sentence.
pub(crate) fn check(resolved: &Resolved, below: &Value) -> Result<(), (Forbidden, String)> {
    if resolved.config.limits.cost_budget_usd.is_none() {
        return Ok(());
    }
    let uncounted = SECTIONS.into_iter().find(|(_, purpose)| {
        let llm = resolved.llm(*purpose);
        llm.prices.is_unknown() && is_another(&whole(below, purpose.as_str()), &json!(llm))
    });
    uncounted.map_or(Ok(()), |(section, purpose)| Err(refused(resolved, below, section, purpose)))
}

fn refused(resolved: &Resolved, below: &Value, section: &str, purpose: Purpose) -> (Forbidden, String) {
    let (llm, before) = (resolved.llm(purpose), whole(below, purpose.as_str()));
    let now = json!(llm);
    let changed = PRICED_BY.into_iter().find(|key| now[*key] != before[*key]).unwrap_or("model");
    let is_of_part = resolved.config.llm_by_purpose.of(purpose).contains_key(changed);
    let key = format!("{}.{changed}", if is_of_part { section } else { "llm" });
    let level = if changed == "model" { Level::Job } else { Level::Operator };
    let sentence = format!(
        "`{key}` has level {level}: where `limits.cost_budget_usd` holds, a job may choose a model whose prices are known, and \
         those of `{}` are not; choose another, or ask the operator for its prices in providers.json",
        llm.model.unwrap_or_default()
    );
    (Forbidden { key, level }, sentence)
}

/// Models that a job type allows its rows by name, but whose rows would be refused.
pub(crate) fn warnings(resolved: &Resolved, below: &Value, profiles: &Profiles) -> Vec<RuleViolation> {
    if resolved.config.limits.cost_budget_usd.is_none() {
        return Vec::new();
    }
    let known = said(below);
    let is_unpriced = |name: &&String| {
        let section = overlaid(&below["llm"], &json!({"model": name}));
        let is_name = !name.contains('*') && !is_same(&section, &below["llm"]);
        is_name && is_unknown(&prices_of(&section, &known, profiles))
    };
    let allowed = resolved.config.models_allowed.iter().flatten().filter(is_unpriced);
    let said = |name: &String| {
        let message = format!(
            "`models_allowed` names `{name}`, whose prices are not known, so that `limits.cost_budget_usd` refuses the jobs that \
             choose it; add its prices to providers.json"
        );
        RuleViolation::new(&["models_allowed", "limits.cost_budget_usd"], message)
    };
    allowed.map(said).collect()
}
