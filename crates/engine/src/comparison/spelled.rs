//! Numbers in words: `ten`, `twenty-five`, `two hundred and fifty thousand`, `fünfundzwanzig`, `dreißigtägig`.

use super::number_words::{WEAK_WORDS, WORDS, factor, value};

/// Words for one that begin a number of several words: `one hundred`, `a million`.
const ONE: [&str; 8] = ["one", "a", "an", "ein", "eine", "einer", "einem", "einen"];
/// Half of the next word: `half a million`.
const HALF: [[&str; 2]; 7] = [
    ["half", "a"],
    ["a", "half"],
    ["eine", "halbe"],
    ["einer", "halben"],
    ["ein", "halbes"],
    ["einem", "halben"],
    ["eines", "halben"],
];
/// Words for twelve, which the word before them may multiply.
const DOZEN: [&str; 2] = ["dozen", "dutzend"];
/// What a German number word may be joined with: `zehnjährig`. Behind these is an ending alone.
const COUNTED: [&str; 8] = ["tägig", "jährig", "monatig", "wöchig", "stündig", "minütig", "fach", "stellig"];
/// And these, behind which a noun may be: `Dreimonatsfrist`.
const COUNTED_NOUNS: [&str; 4] = ["tages", "jahres", "monats", "wochen"];

/// The numbers in a word: `ten`, `ten-day`, `twenty-five`.
pub(super) fn in_word(word: &str) -> Vec<u64> {
    let parts: Vec<String> = word.split(['-', '/', '–']).map(str::to_lowercase).collect();
    let values: Vec<u64> = parts.iter().filter_map(|part| of_word(part)).collect();
    match (&values[..], parts.len()) {
        ([tens @ (20 | 30 | 40 | 50 | 60 | 70 | 80 | 90), unit @ ..=9], 2) => vec![tens + unit],
        _ => values,
    }
}

/// The number of the several words with which these begin, and how many words it has.
pub(super) fn in_words(words: &[&str]) -> Option<(u64, usize)> {
    let bare = |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    let is_dozen = |word: &str| DOZEN.contains(&bare(word).as_str());
    if let [one, other, last, ..] = words
        && HALF.contains(&[bare(one).as_str(), bare(other).as_str()])
        && let Some(all) = factor(last).map(|noughts| 10_u64.pow(noughts)).or(is_dozen(last).then_some(12))
    {
        return Some((all / 2, 3));
    }
    if let [several, dozen, ..] = words
        && is_dozen(dozen)
        && let Some(several) = in_word(&bare(several)).pop()
    {
        return Some((several * 12, 2));
    }
    let (mut all, mut last, mut used) = (0_u64, 0_u64, 0_usize);
    for (at, word) in words.iter().enumerate() {
        let core = bare(word);
        let one = (at == 0 && ONE.contains(&core.as_str())).then_some(1);
        let said = in_word(&core).pop().or(one);
        match (said, factor(&core)) {
            (Some(100), _) if (1..10).contains(&last) => last *= 100,
            (_, Some(noughts)) if last > 0 => {
                all = all.checked_add(last.checked_mul(10_u64.checked_pow(noughts)?)?)?;
                last = 0;
            }
            (Some(said), _) if last == 0 || (said < 100 && last % 100 == 0) => last += said,
            (Some(said), _) if said < 10 && last % 100 >= 20 && last % 10 == 0 => last += said,
            (None, None) if ["and", "und"].contains(&core.as_str()) && last >= 100 => continue,
            _ => break,
        }
        used = at + 1;
        if word.ends_with(|sign: char| !sign.is_alphanumeric()) {
            break;
        }
    }
    (used > 1).then_some((all + last, used))
}

/// Whether a word, in lower case, is a number and nothing else.
pub(super) fn is_number(word: &str) -> bool {
    value(word, &WORDS).is_some() || german(word).is_some_and(|value| value > 1)
}

