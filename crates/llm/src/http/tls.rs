//! One TLS implementation for the whole process, and its roots, read once.
//!
//! The HTTP client is built without a provider of its own, so that `ring` is the only cryptography in the binary. The
//! price is that somebody has to name it before the first client is made, or making one panics: every binary and test
//! that talks HTTP calls [`install`] first. Clients made by [`http`] share the system's roots: one that is made while the
//! process is short of descriptors needs none for them.

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::OnceLock;

static SETTINGS: OnceLock<ClientConfig> = OnceLock::new();

/// Makes `ring` the process's TLS provider. Safe to call any number of times and from any thread.
pub fn install() {
    // The only error is that a provider is already installed, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The beginning of every HTTP client. The first call reads the system's roots; where that fails, so does building the
/// client, and the next call reads them again.
pub fn http() -> reqwest::ClientBuilder {
    install();
    let builder = reqwest::Client::builder();
    match settings() {
        Some(settings) => builder.tls_backend_preconfigured(settings.clone()),
        // Reads the roots itself, and says why it cannot.
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
