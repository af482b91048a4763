//! Reads the archive note in the opening of a strategic phase: the previous phase, how it ended, which todos were done.

use crate::request_view::RequestView;

/// The title of the note's section in the opening.
const TITLE: &str = "Archive note of the phase before";

/// The phase before this one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Archive {
    /// Its name.
    pub(crate) phase: String,
    /// Whether it was a completed tactical phase.
    pub(crate) completed: bool,
    /// The texts of its todos that were closed with an explanation: one closed with only "done" may be a mistake, and
    /// is checked again.
    pub(crate) done: Vec<String>,
}

impl Archive {
    /// The note of this phase's opening; `None` if there is none, or if a compaction removed it.
    pub(crate) fn read(view: &RequestView<'_>) -> Option<Self> {
        view.opening(TITLE).map(Self::parse)
    }

    fn parse(text: &str) -> Self {
        let (mut archive, mut tactical, mut completed) = (Self::default(), false, false);
        let (mut content, mut closed) = (String::new(), false);
        for line in text.lines() {
            let Some((key, value)) = line.trim_start_matches([' ', '-']).split_once(": ") else { continue };
            match key {
                "phase" => archive.phase = plain(value),
                "kind" => tactical = value.trim() == "tactical",
                "outcome" => completed = value.trim() == "completed",
                "content" => (content, closed) = (plain(value), false),
                "status" => closed = value.trim() == "completed",
                "notes" if closed && says_how(&plain(value)) => archive.done.push(std::mem::take(&mut content)),
                _ => {}
            }
        }
        archive.completed = tactical && completed;
        archive
    }
}

fn says_how(notes: &str) -> bool {
    notes.split_whitespace().nth(1).is_some()
}

/// A YAML scalar: quoted as JSON, or plain.
fn plain(value: &str) -> String {
    serde_json::from_str(value.trim()).unwrap_or_else(|_| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn a_note_lists_the_work_done() {
        let note = "```yaml\nphase: \"Part \\\"1\\\"\"\nnumber: 2\nkind: tactical\noutcome: rewound\nissue: \"x\"\ntodos:\n  \
                    - id: 1\n    content: \"Read: a\"\n    status: completed\n    notes: \"read to the end\"\n  - id: 2\n    \
                    content: \"Read: b\"\n    status: abandoned\n  - id: 3\n    content: \"Read: c\"\n    status: \
                    completed\n    notes: \"done\"\n  - id: 4\n    content: \"Read: d\"\n    status: completed\n```";
        let expected = Archive { phase: "Part \"1\"".to_owned(), completed: false, done: vec!["Read: a".to_owned()] };
        assert_eq!(Archive::parse(note), expected);
        assert!(Archive::parse("kind: tactical\noutcome: completed").completed);
        assert!(!Archive::parse("kind: strategic\noutcome: completed").completed);
    }
}
