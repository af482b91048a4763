//! Text strings of PDF objects: UTF-16 or UTF-8 by their byte order mark, else PDFDocEncoding (ISO 32000-1, D.2).

/// The characters of PDFDocEncoding in place of Latin-1's control characters, from 0x80 on.
const FROM_80: [char; 33] = [
    '\u{2022}', '\u{2020}', '\u{2021}', '\u{2026}', '\u{2014}', '\u{2013}', '\u{192}', '\u{2044}', '\u{2039}',
    '\u{203a}', '\u{2212}', '\u{2030}', '\u{201e}', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', '\u{201a}',
    '\u{2122}', '\u{fb01}', '\u{fb02}', '\u{141}', '\u{152}', '\u{160}', '\u{178}', '\u{17d}', '\u{131}', '\u{142}',
    '\u{153}', '\u{161}', '\u{17e}', '\u{fffd}', '\u{20ac}',
];

/// The text of a string.
pub(super) fn text_of(bytes: &[u8]) -> String {
    if let Some((encoding, mark)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    let character = |byte: &u8| match byte {
        0x80..=0xa0 => FROM_80[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(character).filter(|c| !c.is_control() || c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn strings_are_read_by_their_mark_or_as_pdf_has_them() {
        for (bytes, text) in [
            (b"14 days".as_slice(), "14 days"),
            (b"\xfe\xff\0P\0r\0\xfc\0f", "Pr\u{fc}f"),
            (b"\xef\xbb\xbfPr\xc3\xbcf", "Pr\u{fc}f"),
            (b"Pr\xfcf\x84\xa0 5", "Pr\u{fc}f\u{2014}\u{20ac} 5"),
        ] {
            assert_eq!(text_of(bytes), text);
        }
    }
}
