//! Replaces `plumbline __extract` in this crate's tests, which have no `plumbline` binary to run.

fn main() -> std::process::ExitCode {
    plumbline_documents::run_child()
}
