//! Letters that a PDF draws as a letter and an accent at the same place, as old TeX fonts do: `Pru¨ fung` is `Prüfung`.

use unicode_normalization::char::compose;

/// Accents as characters of their own, and as parts of a letter.
const ACCENTS: [(char, char); 10] = [
    ('\u{a8}', '\u{308}'),
    ('\u{b4}', '\u{301}'),
    ('\u{b8}', '\u{327}'),
    ('\u{2c6}', '\u{302}'),
    ('\u{2c7}', '\u{30c}'),
    ('\u{2d8}', '\u{306}'),
    ('\u{2d9}', '\u{307}'),
    ('\u{2da}', '\u{30a}'),
    ('\u{2dc}', '\u{303}'),
    ('\u{2dd}', '\u{30b}'),
];
/// This one is written for an apostrophe, too: `it´s`.
const ACUTE: char = '\u{b4}';

/// Joins accents with their letters: with the letter before an accent and a space within a word, or else with the
/// letter behind the accent.
pub(crate) fn join(text: String) -> String {
    if !text.contains(ACCENTS.map(|(accent, _)| accent)) {
        return text;
    }
    let signs: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(sign) = signs.get(at) {
        let is_before_space =
            signs.get(at + 1) == Some(&' ') && signs.get(at + 2).is_some_and(|next| next.is_lowercase());
        let with = |letter: Option<char>| accent(*sign).and_then(|accent| compose(letter?, accent));
        let before = with(out.chars().next_back()).filter(|_| is_before_space || *sign != ACUTE);
        let behind = with(signs.get(at + 1).copied()).filter(|_| *sign != ACUTE);
        // An acute is often on the last letter of a word; then the space is one between words.
        let width = if is_before_space && *sign != ACUTE { 2 } else { 1 };
        at += match (before, behind) {
            (_, Some(letter)) => {
                out.push(letter);
                2
            }
            (Some(letter), None) => {
                out.pop();
                out.push(letter);
                width
            }
            (None, None) => {
                out.push(*sign);
                1
            }
        };
    }
    out
}

fn accent(sign: char) -> Option<char> {
    ACCENTS.iter().find(|(accent, _)| *accent == sign).map(|(_, part)| *part)
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn accents_are_joined_with_their_letters() {
        for (text, expected) in [
            ("Die Pru¨ fung der Bu¨ cher muss ja¨ hrlich", "Die Prüfung der Bücher muss jährlich"),
            ("Die Pr¨ufung ¨uber B¨ucher", "Die Prüfung über Bücher"),
            ("the re´sume´ of Aviac¸a˜ o", "the re´sumé of Aviação"),
            ("it´s what you´re told, at 5 ¨ and x¨ y", "it´s what you´re told, at 5 ¨ and ẍy"),
        ] {
            assert_eq!(join(text.to_owned()), expected);
        }
    }
}
