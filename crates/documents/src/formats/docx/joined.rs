//! Joins paragraphs as Word shows them: one whose end is deleted by a tracked change, or hidden, goes on in the next one,
//! which keeps its own properties.

use super::copied::Copied;
use super::properties::is_on;
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// Markers of parts that may have such paragraphs.
const MARKS: [&str; 4] = ["<w:del ", "<w:del/", "<w:moveFrom ", "<w:vanish"];

/// A part with its paragraphs joined.
pub(super) fn joined(xml: &str) -> Result<Cow<'_, str>, quick_xml::Error> {
    if !MARKS.iter().any(|mark| memmem::find(xml.as_bytes(), mark.as_bytes()).is_some()) {
        return Ok(Cow::Borrowed(xml));
    }
    let mut walk = Walk { xml, copied: Copied::new(xml), depth: 0, open: None };
    walk.run()?;
    Ok(Cow::Owned(walk.copied.end()))
}

struct Walk<'a> {
    xml: &'a str,
    copied: Copied<'a>,
    /// How many elements are open.
    depth: usize,
    /// The content of paragraphs without an end, and the depth of these.
    open: Option<(usize, String)>,
}

impl<'a> Walk<'a> {
    fn run(&mut self) -> Result<(), quick_xml::Error> {
        let mut reader = Reader::from_str(self.xml);
        loop {
            let from = reader.buffer_position() as usize;
            match reader.read_event()? {
                Event::Start(start) if start.name().as_ref() == "w:p" => self.paragraph(&mut reader, from, &start)?,
                Event::Start(_) => {
                    self.close(from);
                    self.depth += 1;
                }
                Event::Empty(empty) if empty.name().as_ref() == "w:p" && self.close(from) => {
                    self.copied.omit(&reader, from);
                }
                Event::End(_) => {
                    self.close(from);
                    self.depth = self.depth.saturating_sub(1);
                }
                Event::Eof => break,
                _ => {}
            }
        }
        Ok(())
    }

    fn paragraph(
        &mut self,
        reader: &mut Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'a>,
    ) -> Result<(), quick_xml::Error> {
        let begins = reader.buffer_position() as usize;
        let (goes_on, content) = properties(reader.clone()).unwrap_or((false, begins));
        if goes_on {
            self.copied.leave_out(reader, from, start)?;
            let end = self.xml[..reader.buffer_position() as usize].rfind('<').unwrap_or(content);
            let (_, open) = self.open.get_or_insert_with(|| (self.depth, String::new()));
            open.push_str(self.xml.get(content..end).unwrap_or_default());
            return Ok(());
        }
        if let Some((_, before)) = self.open.take() {
            self.copied.write(content, &before);
        }
        self.depth += 1;
        Ok(())
    }

    /// Ends an open paragraph that no other one continues; whether there was one.
    fn close(&mut self, here: usize) -> bool {
        let Some((_, content)) = self.open.take_if(|(depth, _)| *depth == self.depth) else { return false };
        self.copied.write(here, &format!("<w:p>{content}</w:p>"));
        true
    }
}

/// Whether a paragraph goes on in the next one, and the position behind its properties; none if it has none.
fn properties(mut ahead: Reader<&[u8]>) -> Option<(bool, usize)> {
    ahead.config_mut().expand_empty_elements = true;
    let (mut deleted, mut hidden, mut open): (bool, bool, Vec<String>) = Default::default();
    loop {
        match ahead.read_event().ok()? {
            Event::Start(start) => {
                let name = start.name();
                let path: Vec<&str> = open.iter().map(String::as_str).collect();
                match (path.as_slice(), name.as_ref()) {
                    ([], "w:pPr") => {}
                    ([], _) => return None,
                    (["w:pPr", "w:rPr"], "w:del" | "w:moveFrom") => deleted = true,
                    (["w:pPr", "w:rPr"], "w:vanish") => hidden = is_on(&start),
                    // The end of a heading within a line of text: the heading is one of its own.
                    (["w:pPr", "w:rPr"], "w:specVanish") if is_on(&start) => return None,
                    _ => {}
                }
                open.push(name.as_ref().to_owned());
            }
            Event::End(_) if open.len() <= 1 => {
                return (open.len() == 1).then(|| (deleted || hidden, ahead.buffer_position() as usize));
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    fn paragraph(mark: &str, text: &str) -> String {
        let own = format!("<w:pPr><w:pStyle w:val=\"{text}\"/><w:rPr>{mark}</w:rPr></w:pPr>");
        format!("<w:p>{}<w:r>{text}</w:r></w:p>", if mark.is_empty() { "" } else { &own })
    }

    #[test]
    fn a_paragraph_without_an_end_goes_on_in_the_next_one() {
        let (gone, kept) = (paragraph("<w:del w:id=\"1\"/>", "a"), paragraph("<w:b/>", "b"));
        let properties = "<w:pPr><w:pStyle w:val=\"b\"/><w:rPr><w:b/></w:rPr></w:pPr>";
        for (body, expected) in [
            (format!("{gone}{kept}"), format!("<w:p>{properties}<w:r>a</w:r><w:r>b</w:r></w:p>")),
            (format!("{gone}{gone}<w:p/>"), "<w:p><w:r>a</w:r><w:r>a</w:r></w:p>".to_owned()),
            (format!("{gone}<w:tbl><w:p/></w:tbl>"), "<w:p><w:r>a</w:r></w:p><w:tbl><w:p/></w:tbl>".to_owned()),
            (format!("<w:tc>{gone}</w:tc>{kept}"), format!("<w:tc><w:p><w:r>a</w:r></w:p></w:tc>{kept}")),
            (paragraph("<w:vanish/>", "a") + "<w:x/><w:p>b</w:p>", "<w:x/><w:p><w:r>a</w:r>b</w:p>".to_owned()),
        ] {
            assert_eq!(joined(&format!("<b>{body}</b>")).expect("XML"), format!("<b>{expected}</b>"), "{body}");
        }
        for mark in ["<w:vanish w:val=\"0\"/>", "<w:vanish/><w:specVanish/>", "<w:rPrChange><w:del/></w:rPrChange>"] {
            let body = format!("<b>{}{kept}</b>", paragraph(mark, "a"));
            assert_eq!(joined(&body).expect("XML"), body);
        }
    }
}
