//! Markdown as HTML. The content of models and documents is not trusted: HTML in it is text, a link leads to http,
//! https, mailto or a file of the job, and a picture is a link, so that nothing is loaded and nothing looks like a part
//! of the page.

use crate::pages::template_filters::percent_encode;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::fmt::Write as _;
use uuid::Uuid;

/// Headings of a text are below those of the page.
const BELOW: usize = 2;

/// Whether a file is Markdown, by its name.
pub(crate) fn is_markdown(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") || path.ends_with(".markdown")
}

/// The HTML of a text, which is the file `path` of a job.
pub(crate) fn html(text: &str, job: Uuid, path: &str) -> String {
    let mut writer =
        Writer { job, path, out: String::with_capacity(text.len() * 2), open: Vec::new(), in_head: false, tables: 0 };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(text, options).for_each(|event| writer.event(event));
    writer.out
}

struct Writer<'a> {
    job: Uuid,
    path: &'a str,
    out: String,
    /// For each open link and picture, whether it became a link.
    open: Vec<bool>,
    in_head: bool,
    tables: usize,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.text(&text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.out.push_str("<p>"),
            Tag::Heading { level, .. } => self.put(format_args!("<h{}>", heading(level))),
            Tag::BlockQuote(_) => self.out.push_str("<blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.out.push_str("<pre tabindex=\"0\" aria-label=\"Code\"><code>");
            }
            Tag::List(Some(first)) => self.put(format_args!("<ol start=\"{first}\">\n")),
            Tag::List(None) => self.out.push_str("<ul>\n"),
            Tag::Item => self.out.push_str("<li>"),
            Tag::Table(_) => {
                self.tables += 1;
                let (number, class) = (self.tables, "scroll document-table");
                self.put(format_args!(
                    "<div class=\"{class}\" tabindex=\"0\" role=\"region\" aria-label=\"Table {number} of "
                ));
                self.text(self.path);
                self.out.push_str("\"><table>\n");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.out.push_str("<thead><tr>");
            }
            Tag::TableRow => self.out.push_str("<tr>"),
            Tag::TableCell => self.out.push_str(if self.in_head { "<th scope=\"col\">" } else { "<td>" }),
            Tag::Emphasis => self.out.push_str("<em>"),
            Tag::Strong => self.out.push_str("<strong>"),
            Tag::Strikethrough => self.out.push_str("<del>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.link(&dest_url);
                self.out.push_str("picture: ");
            }
            // Only with options that are off.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.out.push_str("</p>\n"),
            TagEnd::Heading(level) => self.put(format_args!("</h{}>\n", heading(level))),
            TagEnd::BlockQuote(_) => self.out.push_str("</blockquote>\n"),
            TagEnd::CodeBlock => self.out.push_str("</code></pre>\n"),
            TagEnd::List(true) => self.out.push_str("</ol>\n"),
            TagEnd::List(false) => self.out.push_str("</ul>\n"),
            TagEnd::Item => self.out.push_str("</li>\n"),
            TagEnd::Table => self.out.push_str("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.out.push_str("</tr></thead>\n<tbody>");
            }
            TagEnd::TableRow => self.out.push_str("</tr>\n"),
            TagEnd::TableCell => self.out.push_str(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.out.push_str("</em>"),
            TagEnd::Strong => self.out.push_str("</strong>"),
            TagEnd::Strikethrough => self.out.push_str("</del>"),
            TagEnd::Link | TagEnd::Image => self.out.push_str(if self.open.pop() == Some(true) { "</a>" } else { "" }),
            _ => {}
        }
    }

    /// A link if the address is permitted, else only its text. A picture within a link does not become a nested link.
    fn link(&mut self, address: &str) {
        let href = if self.open.contains(&true) { None } else { href(address, self.job, self.path) };
        self.open.push(href.is_some());
        if let Some(href) = href {
            self.out.push_str("<a rel=\"noopener noreferrer nofollow\" href=\"");
            self.text(&href);
            self.out.push_str("\">");
        }
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.out.write_fmt(text);
    }

    fn text(&mut self, text: &str) {
        for char in text.chars() {
            match char {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                other => self.out.push(other),
            }
        }
    }
}

