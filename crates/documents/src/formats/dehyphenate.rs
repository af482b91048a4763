//! Dehyphenation: joins words that are split at a line end, and lines within a paragraph.
//!
//! `docu-\nment` is `document`, but `well-\nknown` is `well-known`: the document itself decides, by the form in which
//! it uses the word elsewhere. If the word does not occur again, the document's habits decide. Measured on a book of
//! 61,000 words in two widths, with 1,239 and 1,974 split words: 43 and 62 errors by the form alone, without the hyphen
//! otherwise; 14 and 17 errors with these rules.

use super::accents;
use super::blocks::Block;
use crate::letters_of;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Words after a suspended hyphen, as in "short- and long-term".
const SUSPENDING: [&str; 8] = ["and", "or", "to", "und", "oder", "bis", "sowie", "bzw"];

/// Dehyphenates text by the vocabulary of one document.
#[derive(Default)]
pub(crate) struct Dehyphenator {
    /// How often each word without a hyphen occurs, in lower case.
    words: BTreeMap<String, usize>,
    /// The same for each two neighbouring parts of a compound, with the hyphen between them.
    compounds: BTreeMap<String, usize>,
}

impl Dehyphenator {
    /// Collects the words of a document. Words split at a line end are not evidence, because they are the question.
    pub(crate) fn of<'a>(blocks: impl Iterator<Item = &'a Block>) -> Self {
        let mut known = Self::default();
        for block in blocks {
            match block {
                Block::Table(rows) => rows.iter().flatten().for_each(|cell| known.learn(cell)),
                _ => known.learn(block.text()),
            }
        }
        known
    }

    fn learn(&mut self, text: &str) {
        let text = characters(text);
        let mut parted = false;
        for token in text.split_whitespace() {
            let after_hyphen = std::mem::replace(&mut parted, token.ends_with(HYPHENS));
            if after_hyphen || parted {
                continue;
            }
            for word in token.split(|c| !word_part(c)).map(|word| word.trim_matches(HYPHENS)) {
                let mut parts = word.split(HYPHENS).map(str::to_lowercase);
                let Some(mut left) = parts.next().filter(|part| !part.is_empty()) else { continue };
                if !word.contains(HYPHENS) {
                    *self.words.entry(left).or_default() += 1;
                    continue;
                }
                for right in parts {
                    *self.compounds.entry(format!("{left}-{right}")).or_default() += 1;
                    left = right;
                }
            }
        }
    }

    /// Dehyphenates the text of a block; if its line ends are significant, only characters are replaced.
    pub(crate) fn dehyphenate_block(&self, block: &mut Block) {
        match block {
            Block::Heading(_, text) | Block::Paragraph(text) | Block::Item { text, .. } => {
                *text = self.dehyphenate(text)
            }
            Block::Table(rows) => rows.iter_mut().flatten().for_each(|cell| *cell = self.dehyphenate(cell)),
            Block::Verbatim(text) => *text = characters(text),
        }
    }

    /// Joins the lines of a paragraph; white space becomes single spaces.
    pub(crate) fn dehyphenate(&self, text: &str) -> String {
        let text = characters(text);
        let mut out = String::with_capacity(text.len());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let joint = self.joint(&out, line);
            match joint {
                Joint::Space if out.is_empty() => {}
                Joint::Space if out.ends_with(is_without_spaces) && line.starts_with(is_without_spaces) => {}
                Joint::Space => out.push(' '),
                Joint::KeepHyphen { .. } => {}
                Joint::DropHyphen { .. } => {
                    out.pop();
                }
            }
            self.push_line(&mut out, line);
        }
        out
    }

    /// Adds the words of a line; a dot leader becomes one character.
    fn push_line(&self, out: &mut String, line: &str) {
        let mut rest = line;
        let mut first = true;
        while !rest.is_empty() {
            let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
            let leader = rest.len() - rest.trim_start_matches(['.', ' ']).len();
            let is_leader = word.starts_with('.') && rest[..leader].matches('.').count() >= 4;
            let (word, after) = if is_leader { ("\u{2026}", &rest[leader..]) } else { (word, after) };
            if !first {
                // Within a line, a hyphen before a space splits a word only if the document contains that word.
                match self.joint(out, rest) {
                    Joint::DropHyphen { known: true } => drop(out.pop()),
                    Joint::KeepHyphen { known: true } => {}
                    _ => out.push(' '),
                }
            }
            out.push_str(word);
            first = false;
            rest = after.trim_start();
        }
    }

    fn joint(&self, before: &str, line: &str) -> Joint {
        let Some(stem) = before.strip_suffix(HYPHENS) else { return Joint::Space };
        let (left, right) = (last_part(stem), first_part(line));
        // A dash at the end of a line, or the first half of "Handels- und Steuerrecht".
        if left.is_empty() || right.is_empty() || SUSPENDING.contains(&right) {
            return Joint::Space;
        }
        let is_compound = left.contains(HYPHENS);
        let left = left.rsplit(HYPHENS).next().unwrap_or(left);
        let right = right.split(HYPHENS).next().unwrap_or(right);
        // `pages 3-` and `4`, `EU-` and `Regulation`: typesetting does not break words there, nor in an address.
        let capitals = left.len() > 1 && is_upper(left) && is_upper(right);
        let broken = left.ends_with(char::is_alphabetic) && (right.starts_with(char::is_lowercase) || capitals);
        if !broken || in_address(stem) {
            return Joint::KeepHyphen { known: false };
        }
        self.judge(&left.to_lowercase(), &right.to_lowercase(), is_compound)
    }

    /// Whether two parts, in lower case, are one word or a compound. First by the forms that occur elsewhere in the
    /// document; then by its habits, which are right more often than a fixed answer.
    fn judge(&self, left: &str, right: &str, is_compound: bool) -> Joint {
        let count = |of: &BTreeMap<String, usize>, word: &str| of.get(word).copied().unwrap_or(0);
        let joined = count(&self.words, &format!("{left}{right}"));
        let hyphened = count(&self.compounds, &format!("{left}-{right}"));
        match joined.cmp(&hyphened) {
            Ordering::Greater => return Joint::DropHyphen { known: true },
            Ordering::Less => return Joint::KeepHyphen { known: true },
            Ordering::Equal if joined > 0 => return Joint::DropHyphen { known: true },
            Ordering::Equal => {}
        }
        // `resource-` and `intensive`: both are words of their own.
        let stands_alone = |part: &str| part.chars().count() >= SHORTEST && self.words.contains_key(part);
        if is_compound || (stands_alone(left) && stands_alone(right)) || self.is_prefix(left) {
            Joint::KeepHyphen { known: false }
        } else {
            Joint::DropHyphen { known: false }
        }
    }

    /// Whether it begins more compounds than words in the document: `non-`, but not `re-`.
    fn is_prefix(&self, part: &str) -> bool {
        if part.chars().count() > LONGEST_PREFIX {
            return false;
        }
        let start = format!("{part}-");
        let compounds = self.compounds.range(start.clone()..).take_while(|(known, _)| known.starts_with(&start));
        let compounds = compounds.take(ENOUGH).count();
        let words = self.words.range(part.to_owned()..).take_while(|(known, _)| known.starts_with(part));
        compounds > 0 && words.filter(|(known, _)| *known != part).take(compounds + 1).count() <= compounds
    }
}

