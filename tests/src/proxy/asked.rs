//! Distinguishes the answer to a step from all others by the client's requests: the wire protocol, as far as needed for
//! this.

use std::collections::HashSet;

/// Words of the statement that writes a step.
const STEP: &[u8] = b"feedback_untaken = greatest";
/// The server is ready and not in a transaction: the request is committed.
const READY: &[u8] = b"Z\0\0\0\x05I";

/// The statements that one connection has sent so far.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The part of a message that has arrived.
    pending: Vec<u8>,
    /// Whether the first message, which has no type, has passed.
    started: bool,
    /// Names under which a step's statement was prepared.
    steps: HashSet<Vec<u8>>,
    /// Whether a step was sent and not answered.
    waits: bool,
}

impl Asked {
    /// Reads what the client sends.
    pub(super) fn hear(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        while let Some((kind, body)) = self.message() {
            let mut texts = body.split(|byte| *byte == 0);
            match (kind, texts.next(), texts.next()) {
                (b'P', Some(name), Some(query)) if contains(query, STEP) => {
                    self.steps.insert(name.to_owned());
                }
                (b'B', Some(_portal), Some(name)) if self.steps.contains(name) => self.waits = true,
                _ => {}
            }
        }
    }

    /// Whether these bytes from the server report that a step is committed.
    pub(super) fn answers_step(&mut self, bytes: &[u8]) -> bool {
        let answered = self.waits && contains(bytes, READY);
        self.waits &= !answered;
        answered
    }

    /// The next whole message: its type, 0 for the first one, and its contents.
    fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let head = usize::from(self.started);
        let length = self.pending.get(head..head + 4)?.try_into().map(u32::from_be_bytes).ok()? as usize;
        let body = self.pending.get(head + 4..head + length)?.to_owned();
        let kind = if self.started { self.pending[0] } else { 0 };
        // A request for TLS is 8 bytes long and comes before the first message.
        self.started |= length != 8;
        self.pending.drain(..head + length);
        Some((kind, body))
    }
}

pub(super) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
