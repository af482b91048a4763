//! Excerpts: texts that are too large for the conversation are shown with their beginning and end, and the path of the
//! whole.

use crate::Settings;

/// No tokenizer puts more bytes than this into a token, on average over an answer.
pub(crate) const MAX_BYTES_A_TOKEN: usize = 16;

impl Settings {
    pub(crate) fn count(&self, text: &str) -> u32 {
        (self.count_tokens)(text)
    }

    /// Whether a text may enter the conversation whole (`limits.max_tool_result_tokens`).
    pub(crate) fn fits(&self, text: &str) -> bool {
        let most = self.limits.max_tool_result_tokens;
        // A token is at least one byte, so short texts need no counting.
        text.len() <= most as usize || self.count(text) <= most
    }

    /// Tokens of a result as added to the conversation.
    pub(crate) fn tokens_shown(&self, content: &str) -> u32 {
        let most = self.limits.max_tool_result_tokens;
        if content.len() / MAX_BYTES_A_TOKEN > most as usize { most } else { self.count(content).min(most) }
    }

    /// Head and tail of a text, with a line between them that names the path of the whole. At about four bytes per
    /// token: a quarter of the room for the head, an eighth for the tail.
    pub(crate) fn excerpt(&self, text: &str, path: &str) -> String {
        let most = self.limits.max_tool_result_tokens as usize;
        let head = text.floor_char_boundary(most);
        let tail = text.ceil_char_boundary(text.len().saturating_sub(most / 2)).max(head);
        format!(
            "{}\n\n[… {} bytes in all; the whole is in {path}, read it in parts …]\n\n{}",
            &text[..head],
            text.len(),
            &text[tail..]
        )
    }

    /// A memory file in prompts and openings: whole, or only its ends if it is too large for a request.
    pub(crate) fn shown(&self, text: &str, path: &str) -> String {
        let text = text.trim();
        if self.fits(text) { text.to_string() } else { self.excerpt(text, path) }
    }
}
