//! `plumbline models`: known providers and models.

use crate::{arguments::ModelsArguments, environment, error::Failure, output};
use plumbline_config::{Prices, ProfileEntry};
use serde_json::{Value, json};

pub(crate) fn run(arguments: ModelsArguments) -> Result<u8, Failure> {
    let profiles = environment::configs()?.profiles()?;
    if arguments.json {
        output::json(&profiles.iter().map(as_json).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let mut table = output::table(&["Name", "Address", "Model", "API", "Window", "Prices"]);
    for entry in profiles.iter() {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "any".into());
        let keys = &entry.keys;
        table.add_row([
            entry.name.clone(),
            text(&entry.base_url),
            text(&entry.model),
            keys.api.map_or("chat", |api| api.as_str()).to_owned(),
            keys.context_window.map(|tokens| tokens.to_string()).unwrap_or_default(),
            keys.prices.map(shown).unwrap_or_default(),
        ]);
    }
    output::print(&table.to_string())?;
    Ok(0)
}

fn as_json(entry: &ProfileEntry) -> Value {
    let keys = &entry.keys;
    json!({
        "name": entry.name,
        "match": {"base_url": entry.base_url, "model": entry.model},
        "api": keys.api.map_or("chat", |api| api.as_str()),
        "window": keys.context_window,
        "prices": keys.prices,
        "profile": keys,
    })
}

/// US dollars per million tokens.
fn shown(prices: Prices) -> String {
    let table = prices.table();
    match prices {
        Prices::Free(_) => "free".into(),
        Prices::PerMillion(_) => format!("{} in, {} cached, {} out", table.input, table.cached_input, table.output),
    }
}
