//! `plumbline completions` and `plumbline manual`: generated from the definition of the arguments.

use crate::{arguments::Cli, error::Failure, output};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::{io, path::Path};

const NAME: &str = "plumbline";
/// The sections behind those that the arguments give.
const SECTIONS: &str = include_str!("manual.1");
/// Its table has every variable: name, default, meaning.
const ENVIRONMENT: &str = include_str!("../../../../docs/environment.md");

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
            let (path, page) = (dir.join(format!("{NAME}.1")), page(shown()));
            page.and_then(|page| std::fs::write(&path, page)).map_err(|error| unwritable(&path, &error))?;
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
    page.extend_from_slice(environment().as_bytes());
    page.extend_from_slice(SECTIONS.as_bytes());
    Ok(page)
}

/// The section of variables, in roff.
fn environment() -> String {
    let rows = ENVIRONMENT.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    let entries = rows.filter_map(|(name, rest)| {
        let (default, meaning) = rest.split_once(" | ")?;
        let default = if default.trim().is_empty() { String::new() } else { format!(" Default: {}.", default.trim()) };
        Some(format!(".TP\n\\fB{name}\\fR\n{}\n", roff(&format!("{meaning}.{default}"))))
    });
    format!(".SH ENVIRONMENT\n{}", entries.collect::<String>())
}

/// A line of text whose signs mean nothing to roff; Markdown's code is in italics.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let parts = escaped.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { format!("\\fI{part}\\fR") }).collect()
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{} could not be written ({error}); choose a writable folder", path.display()))
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
        for section in ["ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES"] {
            assert_eq!(text.matches(&format!(".SH {section}\n")).count(), 1, "{section}: {text}");
        }
        assert!(text.contains("\\fBDATABASE_URL\\fR") && text.contains("Default: \\fI50\\fR."), "{text}");
    }
}
