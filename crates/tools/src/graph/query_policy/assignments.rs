//! Assignments of a plan: setting a property to null removes it, and `n = {…}` removes all, so the value must not be
//! nullable, and the target must be one property.

use super::Forbidden;
use super::tokens::{Token, items};
use serde_json::Value;

/// Functions that give null for null alone.
#[rustfmt::skip]
const STRICT: &[&str] = &[
    "abs", "ceil", "ceiling", "date", "datetime", "duration", "floor", "left", "localdatetime", "localtime", "lower",
    "ltrim", "pi", "rand", "randomuuid", "replace", "reverse", "right", "round", "rtrim", "sign", "size", "split",
    "substring", "time", "timestamp", "tolower", "tostring", "toupper", "trim", "upper",
];

/// `n.a = …, n.b = …`
pub(super) fn of_set(tokens: &[Token<'_>], parameters: &Value) -> Result<(), Forbidden> {
    items(tokens).into_iter().try_for_each(|item| assignment(item, parameters))
}

/// `CREATE (…), ON MATCH SET n.a = …, SET n:Label, ON CREATE SET n = …, LOCK(…)`
pub(super) fn of_merge(tokens: &[Token<'_>], parameters: &Value) -> Result<(), Forbidden> {
    for item in items(tokens) {
        let set = [&["ON", "MATCH", "SET"][..], &["ON", "CREATE", "SET"], &["SET"]];
        let rest = set.iter().find_map(|words| behind(item, words)).unwrap_or(item);
        match rest {
            [Token::Sign('('), ..] | [Token::Word("CREATE" | "LOCK"), Token::Sign('('), ..] => {}
            _ if rest.contains(&Token::Sign('=')) => assignment(rest, parameters)?,
            _ => {}
        }
    }
    Ok(())
}

fn behind<'t, 'a>(item: &'t [Token<'a>], words: &[&str]) -> Option<&'t [Token<'a>]> {
    let (head, rest) = item.split_at_checked(words.len())?;
    head.iter().zip(words).all(|(token, word)| *token == Token::Word(word)).then_some(rest)
}

fn assignment(item: &[Token<'_>], parameters: &Value) -> Result<(), Forbidden> {
    let Some(at) = item.iter().position(|token| *token == Token::Sign('=')) else {
        return Err(Forbidden::Empties(shown(item)));
    };
    let (target, value) = (&item[..at], &item[at + 1..]);
    let is_property = matches!(target, [.., Token::Sign('.'), Token::Word(_) | Token::Name(_)]);
    let mut value = Values { rest: value, target, parameters };
    match is_property && value.is_never_null() && value.rest.is_empty() {
        true => Ok(()),
        false => Err(Forbidden::Empties(shown(target))),
    }
}

fn shown(tokens: &[Token<'_>]) -> String {
    let text = |token: &Token<'_>| match token {
        Token::Word(text) | Token::Text(text) | Token::Name(text) => (*text).to_owned(),
        Token::Sign(sign) | Token::Open(sign) => sign.to_string(),
        Token::Comment => "/".to_owned(),
    };
    tokens.iter().take(12).map(text).collect()
}

/// Reads a value from the left.
struct Values<'t, 'a> {
    rest: &'t [Token<'a>],
    /// The property that it is given to: what that has not cannot be removed from it.
    target: &'t [Token<'a>],
    parameters: &'t Value,
}

impl<'t, 'a> Values<'t, 'a> {
    /// Whether what is read up to the end of the value, a comma or a closing bracket can be told not to be null.
    fn is_never_null(&mut self) -> bool {
        loop {
            while self.takes(&[Token::Sign('-')]) {}
            if !self.operand() {
                return false;
            }
            let goes_on = self.takes(&[Token::Sign('|'), Token::Sign('|')])
                || ['+', '-', '*', '/', '%', '^'].iter().any(|sign| self.takes(&[Token::Sign(*sign)]));
            if !goes_on {
                return matches!(self.rest.first(), None | Some(Token::Sign(',' | ')')));
            }
        }
    }

    fn operand(&mut self) -> bool {
        let cached = [&[Token::Word("cache"), Token::Sign('[')], self.target, &[Token::Sign(']')]].concat();
        if self.takes(&cached) || self.takes(self.target) {
            return true;
        }
        match self.rest {
            [Token::Text(_), rest @ ..] => self.go_on(rest),
            [Token::Sign('['), ..] => self.list(),
            [Token::Sign('('), rest @ ..] => {
                self.go_on(rest) && self.is_never_null() && self.takes(&[Token::Sign(')')])
            }
            [Token::Sign('$'), Token::Word(name), rest @ ..] => self.go_on(rest) && self.is_given(name),
            [Token::Word(name), Token::Sign('('), rest @ ..] => self.go_on(rest) && self.call(name),
            [Token::Word("true" | "false"), rest @ ..] => self.go_on(rest),
            [Token::Word(whole), Token::Sign('.'), Token::Word(part), rest @ ..]
                if is_number(whole) && is_number(part) =>
            {
                self.go_on(rest)
            }
            [Token::Word(number), rest @ ..] if is_number(number) => self.go_on(rest),
            _ => false,
        }
    }

    /// A literal of the query is a parameter of the server's own making.
    fn is_given(&self, name: &str) -> bool {
        match self.parameters.get(name) {
            Some(value) => !value.is_null(),
            None => name.starts_with("auto"),
        }
    }

    /// A list is never null itself, and a server takes none that holds a null.
    fn list(&mut self) -> bool {
        let mut depth = 0_i32;
        let end = self.rest.iter().position(|token| {
            match token {
                Token::Sign('[') => depth += 1,
                Token::Sign(']') => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let rest = self.rest;
        // What follows a list directly is an index, which may find nothing.
        end.is_some_and(|end| self.go_on(&rest[end + 1..]))
    }

    /// Behind the parenthesis: each argument of a strict function, or one of those of `coalesce`.
    fn call(&mut self, name: &str) -> bool {
        if self.takes(&[Token::Sign(')')]) {
            return STRICT.contains(&name.to_lowercase().as_str());
        }
        let end = closing(self.rest);
        let Some(end) = end else { return false };
        let of = |tokens: &'t [Token<'a>]| {
            let mut value = Values { rest: tokens, target: self.target, parameters: self.parameters };
            value.is_never_null() && value.rest.is_empty()
        };
        let arguments = items(&self.rest[..end]);
        let is_never_null = match name.to_lowercase().as_str() {
            "coalesce" => arguments.into_iter().any(of),
            name => STRICT.contains(&name) && arguments.into_iter().all(of),
        };
        let rest = self.rest;
        is_never_null && self.go_on(&rest[end + 1..])
    }

    fn takes(&mut self, tokens: &[Token<'_>]) -> bool {
        let rest = self.rest;
        rest.starts_with(tokens) && self.go_on(&rest[tokens.len()..])
    }

    fn go_on(&mut self, rest: &'t [Token<'a>]) -> bool {
        self.rest = rest;
        true
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Where the parenthesis that is open closes.
fn closing(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 1_i32;
    tokens.iter().position(|token| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}
