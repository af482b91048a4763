//! The request body, written from borrowed data: no copy of the conversation is made but the one that is sent.
//!
//! The order of fields is fixed: `model`, `tools`, `messages`, then caps and sampling. What stays the same between two
//! turns comes first and what is appended comes last, and equal requests give equal bytes. So of a long conversation only
//! the end is written: what comes before it is kept from the request before (see [`Prefix`]).

use super::config::ModelConfig;
use super::prefix::{Part, Prefix};
use super::writer::Writer;
use bytes::Bytes;
use plumbline_engine::{ModelRequest, RequestMessage, Role};

/// A request body, in pieces.
#[derive(Debug)]
pub struct Body {
    pieces: Vec<Bytes>,
}

impl Body {
    /// Writes the body of one request, on from what was kept of the one before, and keeps what the next one may begin
    /// with.
    pub fn of(config: &ModelConfig, request: &ModelRequest<'_>, prefix: &Prefix) -> Self {
        let messages: Vec<&RequestMessage<'_>> = request.messages.iter().filter(|message| !is_void(message)).collect();
        let mut writer = Writer::new();
        writer.head(config, request);
        let head = writer.piece.len();
        let kept = prefix.take().for_request(&writer.piece, &messages);
        let mut pieces: Vec<Bytes> = kept.full().map(Bytes::clone).collect();
        writer.go_on(&kept);
        for message in &messages[kept.messages()..] {
            writer.message(message);
        }
        writer.tail(config, request);
        let last = Part::of(writer.piece, messages.len());
        pieces.extend(writer.filled.iter().chain([&last]).map(|part| part.bytes().clone()));
        let begun = last.beginning(writer.reach.bytes, writer.reach.messages);
        prefix.put(kept.and(head, writer.filled, begun, &messages));
        Self { pieces }
    }

    /// Its length, in bytes.
    pub fn length(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }

    /// The pieces as they are sent, in their order.
    pub(super) fn into_bytes(self) -> impl Iterator<Item = Bytes> {
        self.pieces.into_iter()
    }
}

/// The body of one request, as it is sent, in one piece.
pub fn render(config: &ModelConfig, request: &ModelRequest<'_>) -> Vec<u8> {
    Body::of(config, request, &Prefix::default()).pieces.concat()
}