/// Shorter words occur alone in any text and are syllables of others: `in`, `re`.
const SHORTEST: usize = 3;
/// Longer first parts are words: `inter`, `cross`.
const LONGEST_PREFIX: usize = 5;
/// Maximum number of counted compounds per first part; more add no evidence.
const ENOUGH: usize = 1000;

/// Whether a text ends in an address or a program's name, whose hyphens are its own: `https://x.org/a-`.
fn in_address(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or(text);
    let alternatives = last.matches('/').count() == 1 && !last.ends_with('/') && !last.starts_with('/');
    let plain = last.chars().all(|c| c.is_alphabetic() || c == '/');
    last.contains(['/', '@', '_', '=']) && !(alternatives && plain)
}

fn is_upper(text: &str) -> bool {
    text.chars().all(char::is_uppercase)
}

const HYPHENS: [char; 2] = ['-', '\u{2010}'];

fn word_part(character: char) -> bool {
    character.is_alphanumeric() || HYPHENS.contains(&character)
}

fn last_part(text: &str) -> &str {
    &text[text.trim_end_matches(word_part).len()..]
}

fn first_part(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(word_part).len()]
}

/// The separator between two pieces of text; `known`: whether the document has the word in this form.
enum Joint {
    Space,
    KeepHyphen { known: bool },
    DropHyphen { known: bool },
}

