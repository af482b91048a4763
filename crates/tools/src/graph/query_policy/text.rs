//! Refusals before the server is asked: texts that two parsers may read differently, and functions that a server might
//! run during planning.

use super::Forbidden;
use super::functions;
use super::tokens::{Token, tokens};

/// Checks a query's text, before anything is sent.
///
/// # Errors
/// [`Forbidden`]: the forbidden part, regardless of its effect.
pub fn check(query: &str) -> Result<(), Forbidden> {
    characters(query)?;
    let tokens = tokens(query);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Comment => return Err(Forbidden::Comment),
            Token::Open(quote) => return Err(Forbidden::Open(*quote)),
            Token::Sign(';') => return Err(Forbidden::Several),
            Token::Sign('\\') => return Err(Forbidden::Character("`\\`".into())),
            Token::Sign(odd) if !odd.is_ascii() => return Err(Forbidden::Character(shown(*odd))),
            Token::Text(text) => escapes(text)?,
            Token::Name(name) if name.contains("\\u") || name.contains("\\U") => {
                return Err(Forbidden::Character("`\\u…`".into()));
            }
            Token::Word(word) if word.eq_ignore_ascii_case("use") && !is_name(&tokens[..at]) => {
                return Err(Forbidden::Elsewhere);
            }
            _ => {}
        }
    }
    functions::of_text(&tokens)
}

/// A property, parameter or label follows these signs.
fn is_name(before: &[Token<'_>]) -> bool {
    matches!(before.last(), Some(Token::Sign('.' | '$' | ':' | '|' | '&')))
}

/// Refuses characters that only some parsers treat as a line end, or ignore.
fn characters(query: &str) -> Result<(), Forbidden> {
    for (at, character) in query.char_indices() {
        let line_end = character == '\r' && query[at..].starts_with("\r\n");
        let odd = (character.is_control() && !matches!(character, '\n' | '\t') && !line_end)
            || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}');
        if odd {
            return Err(Forbidden::Character(shown(character)));
        }
    }
    Ok(())
}

/// Servers before 2025 turn `\u` and four digits into the character before they look for the string's end. Only
/// characters that end nothing may be escaped like this: letters, digits and non-ASCII characters.
fn escapes(text: &str) -> Result<(), Forbidden> {
    for (at, _) in text.match_indices(['u', 'U']).filter(|(at, _)| text[..*at].ends_with('\\')) {
        let code = text.get(at + 1..at + 5).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let ends_nothing = code.is_some_and(|code| {
            let plain = char::from_u32(code).is_some_and(|c| c.is_ascii_alphanumeric());
            plain || (code >= 0xa0 && !matches!(code, 0x2028 | 0x2029 | 0xfeff))
        });
        if !ends_nothing || text[at..].starts_with('U') {
            return Err(Forbidden::Character("`\\u…`".into()));
        }
    }
    Ok(())
}

fn shown(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}
