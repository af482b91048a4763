//! A Cypher tokenizer: no grammar, only the distinction of quoted and unquoted text.

/// A token of a query, or of a plan's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Letters, digits and underscores.
    Word(&'a str),
    /// A string with its quotes.
    Text(&'a str),
    /// A name with its backticks.
    Name(&'a str),
    /// `//` or `/*`. The text after it is tokenized as usual.
    Comment,
    /// A quote that is never closed.
    Open(char),
    /// Any other character except white space.
    Sign(char),
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, used) = match first {
            '\'' | '"' | '`' => match quoted(rest, first) {
                Some(end) if first == '`' => (Some(Token::Name(&rest[..end])), end),
                Some(end) => (Some(Token::Text(&rest[..end])), end),
                None => (Some(Token::Open(first)), rest.len()),
            },
            '/' if rest.starts_with("//") || rest.starts_with("/*") => (Some(Token::Comment), 2),
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                (Some(Token::Word(&rest[..end])), end)
            }
            _ => ((!first.is_ascii_whitespace()).then_some(Token::Sign(first)), first.len_utf8()),
        };
        tokens.extend(token);
        rest = &rest[used..];
    }
    tokens
}

/// The length of a quoted token, including both quotes. A backslash escapes in strings, a doubled backtick in names.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' && quote != '`' {
            characters.next();
        } else if character == quote {
            match characters.peek() {
                Some((_, '`')) if quote == '`' => drop(characters.next()),
                _ => return Some(at + 1),
            }
        }
    }
    None
}

/// Splits at commas outside of brackets.
pub(super) fn items<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0_i32;
    let at_comma = |token: &Token<'_>| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == Token::Sign(',')
    };
    tokens.split(at_comma).collect()
}
