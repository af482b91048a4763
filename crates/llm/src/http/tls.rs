//! The only TLS implementation of the process, with its root certificates, read once.
//!
//! The HTTP client is built without a crypto provider, so that `ring` is the only cryptography in the binary. Therefore
//! every binary and test that uses HTTP must call [`install`] before the first client is created, or creating one
//! panics. Clients created by [`http`] share the system's roots, so creating one needs no file descriptors for them.

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::OnceLock;

static SETTINGS: OnceLock<ClientConfig> = OnceLock::new();

/// Makes `ring` the process's TLS provider. Safe to call any number of times and from any thread.
pub fn install() {
    // The only error is that a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The builder of every HTTP client. The first call reads the system's roots; if that fails, so does building the
/// client, and the next call reads them again.
pub fn http() -> reqwest::ClientBuilder {
    install();
    // Without the header a server may compress, and the client decompresses nothing (RFC 9110, section 12.5.3).
    let plain = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    let builder = reqwest::Client::builder().default_headers(plain);
    match settings() {
        Some(settings) => builder.tls_backend_preconfigured(settings.clone()),
        // Reads the roots itself, and reports errors.
        None => builder,
    }
}

fn settings() -> Option<&'static ClientConfig> {
    if SETTINGS.get().is_none()
        && let Ok(trusting) = ClientConfig::builder().with_platform_verifier()
    {
        let _ = SETTINGS.set(trusting.with_no_client_auth());
    }
    SETTINGS.get()
}
