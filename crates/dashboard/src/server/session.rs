//! A browser's session: a cookie in exchange for the token.
//!
//! The cookie contains its expiry and a digest that proves knowledge of the token. There is no server state, so a
//! session is valid at every worker with that token, and all end when the token is changed.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The cookie's name.
const COOKIE: &str = "plumbline_session";
/// Lifetime of a session: a long working day.
const LIFE: Duration = Duration::from_secs(12 * 3600);

/// The digest of a token. Digests are compared, not tokens, so the duration of the comparison reveals nothing about the
/// token.
pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The value of `Set-Cookie` that opens a session. If a proxy reports TLS, the cookie is sent only over TLS.
pub(crate) fn open(token: &[u8; 32], headers: &HeaderMap) -> String {
    let ends = now() + LIFE.as_secs();
    let secure = if is_behind_tls(headers) { "; Secure" } else { "" };
    let value = value(token, ends);
    format!("{COOKIE}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", LIFE.as_secs())
}

/// Whether a request has a valid session.
pub(crate) fn is_open(token: &[u8; 32], headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let shown = |pair: &str| pair.trim().strip_prefix(COOKIE)?.strip_prefix('=').map(str::to_owned);
    cookies.flat_map(|value| value.split(';')).filter_map(shown).any(|shown| is_valid(token, &shown, now()))
}

fn is_valid(token: &[u8; 32], shown: &str, now: u64) -> bool {
    let ends = shown.split_once('-').and_then(|(ends, _)| ends.parse::<u64>().ok());
    ends.is_some_and(|ends| now < ends && digest(shown) == digest(&value(token, ends)))
}

/// `END-DIGEST`. The hashed text has a fixed length and ends with the secret, which prevents length extension.
fn value(token: &[u8; 32], ends: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(b"plumbline session ");
    hash.update(ends.to_be_bytes());
    hash.update(token);
    format!("{ends}-{}", hex::encode(hash.finalize()))
}

fn is_behind_tls(headers: &HeaderMap) -> bool {
    let by = headers.get("x-forwarded-proto").and_then(|value| value.to_str().ok()).unwrap_or_default();
    by.split(',').next().is_some_and(|first| first.trim().eq_ignore_ascii_case("https"))
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_session_ends_and_cannot_be_prolonged() {
        let token = digest("a token");
        let shown = value(&token, 1_000);
        assert!(is_valid(&token, &shown, 999) && !is_valid(&token, &shown, 1_000));
        assert!(!is_valid(&token, &shown.replace("1000-", "9000-"), 999));
        assert!(!is_valid(&digest("another token"), &shown, 999));
        for broken in ["", "-", "1000", "1000-", "x-00", &format!("{shown}0")] {
            assert!(!is_valid(&token, broken, 0), "{broken}");
        }
    }

    #[test]
    fn behind_tls_the_cookie_is_sent_over_tls_only() {
        let mut headers = HeaderMap::new();
        assert!(!open(&digest("t"), &headers).contains("Secure"));
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https, http"));
        assert!(open(&digest("t"), &headers).ends_with("; Secure"));
    }
}
