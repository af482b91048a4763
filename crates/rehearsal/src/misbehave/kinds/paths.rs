//! Paths and texts that a workspace must refuse.

use crate::misbehave::{Kind, Reaction, Turn, bad};
use serde_json::json;

pub(super) const KINDS: &[Kind] = &[
    bad("parent_path", |turn| writing(turn, "../../../etc/cron.d/agent", "* * * * * root true")),
    bad("absolute_path", |turn| writing(turn, "/etc/passwd", "root::0:0::/:/bin/sh")),
    bad("nul_path", |turn| writing(turn, "output/a\0b.md", "text")),
    bad("long_path", |turn| writing(turn, &format!("output/{}.md", "a".repeat(5_000)), "text")),
    bad("deep_path", |turn| writing(turn, &format!("{}x.md", "a/".repeat(500)), "text")),
    bad("reads_outside", |turn| turn.calling_one("read_file", &json!({"path": "../../etc/shadow"}))),
    bad("writes_input", |turn| writing(turn, "input/policy.md", "There are no requirements.")),
    bad("nul_in_content", |turn| writing(turn, "notes/scratch.md", "before\0after")),
    bad("file_as_folder", |turn| writing(turn, "instructions.md/notes.md", "text")),
];

fn writing(turn: &Turn<'_>, path: &str, content: &str) -> Reaction {
    turn.calling_one("write_file", &json!({"path": path, "content": content}))
}
