//! UTF-7, the encoding of old mail programs, if the text begins with its mark: without it, it is like plain ASCII.

/// Whether bytes begin with a byte order mark in UTF-7.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    matches!(bytes, [b'+', b'/', b'v', b'8' | b'9' | b'+' | b'/', ..])
}

/// The text without its mark, and whether something in it could not be decoded (RFC 2152).
pub(super) fn decode(bytes: &[u8]) -> (String, bool) {
    let (mut out, mut damaged) = (String::with_capacity(bytes.len()), false);
    let mut rest = bytes;
    while let [first, behind @ ..] = rest {
        rest = behind;
        match first {
            b'+' => {
                let length = rest.iter().take_while(|byte| value(**byte).is_some()).count();
                damaged |= !push_coded(&mut out, &rest[..length], rest.get(length) == Some(&b'-'));
                rest = &rest[length..];
                rest = rest.strip_prefix(b"-").unwrap_or(rest);
            }
            ascii if ascii.is_ascii() => out.push(char::from(*ascii)),
            _ => {
                damaged = true;
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    let text = out.strip_prefix('\u{feff}').map(str::to_owned);
    (text.unwrap_or(out), damaged)
}

/// Decodes what is between `+` and `-`; whether it could.
fn push_coded(out: &mut String, coded: &[u8], is_ended: bool) -> bool {
    if coded.is_empty() && is_ended {
        out.push('+');
        return true;
    }
    let (mut units, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for value in coded.iter().filter_map(|byte| value(*byte)) {
        (bits, count) = (bits << 6 | value, count + 6);
        if count >= 16 {
            count -= 16;
            units.push((bits >> count) as u16);
            bits &= (1 << count) - 1;
        }
    }
    let read: Vec<_> = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    let is_whole = !read.is_empty() && bits == 0 && count < 6 && !read.contains(&char::REPLACEMENT_CHARACTER);
    out.extend(&read);
    if !is_whole && !read.contains(&char::REPLACEMENT_CHARACTER) {
        out.push(char::REPLACEMENT_CHARACTER);
    }
    is_whole
}

/// What a character of base 64 counts.
fn value(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_base_64_are_read() {
        for (bytes, text) in [
            ("+/v8-Die Pr+APw-fung muss sein; 1 +- 1.", "Die Prüfung muss sein; 1 + 1."),
            ("+/v8AUAByAPw-fung", "Prüfung"),
            ("+/v8-+ZeVnLIqe-: +2D3c9w-!", "日本語: \u{1f4f7}!"),
            ("+/v8-A+ImIDkQ.", "A≢Α."),
        ] {
            assert_eq!((decode(bytes.as_bytes()), is_marked(bytes.as_bytes())), ((text.to_owned(), false), true));
        }
        for bytes in [b"+/v8-Pr\xfcfung".as_slice(), b"+/v8-Pr+2Dw-fung", b"+/v8-Pr+A-fung", b"+/v8-Pr+!"] {
            let (text, damaged) = decode(bytes);
            assert!(damaged && text.starts_with("Pr\u{fffd}"), "{text}");
        }
        assert!(!is_marked(b"+/-") && !is_marked(b"+v8-"));
    }
}
