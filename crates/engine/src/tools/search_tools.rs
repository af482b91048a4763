//! Tool discovery: the system prompt lists deferred tools by name with one line, and they are bound once the model has
//! searched for them. They are appended after the tools of every request, so that the prefix changes once for each
//! search that finds a new tool. A call of a tool that was not searched for is executed as well.

use super::{Decision, Deed, OwnTool};
use crate::{Phases, Run, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

/// Maximum tools that one search loads.
const MOST: usize = 5;

/// A match below this share of the best score has only words like "the" in common with the query.
const WORTH_LOADING: f64 = 0.25;

/// BM25's usual constants: the saturation of repeated words, and the length normalization.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// Searches the tools that the system prompt lists as available on demand, and loads the best five. They stay loaded for
/// the rest of the job.
///
/// {arguments}
///
/// Example: `{"query": "search the web"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SearchTools {
    /// # What the tool should do, or its name.
    query: String,
}

impl OwnTool for SearchTools {
    const NAME: &str = "search_tools";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        Find further tools by what they do; the best matches can be called from your next answer on.";

    fn decide(self, run: &Run) -> Decision {
        let query = self.query;
        let kind = run.state().phase.kind;
        let offered: Vec<&ToolSpec> = run.settings().deferred(kind).collect();
        let found = best(&query, &offered);
        if found.is_empty() {
            let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
            return Err(format!("no tool on demand fits {query:?}. On demand in this phase: {}.", listed(&names)));
        }
        let mut text = String::from("Loaded; they can be called from your next answer on:\n");
        for tool in &found {
            text.push_str(&format!("- {}: {}\n", tool.name, tool.description));
        }
        Ok(Deed::Load(found.iter().map(|tool| tool.name.to_string()).collect(), text))
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// The best matches by BM25 over names, descriptions and documentation; the name counts three times.
fn best<'a>(query: &str, tools: &[&'a ToolSpec]) -> Vec<&'a ToolSpec> {
    let texts: Vec<Vec<String>> = tools.iter().map(|tool| words_of(tool)).collect();
    let average = texts.iter().map(Vec::len).sum::<usize>() as f64 / texts.len().max(1) as f64;
    let wanted = words(query);
    let score = |text: &[String]| wanted.iter().map(|word| weight(word, text, &texts, average)).sum::<f64>();
    let mut scored: Vec<(f64, &ToolSpec)> = texts.iter().map(|text| score(text)).zip(tools.iter().copied()).collect();
    let top = scored.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    scored.retain(|(score, _)| *score > top * WORTH_LOADING);
    // Stable, so that equal scores preserve the fixed order of the list.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(MOST).map(|(_, tool)| tool).collect()
}

/// The contribution of one word of the query to a text's score.
fn weight(word: &str, text: &[String], all: &[Vec<String>], average: f64) -> f64 {
    let holders = all.iter().filter(|text| text.iter().any(|other| other == word)).count() as f64;
    let rarity = (1.0 + (all.len() as f64 - holders + 0.5) / (holders + 0.5)).ln();
    let times = text.iter().filter(|other| *other == word).count() as f64;
    let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * text.len() as f64 / average;
    rarity * times * (SATURATION + 1.0) / (times + SATURATION * length)
}

fn words_of(tool: &ToolSpec) -> Vec<String> {
    words(&format!("{0} {0} {0} {1} {2}", tool.name, tool.description, tool.documentation))
}

/// Words in lower case without plural endings; tool names need no more grammar.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 1);
    let singular = |word: &str| word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word).to_string();
    parts.map(|word| singular(&word.to_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            documentation: String::new(),
            ..super::super::specs().remove(0)
        }
    }

    #[test]
    fn the_tool_that_does_it_comes_first() {
        let tools = [
            tool("web_search", "Search the web and keep what was found."),
            tool("fetch_page", "Read one web page into web_sources/."),
            tool("query_similar_requirements", "The nearest requirements to a text."),
            tool("cite", "Quote a source."),
            tool("index_page", "Put a page into the index."),
        ];
        let all: Vec<&ToolSpec> = tools.iter().collect();
        let names = |query: &str| best(query, &all).iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names("web_search"), ["web_search", "fetch_page"]);
        assert_eq!(names("download pages from the web")[0], "fetch_page");
        assert_eq!(names("similar requirement"), ["query_similar_requirements"]);
        assert_eq!(names("quotes")[0], "cite");
        assert!(names("bake bread").is_empty());
        assert!(names("").is_empty());
    }
}
