//! The eleven removals that were decided after the first review, and what became of each: the words of the removed part
//! do not occur in shipped code any more, or the part is kept for a reason.

use std::{fs, io, path::Path};

/// A part that was to be removed.
pub struct Removal {
    /// The part.
    pub what: &'static str,
    /// Where its words would occur, below `crates`.
    within: &'static str,
    /// Names of its types, functions and modules.
    words: &'static [&'static str],
    /// Why it is kept; none if it is removed.
    pub kept: Option<&'static str>,
}

/// All of them, in the order of the decision.
pub const REMOVALS: [Removal; 11] = [
    Removal {
        what: "PDF: an own path for pages of running text",
        within: "documents/src",
        words: &["fast_path", "cached_backend"],
        kept: Some(
            "a trial of 30 documents (crates/documents/README.md) found no better way: lost, order and whole are 2.3, 97.2 and \
             92.1 % with it, 2.4, 96.0 and 89.5 % with the parser's layout alone, 12.7, 86.8 and 72.9 % with edgeparse-core; \
             without it the text is the same for 2.2 times the processor time, and undecodable characters, struck-out words \
             and the lines of program code come from it: the parser's page events do not have them",
        ),
    },
    Removal {
        what: "claim: resume points",
        within: "store/src",
        words: &["resume_points", "ResumePoint", "ResumePoints"],
        kept: None,
    },
    Removal {
        what: "conversation: one buffer for many messages",
        within: "engine/src",
        words: &["MessageRef"],
        kept: Some("without it 2,000 jobs take 304 MiB instead of 245 (P7)"),
    },
    Removal {
        what: "files: a second way to write one, by staged blobs",
        within: "",
        words: &["PlaceFile", "PlacedFile", "StagedFile", "staged_blobs", "stage_blobs", "read_staged_blob"],
        kept: None,
    },
    Removal {
        what: "mirror: a queue of all jobs, a cache of contents, hard links to shared files",
        within: "mirror/src",
        words: &["queue", "Queue", "content_cache", "shared"],
        kept: Some(
            "queue and cache are removed; the hard links stay: a symbolic link would lead nowhere in a copied folder, and \
             copies would cost forty flushes for each job",
        ),
    },
    Removal {
        what: "private Postgres inside the command line",
        within: "",
        words: &["private_postgres", "guard_script", "mkfifo"],
        kept: None,
    },
    Removal {
        what: "configuration: a second scan of each text for the lines of its keys",
        within: "config/src",
        words: &["of_json", "of_yaml", "Scanner"],
        kept: None,
    },
    Removal {
        what: "loop detection: repeated calls as packed text",
        within: "engine/src/guardrail",
        words: &["packed", "Packed", "unpack"],
        kept: None,
    },
    Removal {
        what: "fail-points by hand",
        within: "store/src",
        words: &["fail_points", "armed"],
        kept: Some(
            "the crate `fail` neither kills the process nor records the points that a job passes, and it accepts names \
             that do not exist; it would replace about sixty lines, none of which is in a release build",
        ),
    },
    Removal {
        what: "pages: an own chart and own formats of numbers",
        within: "dashboard/src",
        words: &["chart", "template_filters"],
        kept: Some(
            "the chart is drawn by the template, the code only computes its bars; the filters of minijinja-contrib have \
             other units and no ages",
        ),
    },
    Removal { what: "tools: schemas written by hand", within: "tools/src", words: &["fn schema()"], kept: None },
];

impl Removal {
    /// How often its words occur in the shipped code below `crates`.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn occurrences(&self, crates: &Path) -> io::Result<usize> {
        let mut code = String::new();
        collect(&crates.join(self.within), &mut code)?;
        Ok(self.words.iter().map(|word| count(&code, word)).sum())
    }
}

fn count(code: &str, word: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole =
        |&(at, _): &(usize, &str)| !code[..at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part);
    code.match_indices(word).filter(is_whole).count()
}

/// The shipped code of a folder, in front of the tests that end a file, without comments.
fn collect(folder: &Path, code: &mut String) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match path.is_dir() {
            true if !matches!(&*name, "tests" | "examples" | "benches" | "target") => collect(&path, code)?,
            false if name.ends_with(".rs") && name != "tests.rs" => {
                let text = fs::read_to_string(&path)?;
                let shipped = text.lines().take_while(|line| *line != "#[cfg(test)]");
                let shipped = shipped.filter(|line| !line.trim_start().starts_with("//"));
                shipped.for_each(|line| code.extend([line, "\n"]));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn words_are_counted_as_a_whole() {
        assert_eq!(count("mod queue;\nuse queue::Order; enqueue(); queues", "queue"), 2);
    }
}