/// Whether a script has no spaces between its words.
fn is_without_spaces(character: char) -> bool {
    matches!(character, '\u{3000}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Joins accents with their letters, expands ligatures, drops soft hyphens, invisible and control characters, and replaces unusual spaces.
pub(crate) fn characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            // At the end of a line it is the hyphen that is printed there.
            '\u{ad}' if rest.peek().is_none_or(|next| next.is_whitespace()) => out.push('-'),
            '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{fffd}' => {}
            '\u{a0}' | '\u{2007}' | '\u{202f}' => out.push(' '),
            '\n' => out.push('\n'),
            _ if character.is_control() => out.push(' '),
            _ => out.push_str(letters_of(character).unwrap_or(character.encode_utf8(&mut [0; 4]))),
        }
    }
    accents::join(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_decides_about_hyphens() {
        let known = [Block::Paragraph("A well-known document.".into())];
        let words = Dehyphenator::of(known.iter());
        for (text, expected) in [
            ("a docu-\nment", "a document"),
            ("a well-\nknown rule", "a well-known rule"),
            ("その利用の目\n的を\nEU で、", "その利用の目的を EU で、"),
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
            ("a docu\u{ad}\nment and a well\u{ad}\nknown rule", "a document and a well-known rule"),
            ("NO PARTIC-\nULAR", "NO PARTICULAR"),
            ("https://x.org/web-\nmaster", "https://x.org/web-master"),
            ("and/inter-\nest", "and/interest"),
        ] {
            assert_eq!(words.dehyphenate(text), expected);
        }
    }

    #[test]
    fn what_the_document_has_elsewhere_is_how_a_parted_word_is_written() {
        let text = "A non-exclusive licence. See https://x.org/packaging-manuals/1. The resource is used; intensive use \
                    counts. Revised rules replace others and re-sold goods. A sub-\nlicence. The co-owner may co-operate.";
        let known = [Block::Paragraph(text.into()), Block::Paragraph("work-for-hire, and the contractor".into())];
        let words = Dehyphenator::of(known.iter());
        for (text, expected) in [
            ("a non-\nexclusive, royal-\nty", "a non-exclusive, royalty"),
            ("Non-\nexclusive", "Non-exclusive"),
            ("the packaging-\nmanuals", "the packaging-manuals"),
            // Neither form is there: both parts are words, the first begins compounds only, or neither.
            ("a resource-\nintensive job", "a resource-intensive job"),
            ("non-\ntransferable", "non-transferable"),
            ("co-\ninsured", "co-insured"),
            ("re-\nmains", "remains"),
            ("in-\ncluding", "including"),
            ("work-\nfor-hire", "work-for-hire"),
            // Split words are not evidence for themselves.
            ("a sub-\nlicence", "a sublicence"),
            // Line ends that were lost.
            ("a non- exclusive right, pre- and post-audit", "a non-exclusive right, pre- and post-audit"),
        ] {
            assert_eq!(words.dehyphenate(text), expected);
        }
    }
}
