//! The pieces of plain ASCII text, found by looking at its bytes: most text is plain, and for a short piece the search
//! for a pattern costs several times what counting it does.
//!
//! Where another character could belong to the piece, and where an apostrophe may begin one of the endings that the
//! patterns name, it is left to the pattern.

/// The way an encoding cuts words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// cl100k: a word is letters, and punctuation keeps the line breaks behind it.
    Letters,
    /// o200k: a word is capitals and then small letters, and punctuation keeps slashes too.
    Capitals,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Capital,
    Small,
    Digit,
    /// White space that ends no line.
    Blank,
    Break,
    Apostrophe,
    /// What is none of the others.
    Mark,
    /// Part of a character that is not ASCII.
    Beyond,
    /// Behind the text.
    End,
}

use Class::{Apostrophe, Beyond, Blank, Break, Capital, Digit, End, Mark, Small};

/// Most digits of one piece.
const DIGITS: usize = 3;

const CLASSES: [Class; 256] = {
    let mut classes = [Beyond; 256];
    let mut byte = 0u8;
    while byte.is_ascii() {
        classes[byte as usize] = match byte {
            b'A'..=b'Z' => Capital,
            b'a'..=b'z' => Small,
            b'0'..=b'9' => Digit,
            b' ' | b'\t' | 0x0b | 0x0c => Blank,
            b'\n' | b'\r' => Break,
            b'\'' => Apostrophe,
            _ => Mark,
        };
        byte += 1;
    }
    classes
};

/// Length of the piece that the text begins with; nothing where the pattern has to say it.
pub(crate) fn first_piece(text: &[u8], cut: Cut) -> Option<usize> {
    let second = class(text, 1);
    match class(text, 0) {
        Capital | Small => word(text, 0, cut),
        Digit => number(text),
        Blank | Mark if matches!(second, Capital | Small) => word(text, 1, cut),
        Blank if text[0] == b' ' && matches!(second, Mark | Apostrophe) => marks(text, cut),
        Blank | Break => white_space(text),
        Mark => marks(text, cut),
        Apostrophe | Beyond | End => None,
    }
}

fn class(text: &[u8], at: usize) -> Class {
    text.get(at).map_or(End, |byte| CLASSES[usize::from(*byte)])
}

/// Where the bytes end that begin at `from` and are all of some classes.
fn end_of(text: &[u8], from: usize, belongs: impl Fn(Class) -> bool) -> usize {
    let others = text[from..].iter().position(|byte| !belongs(CLASSES[usize::from(*byte)]));
    others.map_or(text.len(), |at| from + at)
}

/// A word that begins at `from`.
fn word(text: &[u8], from: usize, cut: Cut) -> Option<usize> {
    let end = match cut {
        Cut::Letters => end_of(text, from, |class| matches!(class, Capital | Small)),
        Cut::Capitals => end_of(text, end_of(text, from, |class| class == Capital), |class| class == Small),
    };
    match class(text, end) {
        Beyond => None,
        Apostrophe if cut == Cut::Capitals => None,
        _ => Some(end),
    }
}

fn number(text: &[u8]) -> Option<usize> {
    let end = end_of(&text[..text.len().min(DIGITS)], 0, |class| class == Digit);
    (end == DIGITS || class(text, end) != Beyond).then_some(end)
}

/// Punctuation, with the space before it.
fn marks(text: &[u8], cut: Cut) -> Option<usize> {
    let end = end_of(text, 1, |class| matches!(class, Mark | Apostrophe));
    if class(text, end) == Beyond {
        return None;
    }
    let rest = text[end..].iter().position(|byte| match byte {
        b'\n' | b'\r' => false,
        b'/' => cut == Cut::Letters,
        _ => true,
    });
    Some(rest.map_or(text.len(), |at| end + at))
}

/// White space up to its last line break; without one, all but the last of it, which goes with what follows.
fn white_space(text: &[u8]) -> Option<usize> {
    let end = end_of(text, 0, |class| matches!(class, Blank | Break));
    if class(text, end) == Beyond {
        return None;
    }
    let last_break = text[..end].iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    Some(match last_break {
        Some(at) => at + 1,
        None if end == text.len() => end,
        None => (end - 1).max(1),
    })
}
