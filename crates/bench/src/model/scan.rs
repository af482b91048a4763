//! Finds facts in a request's bytes.

use memchr::memmem;
use serde_json::Value;

/// What each turn of a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Writes a file.
    Write,
    /// Reads a part of a document.
    Read,
    /// Reads a passage and records the requirements of the previous one.
    Record,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Record => "record",
        }
    }
}

/// The order in a bench job's prompt, e.g. `bench tag=p1 turns=520 bytes=2048 tool=write trace=0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Names the job.
    pub(crate) tag: String,
    /// Model calls of the whole job, including planning and closing.
    pub(crate) turns: u32,
    /// Size of a call's content.
    pub(crate) bytes: usize,
    /// The tool of each turn.
    pub(crate) tool: Tool,
    /// Whether each request is compared with the previous one.
    pub(crate) trace: bool,
}

impl Order {
    /// The order as a job's prompt.
    pub(crate) fn prompt(&self) -> String {
        let Self { tag, turns, bytes, trace, .. } = self;
        let tool = self.tool.name();
        format!("bench tag={tag} turns={turns} bytes={bytes} tool={tool} trace={}", u8::from(*trace))
    }

    fn read(body: &[u8]) -> Option<Self> {
        let start = memmem::find(body, b"bench tag=")?;
        let text = String::from_utf8_lossy(&body[start..body.len().min(start + 200)]).into_owned();
        let value = |key: &str| {
            let rest = &text[text.find(&format!("{key}="))? + key.len() + 1..];
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()
        };
        Some(Self {
            tag: value("tag")?.to_owned(),
            turns: value("turns")?.parse().ok()?,
            bytes: value("bytes")?.parse().ok()?,
            tool: [Tool::Write, Tool::Read, Tool::Record]
                .into_iter()
                .find(|tool| value("tool") == Some(tool.name()))?,
            trace: value("trace")? == "1",
        })
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No tools: a summary of the conversation.
    Summary,
    /// The first strategic phase.
    Plan,
    /// The work.
    Work,
    /// Any later strategic phase.
    Close,
}

/// The facts of a request.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) order: Order,
    pub(crate) stage: Stage,
    /// Open todos of the active list.
    pub(crate) open_todos: usize,
    /// Number of the part written last; 0 before the first.
    pub(crate) part: u32,
}

/// Reads a request; `None` if it is not from a bench job.
pub(crate) fn facts(body: &[u8]) -> Option<Facts> {
    let order = Order::read(body)?;
    let messages = memmem::find(body, b"\"messages\":[")?;
    let (head, tail) = body.split_at(messages);
    let frame = memmem::rfind(tail, b"ACTIVE TODO LIST").map_or(&tail[tail.len()..], |at| &tail[at..]);
    let stage = match () {
        () if !contains(head, b"\"tools\":[") => Stage::Summary,
        () if !contains(head, b"\"todo_write\"") => Stage::Work,
        () if contains(frame, b"Planning (") => Stage::Plan,
        () => Stage::Close,
    };
    let part = memmem::rfind(tail, b"part_").and_then(|at| number(&tail[at + 5..])).unwrap_or(0);
    Some(Facts { order, stage, open_todos: memmem::find_iter(frame, b"[ ] ").count(), part })
}

fn contains(text: &[u8], what: &[u8]) -> bool {
    memmem::find(text, what).is_some()
}

fn number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// The tools and the first system message of a request: the constant part of every request of the phase.
pub(crate) fn fixed_part(body: &[u8]) -> Option<(String, String)> {
    let request: Value = serde_json::from_slice(body).ok()?;
    let system = request["messages"][0]["content"].as_str()?.to_owned();
    Some((request["tools"].to_string(), system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_from_the_prompt_it_was_written_to() {
        let order = Order { tag: "p1-3".into(), turns: 20, bytes: 2048, tool: Tool::Read, trace: true };
        let body = format!("{{\"messages\":[{{\"content\":\"Job: {}\\nmore\"}}", order.prompt());
        assert_eq!(Order::read(body.as_bytes()), Some(order));
        assert_eq!(Order::read(b"{}"), None);
    }

    #[test]
    fn the_stage_is_read_from_tools_and_frame_and_the_part_from_the_end() {
        let order = Order { tag: "t".into(), turns: 9, bytes: 10, tool: Tool::Write, trace: false }.prompt();
        let body = |tools: &str, frame: &str| {
            format!("{{{tools}\"messages\":[\"{order}\",\"part_00003\",\"part_00012\",\"{frame}\"]}}").into_bytes()
        };
        let frame = "ACTIVE TODO LIST Planning (1 of 1) [x] 1. [ ] 2. [ ] 3.";
        let plan = facts(&body("\"tools\":[\"todo_write\"],", frame)).unwrap();
        assert_eq!((plan.stage, plan.open_todos, plan.part), (Stage::Plan, 2, 12));
        let frame = "ACTIVE TODO LIST Completion (1 of 1)";
        assert_eq!(facts(&body("\"tools\":[\"todo_write\"],", frame)).unwrap().stage, Stage::Close);
        assert_eq!(facts(&body("\"tools\":[\"write_file\"],", frame)).unwrap().stage, Stage::Work);
        assert_eq!(facts(&body("", "")).unwrap().stage, Stage::Summary);
    }
}
