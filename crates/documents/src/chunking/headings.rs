//! The headings of a Markdown text, and the headings above a position.

/// The headings above a part of a text, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing(Vec<(usize, String)>);

/// All headings of a text, in order.
pub(crate) struct Outline {
    headings: Vec<Heading>,
}

struct Heading {
    offset: usize,
    end: usize,
    level: usize,
    text: String,
}

impl Outline {
    /// Finds the `#` headings outside fenced code; `under` are the headings above the whole text.
    pub(crate) fn of(text: &str, under: &Standing) -> Self {
        let above =
            under.0.iter().map(|(level, text)| Heading { offset: 0, end: 0, level: *level, text: text.clone() });
        let mut headings: Vec<Heading> = above.collect();
        let mut fence: Option<&str> = None;
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            let opener = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
            match (fence, opener) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (None, None) => headings.extend(heading(line.trim_end(), offset, offset + line.len())),
                (Some(_), _) => {}
            }
            offset += line.len();
        }
        Self { headings }
    }

    /// The headings above the first words of the part from `start` to `end`, outermost first. Headings at the beginning
    /// of the part are included.
    pub(crate) fn path_at(&self, start: usize, end: usize) -> Vec<String> {
        let mut count = self.headings.partition_point(|heading| heading.offset < start);
        let mut place = start;
        while let Some(next) = self.headings.get(count)
            && next.offset <= place
            && next.offset < end
        {
            place = next.end.max(place);
            // Blank lines between two headings do not count as text.
            if let Some(after) = self.headings.get(count + 1)
                && after.offset <= place + 2
            {
                place = after.offset;
            }
            count += 1;
        }
        path(&self.headings[..count]).map(|heading| heading.text.clone()).collect()
    }

    /// The headings above the text that follows.
    pub(super) fn at_end(&self) -> Standing {
        Standing(path(&self.headings).map(|heading| (heading.level, heading.text.clone())).collect())
    }
}

/// Of consecutive headings, those that are still open after the last.
fn path(headings: &[Heading]) -> impl Iterator<Item = &Heading> {
    let mut path: Vec<&Heading> = Vec::new();
    for heading in headings {
        while path.last().is_some_and(|above| above.level >= heading.level) {
            path.pop();
        }
        path.push(heading);
    }
    path.into_iter()
}

fn heading(line: &str, offset: usize, end: usize) -> Option<Heading> {
    // Four spaces make it a line of code.
    let indent = line.len() - line.trim_start().len();
    let line = line.trim_start();
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if indent > 3 || !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let text = rest.trim().trim_end_matches('#').trim_end().to_owned();
    (!text.is_empty()).then_some(Heading { offset, end, level, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Policy\n\n## 1 Scope\n\nText one.\n\n```\n# no heading\n```\n\n    # nor this\n\n## 2 Duties\n\n### 2.1 Records\n\nText two.\n";

    #[test]
    fn a_place_is_under_its_headings() {
        let outline = Outline::of(TEXT, &Standing::default());
        for (place, expected) in [
            ("Text one", vec!["Policy", "1 Scope"]),
            ("```", vec!["Policy", "1 Scope"]),
            ("Text two", vec!["Policy", "2 Duties", "2.1 Records"]),
            // A chunk that begins with headings counts as below them.
            ("# Policy", vec!["Policy", "1 Scope"]),
            ("## 2 Duties", vec!["Policy", "2 Duties", "2.1 Records"]),
        ] {
            assert_eq!(outline.path_at(TEXT.find(place).expect("in the text"), TEXT.len()), expected, "{place}");
        }
    }

    #[test]
    fn a_piece_that_is_a_heading_alone_stops_there() {
        let start = TEXT.find("## 2").expect("in the text");
        assert_eq!(Outline::of(TEXT, &Standing::default()).path_at(start, start + 11), ["Policy", "2 Duties"]);
    }

    #[test]
    fn a_part_is_under_the_headings_before_it() {
        let under = Outline::of(TEXT, &Standing::default()).at_end();
        let after = "More of it.\n\n### 2.2 Letters\n\nText three.\n\n## 3 Rest\n\nText four.\n";
        let outline = Outline::of(after, &under);
        for (place, expected) in [
            ("More", vec!["Policy", "2 Duties", "2.1 Records"]),
            ("Text three", vec!["Policy", "2 Duties", "2.2 Letters"]),
            ("Text four", vec!["Policy", "3 Rest"]),
        ] {
            let start = after.find(place).expect("in the text");
            assert_eq!(outline.path_at(start, after.len()), expected, "{place}");
        }
    }
}
