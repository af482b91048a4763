//! Stands in for `plumbline __extract` in this crate's tests, which have no `plumbline` binary to run.

fn main() -> std::process::ExitCode {
    plumbline_effects::documents::run_child()
}
