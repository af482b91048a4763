//! The witness for a server that cuts what it is sent.
//!
//! Ollama's window is 4,096 tokens unless the server is told otherwise, whatever the model could hold. What is longer loses
//! its front there, the answer comes as if nothing were amiss, and only the reported count of the prompt tells
//! (ollama#17427). One small count may be a mistake of counting; two in a row are a job that works blindly.

use crate::{JobExit, RequestRecord, Retry, Run};

/// Fewer tokens no server keeps of what it cuts: half of 2,048, the smallest window that Ollama ever had by default, and it
/// keeps about half (ollama#17427). A smaller report is a mistake of the server's counting, or a round number of a stand-in.
const FEWEST_KEPT: u32 = 1024;

/// No two tokenizers differ by this factor over a conversation.
const FACTOR: u32 = 2;

/// Answers in a row to a part of what was sent before the job is paused.
const ANSWERS: u32 = 2;

impl Run {
    /// Counts the answer to a request of which the server has read a part, and says whether that is enough.
    pub(super) fn saw_a_part(&mut self, record: &RequestRecord) -> bool {
        let read = record.prompt_tokens;
        let is_part = !record.estimated && read >= FEWEST_KEPT && self.own_count() / FACTOR > read;
        self.state.guards.cut_inputs = if is_part { self.state.guards.cut_inputs + 1 } else { 0 };
        self.state.guards.cut_inputs >= ANSWERS
    }

    /// The answer is dropped: it is one to a conversation without its beginning. A person gives the server a larger window,
    /// or the job a smaller one.
    pub(super) fn pause_for_window(&mut self, record: RequestRecord) {
        let (read, sent) = (record.prompt_tokens, self.own_count());
        let window = self.model_for(record.purpose).context_window;
        self.note_request(record);
        self.state.guards.cut_inputs = 0;
        self.state.retry = Retry::default();
        let reason = format!(
            "the server's window is too small: it read {read} of about {sent} tokens, twice, so the conversation lost its \
             front; give it a window of {window} tokens (Ollama: set OLLAMA_CONTEXT_LENGTH={window} for the server and \
             start it anew) or lower `llm.context_window`, then resume the job"
        );
        self.leave(JobExit::Paused { reason });
    }
}