/// Whether a word, in lower case, begins as a number word does: most words do not, and need not be read.
pub(super) fn may_begin(word: &str) -> bool {
    ["ein", "tausend"].into_iter().chain(WORDS.iter().map(|(known, _)| *known)).any(|known| begin_alike(word, known))
}

/// Whether two words have the same three bytes at their beginning.
pub(super) fn begin_alike(word: &str, other: &str) -> bool {
    word.as_bytes().first_chunk::<3>().is_some_and(|first| other.as_bytes().first_chunk() == Some(first))
}

fn of_word(word: &str) -> Option<u64> {
    if !may_begin(word) {
        return None;
    }
    if let Some(value) = value(word, &WORDS) {
        return Some(value.into());
    }
    if value(word, &WEAK_WORDS).is_some() {
        return None;
    }
    let is_ending = |at: &usize, counted: &str| word[at + counted.len()..].chars().count() <= 2;
    let adjectives = COUNTED.iter().filter_map(|counted| word.find(counted).filter(|at| is_ending(at, counted)));
    let counted = adjectives.chain(COUNTED_NOUNS.iter().filter_map(|counted| word.find(counted))).min();
    german(&word[..counted.unwrap_or(word.len())]).filter(|value| *value > 1)
}

/// A German number in one word, below a million.
fn german(word: &str) -> Option<u64> {
    let Some((before, behind)) = word.split_once("tausend") else { return hundreds(word) };
    let thousands = if before.is_empty() { 1 } else { hundreds(before)? };
    Some(thousands * 1000 + rest(behind, hundreds)?)
}

fn hundreds(word: &str) -> Option<u64> {
    let Some((before, behind)) = word.split_once("hundert") else { return tens(word) };
    let hundreds = if before.is_empty() { 1 } else { unit(before)? };
    Some(hundreds * 100 + rest(behind, tens)?)
}

fn rest(behind: &str, read: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    if behind.is_empty() { Some(0) } else { read(behind.strip_prefix("und").unwrap_or(behind)) }
}

fn tens(word: &str) -> Option<u64> {
    if let Some(value) = unit(word) {
        return Some(value);
    }
    let (unit_of, tens) = word.split_once("und")?;
    let tens = value(tens, &WORDS).filter(|tens| *tens >= 20)?;
    Some(u64::from(tens) + unit(unit_of)?)
}

fn unit(word: &str) -> Option<u64> {
    if word == "ein" { Some(1) } else { value(word, &WORDS).map(u64::from) }
}

#[cfg(test)]
mod tests {
    use super::{in_word, in_words};

    #[test]
    fn a_word_has_its_number() {
        for (word, expected) in [
            ("ten-day", 10),
            ("twenty-five", 25),
            ("fünfundzwanzig", 25),
            ("Dreissig", 30),
            ("zweihundert", 200),
            ("hundertfünfzig", 150),
            ("fünfzigtausend", 50_000),
            ("dreißigtägige", 30),
            ("Sechsmonatsfrist", 6),
        ] {
            assert_eq!(in_word(word), [expected], "{word}");
        }
        for word in
            ["tausend", "einmal", "Hund", "und", "Achtung", "hunderte", "wochenlang", "einjährig", "Dreifachdose"]
        {
            assert!(in_word(word).is_empty(), "{word}: {:?}", in_word(word));
        }
    }

    #[test]
    fn several_words_are_one_number() {
        let read = |text: &str| in_words(&text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(read("two hundred days"), Some((200, 2)));
        assert_eq!(read("one hundred thousand euro"), Some((100_000, 3)));
        assert_eq!(read("two hundred and fifty million"), Some((250_000_000, 5)));
        assert_eq!(read("zwei Millionen Euro"), Some((2_000_000, 2)));
        assert_eq!(read("half a million euro"), Some((500_000, 3)));
        assert_eq!(read("a million, ten"), Some((1_000_000, 2)));
        for text in ["ten days", "five and six", "ten, five", "a key", "hundred and so", "five six"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
