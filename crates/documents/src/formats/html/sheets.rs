//! Style sheets within a page, as far as they hide or strike out text: `.draft { display: none }`. Rules become the own
//! style of the elements that they are about.

use super::nodes::{attribute, elements, is_any, node_name, parent};
use htmd::Node;
use html5ever::{Attribute, LocalName, QualName, ns};
use markup5ever_rcdom::NodeData;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Larger sheets belong to programs, whose pages change what they show.
const MOST_BYTES: usize = 4 << 20;

/// What is said about elements, by a selector of one class or id with or without a name: `.draft`, `p.draft`, `#note`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rules {
    hidden: HashMap<String, &'static str>,
    struck: HashSet<String>,
    /// Classes and ids that another rule shows: a reader can open them.
    shown: HashSet<String>,
}

/// Writes what the sheets of a page say into the styles of its elements.
pub(super) fn apply(page: &Rc<Node>) {
    let mut rules = Rules::default();
    for sheet in elements(page, "style") {
        let is_shown = parent(&sheet).is_none_or(|parent| !is_any(&parent, &["noscript", "svg"]));
        let text: String = sheet.children.borrow().iter().map(super::nodes::words).collect();
        if is_shown && text.len() <= MOST_BYTES && attribute(&sheet, "media").is_none_or(|media| is_screen(&media)) {
            rules.read(&without_comments(&text), false);
        }
    }
    if !rules.hidden.is_empty() || !rules.struck.is_empty() {
        rules.write(page);
    }
}

impl Rules {
    /// Reads a sheet, or the part of it for some screens only.
    fn read(&mut self, sheet: &str, for_some: bool) {
        let mut rest = sheet;
        while let Some((selector, behind)) = rest.split_once('{') {
            let selector = selector.rsplit(['}', ';']).next().unwrap_or_default().trim();
            let (block, after) = block(behind);
            rest = after;
            match selector.strip_prefix("@media") {
                // Conditions within conditions are not followed.
                Some(media) if is_screen(media) && !for_some => self.read(block, true),
                Some(_) => {}
                None if selector.starts_with('@') => {}
                None => self.rule(selector, block, for_some),
            }
        }
    }

    fn rule(&mut self, selectors: &str, declarations: &str, for_some: bool) {
        for (name, value) in declarations.split(';').filter_map(|one| one.split_once(':')) {
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
            let value = value.trim_end_matches("!important").trim();
            let hides = match (name.as_str(), value) {
                ("display", "none") => Some("display:none"),
                ("visibility", "hidden") => Some("visibility:hidden"),
                _ => None,
            };
            for selector in selectors.split(',').map(str::trim) {
                let is_one = is_simple(selector) && !for_some;
                match (name.as_str(), hides) {
                    (_, Some(why)) if is_one => {
                        self.hidden.insert(selector.to_owned(), why);
                    }
                    ("display" | "visibility", None) => self.shown.extend(names(selector)),
                    ("text-decoration" | "text-decoration-line", _) if value.contains("line-through") && is_one => {
                        self.struck.insert(selector.to_owned());
                    }
                    _ => {}
                }
            }
        }
    }

    fn write(&self, node: &Rc<Node>) {
        if let NodeData::Element { attrs, .. } = &node.data {
            let (name, split) = (node_name(node), |name| attribute(node, name).unwrap_or_default());
            let classes = split("class");
            let own = classes.split_whitespace().map(|class| format!(".{class}")).chain([format!("#{}", split("id"))]);
            let says = |one: String| {
                let full = format!("{name}{one}");
                let of = |selector: &String| {
                    let hides = self.hidden.get(selector).filter(|_| !self.shown.contains(&one)).copied();
                    hides.or_else(|| self.struck.contains(selector).then_some("text-decoration:line-through"))
                };
                of(&one).or_else(|| of(&full))
            };
            if let Some(says) = own.into_iter().find_map(says) {
                let style = format!("{says};{}", split("style"));
                let name = QualName::new(None, ns!(), LocalName::from("style"));
                let mut attrs = attrs.borrow_mut();
                attrs.retain(|own| own.name != name);
                attrs.push(Attribute { name, value: style.into() });
            }
        }
        node.children.borrow().iter().for_each(|child| self.write(child));
    }
}

/// The inside of a block, up to the bracket that closes it, and what follows.
fn block(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    for (at, sign) in text.char_indices().filter(|(_, sign)| matches!(sign, '{' | '}')) {
        depth = if sign == '{' { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return (&text[..at], &text[at + 1..]);
        }
    }
    (text, "")
}

fn without_comments(sheet: &str) -> String {
    let mut pieces = sheet.split("/*");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |out, piece| out + piece.split_once("*/").map_or("", |(_, rest)| rest))
}

fn is_screen(media: &str) -> bool {
    !media.to_ascii_lowercase().contains("print")
}

/// Whether a selector is one class or id, with or without the name of an element.
fn is_simple(selector: &str) -> bool {
    let name = selector.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric());
    name.strip_prefix(['.', '#']).is_some_and(|name| !name.is_empty() && name.chars().all(is_of_name))
}

/// The classes and ids of a selector.
fn names(selector: &str) -> Vec<String> {
    let starts = selector.match_indices(['.', '#']);
    let name = |at: usize| {
        let rest = &selector[at + 1..];
        selector[at..at + 1].to_owned() + rest.split(|sign| !is_of_name(sign)).next().unwrap_or_default()
    };
    starts.map(|(at, _)| name(at)).collect()
}

fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(sheet: &str) -> Vec<String> {
        let mut rules = Rules::default();
        rules.read(&without_comments(sheet), false);
        let mut hidden: Vec<String> = rules.hidden.into_keys().filter(|name| !rules.shown.contains(name)).collect();
        hidden.sort();
        hidden
    }

    #[test]
    fn rules_hide_classes_that_no_other_rule_shows() {
        for (sheet, expected) in [
            (
                ".a{display:none} /* .b{display:none} */ #c , p.d { color: red; Display : None !important }",
                vec!["#c", ".a", "p.d"],
            ),
            (
                ".a{display:none} .a.open{display:block} .b{visibility:hidden} x:checked ~ .b{visibility:visible}",
                vec![],
            ),
            (
                "@media print{.a{display:none}} @media (max-width: 9em){.b{display:none}} @import 'x'; .c{display:none}",
                vec![".c"],
            ),
            (
                ".a{display:none} @media screen {.a{display:block}} .b .c{display:none} nav{display:none} .d:hover{display:none}",
                vec![],
            ),
            ("@font-face{src:x} .a{display:none", vec![".a"]),
            (&"@media screen{".repeat(200_000), vec![]),
        ] {
            assert_eq!(hidden(sheet), expected, "{sheet}");
        }
    }
}
