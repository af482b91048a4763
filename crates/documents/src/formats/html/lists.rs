//! Ordered lists with the labels that a page shows: `c.`, `iv.`, numbers that begin later or count down.

use super::nodes::{attribute, node_name, parent, style};
use crate::formats::numerals::{letters, roman};
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, Node};
use std::rc::Rc;

/// Writes an ordered list.
pub(super) fn ordered(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let list = element.node;
    let (mut number, step) = numbers(list);
    let mut written = String::new();
    for child in list.children.borrow().iter() {
        let Some(HandlerResult { content, .. }) = handlers.handle(child) else { continue };
        if node_name(child) != "li" {
            written.push_str(&content);
            continue;
        }
        number = whole(child, "value").unwrap_or(number);
        let label = label(number, &format(child).or_else(|| format(list)).unwrap_or_default());
        let text = indented(content.trim_matches('\n'), label.chars().count() + 1);
        written.push_str(&format!("\n{label} {text}"));
        number = number.saturating_add(step);
    }
    let written = written.trim_matches('\n');
    let apart = if is_within_entry(list) { "\n" } else { "\n\n" };
    (!written.is_empty()).then(|| format!("{apart}{written}{apart}").into())
}

/// The first number of a list, and what each entry adds to it.
fn numbers(list: &Rc<Node>) -> (i64, i64) {
    let start = whole(list, "start");
    if attribute(list, "reversed").is_none() {
        return (start.unwrap_or(1), 1);
    }
    let entries = list.children.borrow().iter().filter(|child| node_name(child) == "li").count();
    (start.unwrap_or(entries as i64), -1)
}

fn whole(node: &Rc<Node>, name: &str) -> Option<i64> {
    attribute(node, name)?.trim().parse().ok()
}

/// The format of numbers, as the attribute `type` names it, or in the words of CSS.
fn format(node: &Rc<Node>) -> Option<String> {
    let style = style(node);
    let mut rules = style.split(';').filter_map(|rule| rule.split_once(':'));
    let of_style = rules.rfind(|(name, _)| matches!(*name, "list-style" | "list-style-type"));
    of_style.map(|(_, value)| value.trim_end_matches("!important").to_owned()).or_else(|| attribute(node, "type"))
}

fn label(number: i64, format: &str) -> String {
    let count = u32::try_from(number).ok().filter(|count| *count > 0);
    let sign = match (format, count) {
        ("none" | "disc" | "circle" | "square", _) => return "-".to_owned(),
        ("a" | "lower-alpha" | "lower-latin", Some(count)) => letters(count),
        ("A" | "upper-alpha" | "upper-latin", Some(count)) => letters(count).to_uppercase(),
        ("i" | "lower-roman", Some(count)) => roman(count),
        ("I" | "upper-roman", Some(count)) => roman(count).to_uppercase(),
        ("decimal-leading-zero", _) => format!("{number:02}"),
        _ => number.to_string(),
    };
    sign + "."
}

/// The lines of an entry, all but the first behind its label.
fn indented(text: &str, width: usize) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |written, line| match line.trim().is_empty() {
        true => written + "\n",
        false => format!("{written}\n{}{line}", " ".repeat(width)),
    })
}

fn is_within_entry(list: &Rc<Node>) -> bool {
    parent(list).is_some_and(|parent| node_name(&parent) == "li")
}
