//! Words broken at a line end, and lines broken inside a paragraph, put together again.
//!
//! `docu-\nment` is `document`, but `well-\nknown` is `well-known`: the document itself decides, by the form in which
//! it uses the word elsewhere.

use super::blocks::Block;
use std::collections::HashSet;

/// Words after a hyphen that stands for a word still to come, as in "short- and long-term".
const SUSPENDING: [&str; 8] = ["and", "or", "to", "und", "oder", "bis", "sowie", "bzw"];

/// Mends text by the words of one document.
pub(super) struct Mender {
    words: HashSet<String>,
}

impl Mender {
    /// Collects the words of a document, in lower case, compounds with their hyphen.
    pub(super) fn of<'a>(blocks: impl Iterator<Item = &'a Block>) -> Self {
        let mut words = HashSet::new();
        let mut take = |text: &str| {
            for word in text.split_whitespace() {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                if word.len() > 3 && !words.contains(word) {
                    words.insert(word.to_lowercase());
                }
            }
        };
        for block in blocks {
            match block {
                Block::Table(rows) => rows.iter().flatten().for_each(|cell| take(cell)),
                _ => take(block.text()),
            }
        }
        Self { words }
    }

    /// Mends the text of a block; of one whose lines mean something only the characters.
    pub(super) fn mend_block(&self, block: &mut Block) {
        match block {
            Block::Heading(_, text) | Block::Paragraph(text) | Block::Item { text, .. } => *text = self.mend(text),
            Block::Table(rows) => rows.iter_mut().flatten().for_each(|cell| *cell = self.mend(cell)),
            Block::Verbatim(text) => *text = characters(text),
        }
    }

    /// Joins the lines of a paragraph; white space becomes single spaces.
    pub(super) fn mend(&self, text: &str) -> String {
        let text = characters(text);
        let mut out = String::with_capacity(text.len());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let joint = self.joint(&out, line);
            match joint {
                Joint::Space if out.is_empty() => {}
                Joint::Space => out.push(' '),
                Joint::KeepHyphen => {}
                Joint::DropHyphen => {
                    out.pop();
                }
            }
            self.push_line(&mut out, line);
        }
        out
    }

    /// Adds the words of a line; the dots that lead to a page number become one sign.
    fn push_line(&self, out: &mut String, line: &str) {
        let mut rest = line;
        let mut first = true;
        while !rest.is_empty() {
            let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
            let leader = rest.len() - rest.trim_start_matches(['.', ' ']).len();
            let is_leader = word.starts_with('.') && rest[..leader].matches('.').count() >= 4;
            let (word, after) = if is_leader { ("\u{2026}", &rest[leader..]) } else { (word, after) };
            if !first {
                match self.joint(out, rest) {
                    // Within a line a hyphen before a space is a word broken on another line only if the word is known.
                    Joint::DropHyphen if self.knows_joined(out, rest) => {
                        out.pop();
                    }
                    _ => out.push(' '),
                }
            }
            out.push_str(word);
            first = false;
            rest = after.trim_start();
        }
    }

    fn knows_joined(&self, before: &str, after: &str) -> bool {
        let (left, right) = (last_part(before.trim_end_matches(HYPHENS)), first_part(after));
        self.words.contains(&format!("{left}{right}").to_lowercase())
    }

    fn joint(&self, before: &str, line: &str) -> Joint {
        let Some(stem) = before.strip_suffix(HYPHENS) else { return Joint::Space };
        let (left, right) = (last_part(stem), first_part(line));
        // A dash at the end of a line, or the first half of "Handels- und Steuerrecht".
        if left.is_empty() || right.is_empty() || SUSPENDING.contains(&right) {
            return Joint::Space;
        }
        // `pages 3-` and `4`, `EU-` and `Regulation`: no program breaks a word there.
        if !left.ends_with(char::is_alphabetic) || !right.starts_with(char::is_lowercase) {
            return Joint::KeepHyphen;
        }
        let known = |word: String| self.words.contains(&word.to_lowercase());
        if known(format!("{left}{right}")) {
            Joint::DropHyphen
        } else if known(format!("{left}-{right}")) || left.contains('-') {
            Joint::KeepHyphen
        } else {
            Joint::DropHyphen
        }
    }
}

const HYPHENS: [char; 2] = ['-', '\u{2010}'];

fn word_part(character: char) -> bool {
    character.is_alphanumeric() || character == '-'
}

fn last_part(text: &str) -> &str {
    &text[text.trim_end_matches(word_part).len()..]
}

fn first_part(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(word_part).len()]
}

enum Joint {
    Space,
    KeepHyphen,
    DropHyphen,
}

/// Ligatures written out, soft hyphens, invisible and control characters dropped, odd spaces made plain.
fn characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{fb00}' => out.push_str("ff"),
            '\u{fb01}' => out.push_str("fi"),
            '\u{fb02}' => out.push_str("fl"),
            '\u{fb03}' => out.push_str("ffi"),
            '\u{fb04}' => out.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => out.push_str("st"),
            '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{fffd}' => {}
            '\u{a0}' | '\u{2007}' | '\u{202f}' => out.push(' '),
            '\n' => out.push('\n'),
            _ if character.is_control() => out.push(' '),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_decides_about_hyphens() {
        let known = [Block::Paragraph("A well-known document.".into())];
        let mender = Mender::of(known.iter());
        for (text, expected) in [
            ("a docu-\nment", "a document"),
            ("a well-\nknown rule", "a well-known rule"),
            ("obli-\ngation", "obligation"),
            ("state-of-the-\nart", "state-of-the-art"),
            ("pages 3-\n4", "pages 3-4"),
            ("the EU-\nRegulation", "the EU-Regulation"),
            ("Handels-\nund Steuerrecht", "Handels- und Steuerrecht"),
            ("a dash -\nhere", "a dash - here"),
            ("wrapped\n  lines  here", "wrapped lines here"),
            ("1.2 Scope . . . . . . . 14", "1.2 Scope \u{2026} 14"),
            ("1.2 Scope ........ 14", "1.2 Scope \u{2026} 14"),
            ("and so on ... then", "and so on ... then"),
            ("a docu- ment and pre- and post-audit, re- think", "a document and pre- and post-audit, re- think"),
            ("\u{fb01}le so\u{ad}ft", "file soft"),
        ] {
            assert_eq!(mender.mend(text), expected);
        }
    }
}
