//! Documents for jobs: small ones generated here, and the project's own sample.

use std::path::PathBuf;

/// A small Markdown policy and the normative sentences in it, which the rehearsal model finds.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The document.
    pub markdown: String,
    /// Each requirement's sentence, in order.
    pub sentences: Vec<String>,
}

/// A policy with this number of sections, two requirements each.
pub fn policy(sections: usize) -> Policy {
    let mut policy = Policy { markdown: "# Archive policy\n".into(), sentences: Vec::new() };
    for number in 1..=sections {
        let first =
            format!("The owner of archive {number} must keep a register of its records for {} years.", number + 5);
        let second = format!("A copy of the register of archive {number} shall be sent to the records manager.");
        policy.markdown.push_str(&format!(
            "\n## {number} Archive {number}\n\nThis section describes archive {number} and who looks after it. {first} \
             The archive is in building {number}.\n\n{second}\n"
        ));
        policy.sentences.extend([first, second]);
    }
    policy
}

/// The project's sample document in this format, `pdf`, `docx` or `md`.
///
/// # Panics
/// When the file is not there.
pub fn sample(extension: &str) -> Vec<u8> {
    read(&format!("../crates/cli/sample/record-keeping-policy.{extension}"))
}

/// A document from the document reader's own tests.
///
/// # Panics
/// When the file is not there.
pub fn fixture(name: &str) -> Vec<u8> {
    read(&format!("../crates/documents/tests/fixtures/{name}"))
}

/// A document from the tests of whole jobs, `losses/…`.
///
/// # Panics
/// When the file is not there.
pub fn of_jobs(name: &str) -> Vec<u8> {
    read(&format!("fixtures/{name}"))
}

fn read(path: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{} could not be read: {error}", path.display()))
}
