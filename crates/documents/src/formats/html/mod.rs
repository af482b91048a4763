//! HTML. Runs in the parser child only: deep nesting can end in a stack overflow.

mod beside;
mod contents;
mod lists;
mod nodes;
mod page_tree;
mod sheets;
mod tables;
mod unshown;
mod xhtml;

use super::{attributes, nesting};
use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use crate::formats::blocks::LINE;
use crate::formats::text;
use htmd::element_handler::Handlers;
use htmd::{Element, HtmlToMarkdown, options};
use plumbline_engine::one_line;

/// Larger pages are refused: the tree of a page takes many times its size in memory.
const MAX_BYTES: usize = 32 << 20;

/// Elements outside the page's text.
const NOT_TEXT: [&str; 8] = ["head", "script", "style", "noscript", "template", "nav", "svg", "img"];

/// Emphasis and link targets are omitted, see [`super::blocks`].
const UNMARKED: [&str; 10] = ["b", "strong", "em", "i", "u", "a", "code", "tt", "kbd", "samp"];

/// An article with less than this share of the page's words is not its main content: the page is a list or an index.
const ARTICLE_SHARE: usize = 5;

/// A text and the content missing from it.
pub(crate) type TextAndWarnings = (String, Vec<String>);

/// The page as Markdown, without scripts, styles and navigation.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let (html, warning) = checked(bytes)?;
    let (mut text, warnings) = convert(&html)?;
    let title = title(&html);
    if let Some(title) = unshown::title_that_binds(title.as_deref(), &text) {
        text = format!("# {title}\n\n{text}");
    }
    Ok(finish((text, warnings), title, warning))
}

/// The same for a page of a book, which has no title of its own.
pub(crate) fn markdown(bytes: &[u8]) -> Result<TextAndWarnings, Failure> {
    let (html, warning) = checked(bytes)?;
    let (text, warnings) = convert(&html)?;
    Ok((text, warning.into_iter().chain(warnings).collect()))
}

/// The page's main article as Markdown; if there is none, the whole page.
pub(crate) fn article(bytes: &[u8]) -> Parsed {
    let (html, warning) = checked(bytes)?;
    let whole = convert(&html)?;
    let article = dom_smoothie::Readability::new(html.as_str(), None, None).and_then(|mut page| page.parse());
    let (title, told) = match article {
        Ok(article) => (Some(article.title.trim().to_owned()), convert(&article.content).unwrap_or_default()),
        Err(_) => (None, TextAndWarnings::default()),
    };
    let title = title.filter(|title| !title.is_empty()).or_else(|| self::title(&html));
    let words = |told: &TextAndWarnings| told.0.split_whitespace().count();
    let told = if words(&told) * ARTICLE_SHARE >= words(&whole) { told } else { whole };
    Ok(finish(told, title, warning))
}

fn finish((text, warnings): TextAndWarnings, title: Option<String>, warning: Option<String>) -> (Vec<Page>, Trailer) {
    let warnings = warning.into_iter().chain(warnings).collect();
    (vec![Page { number: 1, text }], Trailer { title, warnings, ..Trailer::default() })
}

fn checked(bytes: &[u8]) -> Result<(String, Option<String>), Failure> {
    if bytes.len() > MAX_BYTES {
        return Err(Failure::damaged(format!("an HTML page of more than {} MiB is not read", MAX_BYTES >> 20)));
    }
    let (html, warning) = decode(bytes);
    let html = xhtml::as_html(html);
    if !attributes::is_bounded(&html) {
        return Err(Failure::damaged("one of its elements has thousands of attributes".to_owned()));
    }
    if !nesting::is_bounded(&html) {
        let reason = format!("its elements are nested more than {} deep, or repeated without end", nesting::DEEPEST);
        return Err(Failure::damaged(reason));
    }
    Ok((html, warning))
}

