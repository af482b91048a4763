//! The same policy as PDF, Word and Markdown document: the findings do not depend on the format.

use crate::make::{parser, sample};
use crate::policy::requirements;
use std::collections::BTreeSet;

#[tokio::test]
async fn the_sample_gives_the_same_requirements_in_every_format() {
    let mut found: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for name in ["record-keeping-policy.md", "record-keeping-policy.pdf", "record-keeping-policy.docx"] {
        found.push((name, requirements(&parser(), name, &sample(name)).await));
    }
    let (_, expected) = &found[0];
    assert!(expected.len() > 20, "the sample has {} requirements", expected.len());
    for (name, requirements) in &found[1..] {
        let missing: Vec<&String> = expected.difference(requirements).collect();
        let invented: Vec<&String> = requirements.difference(expected).collect();
        assert!(missing.is_empty() && invented.is_empty(), "{name} lacks {missing:#?} and has besides {invented:#?}");
    }
}
