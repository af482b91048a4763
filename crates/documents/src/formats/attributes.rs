//! Counts the attributes of the elements of an HTML page before parsing: a parser compares each attribute with all
//! before it, so that one element of a megabyte takes a minute.
//!
//! An element begins at `<` and a letter if the parser is in a text state. Only a parser knows that state, so every
//! such position is treated as an element, by the rules of the HTML standard (13.2.5.6 to 13.2.5.40): positions within
//! scripts and comments are counted too.

/// Maximum number of attributes of an element.
const MOST: usize = 4_000;
/// More than ordinary elements have; above it, comparisons are counted.
const ORDINARY: usize = 64;
/// Maximum comparisons for the whole page, a second or two.
const MOST_COMPARISONS: usize = 1_000_000_000;
/// Maximum visits of each byte, because `<a<a<a…` begins an element at each position that continues to the end.
const MOST_LOOKS: usize = 64;

/// Whether parsing the page's elements takes time linear in its length.
pub(crate) fn is_bounded(html: &str) -> bool {
    let bytes = html.as_bytes();
    let mut looks = MOST_LOOKS * bytes.len() + (1 << 20);
    let mut comparisons = 0;
    for at in memchr::memchr_iter(b'<', bytes) {
        let element = &bytes[at + 1..];
        if !element.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
            continue;
        }
        let Some(found) = attributes(element, &mut looks) else { return false };
        if found > ORDINARY {
            comparisons += found * found / 2;
        }
        if comparisons > MOST_COMPARISONS {
            return false;
        }
    }
    true
}

/// The state within an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// In its name, or in an attribute's name.
    Name,
    /// Where an attribute may begin.
    Between,
    /// After an attribute's name and white space: `=` starts its value.
    Named,
    /// Behind `=`.
    Equals,
    Unquoted,
    Quoted(u8),
}

/// The number of attributes of an element; none if there are too many, or too many bytes were visited.
fn attributes(element: &[u8], looks: &mut usize) -> Option<usize> {
    let (mut state, mut found) = (State::Name, 0);
    for byte in element {
        *looks = looks.checked_sub(1)?;
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        state = match (state, byte) {
            (State::Quoted(quote), byte) if *byte == quote => State::Between,
            (State::Quoted(_), _) => state,
            (_, b'>') => return Some(found),
            (State::Equals, b'"' | b'\'') => State::Quoted(*byte),
            (State::Equals, _) if is_space => State::Equals,
            (State::Equals, _) => State::Unquoted,
            (State::Unquoted, _) if is_space => State::Between,
            (State::Unquoted, _) => State::Unquoted,
            (_, b'/') => State::Between,
            (State::Name, b'=') | (State::Named, b'=') if found > 0 => State::Equals,
            (State::Name, _) if is_space => State::Named,
            (State::Name, _) => State::Name,
            (State::Between | State::Named, _) if is_space => state,
            // An attribute's name, including `=` as its first character.
            (State::Between | State::Named, _) => {
                found += 1;
                State::Name
            }
        };
        if found > MOST {
            return None;
        }
    }
    // An unterminated element is not an element, but its attributes were read.
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{MOST, attributes, is_bounded};

    fn count(element: &str) -> Option<usize> {
        let mut looks = usize::MAX;
        attributes(element.as_bytes(), &mut looks)
    }

    #[test]
    fn attributes_are_counted_as_a_parser_does() {
        for (element, expected) in [
            ("p>x y z", 0),
            ("p a b c>", 3),
            ("p a=1 b='x y > z' c=\"d e\"f>", 4),
            ("p/a/b=c/d/e>", 2),
            ("p a = b c\n=\n'd' e>", 3),
            ("br/>", 0),
            ("a<a<a b <c d>", 3),
            ("p a\"b c'd>", 2),
            ("p =a b>", 2),
            ("p a", 1),
        ] {
            assert_eq!(count(element), Some(expected), "{element}");
        }
    }

    #[test]
    fn elements_of_many_attributes_are_found_wherever_they_are() {
        let many: String = (0..100_000).map(|n| format!(" a{n}")).collect();
        let quoted: String = (0..100_000).map(|n| format!("a{n}=\">\"")).collect();
        let slashes: String = (0..100_000).map(|n| format!("/a{n}")).collect();
        for page in [
            format!("<p{many}>"),
            format!("</p{many}>"),
            format!("<p {quoted}>"),
            format!("<p{slashes}"),
            format!("<!-- <a x=\" --><p{many}>"),
            format!("<script>'<a x=\"'</script><p{many}>"),
            format!("<p <p{many}>"),
            "<p".to_owned() + &" a".repeat(MOST + 1),
            "<a".repeat(2_000_000),
            format!("<p{}>", (0..3_000).map(|n| format!(" a{n}")).collect::<String>()).repeat(400),
        ] {
            assert!(!is_bounded(&page), "{page:.60}");
        }
    }

    #[test]
    fn ordinary_pages_pass() {
        let picture = format!("<img src=\"data:image/png;base64,{}\">", "aB/+".repeat(2_000_000));
        let script = format!("<script>{}</script>", "for(i=0;i<n;i++){if(a<b)c='<div class=\"x\">'}".repeat(50_000));
        let text = "a < b, 3<4 and words without end ".repeat(100_000);
        let comment = format!("<!--{}-->", " many words".repeat(100_000));
        let table = "<tr><td class=\"a b\" style='x: y' data-n=1>1</td></tr>".repeat(50_000);
        for page in [picture, script, text, comment, table] {
            assert!(is_bounded(&page), "{page:.60}");
        }
    }
}
