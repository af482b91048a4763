//! `DATABASE_URL` in the two forms of PostgreSQL's own programs: a URL, or key/value pairs such as `host=db user=me`.

mod options;

use sqlx::postgres::PgConnectOptions;
use std::{fmt::Write as _, iter::Peekable, str::Chars, str::FromStr};

/// Error text for an address in neither form. It does not repeat the input, which may contain a password.
const NEITHER: &str = "the address is neither a URL such as postgres://user:password@host:5432/database nor key=value \
                       pairs such as `host=db port=5432 user=me dbname=plumbline`";

/// Reads an address.
///
/// # Errors
/// [`sqlx::Error::Configuration`].
pub(crate) fn parse(address: &str) -> Result<PgConnectOptions, sqlx::Error> {
    let address = address.trim();
    if let Some(rest) = ["postgres://", "postgresql://"].iter().find_map(|scheme| address.strip_prefix(scheme)) {
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        refuse_several(authority.rsplit('@').next().unwrap_or_default())?;
        options::of_url(rest).filter(|(name, _)| *name == "host").try_for_each(|(_, host)| refuse_several(host))?;
        options::refuse_unread(options::of_url(rest))?;
        return PgConnectOptions::from_str(&format!("postgres://{}", with_host(rest)));
    }
    let words = words(address).ok_or_else(|| sqlx::Error::Configuration(NEITHER.into()))?;
    let pairs = || words.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    pairs().filter(|(name, _)| *name == "host").try_for_each(|(_, host)| refuse_several(host))?;
    options::refuse_unread(pairs())?;
    PgConnectOptions::from_str(&as_url(&words))
}

/// A worker uses one server: after a failover, one that is left behind would accept its writes.
fn refuse_several(hosts: &str) -> Result<(), sqlx::Error> {
    match hosts.contains(',') {
        true => Err(sqlx::Error::Configuration(
            "the address names several hosts; name one, such as the address that follows the primary".into(),
        )),
        false => Ok(()),
    }
}

/// `me@/database?host=/run/postgresql` has a user and, in its query, a host: inserts the host that a URL may not omit.
fn with_host(rest: &str) -> String {
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority].rfind('@').map(|at| at + 1) {
        Some(host) if host == authority || rest[host..].starts_with(':') => {
            format!("{}localhost{}", &rest[..host], &rest[host..])
        }
        _ => rest.to_owned(),
    }
}

/// The key/value pairs, parsed like libpq: `name = value`, with quotes around a value that contains spaces, and a
/// backslash before a quote or a backslash.
fn words(address: &str) -> Option<Vec<(String, String)>> {
    let mut rest = address.chars().peekable();
    let mut words = Vec::new();
    skip_spaces(&mut rest);
    while rest.peek().is_some() {
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        skip_spaces(&mut rest);
        rest.next_if_eq(&'=').filter(|_| !name.is_empty())?;
        skip_spaces(&mut rest);
        words.push((name, value(&mut rest)?));
        skip_spaces(&mut rest);
    }
    (!words.is_empty()).then_some(words)
}

fn skip_spaces(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
}

/// None if a quote is unclosed or nothing follows a backslash.
fn value(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let quoted = rest.next_if_eq(&'\'').is_some();
    let mut value = String::new();
    loop {
        match rest.peek() {
            None => return (!quoted).then_some(value),
            Some('\'') if quoted => {
                rest.next();
                return Some(value);
            }
            Some(c) if !quoted && c.is_whitespace() => return Some(value),
            Some(_) => {}
        }
        match rest.next()? {
            '\\' => value.push(rest.next()?),
            c => value.push(c),
        }
    }
}

/// The equivalent URL, with everything in its query.
fn as_url(words: &[(String, String)]) -> String {
    let mut url = String::from("postgres:///?");
    for (name, value) in words {
        let _ = write!(url, "{name}=");
        for byte in value.bytes() {
            let _ = write!(url, "%{byte:02X}");
        }
        url.push('&');
    }
    url
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn read(address: &str) -> (String, Option<String>, u16, String, Option<String>) {
        let read = parse(address).expect(address);
        let socket = read.get_socket().map(|path| path.display().to_string());
        (
            read.get_host().to_owned(),
            socket,
            read.get_port(),
            read.get_username().to_owned(),
            read.get_database().map(str::to_owned),
        )
    }

    #[test]
    fn words_say_what_a_url_says() {
        let url = read("postgres://me@db:6543/plumbline");
        assert_eq!(read("host=db port=6543 user=me dbname=plumbline"), url);
        assert_eq!(read("  host = 'db'\tport=6543 user='m\\e' dbname = plumbline "), url);
        assert_eq!(read("postgresql://me@db:6543/plumbline"), url);
        assert_eq!(read("postgres:///plumbline?host=db&port=6543&user=me"), url);
        assert_eq!(read("host=db port=6543 user=me dbname='a b\\'c&d'").4.as_deref(), Some("a b'c&d"));
    }

    #[test]
    fn a_folder_is_a_unix_socket_in_every_form() {
        for address in [
            "host=/run/a port=5433 user=me dbname=plumbline",
            "postgres://me@%2Frun%2Fa:5433/plumbline",
            "postgres://me@/plumbline?host=/run/a&port=5433",
            "postgresql://me:p%40ss@:5433/plumbline?host=/run/a",
            "postgres:///plumbline?host=/run/a&port=5433&user=me",
        ] {
            let (_, socket, port, user, database) = read(address);
            assert_eq!((socket.as_deref(), port), (Some("/run/a"), 5433), "{address}");
            assert_eq!((user.as_str(), database.as_deref()), ("me", Some("plumbline")), "{address}");
        }
    }

    #[test]
    fn anything_else_gets_a_sentence_without_its_secrets() {
        for address in
            ["", "plumbline", "db:5432/secret", "host=db password='secret", "=secret", "host=db secret", "x\\"]
        {
            let error = parse(address).expect_err(address).to_string();
            assert!(error.contains("host=db port=5432") && !error.contains("secret"), "{address}: {error}");
        }
    }
}
