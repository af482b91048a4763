//! Encodings of older systems, which no browser reads: code pages 850 and 852 of DOS, Mac Roman and its sibling for
//! Central Europe. Their letters are signs in today's encodings, so that a word with a sign among its letters shows which
//! of them a text is in; and a language has few letters, so that all of one language show it, too.

use encoding_rs::{Encoding, ISO_8859_2, MACINTOSH, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257};

/// The characters of code page 850 from 0x80 on; its letters are those of code page 437, too.
const CP_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";
/// Those of code page 852.
const CP_852: &str = "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}";
/// Those of the Mac's Central European encoding.
const MAC_CE: &str = "ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\u{a0}ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ";
/// The letters of a language that are no ASCII: of Western, Northern, Central and South-Eastern Europe.
const LANGUAGES: [&str; 18] = [
    "äöüßé",
    "éèêëàâçîïôûùœæ",
    "áéíóúñü",
    "àèéìíòóù",
    "ãõáéíóúâêôàç",
    "áàçéèíïóòúü",
    "åäöé",
    "åæøéòô",
    "áéíóúýþæöð",
    "äöõüšž",
    "áčďéěíňóřšťúůýž",
    "áäčďéíĺľňóôŕšťúýž",
    "ąćęłńóśźż",
    "áéíóöőúüű",
    "čšžćđ",
    "ăâîşţșț",
    "çğıöşüâî",
    "ąčęėįšųūžāēģīķļņ",
];
/// Signs that words of today's encodings have between their letters.
const SIGNS: &str = "’–—…";
/// Fewer letters may be chance.
const FEWEST: usize = 3;
/// Today's encodings of these languages.
const TODAY: [&Encoding; 5] = [WINDOWS_1252, WINDOWS_1250, ISO_8859_2, WINDOWS_1254, WINDOWS_1257];

/// The text in another encoding than the guessed one and the encoding's name, if that makes words of what the guess does
/// not.
pub(super) fn read(bytes: &[u8], guess: &'static Encoding) -> Option<(&'static str, String)> {
    let within = Letters::of(bytes, true);
    if within.all < FEWEST || !TODAY.contains(&guess) {
        return None;
    }
    let today = within.most(&table(guess), SIGNS);
    let central = table(WINDOWS_1250);
    if guess == WINDOWS_1252 && within.most(&central, "") > today && within.most(&central, "") * 20 >= within.all * 19 {
        return Some((WINDOWS_1250.name(), text(bytes, &central)));
    }
    if today * 10 > within.all * 8 {
        return None;
    }
    let tables = [
        ("code page 850", CP_850.chars().collect()),
        ("code page 852", CP_852.chars().collect()),
        ("Mac Roman", table(MACINTOSH)),
        ("Mac Central European", MAC_CE.chars().collect()),
    ];
    // Of two with the same letters within words, the one with more letters at their ends, else the first.
    let ends = Letters::of(bytes, false);
    let (name, table) = tables
        .into_iter()
        .rev()
        .max_by_key(|(_, table): &(_, Vec<char>)| (within.most(table, ""), ends.most(table, "")))?;
    (within.most(&table, "") * 10 >= within.all * 9).then(|| (name, text(bytes, &table)))
}

fn table(encoding: &'static Encoding) -> Vec<char> {
    let all: Vec<u8> = (0x80..=0xff).collect();
    encoding.decode_without_bom_handling(&all).0.chars().collect()
}

/// The bytes that are no ASCII behind an ASCII letter: how often each follows a small letter, and a capital.
struct Letters {
    counts: [[usize; 128]; 2],
    all: usize,
}

impl Letters {
    /// Those within words, or those at the ends of words.
    fn of(bytes: &[u8], within: bool) -> Self {
        let mut letters = Self { counts: [[0; 128]; 2], all: 0 };
        for three in bytes.windows(3).filter(|three| !three[1].is_ascii()) {
            if three[0].is_ascii_alphabetic() && three[2].is_ascii_alphabetic() == within {
                letters.counts[usize::from(three[0].is_ascii_uppercase())][usize::from(three[1] - 0x80)] += 1;
                letters.all += 1;
            }
        }
        letters
    }

    /// How many of the bytes are letters of one language or these signs, for the language that has most of them.
    fn most(&self, table: &[char], signs: &str) -> usize {
        let of = |language: &&str| -> usize {
            let is_usual = |sign: char, capital: bool| match sign.is_uppercase() {
                true => capital && sign.to_lowercase().all(|sign| language.contains(sign)),
                false => language.contains(sign) || signs.contains(sign),
            };
            let counts = [false, true].into_iter().zip(&self.counts);
            let signs = counts.flat_map(|(capital, counts)| table.iter().zip(counts).map(move |pair| (capital, pair)));
            signs.filter(|(capital, (sign, _))| is_usual(**sign, *capital)).map(|(_, (_, count))| count).sum()
        };
        LANGUAGES.iter().map(of).max().unwrap_or_default()
    }
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
        let mac: String = table(MACINTOSH).into_iter().collect();
        let western = [(CP_850, "code page 850"), (&mac, "Mac Roman")];
        let central = [(CP_852, "code page 852"), (MAC_CE, "Mac Central European")];
        for (text, encodings, today) in [
            ("Die Prüfung muss jährlich erfolgen. Maßnahmen für Geräte müssen nötig sein.", western, WINDOWS_1252),
            ("Les données doivent être conservées à côté pendant une durée déterminée.", western, WINDOWS_1252),
            ("Operatören måste föra loggar. Åtgärder för säkerhet är nödvändiga.", western, WINDOWS_1252),
            ("Správce musí vést záznamy o všech změnách a uchovávat je.", central, WINDOWS_1250),
            ("Prevádzkovateľ musí uchovávať záznamy desať rokov.", central, WINDOWS_1250),
            ("Należy zgłosić każdą zmianę właścicielowi książki.", central, WINDOWS_1250),
            ("A kezelőnek minden változást rögzítenie kell, és meg kell őriznie.", central, WINDOWS_1250),
        ] {
            for (characters, name) in encodings {
                for guess in [WINDOWS_1252, WINDOWS_1250] {
                    assert_eq!(
                        read(&bytes(text, characters), guess),
                        Some((name, text.to_owned())),
                        "{}",
                        guess.name()
                    );
                }
            }
            let (coded, _, _) = today.encode(text);
            assert_eq!(read(&coded, today), None, "{text}");
        }
        for text in ["It’s the owner’s duty—don’t fail…ever.", "“It shall be € 5”", "Stop."] {
            let (today, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(read(&today, WINDOWS_1252), None, "{text}");
        }
    }

    #[test]
    fn letters_of_hungarian_show_the_encoding_of_central_europe() {
        let text = "Az üzemeltetőnek tíz évig meg kell őriznie a naplókat, és rögzítenie kell minden küldést.";
        let (coded, _, _) = WINDOWS_1250.encode(text);
        assert_eq!(read(&coded, WINDOWS_1252), Some(("windows-1250", text.to_owned())));
        for text in
            ["As ações não são públicas; põe-se à disposição.", "Õpetaja kõneles õues ööd läbi, sõna jõudis üle."]
        {
            let (coded, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(read(&coded, WINDOWS_1252), None, "{text}");
        }
    }
}
