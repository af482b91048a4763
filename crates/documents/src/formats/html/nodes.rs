//! Reads nodes of a page's tree.

use htmd::Node;
use html5ever::tendril::StrTendril;
use markup5ever_rcdom::NodeData;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) fn attribute(node: &Rc<Node>, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

/// Its own style, in lower case without white space; empty if it has none.
pub(super) fn style(node: &Rc<Node>) -> String {
    attribute(node, "style").map(|style| style.to_ascii_lowercase().split_whitespace().collect()).unwrap_or_default()
}

/// The elements of a name within a node.
pub(super) fn elements(node: &Rc<Node>, name: &str) -> Vec<Rc<Node>> {
    let mut found = Vec::new();
    for child in node.children.borrow().iter() {
        if node_name(child) == name {
            found.push(Rc::clone(child));
        }
        found.extend(elements(child, name));
    }
    found
}

pub(super) fn node_name(node: &Rc<Node>) -> &str {
    match &node.data {
        NodeData::Element { name, .. } => &name.local,
        _ => "",
    }
}

/// The node around a node; none around the whole page.
pub(super) fn parent(node: &Rc<Node>) -> Option<Rc<Node>> {
    let parent = node.parent.take();
    node.parent.set(parent.clone());
    parent.and_then(|parent| parent.upgrade())
}

/// All text within a node, verbatim.
pub(super) fn words(node: &Rc<Node>) -> String {
    fn read(node: &Rc<Node>, out: &mut String) {
        if let NodeData::Text { contents } = &node.data {
            out.push_str(&contents.borrow());
            out.push(' ');
        }
        if !is_any(node, &["script", "style", "template"]) {
            node.children.borrow().iter().for_each(|child| read(child, out));
        }
    }
    let mut out = String::new();
    read(node, &mut out);
    out.trim().to_owned()
}

pub(super) fn is_any(node: &Rc<Node>, names: &[&str]) -> bool {
    names.contains(&node_name(node))
}

pub(super) fn text_node(text: &str) -> Rc<Node> {
    Node::new(NodeData::Text { contents: RefCell::new(StrTendril::from_slice(text)) })
}
