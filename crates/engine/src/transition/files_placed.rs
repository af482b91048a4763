//! Files that a person put into `input/` while the job runs: imported between two turns, like feedback.

use super::prepared::{prepare_or_ask, take_files};
use crate::{Intake, MessageKind, Run};
use chrono::{DateTime, Utc};

pub(super) fn apply(run: &mut Run, placed: Intake, now: DateTime<Utc>) {
    let names: Vec<String> =
        placed.files.iter().map(|file| format!("- {} ({} bytes)", file.path, file.content.len())).collect();
    if names.is_empty() {
        return;
    }
    take_files(run, placed);
    let notice = format!(
        "The user has put new files into the workspace:\n\n{}\n\nThey belong to the job from now on.",
        names.join("\n")
    );
    run.say(MessageKind::Nudge, notice);
    prepare_or_ask(run, now);
}
