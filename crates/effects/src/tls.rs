//! One TLS implementation for the whole process.
//!
//! The HTTP client is built without a provider of its own, so that `ring` is the only cryptography in the binary. The
//! price is that somebody has to name it before the first client is made, or making one panics: every binary and test
//! that talks HTTP calls [`install`] first.

/// Makes `ring` the process's TLS provider. Safe to call any number of times and from any thread.
pub fn install() {
    // The only error is that a provider is already installed, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
