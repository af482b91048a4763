//! Preprocesses a page's tree before it is written as Markdown: visible content that is not text becomes text (values
//! of forms, formulas), and invisible content is removed and reported.

use super::beside;
use super::contents;
use super::nodes::{attribute, elements, is_any, node_name, parent, style, text_node, words};
use super::sheets;
use super::tables::{self, CELLS};
use super::unshown::{self, Unshown};
use crate::formats::blocks::LINE;
use crate::formats::formula::Formula;
use crate::formats::warnings::first_words;
use htmd::Node;
use markup5ever_rcdom::NodeData;
use std::rc::Rc;

/// Deleted text.
const STRUCK: [&str; 3] = ["del", "s", "strike"];
/// Pages and programs within the page.
const EMBEDDED: [&str; 6] = ["iframe", "frame", "object", "embed", "video", "audio"];
/// A button within one of these is its label.
const NAMED_BY_BUTTON: [&str; 11] = ["h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "dd", "th", "td"];
/// Within a cell each of these begins a line.
const LINES: [&str; 5] = ["p", "div", "ul", "ol", "li"];
/// Signs of links to the heading before them.
const ANCHORS: [&str; 3] = ["\u{b6}", "#", "\u{1f517}"];
const LISTS: [&str; 2] = ["ul", "ol"];
/// Form fields that show their value.
const SHOWN_INPUTS: [&str; 12] =
    ["", "text", "number", "date", "datetime-local", "month", "time", "week", "email", "url", "tel", "search"];

/// What a page has outside its text.
#[derive(Default)]
pub(super) struct Outside {
    /// Sentences about content that was removed.
    pub(super) warnings: Vec<String>,
    /// Text that is not shown.
    pub(super) unshown: Vec<Unshown>,
}

/// Preprocesses a page's tree and reports the removed content.
pub(super) fn settle(page: &Rc<Node>) -> Outside {
    let mut outside = Outside::default();
    sheets::apply(page);
    walk(page, false, &mut outside);
    beside::count_pictures(&mut outside.warnings);
    outside
}

/// How an element is replaced.
enum Fate {
    Kept,
    /// A replacement; nothing if it is empty.
    Text(String),
    /// The same, and sentences about the rest.
    Part(String, Vec<String>),
    /// Replaced by its content.
    Opened,
    /// Replaced by the content of another node.
    Shown(Option<Rc<Node>>),
    /// Removed, with sentences about it.
    Out(Vec<String>),
    /// Removed: it is not shown.
    Unshown(Vec<Unshown>),
}

fn walk(parent: &Rc<Node>, names: bool, outside: &mut Outside) {
    let children = parent.children.take();
    children.iter().filter(|child| node_name(child) == "table").for_each(tables::judge);
    // Most elements are kept in place.
    if children.iter().all(|child| matches!(fate(child, names), Fate::Kept) && !is_without_rows(child)) {
        for child in &children {
            keep(child, names, outside);
        }
        *parent.children.borrow_mut() = children;
        return;
    }
    let mut settled = Vec::with_capacity(children.len());
    for child in children {
        let fate = fate(&child, names);
        if !matches!(fate, Fate::Out(_) | Fate::Unshown(_) | Fate::Kept) {
            outside.unshown.extend(unshown::attributes(&child));
        }
        match fate {
            Fate::Kept => {
                keep(&child, names, outside);
                settled.push(if is_without_rows(&child) { without_rows(&child) } else { child });
            }
            Fate::Text(text) => settled.extend((!text.is_empty()).then(|| text_node(&text))),
            Fate::Part(text, said) => {
                settled.push(text_node(&text));
                outside.warnings.extend(said);
            }
            Fate::Opened => {
                walk(&child, names, outside);
                settled.append(&mut child.children.borrow_mut());
            }
            Fate::Shown(content) => {
                if let Some(content) = content {
                    walk(&content, names, outside);
                    settled.append(&mut content.children.borrow_mut());
                }
            }
            Fate::Out(said) => outside.warnings.extend(said),
            Fate::Unshown(texts) => outside.unshown.extend(texts),
        }
    }
    settled.iter().for_each(|child| child.parent.set(Some(Rc::downgrade(parent))));
    *parent.children.borrow_mut() = settled;
}

fn keep(node: &Rc<Node>, names: bool, outside: &mut Outside) {
    if matches!(node.data, NodeData::Element { .. } | NodeData::Document) {
        outside.unshown.extend(unshown::attributes(node));
        walk(node, names || is_any(node, &NAMED_BY_BUTTON), outside);
        if tables::is_cell(node) || (is_any(node, &LISTS) || is_any(node, &CELLS)) && is_in_cell(node) {
            set_lines_apart(node);
        }
        if node_name(node) == "table" && !is_without_rows(node) {
            tables::settle(node);
        }
    }
}

/// Separates the paragraphs of a cell, which the converter joins.
fn set_lines_apart(cell: &Rc<Node>) {
    let (mut apart, mut is_behind, mut has_begun) = (Vec::new(), false, false);
    for child in cell.children.take() {
        let is_line = is_any(&child, &LINES);
        let begins_line = is_line || is_behind && !words(&child).is_empty();
        is_behind = if begins_line { is_line } else { is_behind };
        // White space before the first line, as many pages have it, is no line.
        let is_further = begins_line && has_begun;
        has_begun |= !matches!(&child.data, NodeData::Text { contents } if contents.borrow().trim().is_empty());
        if is_further {
            let line = text_node(LINE);
            line.parent.set(Some(Rc::downgrade(cell)));
            apart.push(line);
        }
        apart.push(child);
    }
    *cell.children.borrow_mut() = apart;
}

/// Whether an element is within a cell of a table that is written as rows.
fn is_in_cell(node: &Rc<Node>) -> bool {
    parent(node).is_some_and(|parent| tables::is_cell(&parent) || is_in_cell(&parent))
}

/// Whether an element is a table that is not written as rows: one for layout, or within a cell.
fn is_without_rows(node: &Rc<Node>) -> bool {
    node_name(node) == "table" && (tables::is_layout(node) || is_in_cell(node))
}

fn without_rows(table: &Rc<Node>) -> Rc<Node> {
    if is_in_cell(table) { tables::as_lines(table) } else { tables::as_blocks(table) }
}

fn fate(node: &Rc<Node>, names: bool) -> Fate {
    let name = match &node.data {
        NodeData::Element { name, .. } => name,
        NodeData::Comment { contents } => return Fate::Unshown(unshown::comment(contents).into_iter().collect()),
        _ => return Fate::Kept,
    };
    match &*name.local {
        "html" | "body" | "head" | "style" | "title" => Fate::Kept,
        "template" if attribute(node, "shadowrootmode").is_some() => Fate::Shown(beside::template(node)),
        "template" | "script" | "noscript" | "nav" | "datalist" | "img" | "area" | "meta" => not_text(node),
        _ if is_hidden(node) => Fate::Out(out("hidden", node)),
        _ if is_struck(node) => Fate::Out(out("struck out", node)),
        "div" if beside::is_page_edge(node) => Fate::Out(out("a running header or footer", node)),
        "div" | "section" | "ul" | "ol" | "p" if contents::is_contents(node) => {
            Fate::Out(out("a table of contents or an index", node))
        }
        "br" if is_in_cell(node) => Fate::Text(LINE.to_owned()),
        "math" => Fate::Text(format!(" {} ", formula(node))),
        "input" => Fate::Text(input(node)),
        "select" => chosen(node),
        "sup" => raised(node),
        "a" if is_anchor(node) => Fate::Text(String::new()),
        // The reading of a word, in brackets as old browsers show it.
        "rt" => Fate::Text(format!("({})", words(node))),
        "rp" => Fate::Text(String::new()),
        "button" => button(node, names),
        "svg" => Fate::Out(out("text in a drawing", node)),
        tag if STRUCK.contains(&tag) => Fate::Out(out("struck out", node)),
        // Without an address, its content is shown.
        "object" | "video" | "audio" if address(node).is_none() => Fate::Opened,
        tag if EMBEDDED.contains(&tag) => Fate::Out(embedded(node)),
        _ => Fate::Kept,
    }
}

/// An element that is not text.
fn not_text(node: &Rc<Node>) -> Fate {
    let unshown = match node_name(node) {
        "script" => unshown::data(node),
        "meta" => unshown::description(node).into_iter().collect(),
        _ => Vec::new(),
    };
    if unshown.is_empty() { Fate::Out(beside::said(node)) } else { Fate::Unshown(unshown) }
}

fn out(why: &str, node: &Rc<Node>) -> Vec<String> {
    let words = words(node);
    let says_something = words.chars().any(char::is_alphanumeric);
    says_something.then(|| format!("Left out as {why}: {}.", first_words(&words))).into_iter().collect()
}

fn is_struck(node: &Rc<Node>) -> bool {
    let style = style(node);
    style.split(';').any(|rule| rule.starts_with("text-decoration") && rule.contains("line-through"))
}

fn is_hidden(node: &Rc<Node>) -> bool {
    let style = style(node);
    let hides = |rule: &str| style.split(';').any(|own| own.trim_end_matches("!important") == rule);
    attribute(node, "hidden").is_some() || hides("display:none") || hides("visibility:hidden")
}

/// Whether a link is the sign behind a heading that leads to the heading itself: `¶`.
fn is_anchor(node: &Rc<Node>) -> bool {
    attribute(node, "href").is_some_and(|address| address.contains('#')) && ANCHORS.contains(&words(node).as_str())
}

/// A raised number: it is none of the digits before it.
fn raised(node: &Rc<Node>) -> Fate {
    crate::formats::raised::raised(&words(node)).map_or(Fate::Kept, Fate::Text)
}

/// The entered value.
fn input(node: &Rc<Node>) -> String {
    let kind = attribute(node, "type").unwrap_or_default().to_ascii_lowercase();
    match kind.as_str() {
        "checkbox" | "radio" => {
            if attribute(node, "checked").is_some() {
                "[x] ".to_owned()
            } else {
                "[ ] ".to_owned()
            }
        }
        kind if SHOWN_INPUTS.contains(&kind) => {
            attribute(node, "value").map(|value| format!(" {} ", value.trim())).unwrap_or_default()
        }
        "button" | "submit" | "reset" => {
            attribute(node, "value").filter(|value| beside::is_prose(value)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// The chosen entries: without a selection, a drop-down list shows its first entry.
fn chosen(node: &Rc<Node>) -> Fate {
    let options = elements(node, "option");
    let is_marked = |option: &&Rc<Node>| attribute(option, "selected").is_some();
    let shows_first = attribute(node, "multiple").is_none() && !options.iter().any(|option| is_marked(&option));
    let (shown, others): (Vec<_>, Vec<_>) =
        options.iter().enumerate().partition(|(at, option)| is_marked(option) || (shows_first && *at == 0));
    let shown: Vec<String> = shown.into_iter().map(|(_, option)| words(option)).collect();
    let others = others.into_iter().map(|(_, option)| option);
    Fate::Part(format!(" {} ", shown.join("; ").trim()), beside::not_chosen(others))
}

/// A button that labels its target, or contains a heading, is text; others are controls.
fn button(node: &Rc<Node>, names: bool) -> Fate {
    let has_heading = NAMED_BY_BUTTON.iter().any(|tag| !elements(node, tag).is_empty());
    let opens = attribute(node, "aria-expanded").is_some() || attribute(node, "aria-controls").is_some();
    let says_more = beside::is_prose(&words(node));
    if has_heading || names || opens || says_more { Fate::Opened } else { Fate::Out(Vec::new()) }
}

fn address(node: &Rc<Node>) -> Option<String> {
    let own = ["src", "data", "srcdoc"].into_iter().find_map(|name| attribute(node, name));
    own.or_else(|| elements(node, "source").iter().find_map(|source| attribute(source, "src")))
}

/// Embedded content, and its fallback.
fn embedded(node: &Rc<Node>) -> Vec<String> {
    let what = match node_name(node) {
        "video" | "audio" => "a recording",
        _ => "a page or program within the page",
    };
    let named = address(node).map(|address| format!("Not in the text: {what}, {}.", first_words(&address)));
    named.into_iter().chain(out("shown in place of another thing", node)).collect()
}

/// A formula's text.
fn formula(node: &Rc<Node>) -> String {
    fn read(node: &Rc<Node>, formula: &mut Formula) -> Option<String> {
        match &node.data {
            NodeData::Text { contents } => formula.text(&contents.borrow()),
            NodeData::Element { name, .. } => {
                formula.begin(&name.local, None);
                node.children.borrow().iter().for_each(|child| drop(read(child, formula)));
                return formula.end();
            }
            _ => {}
        }
        None
    }
    let read = read(node, &mut Formula::default()).filter(|text| !text.trim().is_empty());
    read.or_else(|| attribute(node, "alttext")).unwrap_or_default()
}
