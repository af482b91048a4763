//! Measures the nesting of the elements of an HTML page before a tree is built.
//!
//! A parser's time per element grows with the number of open elements, and tree traversal recurses as deep as the tree:
//! some megabytes of `<div>` take minutes. So a first pass with the same parser, in pieces, records only the depth of
//! each element and stops at the bound. It handles missing end tags like a browser.

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ExpandedName, QualName, local_name, ns, parse_document};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

/// Maximum nesting depth. Browsers have the same limit.
pub(crate) const DEEPEST: usize = 512;
/// Bytes that are parsed between two checks of the bounds.
const PIECE: usize = 16 << 10;

/// Whether a page can be parsed into a tree: it is nested at most [`DEEPEST`] deep, and has at most as many elements as
/// bytes. More elements occur only if missing end tags (`<b>`, `<font>`) make a parser repeat elements again and again.
pub(crate) fn is_bounded(html: &str) -> bool {
    let mut parser = parse_document(Depths::default(), html5ever::ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.ceil_char_boundary(PIECE));
        rest = more;
        parser.process(StrTendril::from_slice(piece));
        let seen = &parser.tokenizer.sink.sink;
        if seen.deepest.get() > DEEPEST || seen.elements.get() > html.len() + PIECE {
            return false;
        }
    }
    true
}

/// An element or the document, and its depth.
struct Node {
    name: QualName,
    depth: Cell<usize>,
}

struct Depths {
    document: Rc<Node>,
    deepest: Cell<usize>,
    elements: Cell<usize>,
}

impl Default for Depths {
    fn default() -> Self {
        let name = QualName::new(None, ns!(), local_name!(""));
        let document = Rc::new(Node { name, depth: Cell::new(0) });
        Self { document, deepest: Cell::new(0), elements: Cell::new(0) }
    }
}

impl Depths {
    fn node(&self, name: QualName) -> Rc<Node> {
        self.elements.set(self.elements.get() + 1);
        Rc::new(Node { name, depth: Cell::new(0) })
    }

    fn put(&self, depth: usize, child: &NodeOrText<Rc<Node>>) {
        if let NodeOrText::AppendNode(node) = child {
            node.depth.set(depth);
            self.deepest.set(self.deepest.get().max(depth));
        }
    }
}

impl TreeSink for Depths {
    type Handle = Rc<Node>;
    type Output = ();
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, _: Vec<Attribute>, _: ElementFlags) -> Rc<Node> {
        self.node(name)
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        self.node(self.document.name.clone())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        self.node(self.document.name.clone())
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.put(parent.depth.get() + 1, &child);
    }

    fn append_based_on_parent_node(&self, element: &Rc<Node>, _: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.put(element.depth.get() + 1, &child);
    }

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.put(sibling.depth.get(), &child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        Rc::clone(target)
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, _: &Rc<Node>, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, _: &Rc<Node>) {}

    fn reparent_children(&self, _: &Rc<Node>, _: &Rc<Node>) {}
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, is_bounded};

    #[test]
    fn deep_nesting_is_found_however_it_comes_about() {
        for opening in ["<div>", "<b>", "<b><p></p>", "<div><table><tr><td></div>", "<svg><tr>"] {
            assert!(!is_bounded(&opening.repeat(300_000 / opening.len())), "{opening}");
        }
        // Each repeats all that are before it.
        let repeated: String =
            std::iter::once("<p>".to_owned()).chain((0..400).map(|n| format!("<font size={n}>"))).collect();
        assert!(!is_bounded(&(repeated + &"<p>x".repeat(10_000))));
    }

    #[test]
    fn ordinary_pages_pass_with_or_without_their_ends() {
        let within = "<div>".repeat(DEEPEST / 2) + "x" + &"</div>".repeat(DEEPEST / 2);
        for page in ["<p>one <b>two", "<li>one", "<a name=x>one<br>", &within, "plain "] {
            assert!(is_bounded(&page.repeat(2000)), "{page:.40}");
        }
        let rows = "<tr><td><font color=red>1<td>2".repeat(2000);
        assert!(is_bounded(&format!("<table>{rows}</table>")));
        assert!(is_bounded(&format!("<script>{}</script>", "'<div>'".repeat(100_000))));
    }
}
