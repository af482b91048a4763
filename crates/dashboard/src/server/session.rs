//! A browser's session: a cookie for a token that it has shown once.
//!
//! The cookie says when it ends, and proves with a digest that whoever made it knew the token. Nothing is kept here, so a
//! session is known to every worker with that token, and ends for all when the token is changed.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The cookie's name.
const COOKIE: &str = "plumbline_session";
/// How long a session lasts: a working day and what comes before and after it.
const LIFE: Duration = Duration::from_secs(12 * 3600);

/// The digest of a token. Digests are compared, not tokens: how long the comparison takes says nothing about the token.
pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The value of `Set-Cookie` that opens a session. Behind TLS, as a proxy says of itself, it goes back over TLS only.
pub(crate) fn open(token: &[u8; 32], headers: &HeaderMap) -> String {
    let ends = now() + LIFE.as_secs();
    let secure = if is_behind_tls(headers) { "; Secure" } else { "" };
    let value = value(token, ends);
    format!("{COOKIE}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", LIFE.as_secs())
}

/// Whether a request has a session that has not ended.
pub(crate) fn is_open(token: &[u8; 32], headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let shown = |pair: &str| pair.trim().strip_prefix(COOKIE)?.strip_prefix('=').map(str::to_owned);
    cookies.flat_map(|value| value.split(';')).filter_map(shown).any(|shown| is_valid(token, &shown, now()))
}

fn is_valid(token: &[u8; 32], shown: &str, now: u64) -> bool {
    let ends = shown.split_once('-').and_then(|(ends, _)| ends.parse::<u64>().ok());
    ends.is_some_and(|ends| now < ends && digest(shown) == digest(&value(token, ends)))
}

/// `END-DIGEST`. What is hashed has a fixed length and the secret last, so nothing can be added to it.
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
    fn behind_tls_the_cookie_goes_back_over_tls_only() {
        let mut headers = HeaderMap::new();
        assert!(!open(&digest("t"), &headers).contains("Secure"));
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https, http"));
        assert!(open(&digest("t"), &headers).ends_with("; Secure"));
    }
}
