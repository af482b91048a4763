//! The model's view of a claimed requirement, in some 130 tokens: its short id, its quotes, its text if different, and
//! the findings of the checks. Empty parts are omitted.

use crate::error::ToolError;
use crate::requirements::checks::claimed_rows::Checked;
use crate::requirements::checks::duplicates::Likeness;
use crate::requirements::checks::evidence::{Quote, Quotes};
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::relevance;
use plumbline_engine::{HeldRequirement, one_line};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// Maximum characters of a text shown completely: those of the longest requirement that can be integrated.
pub(super) const LONGEST: usize = 10_000;

/// A row's description, as far as it does not depend on the available room.
pub(super) struct RowShown {
    pub(super) id: Uuid,
    text: Option<String>,
    quotes: Quotes,
    name: String,
    rest: Map<String, Value>,
    /// Whether the document of each quote is shown: the rows are from several.
    tells_source: bool,
}

impl RowShown {
    /// Describes a row under this name.
    pub(super) async fn of(
        graph: Option<&GraphNames<'_>>,
        checked: &Checked,
        quotes: Quotes,
        name: String,
    ) -> Result<Self, ToolError> {
        let Checked { row, findings } = checked;
        let mut rest = Map::new();
        let mut add = |key: &str, value: Value| drop(rest.insert(key.to_owned(), value));
        let similar: Vec<String> = findings.similar.iter().map(|like| title(row, like)).collect();
        for (key, said) in [("faults", &findings.faults), ("remarks", &findings.remarks), ("similar", &similar)] {
            if !said.is_empty() {
                add(key, json!(said));
            }
        }
        if row.gobd_relevant {
            add("gobd", json!(true));
        }
        if let Some(graph) = graph {
            let mentions = graph.of(row).await?;
            for (key, named) in [("objects", &mentions.objects), ("messages", &mentions.messages)] {
                let nodes = nodes(named);
                if !nodes.is_empty() {
                    add(key, Value::Object(nodes));
                }
            }
            let relevance = relevance::report(row, Some(mentions.known));
            if relevance["decision"] != "relevant" && !graph.is_empty() {
                add("relevance", relevance["decision"].clone());
            }
        } else {
            for (key, named) in [("objects", &row.mentioned_objects), ("messages", &row.mentioned_messages)] {
                if named.as_array().is_some_and(|named| !named.is_empty()) {
                    add(key, named.clone());
                }
            }
        }
        let text = (!is_said_by(&row.text, &quotes)).then(|| row.text.clone());
        Ok(Self { id: row.id, text, quotes, name, rest, tells_source: false })
    }

    /// The documents that it quotes.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.quotes.shown.iter().map(|quote| quote.source.as_str())
    }

    /// Shows the document of each quote.
    pub(super) fn show_source(&mut self) {
        self.tells_source = true;
    }

    /// The row with each text limited to `longest` characters, and whether it is complete.
    pub(super) fn written(&self, longest: usize) -> (Value, bool) {
        let mut whole = self.quotes.more == 0;
        let mut cut = |text: &str| match text.char_indices().nth(longest) {
            None => text.to_owned(),
            Some((end, _)) => {
                whole = false;
                format!("{}… ({} characters in all)", &text[..end], text.chars().count())
            }
        };
        let mut written = Map::new();
        written.insert("id".into(), self.name.clone().into());
        if let Some(text) = &self.text {
            written.insert("text".into(), cut(text).into());
        }
        match self.quotes.shown.as_slice() {
            [] => {}
            [quote] => written.extend(self.quote(quote, &mut cut)),
            several => {
                let mut quotes: Vec<Value> =
                    several.iter().map(|quote| Value::Object(self.quote(quote, &mut cut))).collect();
                if self.quotes.more > 0 {
                    quotes.push(json!(format!("{} more", self.quotes.more)));
                }
                written.insert("quotes".into(), quotes.into());
            }
        }
        written.extend(self.rest.clone());
        (Value::Object(written), whole)
    }

    fn quote(&self, quote: &Quote, cut: &mut impl FnMut(&str) -> String) -> Map<String, Value> {
        let Quote { source, page, words, before, after } = quote;
        let mut written = Map::new();
        for (key, text) in [("before", before), ("quote", words), ("after", after)] {
            if !text.is_empty() {
                written.insert(key.into(), cut(text).into());
            }
        }
        if let Some(page) = page {
            written.insert("page".into(), json!(page));
        }
        if self.tells_source && !source.is_empty() {
            written.insert("source".into(), source.clone().into());
        }
        written
    }
}

/// Whether a text equals its quotes joined together.
fn is_said_by(text: &str, quotes: &Quotes) -> bool {
    let said: Vec<&str> = quotes.shown.iter().map(|quote| quote.words.as_str()).collect();
    !said.is_empty() && one_line(text) == one_line(&said.join(" "))
}

/// `r3 'Retention' (pending), 0.93`: one of the same job by its number, as the row itself is shown.
fn title(row: &HeldRequirement, likeness: &Likeness) -> String {
    let known = &likeness.known;
    let number =
        known.number.filter(|_| known.job_id == row.job_id && known.graph_node_id.is_none() && row.number.is_some());
    let title = match (number, &known.name) {
        (Some(number), Some(name)) => format!("r{number} '{name}'"),
        (Some(number), None) => format!("r{number}"),
        (None, _) => likeness.title(),
    };
    let same = if likeness.has_the_same_words() { ", the same words" } else { "" };
    format!("{title} ({}), {:.2}{same}", known.status, likeness.similarity)
}

/// Each mentioned name with its node: the node's id, and its name and similarity if the name differs; null if the graph
/// has none.
fn nodes(mentions: &Value) -> Map<String, Value> {
    let of = |mention: &Value| {
        let mentioned = mention["mentioned"].as_str()?;
        let node = mention["id"].as_str().map(|id| match mention["name"].as_str() {
            Some(name) if name != mentioned => format!("{id} '{name}' {}", mention["similarity"]),
            _ => id.to_owned(),
        });
        Some((mentioned.to_owned(), node.into()))
    };
    mentions.as_array().into_iter().flatten().filter_map(of).collect()
}
