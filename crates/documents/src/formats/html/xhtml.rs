//! XML pages: `<title/>` is an element without content in XML, but an opening tag to an HTML parser, which would read
//! the rest of the page as the title.

use plumbline_bounds::pattern;
use quick_xml::escape::escape;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Elements that never have content.
const VOID: [&str; 16] = [
    "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta", "param", "source",
    "track", "wbr",
];
/// Number of bytes within which a page declares its type.
const HEAD: usize = 1024;

static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(r"<(?P<name>[A-Za-z][\w.-]*)(?P<rest>(?:\s[^<>]*)?)/>|<!\[CDATA\[(?P<text>(?s:.*?))\]\]>")
});

/// A page in HTML syntax.
pub(super) fn as_html(page: String) -> String {
    let head = &page[..page.floor_char_boundary(HEAD)];
    if !head.trim_start_matches('\u{feff}').trim_start().starts_with("<?xml")
        && !head.contains("http://www.w3.org/1999/xhtml")
    {
        return page;
    }
    let with_end = |found: &Captures<'_>| match (found.name("name"), found.name("text")) {
        (Some(name), _) if VOID.contains(&name.as_str().to_ascii_lowercase().as_str()) => found[0].to_owned(),
        (Some(name), _) => format!("<{name}{rest}></{name}>", name = name.as_str(), rest = &found["rest"]),
        (None, Some(text)) => escape(text.as_str()).into_owned(),
        (None, None) => String::new(),
    };
    EMPTY.replace_all(&page, with_end).into_owned()
}

#[cfg(test)]
mod tests {
    use super::as_html;

    #[test]
    fn elements_without_content_end_and_quoted_text_is_text() {
        let page = "<?xml version='1.0'?><title/><script src=\"x\"/><br/><p>a<![CDATA[ <b> & ]]></p>";
        let expected = "<?xml version='1.0'?><title></title><script src=\"x\"></script><br/><p>a &lt;b&gt; &amp; </p>";
        assert_eq!(as_html(page.to_owned()), expected);
        assert_eq!(as_html("<title/>".to_owned()), "<title/>", "a page that is no XML is read as browsers do");
    }
}
