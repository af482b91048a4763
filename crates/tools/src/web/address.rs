//! Validates an address from a model before any network access.

use super::error::FetchError;
use super::guard::Guard;
use reqwest::Url;
use std::net::{IpAddr, SocketAddr};

/// Maximum bytes of an address; longer ones more likely exfiltrate data than name a page.
const MAX_BYTES: usize = 2048;
/// Usual ports of web servers; a service at another port may be harmed by a request.
const PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// The address, if it passes the checks that need no network. `base` is the base of a relative redirect.
pub(super) fn check(raw: &str, base: Option<&Url>, guard: &Guard) -> Result<Url, FetchError> {
    let refuse = |reason: &str| Err(FetchError::Address { address: shown(raw), reason: reason.to_owned() });
    let raw = raw.trim();
    if raw.len() > MAX_BYTES {
        return refuse("it is longer than 2048 bytes");
    }
    let parsed = base.map_or_else(|| Url::parse(raw), |base| base.join(raw));
    let mut url = match parsed {
        Ok(url) => url,
        Err(error) => return refuse(&error.to_string()),
    };
    if !matches!(url.scheme(), "http" | "https") {
        return refuse("only http and https are fetched");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("it has a user name in it; leave that out");
    }
    url.set_fragment(None);
    let Some(port) = url.port_or_known_default() else {
        return refuse("it has no port");
    };
    let literal: Option<IpAddr> = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse().ok());
    let excepted = literal.is_some_and(|ip| guard.also.contains(&SocketAddr::new(ip, port)));
    // A literal IP address is never resolved, so the resolver cannot refuse it.
    if literal.is_some_and(|ip| !guard.allows(SocketAddr::new(ip, port))) {
        return Err(FetchError::Forbidden { host: url.host_str().unwrap_or_default().to_owned() });
    }
    if !excepted && !PORTS.contains(&port) && !guard.also.iter().any(|known| known.port() == port) {
        return refuse("its port is none of 80, 443, 8080 and 8443");
    }
    Ok(url)
}

/// The address for a message: of bounded length, on one line.
fn shown(raw: &str) -> String {
    raw.chars().take(200).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notations of forbidden addresses: each must be refused before anything is sent.
    const TRICKS: [&str; 80] = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://127.000.000.001/",
        "http://0177.0.0.1/",
        "http://0177.0.0.01/",
        "http://0x7f.0.0.1/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://0X7F000001/",
        "http://2130706433/",
        "http://017700000001/",
        "http://00000000000000000000000000000000000177.0.0.1/",
        "http://127.0.0.1.:80/",
        "http://127.0.0.1:8080/",
        "http://127.127.127.127/",
        "http://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
        "http://127\u{3002}0\u{3002}0\u{3002}1/",
        "http://127%2e0%2e0%2e1/",
        "http://%31%32%37.0.0.1/",
        "http://\u{2460}\u{2461}\u{2466}.0.0.1/",
        "http:127.0.0.1/",
        "http:/127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "http://\t127.0.0.1/",
        "ht\ntp://127.0.0.1/",
        "  http://127.0.0.1/  ",
        "HTTP://127.0.0.1/",
        "http://0/",
        "http://0.0.0.0/",
        "http://0x0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[0000::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:0001::]/",
        "http://[2001:0:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://[ff02::1]/",
        "http://[fec0::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://169.254.43518/",
        "http://169.16689662/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0xA9.0xFE.0xA9.0xFE/",
        "http://0251.0376.0251.0376/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://100.100.100.200/latest/meta-data/",
        "http://168.63.129.16/metadata",
        "http://192.0.0.192/opc/v1/",
        "http://10.0.0.1/",
        "http://10.1/",
        "http://0xa000001/",
        "http://172.16.0.1/",
        "http://172.31.255.254/",
        "http://192.168.0.1/",
        "http://192.168.257/",
        "http://3232235521/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://user@127.0.0.1/",
        "http://8.8.8.8@127.0.0.1/",
        "http://8.8.8.8#@127.0.0.1:22/",
        "https://user:pass@example.org/",
        "https://example.org:22/",
        "https://example.org:6379/",
        "https://example.org:99999/",
        "http://exa mple.org/",
        "http:///",
        "",
    ];
    /// Schemes other than http and https.
    const SCHEMES: [&str; 20] = [
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "FILE:///etc/passwd",
        "ftp://example.org/",
        "gopher://127.0.0.1:6379/_INFO",
        "dict://127.0.0.1:11211/stats",
        "ldap://127.0.0.1/",
        "data:text/html,<p>x",
        "javascript:alert(1)",
        "jar:http://example.org!/",
        "ws://example.org/",
        "view-source:http://example.org/",
        "about:blank",
        "blob:http://example.org/1",
        "unix:/var/run/docker.sock",
        "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
        "//127.0.0.1/",
        "/etc/passwd",
        "example.org",
        "mailto:a@example.org",
    ];

    #[test]
    fn a_hundred_tricks_are_refused() {
        for trick in TRICKS.iter().chain(&SCHEMES) {
            // A fragment after a public address is harmless: it is never sent.
            if trick.starts_with("http://8.8.8.8#") {
                let url = check(trick, None, &Guard::default()).expect("a public address");
                assert_eq!(url.as_str(), "http://8.8.8.8/");
                continue;
            }
            let checked = check(trick, None, &Guard::default());
            assert!(checked.is_err(), "{trick:?} became {}", checked.expect("shown above"));
        }
        assert_eq!(TRICKS.len() + SCHEMES.len(), 100);
    }

    #[test]
    fn a_redirect_is_an_address_like_any_other() {
        let base = Url::parse("https://example.org/a/b").expect("an address");
        let go = |to: &str| check(to, Some(&base), &Guard::default()).map(String::from);
        assert_eq!(go("../c?d#e").as_deref(), Ok("https://example.org/c?d"));
        assert_eq!(go("//example.net/x").as_deref(), Ok("https://example.net/x"));
        for trick in ["//127.0.0.1/", "http://[::1]/", "file:///etc/passwd", "//user@example.net/", "//0x7f.1/x"] {
            assert!(go(trick).is_err(), "{trick}");
        }
    }

    #[test]
    fn ordinary_addresses_pass() {
        for good in
            ["https://example.org", "http://example.org:8080/a?b=c", "http://8.8.8.8/", "https://[2606:4700::1]/x"]
        {
            assert!(check(good, None, &Guard::default()).is_ok(), "{good}");
        }
    }
}
