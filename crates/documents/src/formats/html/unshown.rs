//! Text of a page that a browser shows to no reader, or only on request: comments, hints, labels for screen readers,
//! descriptions for search engines. Most of it is about the page itself, so it is reported only if it states a duty, is
//! in a language without rules, or is all that the page has.

use super::beside::{is_prose, without_tags};
use super::nodes::{attribute, words};
use crate::candidates::is_foreign;
use crate::formats::repeated::label_obliges;
use crate::formats::warnings::first_words;
use htmd::Node;
use plumbline_engine::one_line;
use serde_json::Value;
use std::rc::Rc;

/// Attributes with text, and what they are.
const ATTRIBUTES: [(&str, &str); 4] = [
    ("title", "a hint"),
    ("placeholder", "a hint"),
    ("aria-label", "a label for screen readers"),
    ("aria-description", "a label for screen readers"),
];

/// A text, and what it is.
pub(super) struct Unshown {
    why: &'static str,
    text: String,
}

impl Unshown {
    fn of(why: &'static str, text: &str) -> Option<Self> {
        is_prose(text).then(|| Self { why, text: one_line(text) })
    }
}

/// What the attributes of an element say beside its own text.
pub(super) fn attributes(node: &Rc<Node>) -> Vec<Unshown> {
    let found = ATTRIBUTES.into_iter().filter_map(|(name, why)| Unshown::of(why, &attribute(node, name)?));
    let mut found = found.peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    let own = one_line(&words(node));
    found.filter(|unshown| !own.contains(&unshown.text)).collect()
}

/// A comment, without its markup.
pub(super) fn comment(text: &str) -> Option<Unshown> {
    // Conditional comments, which one old browser shows, begin with a condition.
    let shown = text.strip_prefix("[if ").and_then(|text| text.split_once("]>")).map(|(_, shown)| shown);
    let text = without_tags(shown.or_else(|| text.strip_prefix("[CDATA[")).unwrap_or(text));
    Unshown::of("a comment", text.trim().trim_end_matches("]]"))
}

/// The description in a page's head.
pub(super) fn description(meta: &Rc<Node>) -> Option<Unshown> {
    let name = attribute(meta, "name").or_else(|| attribute(meta, "property"))?.to_ascii_lowercase();
    let is_description = name.rsplit([':', '.']).next() == Some("description");
    is_description.then(|| Unshown::of("a description for search engines", &attribute(meta, "content")?)).flatten()
}

/// The texts of data for search engines, JSON-LD.
pub(super) fn data(script: &Rc<Node>) -> Vec<Unshown> {
    let is_data = attribute(script, "type").is_some_and(|kind| kind.to_ascii_lowercase().contains("ld+json"));
    let source = || script.children.borrow().iter().map(words).collect::<String>();
    let mut found = Vec::new();
    if let Some(data) = is_data.then(source).and_then(|source| serde_json::from_str::<Value>(&source).ok()) {
        texts(&data, &mut found);
    }
    found
}

fn texts(value: &Value, found: &mut Vec<Unshown>) {
    match value {
        Value::String(text) => found.extend(Unshown::of("data for search engines", &without_tags(text))),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// The sentences about those that a reader of the page's text misses.
pub(super) fn sentences(unshown: Vec<Unshown>, page: &str) -> Vec<String> {
    if unshown.is_empty() {
        return Vec::new();
    }
    let page = one_line(page);
    let is_missed = |one: &Unshown| page.is_empty() || (binds(&one.text) && !page.contains(&one.text));
    let missed = unshown.into_iter().filter(is_missed);
    missed.map(|one| format!("Left out as {}: {}.", one.why, first_words(&one.text))).collect()
}

/// A page's title, if it states a duty that the page's text does not have: readers see it above the page.
pub(super) fn title_that_binds<'a>(title: Option<&'a str>, page: &str) -> Option<&'a str> {
    title.filter(|title| is_prose(title) && !one_line(page).contains(title) && label_obliges(title))
}

fn binds(text: &str) -> bool {
    label_obliges(text) || is_foreign(text)
}
