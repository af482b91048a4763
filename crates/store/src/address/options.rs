//! Connection options that the driver does not support. libpq defines them, and some are security options, so each of
//! them is an error rather than silently dropped.

/// Options that the driver supports.
const READ: [&str; 17] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
];

/// Options that hold without driver support: the values that request what happens anyway; `*` is any value. The minimum
/// is TLS 1.2; the pool sets session timeouts and keepalives itself.
const HOLDS: [(&str, &[&str]); 16] = [
    ("channel_binding", &["prefer", "disable"]),
    ("client_encoding", &["utf8", "utf-8", "auto"]),
    ("connect_timeout", &["*"]),
    ("fallback_application_name", &["*"]),
    ("gssencmode", &["prefer", "disable"]),
    ("keepalives", &["*"]),
    ("keepalives_count", &["*"]),
    ("keepalives_idle", &["*"]),
    ("keepalives_interval", &["*"]),
    ("load_balance_hosts", &["disable"]),
    ("ssl_min_protocol_version", &["tlsv1", "tlsv1.1", "tlsv1.2"]),
    ("sslcompression", &["0"]),
    ("sslnegotiation", &["postgres"]),
    ("sslsni", &["1"]),
    ("target_session_attrs", &["any"]),
    ("tcp_user_timeout", &["*"]),
];

/// Rejects an option that would have no effect.
///
/// # Errors
/// One sentence with the option's name and, for a known option, its value: neither is a secret.
pub(super) fn refuse_unread<'a>(options: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), sqlx::Error> {
    for (name, value) in options {
        if READ.contains(&name) || name == "options" || name.starts_with("options[") {
            continue;
        }
        let sentence = match HOLDS.iter().find(|(known, _)| *known == name) {
            Some((_, holds)) if holds.iter().any(|held| *held == "*" || value.eq_ignore_ascii_case(held)) => continue,
            Some((_, holds)) => format!(
                "the address sets {name}={value}, which plumbline does not support; remove it, or set {name}={}",
                holds[0]
            ),
            None => format!(
                "the address has the option `{name}`, which plumbline does not support; remove it{}",
                advice(name)
            ),
        };
        return Err(sqlx::Error::Configuration(sentence.into()));
    }
    Ok(())
}

fn advice(name: &str) -> &'static str {
    match name {
        "service" | "servicefile" => " and write host, port, user and dbname of that service",
        "passfile" => " and put the password into PGPASSWORD or the address",
        "requiressl" | "ssl" => " and set sslmode=require or sslmode=verify-full",
        _ => "",
    }
}

/// The options of a URL, names and values verbatim.
pub(super) fn of_url(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or(""));
    query.split('&').filter(|option| !option.is_empty()).map(|option| option.split_once('=').unwrap_or((option, "")))
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn an_option_that_means_safety_is_not_dropped() {
        for (options, words) in [
            ("channel_binding=require", "channel_binding=require"),
            ("target_session_attrs=read-write", "target_session_attrs=any"),
            ("sslnegotiation=direct", "sslnegotiation=postgres"),
            ("ssl_min_protocol_version=TLSv1.3", "ssl_min_protocol_version"),
            ("service=x", "host, port, user and dbname"),
            ("requirepeer=postgres", "`requirepeer`"),
            ("require_auth=scram-sha-256", "`require_auth`"),
            ("sslcrl=/a", "`sslcrl`"),
            ("gssencmode=require", "gssencmode"),
        ] {
            for address in [format!("postgres://me@db/plumbline?{options}"), format!("host=db user=me {options}")] {
                let error = parse(&address).expect_err(&address).to_string();
                assert!(error.contains(words), "{address}: {error}");
            }
        }
    }

    #[test]
    fn what_holds_anyway_is_taken() {
        for address in [
            "postgres://me@db/plumbline?connect_timeout=10&keepalives=1&sslmode=verify-full&channel_binding=prefer",
            "postgres://me@db/plumbline?target_session_attrs=any&options=-c%20lock_timeout%3D1s&application_name=x",
            "host=db user=me dbname=plumbline ssl_min_protocol_version=TLSv1.2 client_encoding=UTF8",
        ] {
            parse(address).expect(address);
        }
    }

    #[test]
    fn a_list_of_hosts_is_refused_by_name() {
        for address in ["postgres://me@a:5432,b:5433/plumbline", "host=a,b user=me", "postgres:///plumbline?host=a,b"] {
            let error = parse(address).expect_err(address).to_string();
            assert!(error.contains("several hosts"), "{address}: {error}");
        }
    }
}
