//! Numbers of lists and headings in the forms that word processors show them.

/// After `z` comes `aa`, then `bb`.
pub(super) fn repeated_letters(count: u32) -> String {
    let Some(index) = count.checked_sub(1) else { return "0".to_owned() };
    let letter = char::from(b'a' + u8::try_from(index % 26).unwrap_or(0));
    std::iter::repeat_n(letter, (index / 26 + 1).min(30) as usize).collect()
}

/// Lower case; decimal where there is none.
pub(super) fn roman(count: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if !(1..4000).contains(&count) {
        return count.to_string();
    }
    let (mut left, mut out) = (count, String::new());
    for (value, sign) in SIGNS {
        while left >= value {
            out.push_str(sign);
            left -= value;
        }
    }
    out
}

/// English, as word processors write them in any language.
pub(super) fn ordinal(count: u32) -> String {
    let ending = match (count % 10, count % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{count}{ending}")
}

/// After `z` comes `aa`, then `ab`.
pub(super) fn letters(count: u32) -> String {
    if count == 0 {
        return "0".to_owned();
    }
    let (mut left, mut out) = (count, Vec::new());
    while left > 0 {
        out.push(char::from(b'a' + u8::try_from((left - 1) % 26).unwrap_or(0)));
        left = (left - 1) / 26;
    }
    out.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_the_last_one() {
        for (count, repeated, counted) in
            [(0, "0", "0"), (1, "a", "a"), (26, "z", "z"), (27, "aa", "aa"), (28, "bb", "ab")]
        {
            assert_eq!((repeated_letters(count).as_str(), letters(count).as_str()), (repeated, counted), "{count}");
        }
        assert_eq!((letters(702).as_str(), letters(703).as_str()), ("zz", "aaa"));
    }
}
