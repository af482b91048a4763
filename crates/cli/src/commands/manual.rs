//! `plumbline completions` and `plumbline manual`: generated from the definition of the arguments.

use crate::{arguments::Cli, error::Failure, output};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::{io, path::Path};

const NAME: &str = "plumbline";

pub(crate) fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(), NAME, &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(0)
}

pub(crate) fn run(dir: Option<&Path>) -> Result<u8, Failure> {
    match dir {
        None => {
            let page = page(shown()).map_err(|error| unwritable(Path::new("stdout"), &error))?;
            output::print(String::from_utf8_lossy(&page).trim_end())?;
        }
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
            clap_mangen::generate_to(shown(), dir).map_err(|error| unwritable(dir, &error))?;
            output::print(&format!("a page per command written to {}", dir.display()))?;
        }
    }
    Ok(0)
}

/// The command line without hidden commands, so that completions do not offer internals.
fn shown() -> clap::Command {
    let whole = Cli::command();
    let mut shown = clap::Command::new(NAME).version(env!("CARGO_PKG_VERSION")).propagate_version(true);
    if let Some(about) = whole.get_about() {
        shown = shown.about(about.clone());
    }
    let visible: Vec<clap::Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    shown.subcommand_required(true).subcommands(visible)
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{} could not be written ({error}); choose a folder that you may write to", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{page, shown};

    #[test]
    fn the_page_has_every_command_and_no_internal_one() {
        let text = String::from_utf8(page(shown()).unwrap()).unwrap();
        for command in ["migrate", "worker", "replay", "completions"] {
            assert!(text.contains(&format!("plumbline\\-{command}(1)")), "{command}: {text}");
        }
        assert!(!text.contains("postgres(1)"), "{text}");
    }
}