fn heading(level: HeadingLevel) -> usize {
    (level as usize + BELOW).min(6)
}

/// The permitted target of a link in the file `path`: another site by name, a mail, or a file of the job.
fn href(address: &str, job: Uuid, path: &str) -> Option<String> {
    let lower = address.to_ascii_lowercase();
    if ["http://", "https://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme)) {
        return Some(address.to_owned());
    }
    let file = address.split(['#', '?']).next().unwrap_or_default();
    if file.is_empty() || file.contains([':', '\\']) || file.starts_with('/') || file.chars().any(char::is_control) {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(format!("/jobs/{job}/file?path={}", percent_encode(&parts.join("/"))))
}

#[cfg(test)]
mod tests {
    use super::{html, is_markdown};
    use uuid::Uuid;

    fn shown(text: &str) -> String {
        html(text, Uuid::nil(), "output/report.md")
    }

    #[test]
    fn a_report_is_shown_as_it_is_meant() {
        let text = "# Differences\n\n| clause | A \\| B |\n|:---|---:|\n| 1 | *none* & `x` |\n\n1. one\n2. [x] two\n\n> said\n";
        let html = shown(text);
        for part in [
            "<h3>Differences</h3>",
            "<th scope=\"col\">A | B</th>",
            "<td>1</td><td><em>none</em> &amp; <code>x</code></td>",
            "<ol start=\"1\">",
            "<blockquote><p>said</p>",
            "aria-label=\"Table 1 of output/report.md\"",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert!(is_markdown("output/A.MD") && !is_markdown("output/a.csv"));
    }

    #[test]
    fn html_is_text() {
        for text in [
            "<form action=\"https://evil.example\"><button>Approve</button></form>",
            "Click <button class=\"primary\">Approve</button> now",
            "<svg onload=alert(1)><path/></svg>",
            "<script>alert(1)</script>\n\nafter",
            "<img src=x onerror=alert(1)>",
            "<details open ontoggle=alert(1)>",
        ] {
            let html = shown(text);
            for tag in ["<form", "<button", "<svg", "<script", "<img", "<details"] {
                assert!(!html.contains(tag), "{tag} in {html}");
            }
            assert!(html.contains("&lt;"), "{html}");
        }
    }

    #[test]
    fn links_lead_to_sites_mails_and_files_of_the_job() {
        let job = Uuid::nil();
        for (address, href) in [
            ("https://law.example/a?b=1", "https://law.example/a?b=1".to_owned()),
            ("mailto:a@b.example", "mailto:a@b.example".to_owned()),
            ("answers.json", format!("/jobs/{job}/file?path=output/answers.json")),
            ("../main_plan.md#phase", format!("/jobs/{job}/file?path=main_plan.md")),
        ] {
            let html = shown(&format!("[words]({address})"));
            assert!(html.contains(&format!("href=\"{href}\">words</a>")), "{html}");
        }
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//evil.example",
            "/jobs",
            "../../etc/passwd",
            "#top",
            "file:///etc/passwd",
        ] {
            let html = shown(&format!("[words]({address}) <{address}>"));
            assert!(!html.contains("href"), "{html}");
            assert!(html.contains("words"), "{html}");
        }
        let picture = shown("![a plan](https://tracker.example/a.png) ![x](data:image/png;base64,AA)");
        assert!(
            !picture.contains("<img") && picture.contains("href=\"https://tracker.example/a.png\">picture: a plan</a>"),
            "{picture}"
        );
        assert_eq!(picture.matches("href").count(), 1, "{picture}");
        let both = shown("[![a](https://one.example/a.png)](https://two.example)");
        assert_eq!(both.matches("<a ").count(), 1, "{both}");
    }
}
