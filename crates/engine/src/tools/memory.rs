//! Long-term memory: notes and accomplishments in `workspace.md`, and the summary generated from the job's rows.

use super::{Answer, arguments};
use crate::{FileWrite, Handler, Phases, Product, Replay, Run, ToolSpec, phase::workspace_summary};
use serde_json::{Map, Value, json};

/// A section of `workspace.md` that the tools write to.
#[derive(Clone, Copy)]
pub(super) enum Section {
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

pub(super) fn specs() -> Vec<ToolSpec> {
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false});
    vec![
        ToolSpec {
            name: "generate_workspace_summary".into(),
            phases: Phases::Both,
            description: "Write workspace_summary.md from the job's records anew; it stands in the opening of a strategic phase already.".into(),
            parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}).into(),
            documentation:
                "Generates `workspace_summary.md` from what is recorded, and returns its text.\n\nExample: `{}`".into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "add_note".into(),
            phases: Phases::Both,
            description: "Add one line to the notes in workspace.md, for what must be remembered.".into(),
            parameters: text.clone().into(),
            documentation: "Appends a bullet under `## Notes` of `workspace.md`.\n\nExample: `{\"text\": \"Section 4 \
                            defines 'record'; use that meaning\"}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "add_accomplishment".into(),
            phases: Phases::Both,
            description: "Add one line to the accomplishments in workspace.md.".into(),
            parameters: text.into(),
            documentation: "Appends a bullet under `## Accomplishments` of `workspace.md`.\n\nExample: `{\"text\": \
                            \"All 12 pages extracted and chunked\"}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
    ]
}

pub(super) fn generate_summary(run: &mut Run) -> String {
    let text = workspace_summary::render(run);
    run.record_product(Product::WriteFile(FileWrite::text("workspace_summary.md", text.clone())));
    text
}

pub(super) fn add(run: &mut Run, arguments: &Map<String, Value>, section: Section) -> Answer {
    let text = arguments::text(arguments, "text", "Section 4 defines 'record'; use that meaning")?;
    let updated = with_line(&run.memory.workspace, section.heading(), &text.replace('\n', " "));
    run.record_product(Product::WriteFile(FileWrite::text("workspace.md", updated)));
    Ok(format!("Added to {} of workspace.md.", section.heading().trim_start_matches("## ")))
}

/// The text with a bullet at the end of the section, which is created when missing.
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
