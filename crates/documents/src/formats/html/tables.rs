//! Tables of a page. The converter writes one header row, of which it reads the `th` alone, and from all other rows the
//! `td` alone; further rows of a `thead` and cells of the other kind would be missing from the text.

use super::nodes::{attribute, is_any, node_name};
use htmd::Node;
use html5ever::LocalName;
use markup5ever_rcdom::NodeData;
use std::cell::RefCell;
use std::rc::Rc;

/// Cells of a table.
pub(super) const CELLS: [&str; 2] = ["td", "th"];
/// Maximum columns or rows of a cell.
const MOST_SPANNED: usize = 64;
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
        spread(&rows);
    }
    if has_header || rows.iter().any(|row| has(row, "th")) {
        let header = rows.drain(..usize::from(has_header)).collect();
        settled.push(part(empty(&first, "thead"), "th", header));
    }
    settled.push(part(empty(&first, "tbody"), "td", rows));
    adopt(table, settled);
}

/// Gives a cell of several columns or rows empty cells for the others, so that the cells after it are in their columns.
fn spread(rows: &[Rc<Node>]) {
    // For each column, how many further rows the cell above takes.
    let mut taken: Vec<usize> = Vec::new();
    for row in rows {
        let (mut cells, mut column) = (Vec::new(), 0);
        for child in row.children.take() {
            while let Some(below) = taken.get_mut(column).filter(|below| **below > 0 && is_any(&child, &CELLS)) {
                *below -= 1;
                cells.push(empty(&child, "td"));
                column += 1;
            }
            let width = if is_any(&child, &CELLS) { span(&child, "colspan") } else { 0 };
            taken.resize(taken.len().max(column + width), 0);
            taken[column..column + width].fill(span(&child, "rowspan") - 1);
            let others: Vec<Rc<Node>> = (1..width).map(|_| empty(&child, "td")).collect();
            cells.push(child);
            cells.extend(others);
            column += width;
        }
        taken.iter_mut().skip(column).for_each(|below| *below = below.saturating_sub(1));
        adopt(row, cells);
    }
}

/// How many columns or rows a cell takes.
fn span(cell: &Rc<Node>, name: &str) -> usize {
    attribute(cell, name).and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, MOST_SPANNED)
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
