//! Tables of contents of pages: named so, and nothing but links to places in the page, whose headings say the same.

use super::nodes::{attribute, elements, node_name};
use htmd::Node;
use markup5ever_rcdom::NodeData;
use std::rc::Rc;

/// Parts of the names that word processors and generators of pages give to tables of contents.
const NAMES: [&str; 5] = ["toc", "contents", "msotoc", "inhalt", "inhaltsverzeichnis"];
/// Words outside the links: the title of the table.
const MOST_OUTSIDE: usize = 4;

/// Whether an element is a table of contents, or an entry of one.
pub(super) fn is_contents(node: &Rc<Node>) -> bool {
    let is_named = ["id", "class"].into_iter().filter_map(|name| attribute(node, name)).any(|name| is_name(&name));
    is_named && elements(node, "a").iter().any(leads_within) && words_outside(node) <= MOST_OUTSIDE
}

/// `Table of Contents1`, `toc`, `MsoToc2`, `contents topic`.
fn is_name(name: &str) -> bool {
    let words = name.split(|sign: char| !sign.is_alphabetic());
    words.map(str::to_lowercase).any(|word| NAMES.contains(&word.as_str()))
}

fn leads_within(link: &Rc<Node>) -> bool {
    attribute(link, "href").is_some_and(|address| address.starts_with('#'))
}

/// How many words an element has outside links to places in the page.
fn words_outside(node: &Rc<Node>) -> usize {
    match &node.data {
        NodeData::Text { contents } => {
            contents.borrow().split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count()
        }
        _ if node_name(node) == "a" && leads_within(node) => 0,
        _ => node.children.borrow().iter().map(words_outside).sum(),
    }
}
