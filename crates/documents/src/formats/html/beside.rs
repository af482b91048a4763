//! Content of a page outside its text: navigation, text for browsers without scripts, templates, pictures. It is not part
//! of the text; meaningful content is reported.

use super::nodes::{attribute, elements, node_name, words};
use crate::formats::warnings::first_words;
use htmd::Node;
use markup5ever_rcdom::NodeData;
use std::rc::Rc;

/// A label, a link or a comment with this many words is meaningful.
const WORDS_OF_A_TEXT: usize = 4;
/// The beginning of the sentence about a picture without a description.
const PICTURE: &str = "\u{0}picture ";

/// Whether a text is meaningful, unlike code and single labels.
pub(super) fn is_prose(text: &str) -> bool {
    let (letters, others) =
        text.chars().filter(|c| !c.is_whitespace()).fold((0, 0), |(letters, others), c| match c.is_alphanumeric() {
            true => (letters + 1, others),
            false => (letters, others + 1),
        });
    text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= WORDS_OF_A_TEXT
        && letters > 5 * others
}

/// The report about an element that is not text.
pub(super) fn said(node: &Rc<Node>) -> Vec<String> {
    let left_out = |why: &str, text: &str| {
        text.contains(char::is_alphanumeric).then(|| format!("Left out as {why}: {}.", first_words(text)))
    };
    let of_attribute = |name: &str| attribute(node, name).filter(|text| is_prose(text));
    let one = match node_name(node) {
        "noscript" => left_out("shown without scripts alone", &without_tags(&words(node))),
        "template" => template(node).and_then(|content| left_out("a template", &words(&content))),
        "script" => script(node).and_then(|text| left_out("a template", &text)),
        "meta" => refresh(node)
            .map(|page| format!("Not in the text: the page that this one leads to, {}.", first_words(&page))),
        "area" => of_attribute("alt").and_then(|text| left_out("a description", &text)),
        "img" => picture(node),
        "datalist" => return not_chosen(elements(node, "option").iter()),
        _ => return navigation(node),
    };
    one.into_iter().collect()
}

/// Whether an element is the header or the footer of pages, as LibreOffice marks them.
pub(super) fn is_page_edge(node: &Rc<Node>) -> bool {
    attribute(node, "title").is_some_and(|title| matches!(title.as_str(), "header" | "footer"))
}

/// Meaningful entries of a list without a choice.
pub(super) fn not_chosen<'a>(options: impl Iterator<Item = &'a Rc<Node>>) -> Vec<String> {
    let text = |option: &Rc<Node>| match words(option) {
        words if words.is_empty() => {
            attribute(option, "label").or_else(|| attribute(option, "value")).unwrap_or_default()
        }
        words => words,
    };
    let texts = options.map(text).filter(|text| is_prose(text));
    texts.map(|text| format!("Left out as not chosen: {}.", first_words(&text))).collect()
}

/// The content of a template.
pub(super) fn template(node: &Rc<Node>) -> Option<Rc<Node>> {
    let NodeData::Element { template_contents, .. } = &node.data else { return None };
    template_contents.borrow().clone()
}

/// A script's text if it is a template.
fn script(node: &Rc<Node>) -> Option<String> {
    let kind = attribute(node, "type")?.to_ascii_lowercase();
    let is_template = ["template", "html", "handlebars", "mustache"].iter().any(|word| kind.contains(word));
    let source: String = node.children.borrow().iter().map(words).collect();
    is_template.then(|| without_tags(&source))
}

fn refresh(node: &Rc<Node>) -> Option<String> {
    attribute(node, "http-equiv").filter(|name| name.eq_ignore_ascii_case("refresh"))?;
    let content = attribute(node, "content")?;
    let (_, page) = content.split_once('=')?;
    Some(page.trim().trim_matches(['"', '\'']).to_owned()).filter(|page| !page.is_empty())
}

/// A decorative picture does not count.
fn picture(node: &Rc<Node>) -> Option<String> {
    let text = attribute(node, "alt");
    if text.as_deref().is_some_and(is_prose) {
        return text.map(|text| format!("Not in the text: a picture, {}.", first_words(&text)));
    }
    let source = attribute(node, "src").filter(|source| !source.starts_with("data:"));
    let file =
        source.as_deref().and_then(|source| source.split(['?', '#']).next()?.rsplit('/').next().map(str::to_owned));
    match text.as_deref().map(str::trim) {
        Some("") => None,
        text => Some(format!("{PICTURE}{}", text.map(str::to_owned).or(file).unwrap_or_default())),
    }
}

/// Combines the sentences about pictures without a description into one.
pub(super) fn count_pictures(told: &mut Vec<String>) {
    let pictures: Vec<String> = told.iter().filter_map(|line| line.strip_prefix(PICTURE)).map(str::to_owned).collect();
    told.retain(|line| !line.starts_with(PICTURE));
    told.extend(crate::formats::warnings::pictures(pictures.len(), pictures.first().map(String::as_str)));
}

/// The meaningful parts of navigation.
fn navigation(node: &Rc<Node>) -> Vec<String> {
    fn read(node: &Rc<Node>, found: &mut Vec<String>) {
        match &node.data {
            NodeData::Text { contents } if is_prose(&contents.borrow()) => found.push(contents.borrow().to_string()),
            _ => node.children.borrow().iter().for_each(|child| read(child, found)),
        }
    }
    let mut found = Vec::new();
    read(node, &mut found);
    found.into_iter().map(|text| format!("Left out as navigation: {}.", first_words(&text))).collect()
}

pub(super) fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_tag = false;
    for sign in text.chars() {
        match sign {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                out.push(' ');
            }
            _ if !is_tag => out.push(sign),
            _ => {}
        }
    }
    out.trim().to_owned()
}
