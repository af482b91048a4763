//! Data: each element of XML and each value of JSON is a sentence, even if a line has several.

use plumbline_bounds::pattern;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A row with fewer words makes no statement.
pub(super) const LEAST_WORDS: usize = 3;

/// Inline tags within a sentence.
const INLINE: [&str; 16] =
    ["a", "abbr", "b", "br", "cite", "code", "del", "em", "i", "ins", "span", "strong", "sub", "sup", "u", "wbr"];

/// The last tag of a text may be open: if it ends on a separate line, that line has no words.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<[/?!]?(?P<name>[A-Za-z][\w:.-]*)(?:[^<>]*>|\s[^<>]*$)")
});
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#"=\s*(?:"([^"]*)"|'([^']*)')"#));
static STRING: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#""(?P<words>(?:[^"\\]|\\.)*)"(?P<key>\s*[:=])?"#));
/// What follows a key.
static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#"^\s*(?:["\[{\d-]|(?:true|false|null|yes|no)\b|$)"#));

/// The parts of a paragraph that are searched for sentences: all of it, or, for data, its values.
pub(super) fn values(text: &str) -> Vec<Range<usize>> {
    let has_tag = || text.contains("</") || text.contains("/>");
    let has_attributes = || text.trim_start().starts_with('<') && (text.contains("=\"") || text.contains("='"));
    // A value of JSON may be markup; markup does not begin like JSON.
    let has_keys = || ["\":", "\" :", "\" ="].iter().any(|end| text.contains(end)) || has_list(text);
    let found = if text.starts_with(['{', '[', '"']) && has_keys() {
        of_json(text)
    } else if has_tag() || has_attributes() {
        of_xml(text)
    } else if has_keys() {
        of_json(text)
    } else {
        None
    };
    found.unwrap_or_else(|| std::iter::once(0..text.len()).collect())
}

/// The text between tags, and attributes with text; none if the only tags are for emphasis.
fn of_xml(text: &str) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let (mut begin, mut tags) = (0, 0);
    for tag in TAG.captures_iter(text) {
        let whole = tag.get(0)?.range();
        if tag.name("name").is_some_and(|name| INLINE.contains(&name.as_str().to_ascii_lowercase().as_str())) {
            continue;
        }
        tags += 1;
        push(&mut found, text, begin..whole.start);
        let values = ATTRIBUTE.captures_iter(&text[whole.clone()]);
        for attribute in values.filter_map(|found| found.get(1).or_else(|| found.get(2))) {
            let range = whole.start + attribute.start()..whole.start + attribute.end();
            if says_something(&text[range.clone()]) {
                tags += 1;
                push(&mut found, text, range);
            }
        }
        begin = whole.end;
    }
    push(&mut found, text, begin..text.len());
    (tags > 1).then_some(found)
}

/// Whether a text is a list of strings, or has one as the value of a key.
fn has_list(text: &str) -> bool {
    text.starts_with("[\"") || text.contains("= [\"") || text.contains(": [\"")
}

/// The strings, of the keys those that are sentences, and the words between them that are in no quotation marks; none if
/// the text has too few keys to be JSON.
fn of_json(text: &str) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let (mut keys, mut begin) = (0, 0);
    for string in STRING.captures_iter(text) {
        let (whole, words) = (string.get(0)?, string.name("words")?);
        let is_key = string.name("key").is_some();
        // Words in quotation marks: `The "register": a book.`
        if is_key && !VALUE.is_match(&text[whole.end()..]) {
            continue;
        }
        push_bare(&mut found, text, begin..whole.start());
        begin = whole.end();
        keys += usize::from(is_key);
        if !is_key {
            push_lines(&mut found, text, words.range());
        } else if is_sentence(words.as_str()) {
            found.push(words.range());
        }
    }
    push_bare(&mut found, text, begin..text.len());
    let parts = found.into_iter().flat_map(|value| elements(text, value)).collect();
    (keys > 0 || has_list(text)).then_some(parts).filter(|parts: &Vec<_>| !parts.is_empty())
}

/// Whether a key is a sentence.
fn is_sentence(key: &str) -> bool {
    says_something(key) || key.ends_with(['.', '!'])
}

/// Words between the strings: keys and values of YAML.
fn push_bare(found: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let mut begin = range.start;
    for part in text[range].split(['{', '[', ']', '}']) {
        let words = part.trim_matches([' ', ',', ':', '=']);
        if says_something(words) {
            let start = begin + part.len() - part.trim_start_matches([' ', ',', ':', '=']).len();
            found.push(start..start + words.len());
        }
        begin += part.len() + 1;
    }
}

/// The parts of a value that is markup, or all of it.
fn elements(text: &str, value: Range<usize>) -> Vec<Range<usize>> {
    let parts = of_xml(&text[value.clone()]).unwrap_or_else(|| std::iter::once(0..value.len()).collect());
    parts.into_iter().map(|part| value.start + part.start..value.start + part.end).collect()
}

/// The lines of a string, whose ends are written `\n`.
fn push_lines(found: &mut Vec<Range<usize>>, text: &str, words: Range<usize>) {
    let mut begin = words.start;
    let is_escaped = |at: usize| text[..words.start + at].ends_with('\\');
    for (at, end) in text[words.clone()].match_indices("\\n").filter(|(at, _)| !is_escaped(*at)) {
        push(found, text, begin..words.start + at);
        begin = words.start + at + end.len();
    }
    push(found, text, begin..words.end);
}

fn push(found: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    if text[range.clone()].contains(char::is_alphanumeric) {
        found.push(range);
    }
}

/// Whether a text is long enough to be an obligation.
pub(super) fn says_something(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= LEAST_WORDS
}
