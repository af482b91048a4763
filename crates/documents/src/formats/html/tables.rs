//! Tables of a page. The converter writes one header row, of which it reads the `th` alone, and from all other rows the
//! `td` alone; further rows of a `thead` and cells of the other kind would be missing from the text.

use super::nodes::{is_any, node_name};
use htmd::Node;
use html5ever::LocalName;
use markup5ever_rcdom::NodeData;
use std::cell::RefCell;
use std::rc::Rc;

/// Cells of a table.
pub(super) const CELLS: [&str; 2] = ["td", "th"];
const PARTS: [&str; 3] = ["thead", "tbody", "tfoot"];

/// Makes the first row a header of `th` if the page says that it is one, and all other rows a body of `td`.
pub(super) fn settle(table: &Rc<Node>) {
    let (mut rows, mut settled) = (Vec::new(), Vec::new());
    let mut first_is_head = false;
    for child in table.children.take() {
        match node_name(&child) {
            "tr" => rows.push(child),
            part if PARTS.contains(&part) => {
                first_is_head |= rows.is_empty() && part == "thead";
                rows.extend(child.children.take().into_iter().filter(|row| node_name(row) == "tr"));
            }
            _ => settled.push(child),
        }
    }
    let Some(first) = rows.first().cloned() else { return adopt(table, settled) };
    let has_header = first_is_head || has_names_alone(&first);
    // Without a `thead` the converter takes the table for layout and writes no rows.
    if has_header || rows.iter().any(|row| has(row, "th")) {
        let header = rows.drain(..usize::from(has_header)).collect();
        settled.push(part(empty(&first, "thead"), "th", header));
    }
    settled.push(part(empty(&first, "tbody"), "td", rows));
    adopt(table, settled);
}

fn has_names_alone(row: &Rc<Node>) -> bool {
    has(row, "th") && !has(row, "td")
}

fn has(row: &Rc<Node>, cell: &str) -> bool {
    row.children.borrow().iter().any(|child| node_name(child) == cell)
}

/// The part of a table with these rows, whose cells get this name.
fn part(part: Rc<Node>, cell: &str, rows: Vec<Rc<Node>>) -> Rc<Node> {
    for row in &rows {
        let rename = |child: Rc<Node>| if is_any(&child, &CELLS) { with_name(&child, cell) } else { child };
        let cells = row.children.take().into_iter().map(rename).collect();
        adopt(row, cells);
    }
    adopt(&part, rows);
    part
}

/// The element under another name, with its content.
fn with_name(element: &Rc<Node>, name: &str) -> Rc<Node> {
    let other = empty(element, name);
    if let (NodeData::Element { attrs, .. }, NodeData::Element { attrs: own, .. }) = (&element.data, &other.data) {
        own.swap(attrs);
    }
    adopt(&other, element.children.take());
    other
}

/// An empty element of this name.
fn empty(like: &Rc<Node>, name: &str) -> Rc<Node> {
    let NodeData::Element { name: own, .. } = &like.data else { return Rc::clone(like) };
    let mut own = own.clone();
    own.local = LocalName::from(name);
    Node::new(NodeData::Element {
        name: own,
        attrs: RefCell::default(),
        template_contents: RefCell::default(),
        mathml_annotation_xml_integration_point: false,
    })
}

fn adopt(parent: &Rc<Node>, children: Vec<Rc<Node>>) {
    children.iter().for_each(|child| child.parent.set(Some(Rc::downgrade(parent))));
    *parent.children.borrow_mut() = children;
}
