//! Ligatures: characters of typesetting that stand for several letters.

/// The letters of a ligature.
pub fn letters_of(ligature: char) -> Option<&'static str> {
    Some(match ligature {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}