fn convert(html: &str) -> Result<TextAndWarnings, Failure> {
    let converter = HtmlToMarkdown::builder()
        .options(options::Options {
            bullet_list_marker: options::BulletListMarker::Dash,
            hr_style: options::HrStyle::Dashes,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..options::Options::default()
        })
        .skip_tags(NOT_TEXT.to_vec())
        .add_handler(UNMARKED.to_vec(), |handlers: &dyn Handlers, element: Element| {
            Some(handlers.walk_children(element.node))
        })
        .add_handler(vec!["ol"], lists::ordered)
        .build();
    let tree = converter.html_to_tree(html).map_err(Failure::damaged)?;
    let page_tree::Outside { mut warnings, unshown } = page_tree::settle(&tree);
    let markdown = converter.tree_to_markdown(&tree);
    // A tree takes many times the text's memory, so it is dropped before the text is copied.
    drop(tree);
    let text = unescape(&markdown);
    warnings.extend(unshown::sentences(unshown, &text));
    match text.trim().is_empty() {
        true => Err(Failure::no_text(warnings)),
        false => Ok((text.trim_matches('\n').to_owned(), warnings)),
    }
}

/// Like plain text, but the page itself may declare its encoding.
fn decode(bytes: &[u8]) -> (String, Option<String>) {
    if encoding_rs::Encoding::for_bom(bytes).is_none()
        && std::str::from_utf8(bytes).is_err()
        && let Some(encoding) = declared_encoding(bytes)
    {
        let (text, warning) = text::decode_as(encoding, bytes);
        return (text.into_owned(), warning);
    }
    let (text, warning) = text::decode(bytes);
    (text.into_owned(), warning)
}

/// `<meta charset="…">`, in either form, within the first kilobyte, as the standard requires.
fn declared_encoding(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..1024).unwrap_or(bytes)).to_ascii_lowercase();
    let in_declaration = || head.trim_start().starts_with("<?xml").then(|| head.split_once("encoding=")).flatten();
    let (_, rest) = head.split_once("charset=").or_else(in_declaration)?;
    let label: String = rest
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
        .collect();
    encoding_rs::Encoding::for_label(label.as_bytes())
}

/// The text of the `<title>` element.
fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    let text = one_line(&entities(html.get(start..end)?));
    (!text.is_empty()).then_some(text)
}

/// Removes the converter's escapes, so that the text can be quoted as the page shows it.
fn unescape(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown.chars().peekable();
    while let Some(character) = rest.next() {
        match rest.peek() {
            Some(&next) if character == '\\' && "\\*_`[]=~<>-+#.&".contains(next) => {
                out.push(next);
                rest.next();
            }
            _ => out.push(character),
        }
    }
    tidy_lines(&entities(&out))
}

/// Without the spaces that the converter puts around the lines of a cell.
fn tidy_lines(text: &str) -> String {
    let mut lines = text.split(LINE);
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |mut tidied, line| {
        tidied.truncate(tidied.trim_end_matches(' ').len());
        tidied + LINE + line.trim_start_matches(' ')
    })
}

