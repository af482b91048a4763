//! Logs: one line an event on stderr, readable alone, the same names as fields everywhere.

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

/// How logs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// Starts logging; `RUST_LOG` chooses what is written, `default` otherwise. A second call changes nothing.
pub fn start(format: LogFormat, default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let registry = tracing_subscriber::registry().with(filter);
    // The error says that logging runs already, as it does when a command starts a worker inside.
    let _ = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none();
            registry.with(fmt::layer().with_writer(std::io::stderr).with_ansi(ansi).with_target(false)).try_init()
        }
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(std::io::stderr)).try_init(),
    };
}
