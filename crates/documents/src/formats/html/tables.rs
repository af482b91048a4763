//! Tables of a page. The converter writes one header row, of which it reads the `th` alone, and from all other rows the
//! `td` alone; further rows of a `thead` and cells of the other kind would be missing from the text.

use super::nodes::{attribute, is_any, node_name, parent, text_node, words};
use crate::formats::blocks::{LINE, label_of_rows};
use htmd::Node;
use html5ever::{Attribute, LocalName, QualName, ns};
use markup5ever_rcdom::NodeData;
use std::cell::RefCell;
use std::rc::Rc;

/// Cells of a table.
pub(super) const CELLS: [&str; 2] = ["td", "th"];
/// Maximum columns or rows of a cell.
const MOST_SPANNED: usize = 64;
/// The mark of a table for layout; no page can have an attribute of that name.
const LAYOUT: &str = "layout table";
/// In the cells of a table that has rows there are none of these.
const PARTS_OF_PAGES: [&str; 11] = ["table", "h1", "h2", "h3", "h4", "h5", "h6", "nav", "article", "section", "form"];
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
    spread(&rows);
    // Without a `thead` the converter takes the table for layout and writes no rows.
    let header = rows.drain(..usize::from(has_header)).collect();
    settled.push(part(empty(&first, "thead"), "th", header));
    settled.push(part(empty(&first, "tbody"), "td", rows));
    adopt(table, settled);
}

/// Decides whether a table has rows, or places parts of the page: that has no name of a column or row, and one row or
/// column alone, or whole parts of a page in its cells.
pub(super) fn judge(table: &Rc<Node>) {
    let rows = rows(table);
    let has_names =
        rows.iter().any(|row| has(row, "th") || parent(row).is_some_and(|part| node_name(&part) == "thead"));
    let role = attribute(table, "role").unwrap_or_default();
    let widest =
        || rows.iter().map(|row| row.children.borrow().iter().filter(|cell| is_any(cell, &CELLS)).count()).max();
    let is_layout = !has_names
        && (matches!(role.as_str(), "presentation" | "none")
            || rows.len() < 2
            || widest().is_none_or(|widest| widest < 2)
            || rows.iter().any(has_part));
    if let (true, NodeData::Element { attrs, .. }) = (is_layout, &table.data) {
        let name = QualName::new(None, ns!(), LocalName::from(LAYOUT));
        attrs.borrow_mut().push(Attribute { name, value: "".into() });
    }
}

/// Whether a table is one for the layout of the page.
pub(super) fn is_layout(table: &Rc<Node>) -> bool {
    attribute(table, LAYOUT).is_some()
}

/// Whether an element is a cell of a table that is none for layout.
pub(super) fn is_cell(node: &Rc<Node>) -> bool {
    let tables = || std::iter::successors(parent(node), parent).find(|above| node_name(above) == "table");
    is_any(node, &CELLS) && tables().is_none_or(|table| !is_layout(&table))
}

/// A table within a cell as lines of that cell, one a row.
pub(super) fn as_lines(table: &Rc<Node>) -> Rc<Node> {
    let lines = empty(table, "div");
    let mut content = Vec::new();
    for row in rows(table) {
        if !content.is_empty() {
            content.push(text_node(LINE));
        }
        for cell in row.children.take().into_iter().filter(|cell| is_any(cell, &CELLS)) {
            content.extend(cell.children.take());
            content.push(text_node(" "));
        }
    }
    adopt(&lines, content);
    lines.parent.set(parent(table).map(|parent| Rc::downgrade(&parent)));
    lines
}

/// A table for layout as the parts of the page in its cells. Within a table the converter writes no rows of another one.
pub(super) fn as_blocks(table: &Rc<Node>) -> Rc<Node> {
    let blocks = with_name(table, "div");
    let mut content = Vec::new();
    for child in blocks.children.take() {
        match node_name(&child) {
            "tr" => content.push(child),
            name if PARTS.contains(&name) => content.extend(child.children.take()),
            _ => content.push(child),
        }
    }
    for row in content.iter_mut().filter(|row| node_name(row) == "tr") {
        let cells = row
            .children
            .take()
            .iter()
            .map(|cell| if is_any(cell, &CELLS) { with_name(cell, "div") } else { Rc::clone(cell) })
            .collect();
        *row = with_name(row, "div");
        adopt(row, cells);
    }
    adopt(&blocks, content);
    blocks
}

/// The rows of a table, not those of tables in it.
fn rows(table: &Rc<Node>) -> Vec<Rc<Node>> {
    let mut rows = Vec::new();
    for child in table.children.borrow().iter() {
        match node_name(child) {
            "tr" => rows.push(Rc::clone(child)),
            part if PARTS.contains(&part) => {
                rows.extend(child.children.borrow().iter().filter(|row| node_name(row) == "tr").cloned());
            }
            _ => {}
        }
    }
    rows
}

/// Whether a node has a part of a page in it.
fn has_part(node: &Rc<Node>) -> bool {
    node.children.borrow().iter().any(|child| is_any(child, &PARTS_OF_PAGES) || has_part(child))
}

/// Gives a cell of several columns or rows cells for the others, so that the cells after it are in their columns. They are
/// empty, but a label is repeated in its rows.
fn spread(rows: &[Rc<Node>]) {
    // For each column, how many further rows the cell above takes, and its label.
    let mut taken: Vec<(usize, String)> = Vec::new();
    for row in rows {
        let (mut cells, mut column) = (Vec::new(), 0);
        for child in row.children.take() {
            while let Some((below, label)) =
                taken.get_mut(column).filter(|(below, _)| *below > 0 && is_any(&child, &CELLS))
            {
                *below -= 1;
                let cell = empty(&child, "td");
                adopt(&cell, vec![text_node(label)]);
                cells.push(cell);
                column += 1;
            }
            let width = if is_any(&child, &CELLS) { span(&child, "colspan") } else { 0 };
            taken.resize(taken.len().max(column + width), Default::default());
            taken[column..column + width].fill((span(&child, "rowspan") - 1, String::new()));
            if let Some((_, own)) = taken.get_mut(column).filter(|_| width > 0) {
                *own = label_of_rows(&words(&child)).to_owned();
            }
            let others: Vec<Rc<Node>> = (1..width).map(|_| empty(&child, "td")).collect();
            cells.push(child);
            cells.extend(others);
            column += width;
        }
        taken.iter_mut().skip(column).for_each(|(below, _)| *below = below.saturating_sub(1));
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