/// An answer that neither said nor called anything. It stays in the history, but providers refuse it in a request.
fn is_void(message: &RequestMessage<'_>) -> bool {
    match message {
        RequestMessage::Stored(message) => {
            message.role() == Role::Assistant
                && message.tool_calls().len() == 0
                && message.visible_parts().iter().all(|part| part.trim().is_empty())
        }
        RequestMessage::System(_) | RequestMessage::User(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plumbline_engine::{Handler, History, Message, MessageKind, Phases, Purpose, Replay, ToolSpec};
    use serde_json::{Map, json};
    use std::ops::Range;

    fn history(count: i64, lines: usize) -> Vec<Message> {
        let said = |seq| Message {
            seq,
            role: Role::User,
            kind: MessageKind::Opening,
            content: format!("\"{seq}\" and something more that is said at that place\n").repeat(lines),
            tool_calls: Vec::new(),
            tool_call_id: None,
            extra: Map::new(),
            tokens: 0,
            step: 0,
            cleared: false,
        };
        (1..=count).map(said).collect()
    }

    fn tools(count: usize) -> Vec<ToolSpec> {
        let tool = ToolSpec {
            name: "read_file",
            phases: Phases::Both,
            description: "Reads.".into(),
            parameters: json!({"type": "object"}).into(),
            documentation: String::new(),
            handler: Handler::Local,
            replay: Replay::Safe,
            reads_only: false,
        };
        vec![tool; count]
    }

    /// As a job asks: the conversation and the todo list behind it.
    fn request<'a>(messages: &[Message], tools: &'a [ToolSpec]) -> ModelRequest<'a> {
        let list = RequestMessage::User(format!("todo {}", messages.len()));
        let history: &History = Box::leak(Box::new(messages.iter().collect()));
        ModelRequest {
            purpose: Purpose::Tactical,
            messages: history.iter().map(RequestMessage::Stored).chain([list]).collect(),
            tools: tools.iter().collect(),
            max_output_tokens: 100,
            attempt: 1,
        }
    }

    /// A job's requests one after another, each held against the same written anew.
    struct Job {
        config: ModelConfig,
        prefix: Prefix,
        before: Vec<Bytes>,
    }

    impl Job {
        fn new() -> Self {
            let config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
            Self { config, prefix: Prefix::default(), before: Vec::new() }
        }

        /// How many pieces are those sent before.
        fn asks(&mut self, request: &ModelRequest<'_>) -> usize {
            let body = Body::of(&self.config, request, &self.prefix);
            assert!(body.pieces.concat() == render(&self.config, request), "not as it is written anew");
            let same = body.pieces.iter().zip(&self.before).take_while(|(now, before)| now.as_ptr() == before.as_ptr());
            let same = same.count();
            self.before = body.pieces;
            same
        }
    }

    #[test]
    fn of_a_long_conversation_only_the_end_is_written() {
        let (mut job, history, tools) = (Job::new(), history(300, 60), tools(2));
        let kept: Vec<usize> = (0..300).map(|count| job.asks(&request(&history[..count], &tools))).collect();
        assert_eq!(kept[..30], [0; 30], "a short one is not kept");
        assert!(kept[299] >= 12 && kept.is_sorted(), "{kept:?}");
        assert_eq!(job.asks(&request(&history, &tools)), kept[299], "asked again");
    }

    #[test]
    fn what_is_kept_ends_before_what_has_changed() {
        let (mut job, mut messages, some) = (Job::new(), history(300, 60), tools(2));
        job.asks(&request(&messages, &some));
        let all = job.asks(&request(&messages, &some));
        messages[150].cleared = true;
        let before_it = job.asks(&request(&messages, &some));
        assert!(0 < before_it && before_it < all, "{before_it} of {all}");
        assert!(job.asks(&request(&messages, &some)) > before_it, "what has changed is kept as it is now");
        assert_eq!(job.asks(&request(&messages, &tools(3))), 0, "other tools");
        assert_eq!(job.asks(&request(&messages[1..], &tools(3))), 0, "a summary in place of the first");
        assert_eq!(job.asks(&request(&messages[1..20], &tools(3))), 0, "a phase anew");
        assert_eq!(job.asks(&request(&messages[1..], &tools(3))), 0, "nothing is left of what was short");
    }

    #[test]
    fn whatever_becomes_of_a_conversation_it_is_written_as_it_would_be_anew() {
        let mut job = Job::new();
        let (mut messages, mut count) = (history(8, 400), 8);
        let mut kept = 0;
        // Some of them far longer than a piece, at every place of it.
        for (turn, lines) in (0_i64..).zip([3, 40, 900, 5, 3000, 1, 200, 60].repeat(12)) {
            match turn % 17 {
                5 | 11 => drop(messages.remove(0)),
                7 => messages[(turn / 3) as usize % 6].cleared = true,
                13 => messages.truncate(6),
                _ => {
                    count += 1;
                    messages.push(history(1, lines).remove(0));
                    messages.last_mut().unwrap().seq = count;
                }
            }
            kept += job.asks(&request(&messages, &tools(1 + usize::from(turn % 29 == 28))));
            assert!(job.before.iter().all(|piece| !piece.is_empty()));
        }
        assert!(kept > 100, "{kept}");
    }

    #[test]
    fn a_message_longer_than_a_piece_begins_one_even_right_behind_what_is_kept() {
        let (mut job, mut messages) = (Job::new(), history(8, 900));
        job.asks(&request(&messages, &[]));
        messages[6] = Message { seq: 9, ..history(1, 3000).remove(0) };
        assert_eq!(job.asks(&request(&messages, &[])), 6, "one message a piece");
        assert!(job.before.iter().all(|piece| !piece.is_empty()));
    }

    /// The todo list is another one each time, wherever it stands.
    #[test]
    fn nothing_is_kept_from_a_message_without_a_place_in_the_history_on() {
        let (mut job, messages) = (Job::new(), history(300, 60));
        for turn in 0..3 {
            let mut request = request(&messages, &[]);
            request.messages.insert(1, RequestMessage::System(format!("todo {turn}")));
            assert_eq!(job.asks(&request), 0);
        }
    }

    #[test]
    fn all_jobs_together_keep_no_more_than_there_is_room_for() {
        // Memory counts: of the second kind, each message leaves a third of its piece unused.
        for (messages, lengths) in [(history(20, 20_000), 17 << 20..28 << 20), (history(300, 800), 11 << 20..16 << 20)]
        {
            only_one_has_room(&messages, lengths);
        }
    }

    fn only_one_has_room(messages: &[Message], lengths: Range<usize>) {
        let mut jobs: Vec<Job> = (0..3).map(|_| Job::new()).collect();
        let kept = |jobs: &mut [Job]| -> Vec<bool> {
            jobs.iter_mut().map(|job| [0; 2].map(|_| job.asks(&request(messages, &[])))[1] > 0).collect()
        };
        let length = render(&jobs[0].config, &request(messages, &[])).len();
        assert!(lengths.contains(&length), "one has room, two have not: {length}");
        assert_eq!(kept(&mut jobs), [true, false, false]);
        jobs.remove(0);
        assert_eq!(kept(&mut jobs), [true, false], "another job's room is free when it ends");
    }
}