fn entities(text: &str) -> String {
    text.replace("&nbsp;", "\u{a0}")
        .replace("&#124;", "\\|")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(html: &[u8]) -> String {
        extract(html).expect("a page").0[0].text.clone()
    }

    #[test]
    fn every_cell_of_a_table_is_text() {
        for (table, expected) in [
            (
                "<tr><th>R-1</th><td>Stop.</td></tr><tr><th>R-2</th><td>Go on.</td></tr>",
                "| R-1 | Stop.  |\n| R-2 | Go on. |",
            ),
            ("<tr><th>Rule</th></tr><tr><th>Stop.</th></tr>", "| Rule  |\n| ----- |\n| Stop. |"),
            (
                "<thead><tr><td>Id</td><th>Do</th></tr><tr><th>1</th><th>Stop</th></tr></thead><tfoot><tr><td>2</td><td>Go</td>\
                 </tr></tfoot>",
                "| Id | Do   |\n| -- | ---- |\n| 1  | Stop |\n| 2  | Go   |",
            ),
            ("<tr><td>1</td><td>Stop.</td></tr>", "1\n\nStop."),
            (
                "<tr><th>A</th><th>B</th><th>C</th></tr><tr><td rowspan=2>1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td>\
                 </tr><tr><td colspan=2>6</td><td>7</td></tr>",
                "| A | B | C |\n| - | - | - |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |\n| 6 |   | 7 |",
            ),
            (
                "<tr><th>A</th><th>B</th></tr><tr><td rowspan=2>Log it.</td><td>2</td></tr><tr><td>3</td></tr>",
                "| A       | B |\n| ------- | - |\n| Log it. | 2 |\n|         | 3 |",
            ),
            (
                "<tr><th>Rule</th></tr><tr><td>Do:<ul><li>log;</li><li>sign.</li></ul><ol><li>Stop.</li></ol></td></tr>",
                "| Rule                               |\n| ---------------------------------- |\n\
                 | Do:\u{2028}- log;\u{2028}- sign.\u{2028}1. Stop. |",
            ),
            ("<tr><th>a | b</th></tr><tr><td>c</td></tr>", "| a \\| b |\n| ----- |\n| c     |"),
        ] {
            let page = format!("<table>{table}</table>");
            assert_eq!(markdown(page.as_bytes()), Ok((expected.to_owned(), vec![])), "{table}");
        }
    }

    #[test]
    fn entries_have_the_labels_that_the_page_shows() {
        for (list, expected) in [
            ("<ol type=a><li>One</li><li>Two</li></ol>", "a. One\nb. Two"),
            ("<ol type=I start=4><li>One</li><li>Two</li></ol>", "IV. One\nV. Two"),
            ("<ol style='list-style: Lower-Roman'><li value=9>One</li><li>Two</li></ol>", "ix. One\nx. Two"),
            ("<ol reversed><li>One</li><li>Two</li><li value=7>Three</li></ol>", "3. One\n2. Two\n7. Three"),
            ("<ol start=0><li>One</li><li type=A>Two</li></ol>", "0. One\nA. Two"),
            ("<ol style='list-style-type:none'><li>One</li></ol>", "- One"),
            (
                "<ol>\n<li><p>One</p><p>more</p>\n<ol type=a><li>Deep</li></ol></li>\n<li>Two</li>\n</ol><p>End</p>",
                "1. One\n\n   more\n\n   a. Deep\n2. Two\n\nEnd",
            ),
        ] {
            assert_eq!(markdown(list.as_bytes()), Ok((expected.to_owned(), vec![])), "{list}");
        }
    }

    #[test]
    fn structure_stays_and_everything_else_goes() {
        let html = b"<!doctype html><html><head><title>Rules &amp; more</title><style>p{color:red}</style></head>
            <body><nav>Home</nav><script>alert(1)</script><h2>2. Scope</h2><p>Records <b>must</b> be
            <a href='x'>kept</a>, see snake_case [1] &lt;here&gt;.</p><ul><li>one</li><li>two</li></ul>
            <table><tr><th>Kind</th><th>Years</th></tr><tr><td>Invoice</td><td>10</td></tr></table></body></html>";
        let (pages, trailer) = extract(html).expect("a page");
        assert_eq!(trailer.title.as_deref(), Some("Rules & more"));
        let text = &pages[0].text;
        for expected in ["## 2. Scope", "Records must be kept, see snake_case [1] <here>.", "- one\n- two"] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        assert!(text.contains("Invoice") && text.contains('|'), "{text}");
        for unwanted in ["Home", "alert", "color"] {
            assert!(!text.contains(unwanted), "{unwanted} in {text}");
        }
    }

    #[test]
    fn the_lines_of_a_cell_stay_apart() {
        for cell in [
            "It shall log.<br>It shall <b>sign<br/></b>the log.",
            "<p>It shall log.</p>\n<p>It shall sign<br>the log.</p>",
        ] {
            let page = format!("<table><tr><th>Id</th><th>Rule</th></tr><tr><td>1</td><td>{cell}</td></tr></table>");
            let text = text_of(page.as_bytes());
            let lines = "It shall log.\u{2028}It shall sign\u{2028}the log.";
            assert!(text.ends_with(&format!("| {lines} |")), "{text:?}");
        }
    }

    #[test]
    fn the_article_is_recognized_and_a_list_is_not() {
        let paragraph = "Invoices must be kept for ten years, letters for six, and everything else as long as needed. ";
        let page = format!(
            "<html><head><title>Retention</title></head><body><div class='sidebar'><ul><li><a href='/a'>Other rules</a>\
             </li></ul></div><article><h1>Retention</h1>{}</article><footer>All rights reserved</footer></body></html>",
            format!("<p>{}</p>", paragraph.repeat(4)).repeat(4)
        );
        let (pages, trailer) = article(page.as_bytes()).expect("an article");
        assert_eq!(trailer.title.as_deref(), Some("Retention"));
        let text = &pages[0].text;
        assert!(text.contains("Invoices must be kept") && !text.contains("Other rules"), "{text}");
        let list = format!("<title>Index</title><ul>{}</ul>", "<li><a href='/x'>A rule of many</a></li>".repeat(200));
        let (pages, _) = article(list.as_bytes()).expect("a page");
        assert_eq!(pages[0].text.matches("A rule of many").count(), 200);
    }

    #[test]
    fn a_declared_encoding_counts_and_an_undeclared_one_is_guessed() {
        assert_eq!(text_of(b"<meta charset=\"iso-8859-2\"><p>Pr\xfcfung \xb1</p>"), "Pr\u{fc}fung \u{105}");
        let (_, trailer) = extract(b"<p>Pr\xfcfung</p>").expect("a page");
        assert_eq!(trailer.warnings.len(), 1);
    }

    #[test]
    fn a_page_that_is_nested_too_deep_is_refused_in_a_sentence() {
        let deep = "<div>".repeat(660_000);
        for read in [extract, article] {
            let Err(Failure::Damaged { reason }) = read(deep.as_bytes()) else { panic!("it was read") };
            assert!(reason.contains("nested more than 512 deep"), "{reason}");
        }
    }

    #[test]
    fn forms_buttons_and_formulas_are_read_as_the_page_shows_them() {
        let told = |body: &str| {
            let (pages, trailer) = extract(format!("<title>T</title><body>{body}</body>").as_bytes()).expect("a page");
            (pages[0].text.clone(), trailer.warnings)
        };
        for (body, expected) in [
            (
                "<form id='aspnetForm'><h1>Article 5</h1><p>It shall keep a register.</p></form>",
                "# Article 5\n\nIt shall keep a register.",
            ),
            ("<h2><button aria-expanded='true'>Article 5 Duties</button></h2>", "## Article 5 Duties"),
            ("<button><h3>Article 6</h3></button><p>x<button>Send</button></p>", "### Article 6\n\nx"),
            ("<p>At most <math><mi>t</mi><mo>=</mo><mn>200</mn></math> ms.</p>", "At most t=200 ms."),
            (
                "<p>At 10<sup>5</sup> Pa within 72<sup><a href='#n'>12</a></sup> hours on the 4<sup>th</sup>.</p>",
                "At 10\u{2075} Pa within 72\u{b9}\u{b2} hours on the 4th.",
            ),
            ("<p>The <ruby>guard<rp>(</rp><rt>gd</rt><rp>)</rp></ruby> must wait.</p>", "The guard(gd) must wait."),
            ("<p>Deadline: <input value='14 days'><input type=hidden value=x></p>", "Deadline: 14 days"),
            ("<p>Owner: <select><option>IT<option selected>Legal</select></p>", "Owner: Legal"),
            ("<p>Terms:</p><textarea>It shall deliver.</textarea>", "Terms:\n\nIt shall deliver."),
        ] {
            assert_eq!(told(body), (expected.to_owned(), Vec::new()), "{body}");
        }
    }

    #[test]
    fn what_is_hidden_or_struck_is_left_out_and_named() {
        let body = "<p>Logs are kept <del>for two years</del> <ins>for six years</ins>.</p><div hidden>Draft: ten years.\
                    </div><p style='display: none'>Note.</p><s>Old.</s>\
                    <span style='text-decoration-line: line-through'>Older.</span><iframe src='annex.html'></iframe>";
        let (pages, trailer) = extract(body.as_bytes()).expect("a page");
        assert_eq!(pages[0].text, "Logs are kept for six years.");
        let expected = [
            "Left out as struck out: \u{ab}for two years\u{bb}.",
            "Left out as hidden: \u{ab}Draft: ten years.\u{bb}.",
            "Left out as hidden: \u{ab}Note.\u{bb}.",
            "Left out as struck out: \u{ab}Old.\u{bb}.",
            "Left out as struck out: \u{ab}Older.\u{bb}.",
            "Not in the text: a page or program within the page, \u{ab}annex.html\u{bb}.",
        ];
        assert_eq!(trailer.warnings, expected);
    }

    #[test]
    fn a_page_that_says_it_is_utf8_and_has_a_bad_byte_is_read_as_such() {
        let (pages, trailer) = extract(b"<meta charset=utf-8><p>Pr\xc3\xbcfung \xff muss</p>").expect("a page");
        assert_eq!(pages[0].text, "Pr\u{fc}fung \u{fffd} muss");
        assert_eq!(trailer.warnings.len(), 1, "{:?}", trailer.warnings);
    }

    #[test]
    fn a_page_without_words_is_an_error() {
        assert_eq!(extract(b"<html><script>1</script></html>"), Err(Failure::no_text(Vec::new())));
    }
}
