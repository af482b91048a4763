//! Thinking that a server passed on in the text, because it has no parser for its model.

/// The marks around it: DeepSeek R1, Qwen3 and many others; Magistral; Command A.
const MARKS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];

/// The text behind the thinking; empty if the thinking never ends. Templates often put the first mark into the prompt,
/// so that the text has only the second.
pub(super) fn said(text: &str) -> &str {
    let ends = MARKS.iter().filter_map(|(_, end)| Some(text.rfind(end)? + end.len()));
    let only_begins = || MARKS.iter().any(|(begin, _)| text.trim_start().starts_with(begin));
    match ends.max() {
        Some(end) => &text[end..],
        None if only_begins() => "",
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn what_is_said_stands_behind_the_last_mark() {
        for (text, expected) in [
            ("<think>Hm.</think>It is read.", "It is read."),
            ("Hm.</think>It is read.", "It is read."),
            ("[THINK]Hm.[/THINK]It is read.", "It is read."),
            ("<think>Hm.</think><think>Still.</think>It is read.", "It is read."),
            ("\n<think>Hm.", ""),
            ("<think>Hm.</think>", ""),
            ("It is read.", "It is read."),
            ("The tag <think> is one.", "The tag <think> is one."),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }
}
