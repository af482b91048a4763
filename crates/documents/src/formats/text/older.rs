//! Encodings of older systems, which no browser reads: code page 850 of DOS, and Mac Roman. Their letters are signs in
//! windows-1252, so that a word with a sign among its letters shows which of them a text is in.

use encoding_rs::{MACINTOSH, WINDOWS_1252};

/// The characters of code page 850 from 0x80 on; its letters are those of code page 437, too.
const CP_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";
/// Letters of western languages within words.
const LETTERS: &str = "äöüßéèêëàâçîïôûùñáíóúãõåæø";
/// Signs that words of today's encoding have between their letters.
const SIGNS: &str = "’–—…";
/// Fewer letters may be chance.
const FEWEST: usize = 3;

/// The text in an older encoding and the encoding's name, if that makes words of what windows-1252 does not.
pub(super) fn read(bytes: &[u8]) -> Option<(&'static str, String)> {
    let all: Vec<u8> = (0x80..=0xff).collect();
    let today: Vec<char> = WINDOWS_1252.decode_without_bom_handling(&all).0.chars().collect();
    let mac: Vec<char> = MACINTOSH.decode_without_bom_handling(&all).0.chars().collect();
    let within = within_words(bytes);
    let share = |table: &[char], signs: &str| {
        let is_usual = |byte: &&u8| is_any(table[usize::from(**byte - 0x80)], &[LETTERS, signs]);
        within.iter().filter(is_usual).count() * 10
    };
    if within.len() < FEWEST || share(&today, SIGNS) > within.len() * 5 {
        return None;
    }
    let tables = [("code page 850", CP_850.chars().collect()), ("Mac Roman", mac)];
    let (name, table) = tables.into_iter().max_by_key(|(_, table)| share(table, ""))?;
    (share(&table, "") >= within.len() * 9).then(|| (name, text(bytes, &table)))
}

fn is_any(character: char, of: &[&str]) -> bool {
    of.iter().any(|all| all.contains(character))
}

/// The bytes that are no ASCII between two ASCII letters.
fn within_words(bytes: &[u8]) -> Vec<u8> {
    let words = bytes.windows(3).filter(|bytes| bytes[0].is_ascii_alphabetic() && bytes[2].is_ascii_alphabetic());
    words.map(|bytes| bytes[1]).filter(|byte| !byte.is_ascii()).collect()
}

fn text(bytes: &[u8], table: &[char]) -> String {
    let character = |byte: &u8| table.get(usize::from(*byte).wrapping_sub(0x80)).copied().unwrap_or(char::from(*byte));
    bytes.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in the encoding of that table, except for characters that it does not have.
    fn bytes(text: &str, table: &str) -> Vec<u8> {
        let byte = |sign: char| match sign.is_ascii() {
            true => u8::try_from(sign).ok(),
            false => table.chars().position(|own| own == sign).and_then(|at| u8::try_from(at + 0x80).ok()),
        };
        text.chars().filter_map(byte).collect()
    }

    #[test]
    fn words_show_the_encoding() {
        let all: Vec<u8> = (0x80..=0xff).collect();
        let mac = MACINTOSH.decode_without_bom_handling(&all).0.into_owned();
        for text in [
            "Die Prüfung muss jährlich erfolgen. Maßnahmen für Geräte müssen nötig sein.",
            "Les données doivent être conservées à côté pendant une durée déterminée.",
        ] {
            assert_eq!(read(&bytes(text, CP_850)), Some(("code page 850", text.to_owned())));
            assert_eq!(read(&bytes(text, &mac)), Some(("Mac Roman", text.to_owned())));
            let (today, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(read(&today), None, "{text}");
        }
        for text in ["It’s the owner’s duty—don’t fail…ever.", "“It shall be € 5”", "Stop."] {
            let (today, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(read(&today), None, "{text}");
        }
    }
}
