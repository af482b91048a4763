//! Long-term memory: notes and accomplishments in `workspace.md`, and the summary generated from the job's rows.

use super::{Decision, Deed, OwnTool};
use crate::{FileWrite, Phases, Run, phase::workspace_summary};
use schemars::JsonSchema;
use serde::Deserialize;

/// A section of `workspace.md` that the tools write to.
#[derive(Clone, Copy)]
enum Section {
    Notes,
    Accomplishments,
}

impl Section {
    fn heading(self) -> &'static str {
        match self {
            Self::Notes => "## Notes",
            Self::Accomplishments => "## Accomplishments",
        }
    }
}

/// Generates `workspace_summary.md` from what is recorded, and returns its text.
///
/// Example: `{}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct GenerateWorkspaceSummary {}

impl OwnTool for GenerateWorkspaceSummary {
    const NAME: &str = "generate_workspace_summary";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        Write workspace_summary.md from the job's records anew; it stands in the opening of a strategic \
        phase already.";

    fn decide(self, run: &Run) -> Decision {
        let text = workspace_summary::render(run);
        Ok(Deed::Write(FileWrite::text("workspace_summary.md", text.clone()), text))
    }
}

/// Appends a bullet under `## Notes` of `workspace.md`.
///
/// {arguments}
///
/// Example: `{"text": "Section 4 defines 'record'; use that meaning"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct AddNote {
    /// the line
    text: String,
}

impl OwnTool for AddNote {
    const NAME: &str = "add_note";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Add one line to the notes in workspace.md, for what must be remembered.";

    fn decide(self, run: &Run) -> Decision {
        add(run, &self.text, Section::Notes)
    }
}

/// Appends a bullet under `## Accomplishments` of `workspace.md`.
///
/// {arguments}
///
/// Example: `{"text": "All 12 pages extracted and chunked"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct AddAccomplishment {
    /// the line
    text: String,
}

impl OwnTool for AddAccomplishment {
    const NAME: &str = "add_accomplishment";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Add one line to the accomplishments in workspace.md.";

    fn decide(self, run: &Run) -> Decision {
        add(run, &self.text, Section::Accomplishments)
    }
}

fn add(run: &Run, text: &str, section: Section) -> Decision {
    let updated = with_line(&run.workspace().memory().workspace, section.heading(), &text.replace('\n', " "));
    let said = format!("Added to {} of workspace.md.", section.heading().trim_start_matches("## "));
    Ok(Deed::Write(FileWrite::text("workspace.md", updated), said))
}

/// The text with a bullet at the end of the section, which is created if missing.
fn with_line(text: &str, heading: &str, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let bullet = format!("- {line}");
    let Some(start) = lines.iter().position(|l| l.trim_end() == heading) else {
        return format!("{}\n\n{heading}\n\n{bullet}\n", text.trim_end()).trim_start().to_string();
    };
    let end = lines[start + 1..]
        .iter()
        .position(|l| l.starts_with("## ") || l.starts_with("# "))
        .map_or(lines.len(), |at| start + 1 + at);
    let last = lines[start + 1..end].iter().rposition(|l| !l.trim().is_empty()).map_or(start + 1, |at| start + 2 + at);
    lines.insert(last, &bullet);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::with_line;

    #[test]
    fn a_line_goes_to_the_end_of_its_section() {
        assert_eq!(with_line("", "## Notes", "a"), "## Notes\n\n- a\n");
        assert_eq!(
            with_line("# W\n\n## Notes\n\n- a\n\n## Next\n- x\n", "## Notes", "b"),
            "# W\n\n## Notes\n\n- a\n- b\n\n## Next\n- x\n"
        );
        assert_eq!(with_line("# W\n", "## Notes", "b"), "# W\n\n## Notes\n\n- b\n");
    }
}
