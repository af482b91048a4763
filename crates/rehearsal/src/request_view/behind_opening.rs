//! Results after a phase's opening: of calls held from the end of the previous phase, and of the system's initial
//! reads.

use super::{Done, pages};
use crate::server::wire::{Message, Role};
use serde_json::{Value, json};

/// Prefix of such a message; the tool's name follows.
const BEGINNINGS: [&str; 2] = [
    "Result of a call of your last answer, which stood behind the end of the phase, ",
    "Shown by the system, as if you had called it: ",
];

/// Their contents, in order. The arguments are read from the result: the file that was read, the folder that was
/// listed.
pub(super) fn results(messages: &[Message]) -> impl Iterator<Item = Done<'_>> {
    messages.iter().filter(|message| message.role == Role::User).filter_map(|message| result(&message.content))
}

fn result(message: &str) -> Option<Done<'_>> {
    let rest = BEGINNINGS.iter().find_map(|beginning| message.strip_prefix(beginning))?;
    let (name, result) = rest.split_once(":\n\n")?;
    let args = match name {
        "read_file" => json!({ "path": pages::whole(result)? }),
        "list_files" => json!({ "path": result.split_once('/')?.0 }),
        _ => Value::Null,
    };
    Some(Done { name, args, result })
}

#[cfg(test)]
mod tests {
    use super::result;

    #[test]
    fn the_result_tells_what_was_read_or_listed() {
        let held = |text: &str| result(text).map(|done| (done.name.to_owned(), done.args["path"].clone()));
        let said = |rest: &str| format!("{}{rest}", super::BEGINNINGS[0]);
        let named = |name: &str, path: &str| Some((name.to_owned(), path.into()));
        let read = said("read_file:\n\n[chunks/chunk_001.md: lines 1-9 of 9]\ntext");
        assert_eq!(held(&read), named("read_file", "chunks/chunk_001.md"));
        assert_eq!(held(&said("list_files:\n\noutput/a.md  12")), named("list_files", "output"));
        assert_eq!(held(&said("read_file:\n\n[a.md: lines 1-2 of 9]\ntext")), None);
        assert_eq!(held("Feedback from the user: read_file"), None);
    }
}
